//===- OnlineSoftmax.cpp - the running softmax as tile code ---------------===//

#include "lib/Schedule/OnlineSoftmax.h"
#include "lib/Schedule/ScoreRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

static constexpr double kMinusInfinity =
    -std::numeric_limits<double>::infinity();

Value OnlineSoftmax::rowConstant(double value) {
  auto type = RankedTensorType::get({p.rows, 1}, p.b.getF32Type());
  return arith::ConstantOp::create(
      p.b, p.program.getLoc(),
      DenseElementsAttr::get(type, p.b.getF32FloatAttr(value)));
}

OnlineSoftmax::State OnlineSoftmax::start(Value sink) {
  if (!sink)
    return {rowConstant(kMinusInfinity), rowConstant(0)};
  Location loc = p.program.getLoc();
  Value logit = p.expand(p.toF32(sink), p.rows, 1);
  // Not `factor`: the sink is no score, so a folded scale is not its own.
  Value maximum =
      arith::MulFOp::create(p.b, loc, logit, rowConstant(kOneOverLn2));
  Value dead = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ,
                                     maximum, rowConstant(kMinusInfinity));
  Value own = rowConstant(1);
  if (packed > 0) {
    Value exact = maximum;
    maximum = math::CeilOp::create(p.b, loc, exact);
    own = math::Exp2Op::create(p.b, loc,
                               arith::SubFOp::create(p.b, loc, exact, maximum));
  }
  Value sum = arith::SelectOp::create(p.b, loc, dead, rowConstant(0), own);
  return {maximum, sum};
}

OnlineSoftmax::Line OnlineSoftmax::line(Value maximum, Value largest) {
  Location loc = p.program.getLoc();
  // Where the row is large: a power of two makes slope * (s - largest) exact and 0
  // at the largest; scores that do not reach the maximum are infinitely far below.
  Value large = isLarge(p.b, loc, maximum);
  Value reached =
      arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ, maximum,
                            scaleLargest(p.b, loc, largest, factor));
  double power = std::exp2(std::floor(std::log2(factor)));
  Value apart = arith::SelectOp::create(
      p.b, loc, reached,
      arith::MulFOp::create(p.b, loc, largest, rowConstant(power)),
      rowConstant(-kMinusInfinity));
  return {arith::SelectOp::create(p.b, loc, large, rowConstant(power),
                                  rowConstant(factor)),
          arith::SelectOp::create(p.b, loc, large, apart,
                                  shiftOf(p.b, loc, maximum))};
}

Value OnlineSoftmax::probability(Value scores, Line line, Value offset) {
  Location loc = p.program.getLoc();
  auto [rows, columns] = shapeOf(scores);
  Value added = arith::NegFOp::create(p.b, loc, line.shift);
  if (offset) {
    added = math::FmaOp::create(p.b, loc, offset, p.expand(line.slope, rows, 8),
                                p.expand(added, rows, 8));
    added = tile::UnfoldOp::create(p.b, loc, scores.getType(), added);
  }
  Value exponent = math::FmaOp::create(p.b, loc, scores,
                                       p.expand(line.slope, rows, columns),
                                       p.expand(added, rows, columns));
  if (polynomial > 0)
    return tile::Exp2Op::create(p.b, loc, exponent.getType(), exponent, polynomial,
                                /*unbounded=*/false);
  if (packed > 0) {
    Type pairs = typeLike(exponent, p.b.getBF16Type());
    return tile::Exp2PackedOp::create(p.b, loc, exponent.getType(), pairs, pairs,
                                      exponent, packed, /*checked=*/false)
        .getExact();
  }
  return math::Exp2Op::create(p.b, loc, exponent);
}

Value OnlineSoftmax::rounded(Value probability, Type element) {
  Location loc = p.program.getLoc();
  Type type = typeLike(probability, element);
  if (auto both = probability.getDefiningOp<tile::Exp2PackedOp>())
    return tile::RoundPackedOp::create(p.b, loc, type, both.getExact(),
                                       both.getPower(), both.getBend(),
                                       both.getShare());
  return arith::TruncFOp::create(p.b, loc, type, probability);
}

