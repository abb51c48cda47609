//===- KeyBounds.cpp - which key blocks a block of rows visits ------------===//
//
// For each condition two half-open key ranges over the rows of the block:
//   any   a superset of the keys that are alive for some row,
//   full  a subset of the keys that are alive for every row.
// Conjunctions intersect both; disjunctions take the hull of `any` and, for
// `full`, the hull where both reach the same end, the longer one otherwise. What
// depends on data was found by a kernel that ran before (MeasuredKeys.h).
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
  const MeasuredKeys &keys;
  Value firstRow, lastRow, length, zero;
  int64_t rowBlocks; ///< Blocks of keys.rows that the rows reach over.

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

  /// What the measuring kernel found for these rows.
  Ranges measured(unsigned which) {
    Ranges all;
    for (int64_t block = 0; block < rowBlocks; ++block) {
      // A block of rows behind the last one stands for the last one.
      Value row = p.add(firstRow, p.constant(block * keys.rows));
      if (block > 0)
        row = p.min(row, lastRow);
      Value found[4];
      keys.read(p, row, which, found);
      Ranges own{{found[0], found[1]}, {found[2], found[3]}};
      all = block == 0 ? own
                       : Ranges{{p.min(all.any.low, own.any.low),
                                 p.max(all.any.high, own.any.high)},
                                intersect(all.full, own.full)};
    }
    return all;
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
    case MaskRange::Separable:
      return range.measured ? measured(*range.measured)
                            : Ranges{everything(), nothing()};
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
  case MaskRange::Separable:
    return !range.measured;
  case MaskRange::And:
    return llvm::any_of(range.parts, neverFull);
  case MaskRange::Or:
    return llvm::all_of(range.parts, neverFull);
  default:
    return false;
  }
}

namespace {
/// Key ranges of a block of rows, cut to [0, length) and made whole blocks.
struct BlockRanges {
  BoundsEmitter emitter;
  ProgramBuilder &p;
  Value length;
  int64_t step;

  BlockRanges(ProgramBuilder &p, ElementwiseLowering &values,
              const MeasuredKeys &keys, Value firstRow, Value lastRow,
              Value length, int64_t step, int64_t rowBlocks)
      : emitter{p,       values, keys,          firstRow,
                lastRow, length, p.constant(0), rowBlocks},
        p(p), length(length), step(step) {}

  /// Ranges of all masks together.
  FailureOr<Ranges> all() {
    Ranges result{emitter.everything(), emitter.everything()};
    for (const ScoreMask &mask : emitter.keys.masks) {
      FailureOr<Ranges> ranges = emitter.emit(mask.range);
      if (failed(ranges))
        return failure();
      if (mask.killsKeys)
        result.any = emitter.intersect(result.any, ranges->any);
      result.full = emitter.intersect(result.full, ranges->full);
    }
    return result;
  }

  Value clamp(Value x) {
    if (matchPattern(x, m_Zero()) || x == length)
      return x;
    return p.max(emitter.zero, p.min(x, length));
  }
  Value down(Value x) { return p.mul(p.floorDiv(x, step), p.constant(step)); }
  Value up(Value x) { return p.mul(p.ceilDiv(x, step), p.constant(step)); }
  Value count(Value begin, Value end) {
    if (begin == end)
      return p.constant(0, 32);
    Value blocks = p.ceilDiv(p.max(p.sub(end, begin), emitter.zero), step);
    return p.b.createOrFold<arith::TruncIOp>(p.program.getLoc(),
                                             p.b.getI32Type(), blocks);
  }
};
} // namespace

