//===- KeyBlocks.cpp - where the key block of an iteration starts ---------===//

#include "lib/Schedule/KeyBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

Value KeyBlocks::advance(OpBuilder &b, Location loc, Value begin,
                         Value index) const {
  Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), index);
  Value step = arith::ConstantIntOp::create(
      b, loc, static_cast<int64_t>(keys.getStep()), 64);
  Value offset = arith::MulIOp::create(b, loc, wide, step);
  return arith::AddIOp::create(b, loc, begin, offset);
}

Value KeyBlocks::total(OpBuilder &b, Location loc) const {
  Value masked = arith::AddIOp::create(b, loc, keys.getLeftCount(),
                                       keys.getRightCount());
  return arith::AddIOp::create(b, loc, keys.getFullCount(), masked);
}

Value KeyBlocks::liveStart(OpBuilder &b, Location loc, Value t) const {
  return advance(b, loc, keys.getFullBegin(), t);
}

Value KeyBlocks::start(OpBuilder &b, Location loc, Value t) const {
  Value left = arith::SubIOp::create(b, loc, t, keys.getFullCount());
  Value right = arith::SubIOp::create(b, loc, left, keys.getLeftCount());
  auto less = arith::CmpIPredicate::slt;
  Value isLive =
      arith::CmpIOp::create(b, loc, less, t, keys.getFullCount());
  Value isLeft =
      arith::CmpIOp::create(b, loc, less, left, keys.getLeftCount());
  Value masked = arith::SelectOp::create(
      b, loc, isLeft, advance(b, loc, keys.getLeftBegin(), left),
      advance(b, loc, keys.getRightBegin(), right));
  return arith::SelectOp::create(b, loc, isLive, liveStart(b, loc, t), masked);
}
