//===- RowLimits.cpp - masks as a range of keys for each row --------------===//

#include "lib/Schedule/RowLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

SmallVector<MaskOp> attn::lastMasks(const FlashParts &parts) {
  SmallVector<MaskOp> masks;
  for (Value at = parts.probabilities; at.hasOneUse();) {
    if (auto mask = at.getDefiningOp<MaskOp>()) {
      masks.push_back(mask);
      at = mask.getScores();
      continue;
    }
    auto scale = at.getDefiningOp<ScaleOp>();
    if (!scale || constantScale(scale).value_or(-1) <= 0)
      break;
    at = scale.getScores();
  }
  return masks;
}

namespace {
/// Collects conditions that must all hold.
struct Conjunction {
  ProgramBuilder &p;
  ElementwiseLowering &values;
  const MaskAxes &axes;
  Location loc;
  Value low, high;         ///< low <= n < high, i64; `low` may be null.
  SmallVector<Value> rest; ///< i1, of any shape.

  Value combine(Value x, Value y, bool least) {
    Value both[] = {x, y};
    p.unify(both);
    return least ? p.min(both[0], both[1]) : p.max(both[0], both[1]);
  }

  /// row * m + u, a scalar or a row value.
  FailureOr<Value> withoutKey(const Affine &affine) {
    Value sum = p.constant(affine.constant);
    auto add = [&](int64_t coefficient, Value value) {
      if (!elementOf(value).isInteger(64))
        value = arith::ExtSIOp::create(p.b, loc, typeLike(value, p.b.getI64Type()),
                                       value);
      Value term = p.mul(p.intLike(value, coefficient), value);
      Value both[] = {sum, term};
      p.unify(both);
      sum = p.add(both[0], both[1]);
    };
    for (auto [coefficient, leaf] : affine.uniform) {
      FailureOr<Value> value = values.evaluateUniform(leaf);
      if (failed(value))
        return failure();
      add(coefficient, *value);
    }
    if (affine.row != 0)
      add(affine.row, p.index(axes.row, p.b.getI64Type()));
    return sum;
  }

  static bool isLimit(const MaskRange &range) {
    return range.kind == MaskRange::NonPositive &&
           (range.affine.key == 1 || range.affine.key == -1);
  }

  LogicalResult limit(const Affine &affine) {
    FailureOr<Value> other = withoutKey(affine);
    if (failed(other))
      return failure();
    if (affine.key < 0) { // n >= other
      low = low ? combine(low, *other, /*least=*/false) : *other;
      return success();
    }
    Value end = p.sub(p.intLike(*other, 1), *other); // n <= -other
    high = combine(high, end, /*least=*/true);
    return success();
  }

  /// `condition` is an i1 value of a mask's region.
  LogicalResult require(Value condition) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      if (failed(require(both.getLhs())))
        return failure();
      return require(both.getRhs());
    }
    MaskRange range = analyzeMask(condition, axes);
    if (range.kind == MaskRange::Always)
      return success();
    if (isLimit(range))
      return limit(range.affine);
    if (range.kind == MaskRange::And && llvm::all_of(range.parts, isLimit)) {
      for (const MaskRange &part : range.parts)
        if (failed(limit(part.affine)))
          return failure();
      return success();
    }
    FailureOr<Value> value = values.evaluateElement(condition);
    if (failed(value))
      return failure();
    rest.push_back(*value);
    return success();
  }
};
} // namespace

FailureOr<Value> attn::emitAlive(ProgramBuilder &p, ElementwiseLowering &values,
                                 ArrayRef<MaskOp> masks, const MaskAxes &axes) {
  Location loc = p.program.getLoc();
  Conjunction all{p, values, axes, loc, nullptr, p.length(axes.key), {}};
  for (MaskOp mask : masks)
    if (failed(all.require(
            mask->getRegion(0).front().getTerminator()->getOperand(0))))
      return failure();
  // Lengths are below 2^30, so limits inside them fit i32.
  Type i32 = p.b.getI32Type();
  Value length = p.length(axes.key);
  Value start = arith::TruncIOp::create(p.b, loc, i32, p.places[axes.key].start);
  auto relative = [&](Value limit) {
    limit = all.combine(all.combine(limit, length, /*least=*/true), p.constant(0),
                        /*least=*/false);
    Value narrow =
        arith::TruncIOp::create(p.b, loc, typeLike(limit, i32), limit);
    Value both[] = {narrow, start};
    p.unify(both);
    return p.expand(p.sub(both[0], both[1]), p.rows, 1);
  };
  Value high = relative(all.high);
  Value low = all.low ? relative(all.low) : Value();
  auto type = RankedTensorType::get({p.rows, p.columns}, p.b.getI1Type());
  Value alive = tile::BandOp::create(p.b, loc, type, low, high);
  for (Value condition : all.rest)
    alive = arith::AndIOp::create(p.b, loc, alive,
                                  p.expand(condition, p.rows, p.columns));
  return alive;
}