OnlineSoftmax::Step OnlineSoftmax::step(State state, Value scores) {
  Location loc = p.program.getLoc();
  auto rowType = RankedTensorType::get({p.rows, 1}, p.b.getF32Type());
  Step step;
  step.largest = tile::ReduceOp::create(p.b, loc, rowType, tile::ReduceKind::Max,
                                        scores);
  step.next.maximum = arith::MaxNumFOp::create(
      p.b, loc, state.maximum, scaleLargest(p.b, loc, step.largest, factor));
  Value dead = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ,
                                     step.next.maximum, rowConstant(kMinusInfinity));
  Value shift = arith::SelectOp::create(p.b, loc, dead, rowConstant(0),
                                        step.next.maximum);
  step.correction = math::Exp2Op::create(
      p.b, loc, arith::SubFOp::create(p.b, loc, state.maximum, shift));
  step.probability = probability(scores, line(step.next.maximum, step.largest));
  auto add = [&](Value sum, Value probabilities) -> Value {
    Value added = tile::ReduceOp::create(p.b, loc, rowType, tile::ReduceKind::Add,
                                         probabilities);
    return math::FmaOp::create(p.b, loc, sum, step.correction, added);
  };
  addWeights(state, step.probability, add, step.next);
  return step;
}

OnlineSoftmax::State OnlineSoftmax::startFolded(Value sink) {
  Location loc = p.program.getLoc();
  State state = start(sink);
  if (!summed) {
    state.sum = nullptr;
    return state;
  }
  auto type = RankedTensorType::get({p.rows, 8}, p.b.getF32Type());
  Value nothing = arith::ConstantOp::create(
      p.b, loc, DenseElementsAttr::get(type, p.b.getF32FloatAttr(0)));
  if (!sink) {
    state.sum = nothing;
    return state;
  }
  Value column = tile::IndexOp::create(
      p.b, loc, RankedTensorType::get({1, 8}, p.b.getI32Type()), p.constant(0));
  Value first = arith::CmpIOp::create(p.b, loc, arith::CmpIPredicate::eq, column,
                                      p.intLike(column, 0));
  state.sum = arith::SelectOp::create(p.b, loc, p.expand(first, p.rows, 8),
                                      p.expand(state.sum, p.rows, 8), nothing);
  return state;
}

Value OnlineSoftmax::startProduct(Value sink, int64_t columns) {
  Location loc = p.program.getLoc();
  int64_t all = columns + tile::kSumColumns;
  auto type = RankedTensorType::get({p.rows, all}, p.b.getF32Type());
  Value nothing = arith::ConstantOp::create(
      p.b, loc, DenseElementsAttr::get(type, p.b.getF32FloatAttr(0)));
  if (!sink)
    return nothing;
  Value column = tile::IndexOp::create(
      p.b, loc, RankedTensorType::get({1, all}, p.b.getI32Type()), p.constant(0));
  Value isSum = arith::CmpIOp::create(p.b, loc, arith::CmpIPredicate::sge, column,
                                      p.intLike(column, columns));
  return arith::SelectOp::create(p.b, loc, p.expand(isSum, p.rows, all),
                                 p.expand(start(sink).sum, p.rows, all), nothing);
}

