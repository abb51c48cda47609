//===- SplitKeyLoop.cpp - key loop into live and partly masked blocks -----===//
//
// A block in which every key is alive needs no mask code; a block in which none
// is alive is never visited. The range analysis put the bounds of both on
// tile.for_keys; this pass obeys them.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/LowerMask.h"
#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/APFloat.h"

namespace attn {
#define GEN_PASS_DEF_SPLITKEYLOOPPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

Value attn::lowerMask(tile::MaskOp mask, bool live) {
  OpBuilder b(mask);
  Value value = mask.getValue();
  if (!live) {
    auto type = cast<RankedTensorType>(mask.getType());
    Type element = type.getElementType();
    const llvm::fltSemantics &semantics =
        cast<FloatType>(element).getFloatSemantics();
    llvm::APFloat fill = mask.getZero()
                             ? llvm::APFloat::getZero(semantics)
                             : llvm::APFloat::getInf(semantics, true);
    Value filler = arith::ConstantOp::create(
        b, mask.getLoc(),
        DenseElementsAttr::get(type, b.getFloatAttr(element, fill)));
    value = arith::SelectOp::create(b, mask.getLoc(), mask.getPredicate(), value,
                                    filler);
  }
  mask.replaceAllUsesWith(value);
  mask.erase();
  return value;
}

/// One scf.for over iterations [first, last) of `keys`, its body cloned.
static scf::ForOp cloneLoop(OpBuilder &b, tile::ForKeysOp keys,
                            const KeyBlocks &blocks, Value first, Value last,
                            ValueRange inits, bool live) {
  Location loc = keys.getLoc();
  Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
  auto loop = scf::ForOp::create(
      b, loc, first, last, one, inits,
      [&](OpBuilder &b, Location loc, Value t, ValueRange carried) {
        IRMapping map;
        Block &body = keys.getBody().front();
        map.map(body.getArgument(0), t);
        map.map(body.getArgument(1),
                live ? blocks.liveStart(b, loc, t) : blocks.start(b, loc, t));
        for (auto [argument, value] :
             llvm::zip(body.getArguments().drop_front(2), carried))
          map.map(argument, value);
        for (Operation &op : body.without_terminator())
          b.clone(op, map);
        SmallVector<Value> yielded;
        for (Value value : body.getTerminator()->getOperands())
          yielded.push_back(map.lookupOrDefault(value));
        scf::YieldOp::create(b, loc, yielded);
      });
  SmallVector<tile::MaskOp> masks;
  loop.walk([&](tile::MaskOp mask) { masks.push_back(mask); });
  for (tile::MaskOp mask : masks)
    lowerMask(mask, live);
  return loop;
}

static void splitLoop(tile::ForKeysOp keys) {
  OpBuilder b(keys);
  Location loc = keys.getLoc();
  KeyBlocks blocks(keys);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  Value total = blocks.total(b, loc);
  ValueRange carried = keys.getInits();
  APInt fullCount;
  bool neverFull =
      matchPattern(keys.getFullCount(), m_ConstantInt(&fullCount)) &&
      fullCount.isZero();
  if (!neverFull)
    carried = cloneLoop(b, keys, blocks, zero, keys.getFullCount(), carried,
                        /*live=*/true)
                  .getResults();
  auto masked = cloneLoop(b, keys, blocks,
                          neverFull ? zero : keys.getFullCount(), total,
                          carried, /*live=*/false);
  keys.replaceAllUsesWith(masked.getResults());
  keys.erase();
}

namespace {
struct SplitKeyLoop : attn::impl::SplitKeyLoopPassBase<SplitKeyLoop> {
  using SplitKeyLoopPassBase::SplitKeyLoopPassBase;
  void runOnOperation() override {
    SmallVector<tile::ForKeysOp> loops;
    getOperation().walk([&](tile::ForKeysOp op) { loops.push_back(op); });
    for (tile::ForKeysOp loop : loops)
      splitLoop(loop);
    SmallVector<tile::MaskOp> masks;
    getOperation().walk([&](tile::MaskOp op) { masks.push_back(op); });
    for (tile::MaskOp mask : masks)
      lowerMask(mask, /*live=*/false);
  }
};
} // namespace
