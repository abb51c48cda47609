//===- ConsumeKeys.h - what a warp group does with a block of keys --------===//
//
// The key loop's body taken apart, and written again in one of two orders:
//
//   plain    S = Q K; softmax; P = round(p); O += P V
//   rotated  the score product of a block is issued together with the value
//            product of the block before it, so that the softmax runs under a
//            product: S = Q K, O += P V in flight; softmax; P = round(p)
//
// One rotated step, as measured best:
//   wait keys; [turn]; S = Q K; wait values; O += P V; [pass turn];
//   S there: free keys; softmax; O there: free values; rescale O; P = round(p).
//
// In both orders nothing is in flight over the back edge of a loop and probabilities
// are rounded after the wait for the product that reads the last ones (see
// shared/design/toolchain.md: what serialises wgmma).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_CONSUMEKEYS_H
#define ATTN_LIB_SCHEDULE_CONSUMEKEYS_H

#include "lib/Schedule/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <optional>

namespace attn {

/// On a loop over blocks of keys until tile-count-steps has counted its work: "live"
/// or "masked".
inline constexpr llvm::StringLiteral kBlocksAttr = "tile.blocks";

/// The key loop's body, taken apart.
struct KeyLoop {
  tile::ForKeysOp op;
  tile::LoadBoxOp query, key, value;
  tile::DotOp scores, values;
  tile::RescaleOp rescale; ///< Null without a softmax.
  /// What score functions read of each row and key, brought like the keys.
  llvm::SmallVector<tile::LoadMappedOp> captured;
  /// Probabilities to 16 bits: arith.truncf or tile.round_packed.
  mlir::Operation *round = nullptr;
  /// From the scores to the probabilities, in order; what the sums and maxima
  /// need as well.
  llvm::SmallVector<mlir::Operation *> softmax;

  mlir::Value start() { return op.getBody().front().getArgument(1); }
  mlir::Value carried(unsigned i) {
    return op.getBody().front().getArgument(2 + i);
  }
  mlir::Operation *yield() { return op.getBody().front().getTerminator(); }
};

/// Fails with an error on the loop that says what does not fit.
mlir::FailureOr<KeyLoop> takeApart(tile::ForKeysOp op);

/// The stages of one captured tensor, each with the block's rows of its tile.
struct CapturedStages {
  tile::LoadMappedOp load;
  mlir::Value slabs, full, empty;
};

/// Writes a consumer's steps.
class KeyConsumer : public RingBuilder {
public:
  KeyConsumer(mlir::func::FuncOp program, KeyLoop loop, int64_t groups,
              int64_t stages, int64_t turns, tile::SoftmaxForm form)
      : RingBuilder(program, loop.op), loop(loop), groups(groups),
        stages(stages), turns(groups > 1 ? turns : 0), form(form) {}

  virtual ~KeyConsumer() = default;

  KeyLoop loop;
  int64_t groups, stages, turns;
  tile::SoftmaxForm form; ///< Of the maximum in fully live blocks.
  int64_t queries = 1;    ///< Stages of queries.

  /// Whether the maximum stays as the first and masked blocks leave it, which
  /// takes a check at the tile's end.
  bool freezes() {
    return form == tile::SoftmaxForm::Keep && loop.rescale &&
           !mlir::matchPattern(loop.op.getFullCount(), mlir::m_Zero());
  }

  mlir::Value querySlabs, keySlabs, valueSlabs;
  mlir::Value held; ///< The queries, where they stay in registers for a tile.
  mlir::Value ones; ///< Slabs of ones where the value product gives the row sums.
  mlir::Value queryFull, queryEmpty, keyFull, keyEmpty, valueFull, valueEmpty;
  llvm::SmallVector<CapturedStages> captured;

  /// What a consumer carries from block to block.
  struct State {
    Ring query, key, value;
    llvm::SmallVector<Ring> captured;
    mlir::Value accumulator;
    mlir::Value probability; ///< 16 bits; null where nothing is rotated.
    llvm::SmallVector<mlir::Value> sums; ///< Carried beside the accumulator.

    /// In the rings of keys, values and captured tensors: slot, phase, ...
    llvm::SmallVector<mlir::Value> positions() const;
    void move(mlir::ValueRange positions);
    llvm::SmallVector<mlir::Value> flat() const;
    static State from(const State &before, mlir::ValueRange all);
  };

