//===- ProtocolRoles.h - what a role does, without data ---------*- C++ -*-===//
//
// Each warp group's way through its program, followed for given lengths: scalars
// are computed, what happens to signals, stages, flags and turns becomes a list of
// events. ProtocolMachine.h runs the lists against each other.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_PROTOCOLROLES_H
#define ATTN_LIB_ANALYSIS_PROTOCOLROLES_H

#include "lib/Analysis/Protocol.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace attn::protocol {

struct Event {
  enum Kind {
    Wait, Arrive, Copy, Read, Dot, DotWait, TurnWait, TurnPass, Raise, Take,
    Begin, ///< The block's signals are there.
    Meet,  ///< All roles of all blocks of the cluster do.
  } kind;
  /// Wait, Arrive, Copy: number of the memory barrier. Raise, Take: of the flag.
  int64_t signal = -1;
  /// Wait: parity. Arrive: arrivals. DotWait: pending. Take: what was followed.
  int64_t count = 0;
  std::vector<int64_t> stages; ///< Copy: the one filled. Read, Dot: those read.
  mlir::Operation *op = nullptr;
  /// Arrive, Raise: in every block of the cluster. Copy: a part, to every block.
  bool everywhere = false;
  bool ordered = false; ///< Wait: acquires, Arrive: releases, beyond the block.
  /// Copy of a part: where from, as far as it is known.
  std::vector<std::optional<int64_t>> at = {};
};

/// A tile that a producer announced.
struct Posted {
  int64_t tile;
  bool again;
};

/// What consumers flag: the place of the tile in the order of announcements, and the
/// number of the flag.
using Flagged = std::set<std::pair<size_t, int64_t>>;

/// What the roles of a block tell each other while they are followed.
struct BlockTalk {
  std::vector<Posted> posted; ///< In order.
  Flagged flagged;            ///< By the consumers followed so far.
};

/// First number of a ring's barriers, of slabs' stages, of a ring's flags; and how
/// many there are in a block.
struct Numbers {
  llvm::DenseMap<mlir::Value, int64_t> signalBase, stageBase, flagBase;
  std::vector<int64_t> arrivals; ///< Of each barrier.
  int64_t stages = 0, flags = 0;

  explicit Numbers(mlir::func::FuncOp program);
};

/// Executes the scalars of one role and records its events.
class Role {
public:
  /// `believed`: what the producer takes for flagged. `talk`: of every block.
  Role(const ProtocolRun &run, const Numbers &numbers, std::vector<BlockTalk> &talk,
       int64_t rank, int64_t group, Flagged believed)
      : rank(rank), group(group), run(run), numbers(numbers), talk(talk),
        believed(std::move(believed)),
        random(run.seed + 7 * static_cast<uint64_t>(group) +
               131 * static_cast<uint64_t>(rank)) {}

  /// The whole program. A failure without `trouble` has been told as an error.
  mlir::LogicalResult follow(mlir::func::FuncOp program, tile::SpecializeOp roles);

  int64_t rank;  ///< Of its block in the cluster.
  int64_t group; ///< 0 the producer, then the groups that compute.
  std::vector<Event> events;
  std::string trouble;

private:
  std::optional<int64_t> number(mlir::Value value);
  void set(mlir::Value value, int64_t n) {
    known[value] = mlir::IntegerAttr::get(value.getType(), n);
  }
  bool need(mlir::Operation *op, mlir::Value value, int64_t &n);
  bool slotOf(mlir::Operation *op, mlir::Value base, mlir::Value slot, int64_t count,
              const llvm::DenseMap<mlir::Value, int64_t> &bases, int64_t &n);
  void add(Event event) { events.push_back(std::move(event)); }
  void setArguments(mlir::func::FuncOp program);

  mlir::LogicalResult block(mlir::Block &block);
  mlir::LogicalResult operation(mlir::Operation *op);
  mlir::LogicalResult copy(tile::CopyBoxOp op);
  mlir::LogicalResult post(tile::PostTileOp op);
  mlir::LogicalResult takeFlag(tile::TakeFlagOp op);
  mlir::LogicalResult loop(mlir::scf::ForOp op);
  mlir::LogicalResult loop(mlir::scf::WhileOp op);
  mlir::LogicalResult branch(mlir::scf::IfOp op);
  void pass(mlir::ValueRange from, mlir::ValueRange to);

  BlockTalk &own() { return talk[static_cast<size_t>(rank)]; }

  const ProtocolRun &run;
  const Numbers &numbers;
  std::vector<BlockTalk> &talk;
  Flagged believed; ///< By the producer; those not taken yet.
  size_t taken = 0;
  int64_t nextTile = 0;
  std::mt19937_64 random;
  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
  llvm::DenseMap<mlir::Value, int64_t> stageOf; ///< slab_read results.
};

} // namespace attn::protocol

#endif // ATTN_LIB_ANALYSIS_PROTOCOLROLES_H
