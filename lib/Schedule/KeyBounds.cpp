//===- KeyBounds.cpp - which key blocks a block of rows visits ------------===//
//
// For each condition two half-open key ranges over the rows of the block:
//   any   a superset of the keys that are alive for some row,
//   full  a subset of the keys that are alive for every row.
// Conjunctions intersect both; disjunctions take the hull of `any` and, for
// `full`, the hull where both reach the same end, the longer one otherwise.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/KeyBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {
struct Range {
  Value low, high;
};
struct Ranges {
  Range any, full;
};

struct BoundsEmitter {
  ProgramBuilder &p;
  ElementwiseLowering &values;
  Value firstRow, lastRow, length, zero;

  Range everything() { return {zero, length}; }
  Range nothing() { return {zero, zero}; }

  Value select(Value condition, Value yes, Value no) {
    return p.b.createOrFold<arith::SelectOp>(p.program.getLoc(), condition, yes,
                                             no);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return p.b.createOrFold<arith::CmpIOp>(p.program.getLoc(), predicate, x, y);
  }

  /// constant + sum of the uniform terms.
  FailureOr<Value> uniformPart(const Affine &affine) {
    Value sum = p.constant(affine.constant);
    for (auto [coefficient, leaf] : affine.uniform) {
      FailureOr<Value> value = values.evaluateUniform(leaf);
      if (failed(value))
        return failure();
      Value wide = *value;
      if (!wide.getType().isInteger(64))
        wide = arith::ExtSIOp::create(p.b, p.program.getLoc(),
                                      p.b.getI64Type(), wide);
      sum = p.add(sum, p.mul(p.constant(coefficient), wide));
    }
    return sum;
  }

  /// key * n + row * m + u <= 0.
  FailureOr<Ranges> limit(const Affine &affine) {
    FailureOr<Value> uniform = uniformPart(affine);
    if (failed(uniform))
      return failure();
    // Extremes of row * m + u over the rows of the block.
    Value atFirst = p.add(p.mul(p.constant(affine.row), firstRow), *uniform);
    Value atLast = p.add(p.mul(p.constant(affine.row), lastRow), *uniform);
    Value least = affine.row >= 0 ? atFirst : atLast;
    Value most = affine.row >= 0 ? atLast : atFirst;
    if (affine.key == 0) {
      Value someRow = compare(arith::CmpIPredicate::sle, least, zero);
      Value everyRow = compare(arith::CmpIPredicate::sle, most, zero);
      return Ranges{{zero, select(someRow, length, zero)},
                    {zero, select(everyRow, length, zero)}};
    }
    if (affine.key > 0) { // n <= floor(-(row * m + u) / key)
      auto end = [&](Value rest) {
        return p.add(p.floorDiv(p.sub(zero, rest), affine.key), p.constant(1));
      };
      return Ranges{{zero, end(least)}, {zero, end(most)}};
    }
    // n >= ceil((row * m + u) / -key)
    auto begin = [&](Value rest) { return p.ceilDiv(rest, -affine.key); };
    return Ranges{{begin(least), length}, {begin(most), length}};
  }

  Range intersect(Range x, Range y) {
    return {p.max(x.low, y.low), p.min(x.high, y.high)};
  }

  /// Subset of the union of x and y.
  Range inside(Range x, Range y) {
    if (x.low == y.low)
      return {x.low, p.max(x.high, y.high)};
    if (x.high == y.high)
      return {p.min(x.low, y.low), x.high};
    Value longer = compare(arith::CmpIPredicate::sge, p.sub(x.high, x.low),
                           p.sub(y.high, y.low));
    return {select(longer, x.low, y.low), select(longer, x.high, y.high)};
  }