FailureOr<KeyBounds> attn::emitKeyBounds(ProgramBuilder &p,
                                         ElementwiseLowering &values,
                                         const MeasuredKeys &keys,
                                         Value firstRow, Value lastRow,
                                         Value length, int64_t step,
                                         int64_t rowBlocks) {
  BlockRanges blocks(p, values, keys, firstRow, lastRow, length, step, rowBlocks);
  FailureOr<Ranges> ranges = blocks.all();
  if (failed(ranges))
    return failure();
  BoundsEmitter &emitter = blocks.emitter;
  Value anyLow = blocks.down(blocks.clamp(ranges->any.low));
  Value anyHigh = blocks.clamp(ranges->any.high);
  if (llvm::any_of(keys.masks, [](const ScoreMask &m) { return neverFull(m.range); })) {
    Value none = p.constant(0, 32);
    return KeyBounds{anyLow, anyLow, anyLow, none, none,
                     blocks.count(anyLow, anyHigh)};
  }
  Value fullLow = blocks.up(blocks.clamp(ranges->full.low));
  bool fromTheStart =
      matchPattern(fullLow, m_Zero()) && matchPattern(anyLow, m_Zero());
  fullLow = fromTheStart ? anyLow : p.max(fullLow, anyLow);
  Value fullHigh =
      p.min(blocks.down(blocks.clamp(ranges->full.high)), blocks.down(anyHigh));
  // With no live block, everything alive is "right" of an empty middle.
  Value hasFull =
      emitter.compare(arith::CmpIPredicate::sgt, fullHigh, fullLow);
  if (!fromTheStart)
    fullLow = emitter.select(hasFull, fullLow, anyLow);
  fullHigh = emitter.select(hasFull, fullHigh, anyLow);

  KeyBounds bounds;
  bounds.fullBegin = fullLow;
  bounds.fullCount = blocks.count(fullLow, fullHigh);
  bounds.leftBegin = anyLow;
  bounds.leftCount = blocks.count(anyLow, fullLow);
  bounds.rightBegin = fullHigh;
  bounds.rightCount = blocks.count(fullHigh, anyHigh);
  return bounds;
}

FailureOr<KeyHull> attn::emitKeyHull(ProgramBuilder &p,
                                     ElementwiseLowering &values,
                                     const MeasuredKeys &keys, Value firstRow,
                                     Value lastRow, Value length,
                                     int64_t step, int64_t rowBlocks) {
  BlockRanges blocks(p, values, keys, firstRow, lastRow, length, step, rowBlocks);
  FailureOr<Ranges> ranges = blocks.all();
  if (failed(ranges))
    return failure();
  Value low = blocks.down(blocks.clamp(ranges->any.low));
  Value count = blocks.count(low, blocks.clamp(ranges->any.high));
  return KeyHull{low, p.max(count, p.constant(1, 32))};
}

FailureOr<LiveKeys> attn::emitLiveKeys(ProgramBuilder &p,
                                       ElementwiseLowering &values,
                                       ArrayRef<ScoreMask> masks,
                                       Value firstRow, Value lastRow,
                                       Value length) {
  MeasuredKeys unmeasured;
  unmeasured.masks.assign(masks.begin(), masks.end());
  BlockRanges blocks(p, values, unmeasured, firstRow, lastRow, length, /*step=*/1,
                     /*rowBlocks=*/1);
  FailureOr<Ranges> ranges = blocks.all();
  if (failed(ranges))
    return failure();
  return LiveKeys{blocks.clamp(ranges->any.low), blocks.clamp(ranges->any.high)};
}

KeyBounds attn::atLeastOneBlock(ProgramBuilder &p, const KeyBounds &bounds,
                                const KeyHull &hull) {
  Location loc = p.program.getLoc();
  Value total = p.add(p.add(bounds.leftCount, bounds.fullCount), bounds.rightCount);
  Value empty = p.b.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::eq, total, p.constant(0, 32));
  auto orHull = [&](Value begin) {
    return p.b.createOrFold<arith::SelectOp>(loc, empty, hull.begin, begin);
  };
  KeyBounds result = bounds;
  result.fullBegin = orHull(bounds.fullBegin);
  result.leftBegin = orHull(bounds.leftBegin);
  result.rightBegin = orHull(bounds.rightBegin);
  result.rightCount = p.b.createOrFold<arith::SelectOp>(
      loc, empty, p.constant(1, 32), bounds.rightCount);
  return result;
}
