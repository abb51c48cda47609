//===- FlashParts.cpp - what a flash kernel consists of -------------------===//

#include "lib/Schedule/FlashParts.h"
#include "lib/Schedule/MatmulAxes.h"

#include "dialect/Attn/Attn.h"

using namespace mlir;
using namespace attn;

FailureOr<FlashParts> attn::findFlashParts(const KernelContext &kernel) {
  KernelOp op = kernel.kernel;
  FlashParts parts;
  for (Operation &inner : op.getBody().front()) {
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(inner))
      parts.softmax = softmax;
    if (auto matmul = dyn_cast<MatmulOp>(inner))
      (parts.scores ? parts.values : parts.scores) = matmul;
  }
  if (parts.softmax) {
    parts.probabilities = parts.softmax.getScores();
    parts.value = parts.softmax.getValues();
    parts.keyAxis = parts.softmax.getOver().str();
  } else {
    parts.keyAxis = parts.values.getOver().str();
    bool first = parts.values.getA().getDefiningOp() &&
                 parts.values.getA().getDefiningOp()->getParentOp() == op;
    parts.probabilities = first ? parts.values.getA() : parts.values.getB();
    parts.value = first ? parts.values.getB() : parts.values.getA();
    // Rounding happens here, after the tail is cleared.
    if (auto round = parts.probabilities.getDefiningOp<RoundOp>())
      parts.probabilities = round.getOperand();
  }
  parts.contracted = parts.scores.getOver().str();
  parts.query = parts.scores.getA();
  parts.key = parts.scores.getB();
  if (!llvm::is_contained(axesOf(parts.key), parts.keyAxis))
    std::swap(parts.query, parts.key);
  if (!isOfOneOperand(parts.scores, parts.keyAxis))
    return op.emitError("exactly one operand of the first matmul must have the "
                        "key axis '")
           << parts.keyAxis << "'";
  SmallVector<std::string> scoreAxes = axesOf(parts.probabilities);
  parts.row = freeAxis(scoreAxes, axesOf(parts.value), parts.keyAxis, kernel.axes);
  parts.out =
      freeAxis(axesOf(parts.value), scoreAxes, parts.keyAxis, kernel.axes);
  return parts;
}

bool attn::outlivesRounding(KernelOp kernel, StringRef out, Type weight) {
  auto bits = [](Type type) { return cast<FloatType>(type).getFPMantissaWidth(); };
  return llvm::any_of(kernel.getResults(), [&](Value result) {
    Type element = cast<ShapedType>(result.getType()).getElementType();
    return (out.empty() || llvm::is_contained(axesOf(result), out)) &&
           isa<FloatType>(element) && bits(element) > bits(weight);
  });
}

SmallVector<ScoreMask> attn::collectMasks(const KernelContext &kernel,
                                         const FlashParts &parts) {
  return collectMasks(kernel.kernel,
                      parts.softmax ? parts.probabilities : Value(),
                      maskAxes(parts.row, parts.keyAxis, kernel.axes));
}