  FailureOr<Ranges> emit(const MaskRange &range) {
    switch (range.kind) {
    case MaskRange::Unknown:
      return Ranges{everything(), nothing()};
    case MaskRange::Always:
      return Ranges{everything(), everything()};
    case MaskRange::Never:
      return Ranges{nothing(), nothing()};
    case MaskRange::NonPositive:
      return limit(range.affine);
    case MaskRange::Uniform: {
      FailureOr<Value> condition = values.evaluateUniform(range.condition);
      if (failed(condition))
        return failure();
      Value end = range.negated ? select(*condition, zero, length)
                                : select(*condition, length, zero);
      return Ranges{{zero, end}, {zero, end}};
    }
    case MaskRange::And:
    case MaskRange::Or: {
      FailureOr<Ranges> result = emit(range.parts[0]);
      for (const MaskRange &part : llvm::drop_begin(range.parts)) {
        FailureOr<Ranges> other = emit(part);
        if (failed(result) || failed(other))
          return failure();
        if (range.kind == MaskRange::And)
          result = Ranges{intersect(result->any, other->any),
                          intersect(result->full, other->full)};
        else
          result = Ranges{{p.min(result->any.low, other->any.low),
                           p.max(result->any.high, other->any.high)},
                          inside(result->full, other->full)};
      }
      return result;
    }
    }
    llvm_unreachable("all kinds handled");
  }
};
} // namespace

/// True when no key block can be proved fully live whatever the lengths are.
static bool neverFull(const MaskRange &range) {
  switch (range.kind) {
  case MaskRange::Unknown:
  case MaskRange::Never:
    return true;
  case MaskRange::And:
    return llvm::any_of(range.parts, neverFull);
  case MaskRange::Or:
    return llvm::all_of(range.parts, neverFull);
  default:
    return false;
  }
}

FailureOr<KeyBounds> attn::emitKeyBounds(ProgramBuilder &p,
                                         ElementwiseLowering &values,
                                         ArrayRef<ScoreMask> masks,
                                         Value firstRow, Value lastRow,
                                         Value length, int64_t step) {
  BoundsEmitter emitter{p, values, firstRow, lastRow, length, p.constant(0)};
  Range any = emitter.everything(), full = emitter.everything();
  for (const ScoreMask &mask : masks) {
    FailureOr<Ranges> ranges = emitter.emit(mask.range);
    if (failed(ranges))
      return failure();
    if (mask.killsKeys)
      any = emitter.intersect(any, ranges->any);
    full = emitter.intersect(full, ranges->full);
  }
  Value zero = emitter.zero, blockStep = p.constant(step);
  auto clamp = [&](Value x) { return p.max(zero, p.min(x, length)); };
  auto down = [&](Value x) { return p.mul(p.floorDiv(x, step), blockStep); };
  auto up = [&](Value x) { return p.mul(p.ceilDiv(x, step), blockStep); };
  Value anyLow = down(clamp(any.low)), anyHigh = clamp(any.high);
  auto count = [&](Value begin, Value end) -> Value {
    Value blocks = p.ceilDiv(p.max(p.sub(end, begin), zero), step);
    return p.b.createOrFold<arith::TruncIOp>(p.program.getLoc(),
                                             p.b.getI32Type(), blocks);
  };
  if (llvm::any_of(masks, [](const ScoreMask &m) { return neverFull(m.range); })) {
    Value none = p.constant(0, 32);
    return KeyBounds{zero, anyLow, zero, none, count(anyLow, anyHigh), none};
  }
  Value fullLow = p.max(up(clamp(full.low)), anyLow);
  Value fullHigh = p.min(down(clamp(full.high)), down(anyHigh));
  // With no live block, everything alive is "left" of an empty middle.
  Value hasFull =
      emitter.compare(arith::CmpIPredicate::sgt, fullHigh, fullLow);
  fullLow = emitter.select(hasFull, fullLow, anyHigh);
  fullHigh = emitter.select(hasFull, fullHigh, anyHigh);

  KeyBounds bounds;
  bounds.fullBegin = fullLow;
  bounds.fullCount = count(fullLow, fullHigh);
  bounds.leftBegin = anyLow;
  bounds.leftCount = count(anyLow, fullLow);
  bounds.rightBegin = fullHigh;
  bounds.rightCount = count(fullHigh, anyHigh);
  return bounds;
}
