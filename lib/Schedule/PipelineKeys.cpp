//===- PipelineKeys.cpp - warp groups that bring their own tiles ----------===//
//
// The step between one tile after the other and roles: all warp groups of a block
// compute, and the block's first thread starts the copies beside its own work. The
// keys and values of a block arrive `stages - 1` blocks ahead; the stage they
// land in is the one that the last block freed, so the thread hardly waits.
//
// All groups visit the same key blocks: the bounds are those of the whole block.
// Without rotation a group multiplies, then does its softmax, then multiplies;
// only other groups fill the gaps. With it (tile.rotate) the softmax of a block
// runs under the value product of the block before.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/ConsumeKeys.h"
#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_PIPELINEKEYSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct Pipeliner : KeyConsumer {
  using KeyConsumer::KeyConsumer;

  void run(bool rotate);

private:
  void beforeBlock(const State &state, Value keyStart, Value valueStart) override;
  void prologue(Value top);
  /// The first key of the block that comes `ahead` blocks after the one at
  /// `start`, and whether it is visited.
  std::pair<Value, Value> later(Value start, int64_t ahead);
  /// `body` in the first thread, if `condition` (null: always) holds.
  template <typename Body> void firstThread(Value condition, Body body);
  /// Position of the stage that is `stages - 1` blocks ahead of `ring`: the one
  /// before it, a round later.
  Ring ahead(Ring ring);
};
} // namespace

template <typename Body>
void Pipeliner::firstThread(Value condition, Body body) {
  Value first = tile::FirstThreadOp::create(b, loc, b.getI1Type());
  if (condition)
    first = arith::AndIOp::create(b, loc, first, condition);
  scf::IfOp::create(b, loc, first, [&](OpBuilder &inner, Location) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    body();
    scf::YieldOp::create(b, loc);
  });
}

Ring Pipeliner::ahead(Ring ring) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        ring.slot, c32(0));
  Value slot = arith::SelectOp::create(b, loc, isFirst, c32(stages - 1),
                                       sub(ring.slot, c32(1)));
  return {slot, arith::SelectOp::create(b, loc, isFirst, ring.phase,
                                        other(ring.phase))};
}

std::pair<Value, Value> Pipeliner::later(Value start, int64_t ahead) {
  Value there = blockStart(start, c32(-ahead));
  Value visited = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, there,
                                        loop.op.getLeftBegin());
  return {there, visited};
}

void Pipeliner::beforeBlock(const State &state, Value keyStart, Value valueStart) {
  auto next = [&](Value start, Ring ring, auto fillStage) {
    auto [there, visited] = later(start, stages - 1);
    Value target = there;
    Ring stage = ahead(ring);
    firstThread(visited, [&] { (this->*fillStage)(target, stage); });
  };
  next(keyStart, state.key, &Pipeliner::fillKeys);
  if (valueStart)
    next(valueStart, state.value, &Pipeliner::fillValues);
}

/// Queries and the first stages, from the block at `top` down.
void Pipeliner::prologue(Value top) {
  firstThread(Value(), [&] {
    copy(loop.query, nullptr, nullptr, querySlabs, queryFull, c32(0));
  });
  for (int64_t i = 0; i + 1 < stages; ++i) {
    auto [there, visited] = later(top, i);
    Value start = there;
    firstThread(visited, [&] {
      copy(loop.key, loop.start(), start, keySlabs, keyFull, c32(i));
      copy(loop.value, loop.start(), start, valueSlabs, valueFull, c32(i));
    });
  }
}

void Pipeliner::run(bool rotate) {
  tile::ForKeysOp keys = loop.op;
  reserve(/*queryAgain=*/false);
  tile::BarrierOp::create(b, loc); // Everybody sees the signals.
  Value total = KeyBlocks(keys).total(b, loc);
  Value top = blockStart(keys.getLeftBegin(), sub(total, c32(1)));
  prologue(top);
  State state;
  Value zero = c32(0);
  state.query = state.key = state.value = {zero, zero};
  state.accumulator = keys.getInits()[0];
  state.sums.assign(keys.getInits().begin() + 1, keys.getInits().end());
  takeQueries(state.query);
  if (rotate)
    rotated(state, total);
  else
    plain(state);
  SmallVector<Value> results{state.accumulator};
  results.append(state.sums);
  keys.replaceAllUsesWith(results);
  keys->erase();
  loop.query->erase();
}

namespace {
struct PipelineKeys : attn::impl::PipelineKeysPassBase<PipelineKeys> {
  using PipelineKeysPassBase::PipelineKeysPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    auto number = [&](const char *name, int64_t otherwise) {
      return programNumber(program, name, otherwise);
    };
    int64_t groups = number("tile.groups", 0), stages = number("tile.stages", 2);
    if (groups == 0 || number("tile.producer", 1) != 0)
      return;
    SmallVector<tile::ForKeysOp> loops;
    program.walk([&](tile::ForKeysOp op) { loops.push_back(op); });
    if (loops.size() != 1 || loops[0]->getParentOp() != program || stages < 2) {
      program.emitError("'tile.producer = 0' needs one tile.for_keys at the top of "
                        "the program and at least 2 stages");
      return signalPassFailure();
    }
    FailureOr<KeyLoop> loop = takeApart(loops[0]);
    if (failed(loop))
      return signalPassFailure();
    Pipeliner(program, *loop, groups, stages, /*turns=*/0,
              number("tile.vote", 0) ? tile::SoftmaxForm::Vote
                                     : tile::SoftmaxForm::Running)
        .run(number("tile.rotate", 1) != 0);
  }
};
} // namespace
