//===- Rings.h - stages in rings, and the copies that fill them -----------===//
//
// A ring of stages is described by two numbers that run on: the slot, and the
// parity of the round through the slots. Each stage has a signal for 'full' and
// one for 'empty'. Shared by the passes that write programs of warp groups.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_RINGS_H
#define ATTN_LIB_SCHEDULE_RINGS_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <utility>

namespace attn {

/// A position in a ring of stages (both i32): slot, and the parity of its round,
/// 0 at first.
struct Ring {
  mlir::Value slot, phase;
};

/// Writes arithmetic on rings, their stages and signals, and copies.
class RingBuilder {
public:
  /// Writes in `program`, in front of `loop`: the loop whose loads are staged.
  RingBuilder(mlir::func::FuncOp program, mlir::Operation *loop)
      : program(program), staged(loop), b(loop), loc(loop->getLoc()) {}

  mlir::func::FuncOp program;
  mlir::Operation *staged; ///< The loop.
  mlir::OpBuilder b;
  mlir::Location loc;

  mlir::Value c32(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  /// 1 when count > 0, else 0 (i32).
  mlir::Value firstOf(mlir::Value count);
  /// The other parity.
  mlir::Value other(mlir::Value phase);
  /// The next position of a ring of `stages`.
  Ring advance(Ring ring, int64_t stages);

  /// `count` stages of `rows` rows that hold what `load` reads.
  mlir::Value slabs(mlir::Value load, int64_t count, int64_t rows);
  /// `count` signals that `arrivals` arrivals complete.
  mlir::Value signals(int64_t count, int64_t arrivals);

  /// Copies a box of `map` to a stage. `position` is the value that moves with the
  /// loop (null: none), `at` what it is here. Coordinates are computed anew where
  /// the copy stands, for warp group 0.
  void copy(mlir::Value map, mlir::ValueRange coordinates, mlir::Value position,
            mlir::Value at, mlir::Value slabs, mlir::Value signals,
            mlir::Value slot);
  void copy(tile::LoadBoxOp load, mlir::Value position, mlir::Value at,
            mlir::Value slabs, mlir::Value signals, mlir::Value slot) {
    copy(load.getMap(), load.getAt(), position, at, slabs, signals, slot);
  }
  /// Waits until the slot is free, fills it and moves on.
  Ring fill(tile::LoadBoxOp load, mlir::Value position, mlir::Value at,
            mlir::Value slabs, mlir::Value full, mlir::Value empty, Ring ring,
            int64_t stages);
};

/// A number of the schedule that a program carries as attribute `name`, such as
/// tile.groups, or `otherwise`.
int64_t programNumber(mlir::func::FuncOp program, llvm::StringRef name,
                      int64_t otherwise);

/// Marks the copy of a tile's queries, under whose signal a tile is posted.
inline constexpr llvm::StringLiteral kQueryCopy = "tile.query";

/// Registers a thread of the producer and of `groups` consumer warp groups gets:
/// the pool is what the launch gives every thread, a multiple of 8, times the
/// number of warp groups.
std::pair<int64_t, int64_t> registerBudget(int64_t groups);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_RINGS_H
