//===- ScoreBound.cpp - scores that cannot grow beyond a number -----------===//

#include "lib/Schedule/ScoreBound.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace attn;

static constexpr double kMostExponent = 75, kLog2E = 1.4426950408889634;

/// What a region of elements yields.
static Value yielded(Operation *op) {
  return op->getRegion(0).front().getTerminator()->getOperand(0);
}

static std::optional<double> product(std::optional<double> x,
                                     std::optional<double> y) {
  return x && y ? std::optional(*x * *y) : std::nullopt;
}

static std::optional<double> sum(std::optional<double> x, std::optional<double> y) {
  return x && y ? std::optional(*x + *y) : std::nullopt;
}

std::optional<double> attn::scoreBound(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) { // An element of a tensor.
    Operation *parent = argument.getOwner()->getParentOp();
    if (!isa_and_nonnull<MapOp, ScaleOp, MaskOp>(parent))
      return std::nullopt;
    unsigned first = parent->getNumOperands() - argument.getOwner()->getNumArguments();
    return scoreBound(parent->getOperand(first + argument.getArgNumber()));
  }
  Operation *op = value.getDefiningOp();
  APFloat number(0.0);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return number.isFinite() ? std::optional(std::fabs(number.convertToDouble()))
                             : std::nullopt;
  if (isa<math::TanhOp>(op))
    return 1;
  if (isa<MaskOp, CopyOp, arith::NegFOp>(op))
    return scoreBound(op->getOperand(0));
  if (isa<MapOp>(op))
    return scoreBound(yielded(op));
  if (isa<ScaleOp>(op))
    return product(scoreBound(op->getOperand(0)), scoreBound(yielded(op)));
  if (isa<arith::MulFOp>(op))
    return product(scoreBound(op->getOperand(0)), scoreBound(op->getOperand(1)));
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return sum(scoreBound(op->getOperand(0)), scoreBound(op->getOperand(1)));
  return std::nullopt;
}

std::optional<double> attn::fixedReference(OnlineSoftmaxOp softmax) {
  auto values = cast<RankedTensorType>(softmax.getValues().getType());
  if (softmax.getSink() || !values.getElementType().isBF16())
    return std::nullopt;
  std::optional<double> bound = scoreBound(softmax.getScores());
  if (!bound || *bound * kLog2E > kMostExponent)
    return std::nullopt;
  return kMostExponent - *bound * kLog2E;
}