/// The scores, but of large rows their distance from the largest, whose shift is 0.
/// Forms that keep the maximum move it where it is large, so that those that did
/// not move need no look. A branch, since no such row is the rule.
Value OnlineSoftmax::nearLargest(Value scores, Value offset, Value maximum,
                                 Value moved) {
  Location loc = p.program.getLoc();
  auto distances = [&](OpBuilder &b) -> Value {
    OpBuilder::InsertionGuard guard(p.b);
    p.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    auto [rows, columns] = shapeOf(scores);
    Value all = scores, added;
    if (offset) {
      added = tile::UnfoldOp::create(p.b, loc, scores.getType(), offset);
      all = arith::AddFOp::create(p.b, loc, scores, added);
    }
    Value largest = tile::ReduceOp::create(p.b, loc, maximum.getType(),
                                           tile::ReduceKind::Max, all);
    Value reached =
        arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ, maximum,
                              scaleLargest(p.b, loc, largest, factor));
    Value origin = arith::SelectOp::create(p.b, loc, reached, largest,
                                           rowConstant(-kMinusInfinity));
    Value large = isLarge(p.b, loc, maximum);
    origin = arith::SelectOp::create(p.b, loc, large, origin, rowConstant(0));
    all = arith::SubFOp::create(p.b, loc, all, p.expand(origin, rows, columns));
    // The offset is added once more with the exponent.
    return added ? arith::SubFOp::create(p.b, loc, all, added).getResult() : all;
  };
  auto whereLarge = [&](OpBuilder &b, Location loc) {
    Value large = tile::BroadcastOp::create(
        b, loc, RankedTensorType::get({p.rows, 8}, b.getI1Type()),
        isLarge(b, loc, maximum));
    auto branch = scf::IfOp::create(
        b, loc, tile::AnyOp::create(b, loc, b.getI1Type(), large),
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, distances(b));
        },
        [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, scores); });
    scf::YieldOp::create(b, loc, branch.getResult(0));
  };
  return scf::IfOp::create(
             p.b, loc, moved, whereLarge,
             [&](OpBuilder &b, Location loc) {
               scf::YieldOp::create(b, loc, scores);
             })
      .getResult(0);
}

OnlineSoftmax::FoldedStep OnlineSoftmax::stepFolded(State state, Value scores,
                                                    KeyOffset offset) {
  Location loc = p.program.getLoc();
  Type rowType = state.maximum.getType();
  auto running = tile::RunningMaxOp::create(
      p.b, loc, rowType, rowType, p.b.getI1Type(),
      fixed ? tile::SoftmaxForm::Keep : tile::SoftmaxForm::Running, scores,
      state.maximum, offset.columns, offset.growth,
      llvm::APFloat(static_cast<float>(factor)),
      /*whole=*/packed > 0 || (!fixed && polynomial > 0));
  FoldedStep step;
  step.next.maximum = running.getNext();
  if (fixed) {
    double most = packed > 0 ? std::floor(*fixed) : *fixed;
    step.next.maximum = arith::MaxNumFOp::create(p.b, loc, step.next.maximum,
                                                 rowConstant(-most));
    step.next.maximum = arith::MinNumFOp::create(p.b, loc, step.next.maximum,
                                                 rowConstant(most));
  }
  step.correction = running.getCorrection();
  step.moved = running.getMoved();
  if (!fixed) // Else it is not large.
    scores = nearLargest(scores, offset.columns, step.next.maximum, step.moved);
  step.probability =
      probability(scores, {rowConstant(factor), shiftOf(p.b, loc, step.next.maximum)},
                  offset.columns);
  Value correction = p.expand(step.correction, p.rows, 8);
  auto add = [&](Value sum, Value probabilities) -> Value {
    Value added = tile::FoldOp::create(p.b, loc, sum.getType(),
                                       tile::ReduceKind::Add, probabilities);
    return math::FmaOp::create(p.b, loc, sum, correction, added);
  };
  addWeights(state, step.probability, add, step.next);
  return step;
}

OnlineSoftmax::State OnlineSoftmax::reduceSum(State state) {
  auto reduce = [&](Value sum) -> Value {
    return tile::ReduceOp::create(p.b, p.program.getLoc(), state.maximum.getType(),
                                  tile::ReduceKind::Add, sum);
  };
  if (state.sum)
    state.sum = reduce(state.sum);
  if (state.weights)
    state.weights = reduce(state.weights);
  return state;
}

