//===- OnlineSoftmax.cpp - the running softmax as tile code ---------------===//

#include "lib/Schedule/OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  Value logit = sink;
  if (!elementOf(logit).isF32())
    logit = arith::ExtFOp::create(p.b, loc, typeLike(logit, p.b.getF32Type()),
                                  logit);
  logit = p.expand(logit, p.rows, 1);
  // Not `factor`: the sink is no score, so a folded scale is not its own.
  Value maximum =
      arith::MulFOp::create(p.b, loc, logit, rowConstant(kOneOverLn2));
  Value dead = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ,
                                     maximum, rowConstant(kMinusInfinity));
  Value sum = arith::SelectOp::create(p.b, loc, dead, rowConstant(0),
                                      rowConstant(1));
  return {maximum, sum};
}

Value OnlineSoftmax::shift(Value maximum) {
  Location loc = p.program.getLoc();
  Value dead = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::OEQ,
                                     maximum, rowConstant(kMinusInfinity));
  return arith::SelectOp::create(p.b, loc, dead, rowConstant(0), maximum);
}

Value OnlineSoftmax::probability(Value scores, Value shift) {
  Location loc = p.program.getLoc();
  auto [rows, columns] = shapeOf(scores);
  Value negative = arith::NegFOp::create(p.b, loc, shift);
  Value exponent = math::FmaOp::create(
      p.b, loc, scores, p.floatLike(scores, factor),
      p.expand(negative, rows, columns));
  if (polynomial > 0)
    return tile::Exp2Op::create(p.b, loc, exponent.getType(), exponent, polynomial,
                                /*unbounded=*/false);
  return math::Exp2Op::create(p.b, loc, exponent);
}

OnlineSoftmax::Step OnlineSoftmax::step(State state, Value scores) {
  Location loc = p.program.getLoc();
  auto rowType = RankedTensorType::get({p.rows, 1}, p.b.getF32Type());
  Value largest = tile::ReduceOp::create(p.b, loc, rowType,
                                         tile::ReduceKind::Max, scores);
  largest = arith::MulFOp::create(p.b, loc, largest, rowConstant(factor));
  Step step;
  step.next.maximum =
      arith::MaxNumFOp::create(p.b, loc, state.maximum, largest);
  Value shift = this->shift(step.next.maximum);
  step.correction = math::Exp2Op::create(
      p.b, loc, arith::SubFOp::create(p.b, loc, state.maximum, shift));
  step.probability = probability(scores, shift);
  Value sum = tile::ReduceOp::create(p.b, loc, rowType, tile::ReduceKind::Add,
                                     step.probability);
  step.next.sum = math::FmaOp::create(p.b, loc, state.sum, step.correction, sum);
  return step;
}

OnlineSoftmax::State OnlineSoftmax::startFolded(Value sink) {
  Location loc = p.program.getLoc();
  State state = start(sink);
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

OnlineSoftmax::FoldedStep OnlineSoftmax::stepFolded(State state, Value scores) {
  Location loc = p.program.getLoc();
  Type rowType = state.maximum.getType();
  auto running = tile::RunningMaxOp::create(
      p.b, loc, rowType, rowType, p.b.getI1Type(),
      fixed ? tile::SoftmaxForm::Keep : tile::SoftmaxForm::Running, scores,
      state.maximum, llvm::APFloat(static_cast<float>(factor)),
      /*whole=*/!fixed && polynomial > 0);
  FoldedStep step;
  step.next.maximum = running.getNext();
  if (fixed) {
    step.next.maximum = arith::MaxNumFOp::create(p.b, loc, step.next.maximum,
                                                 rowConstant(-*fixed));
    step.next.maximum = arith::MinNumFOp::create(p.b, loc, step.next.maximum,
                                                 rowConstant(*fixed));
  }
  step.correction = running.getCorrection();
  step.moved = running.getMoved();
  step.probability = probability(scores, shift(step.next.maximum));
  Value sum = tile::FoldOp::create(p.b, loc, state.sum.getType(),
                                   tile::ReduceKind::Add, step.probability);
  step.next.sum = math::FmaOp::create(p.b, loc, state.sum,
                                      p.expand(step.correction, p.rows, 8), sum);
  return step;
}

OnlineSoftmax::State OnlineSoftmax::reduceSum(State state) {
  state.sum = tile::ReduceOp::create(p.b, p.program.getLoc(),
                                     state.maximum.getType(),
                                     tile::ReduceKind::Add, state.sum);
  return state;
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
  Value maximum = arith::MulFOp::create(p.b, loc, shift(state.maximum),
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
