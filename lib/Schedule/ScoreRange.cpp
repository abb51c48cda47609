//===- ScoreRange.cpp - scores too large for one multiply-add -------------===//

#include "lib/Schedule/ScoreRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace attn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Value constant(OpBuilder &b, Location loc, Value like, double value) {
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(like.getType()),
                             b.getF32FloatAttr(static_cast<float>(value))));
}

Value attn::scaleLargest(OpBuilder &b, Location loc, Value largest, double factor) {
  Value scaled = arith::MulFOp::create(b, loc, largest,
                                       constant(b, loc, largest, factor));
  if (factor <= 1) // Cannot overflow.
    return scaled;
  constexpr double most = std::numeric_limits<float>::max();
  Value kept = arith::MinNumFOp::create(
      b, loc,
      arith::MaxNumFOp::create(b, loc, scaled, constant(b, loc, largest, -most)),
      constant(b, loc, largest, most));
  Value infinite = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, loc, largest),
      constant(b, loc, largest, kInfinity));
  return arith::SelectOp::create(b, loc, infinite, largest, kept);
}

Value attn::isLarge(OpBuilder &b, Location loc, Value maximum) {
  Value size = math::AbsFOp::create(b, loc, maximum);
  Value beyond =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size,
                            constant(b, loc, maximum, kLargestMaximum));
  Value finite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size,
                                       constant(b, loc, maximum, kInfinity));
  return arith::AndIOp::create(b, loc, beyond, finite);
}

Value attn::shiftOf(OpBuilder &b, Location loc, Value maximum) {
  Value usable = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::OLE, math::AbsFOp::create(b, loc, maximum),
      constant(b, loc, maximum, kLargestMaximum));
  // Infinity less itself is NaN, which the row's sum must be, not infinite.
  Value broken = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maximum,
                                       constant(b, loc, maximum, kInfinity));
  return arith::SelectOp::create(b, loc, arith::OrIOp::create(b, loc, usable, broken),
                                 maximum,
                                 constant(b, loc, maximum, 0));
}