/// To the nearest, ties to even, on the bits of f32: half a unit less one is added,
/// and one more where the last kept bit is set. A carry moves the exponent as it
/// should. Below the normal range of f16 more bits are kept than f16 has, of what
/// counts nothing beside the row's largest, about 1.
///
/// Not arith.truncf: it would be the same conversion as the value product's
/// operand, which warp groups may not make before the last product is done.
Value OnlineSoftmax::roundedToWeight(Value probability) {
  if (!weight)
    return probability;
  Location loc = p.program.getLoc();
  int64_t dropped = 24 - cast<FloatType>(weight).getFPMantissaWidth();
  Value bits = arith::BitcastOp::create(
      p.b, loc, typeLike(probability, p.b.getI32Type()), probability);
  auto constant = [&](int64_t value) { return p.intLike(bits, value); };
  Value last = arith::AndIOp::create(
      p.b, loc, arith::ShRUIOp::create(p.b, loc, bits, constant(dropped)), constant(1));
  Value half = arith::AddIOp::create(p.b, loc, last,
                                     constant((int64_t(1) << (dropped - 1)) - 1));
  Value sum = arith::AddIOp::create(p.b, loc, bits, half);
  Value kept = arith::AndIOp::create(p.b, loc, sum, constant(-(int64_t(1) << dropped)));
  return arith::BitcastOp::create(p.b, loc, probability.getType(), kept);
}

void OnlineSoftmax::addWeights(
    State state, Value probability,
    llvm::function_ref<Value(Value sum, Value probabilities)> add, State &next) {
  if (!state.sum)
    return;
  Value weights = roundedToWeight(probability);
  next.sum = add(state.sum, state.weights ? probability : weights);
  if (state.weights)
    next.weights = add(state.weights, weights);
}

SmallVector<Value> OnlineSoftmax::State::flat() const {
  SmallVector<Value> all{maximum};
  for (Value value : {sum, weights})
    if (value)
      all.push_back(value);
  return all;
}

OnlineSoftmax::State OnlineSoftmax::State::from(ValueRange flat) {
  return {flat[0], flat.size() > 1 ? flat[1] : Value(),
          flat.size() > 2 ? flat[2] : Value()};
}

Value OnlineSoftmax::inverse(Value sum) {
  Location loc = p.program.getLoc();
  Value empty = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ, sum,
                                      rowConstant(0));
  Value quotient = arith::DivFOp::create(p.b, loc, rowConstant(1), sum);
  return arith::SelectOp::create(p.b, loc, empty, rowConstant(0), quotient);
}

Value OnlineSoftmax::logSumExp(State state) {
  Location loc = p.program.getLoc();
  // log of the sum in natural units, plus the maximum brought back to them.
  Value log = math::LogOp::create(p.b, loc, state.sum);
  Value maximum = arith::MulFOp::create(p.b, loc, state.maximum,
                                        rowConstant(1 / kOneOverLn2));
  Value sum = arith::AddFOp::create(p.b, loc, maximum, log);
  Value empty = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ,
                                      state.sum, rowConstant(0));
  return arith::SelectOp::create(p.b, loc, empty, rowConstant(kMinusInfinity),
                                 sum);
}

Value OnlineSoftmax::maskTail(Value scores, StringRef key, bool zero) {
  Location loc = p.program.getLoc();
  auto [rows, columns] = shapeOf(scores);
  // The length fits i32 (the runner refuses axes beyond 2^30).
  Value n = p.index(key, p.b.getI32Type());
  Value length =
      arith::TruncIOp::create(p.b, loc, p.b.getI32Type(), p.length(key));
  Value inside = arith::CmpIOp::create(p.b, loc, arith::CmpIPredicate::slt, n,
                                       p.expand(length, 1, columns));
  return tile::MaskOp::create(p.b, loc, scores.getType(), scores,
                              p.expand(inside, rows, columns), zero);
}