  /// begin + index * step, i64.
  mlir::Value blockStart(mlir::Value begin, mlir::Value index);
  /// Reserves stages and signals at the start of the program; `queryAgain`: the
  /// queries' stage is filled more than once.
  void reserve(bool queryAgain);

  /// Waits for the tile's queries. Where they are held, takes them to registers; their
  /// stage is then free.
  void takeQueries(Ring query);
  /// What a frozen maximum is checked by (i1): the end of the tile's sums and values.
  mlir::Value failsCheck(const State &state);

  /// How captured tensors are read where the steps are written.
  enum class Captured {
    Staged, ///< All come through stages, asked for under the score product.
    Either, ///< Each tests whether the launch has a map of it, in front of the score
            ///< product, whose registers are not needed yet.
  };

  /// Fill a stage with the keys (values) of the block at `keyStart`, i64.
  Ring fillKeys(mlir::Value keyStart, Ring ring) {
    return fill(loop.key, loop.start(), keyStart, keySlabs, keyFull, keyEmpty,
                ring, stages);
  }
  Ring fillValues(mlir::Value keyStart, Ring ring) {
    return fill(loop.value, loop.start(), keyStart, valueSlabs, valueFull,
                valueEmpty, ring, stages);
  }

  /// The same for captured tensors, where the launch has maps of them.
  void fillCaptured(mlir::Value keyStart, llvm::SmallVectorImpl<Ring> &rings);

  /// Whether the launch has maps of all captured tensors (i1).
  mlir::Value allMapped();

  /// All `total` (i32, at least 1) key blocks in rotated order, the last first.
  void rotated(State &state, mlir::Value total);
  /// The same in plain order.
  void plain(State &state);

protected:
  /// Written in front of each block: `keyStart` is the block whose scores come
  /// now, `valueStart` the one whose values do (null: none).
  virtual void beforeBlock(const State &, mlir::Value keyStart,
                           mlir::Value valueStart) {
    (void)keyStart, (void)valueStart;
  }

private:
  struct Softmaxed {
    llvm::SmallVector<mlir::Value> unrounded; ///< What loop.round takes.
    llvm::SmallVector<mlir::Value> sums;
    mlir::IRMapping map;
  };
  /// This group's first row within the block's, i32.
  mlir::Value firstRow();
  mlir::Value issueScores(const State &state);
  mlir::Value waitForScores(mlir::Value scores, int64_t pending);
  void scoresDone(State &state, mlir::Value keyStart);
  mlir::Value issueValues(const State &state, bool fence);
  mlir::Value valuesDone(State &state, mlir::Value accumulator);
  /// `live`: a fully live block, without masks and with this form of maximum.
  using Live = std::optional<tile::SoftmaxForm>;
  /// `ahead`: what takeAhead gave; `started`: it is not the row's first, so the
  /// maximum may stay.
  Softmaxed softmax(State &state, mlir::Value keyStart, mlir::Value scores,
                    mlir::ValueRange ahead, Live live, bool started);
  mlir::Value takeCaptured(const CapturedStages &tensor, Ring ring,
                           mlir::IRMapping &map);
  /// What of the loop's body computes `values`.
  void cloneSlice(mlir::ValueRange values, mlir::IRMapping &map);
  mlir::Value takeStaged(const CapturedStages &tensor, Ring ring);
  /// All of them for the block at `keyStart`, and on to their next stages, if this is
  /// the place to: `issued` says whether the score product is under way.
  void takeAhead(State &state, mlir::Value keyStart, bool issued,
                 llvm::SmallVectorImpl<mlir::Value> &tiles);
  mlir::Value rounded(const Softmaxed &done);
  void rescale(State &state, const Softmaxed &done);
  void first(State &state, mlir::Value keyStart);
  void rotatedStep(State &state, mlir::Value keyStart, Live live);
  void plainStep(State &state, mlir::Value keyStart, Live live);
  void steps(State &state, mlir::Value begin, mlir::Value count, Live live,
             bool rotate);
  mlir::Value offsetRises(mlir::Value begin, mlir::Value count);
  void freezingSteps(State &state, mlir::Value begin, mlir::Value count);

protected:
  Captured captures = Captured::Either;
};

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_CONSUMEKEYS_H
