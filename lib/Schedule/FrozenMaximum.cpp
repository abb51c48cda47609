//===- FrozenMaximum.cpp - when a maximum that was not moved was wrong ----===//

#include "lib/Schedule/FrozenMaximum.h"
#include "lib/Schedule/ScoreRange.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace attn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Far from the largest float, so that its inverse, the sum of a row's lanes and
/// the product with any value below 2^63 are ordinary numbers.
static constexpr double kLargestSum = 0x1p64;

static Value constantLike(OpBuilder &b, Location loc, Value like, double value) {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<RankedTensorType>(like.getType()),
                                     b.getF32FloatAttr(value)));
}

/// Rows of minus infinity, or large ones: both need a maximum that moves.
static Value unsetRows(OpBuilder &b, Location loc, Value maximum) {
  return arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::UGT, math::AbsFOp::create(b, loc, maximum),
      constantLike(b, loc, maximum, kLargestMaximum));
}

static Value isPositive(OpBuilder &b, Location loc, Value count) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count,
                               arith::ConstantIntOp::create(b, loc, 0, 32));
}

Value attn::spoilUnset(OpBuilder &b, Location loc, Value sum, Value maximum,
                       Value kept) {
  Value unset = unsetRows(b, loc, maximum);
  auto sums = cast<RankedTensorType>(sum.getType());
  unset = tile::BroadcastOp::create(
      b, loc, RankedTensorType::get(sums.getShape(), b.getI1Type()), unset);
  auto scalar = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  Value some = isPositive(b, loc, kept);
  // Added, so that NaN stays where nothing is spoilt.
  Value spoil = arith::SelectOp::create(
      b, loc, some, scalar(std::numeric_limits<double>::quiet_NaN()), scalar(0));
  Value spoilt = arith::SelectOp::create(b, loc, unset,
                                         tile::SplatOp::create(b, loc, sums, spoil),
                                         constantLike(b, loc, sum, 0));
  return arith::AddFOp::create(b, loc, sum, spoilt);
}

Value attn::spoilUnsetProduct(OpBuilder &b, Location loc, Value accumulator,
                              Value maximum, Value kept) {
  Value unset = unsetRows(b, loc, maximum);
  Value moved = arith::AndIOp::create(
      b, loc, isPositive(b, loc, kept),
      tile::AnyOp::create(b, loc, b.getI1Type(), unset));
  Value factor = arith::SelectOp::create(
      b, loc, unset,
      constantLike(b, loc, maximum, std::numeric_limits<double>::quiet_NaN()),
      constantLike(b, loc, maximum, 1));
  return tile::RescaleOp::create(b, loc, accumulator.getType(), accumulator, factor,
                                 moved);
}

Value attn::leftRange(OpBuilder &b, Location loc, Value sum, Value accumulator) {
  // Unordered comparisons: NaN has left the range.
  auto atLeast = [&](Value value, double limit) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, value,
                                 constantLike(b, loc, value, limit));
  };
  // One addition an element; what is not finite stays so in any sum.
  auto rows = cast<RankedTensorType>(accumulator.getType()).getDimSize(0);
  Value folded = tile::FoldOp::create(
      b, loc, RankedTensorType::get({rows, 8}, b.getF32Type()), tile::ReduceKind::Add,
      accumulator);
  Value infinite = atLeast(math::AbsFOp::create(b, loc, folded), kInfinity);
  Value large = b.createOrFold<tile::BroadcastOp>(
      loc, RankedTensorType::get({rows, 8}, b.getI1Type()), atLeast(sum, kLargestSum));
  Value outside = arith::OrIOp::create(b, loc, large, infinite);
  return tile::AnyOp::create(b, loc, b.getI1Type(), outside);
}
