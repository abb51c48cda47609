//===- FlashParts.cpp - what a flash kernel consists of -------------------===//

#include "lib/Schedule/FlashParts.h"
#include "lib/Schedule/MatmulAxes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

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
  if (!llvm::is_contained(axesOf(parts.key), parts.keyAxis) ||
      llvm::is_contained(axesOf(parts.query), parts.keyAxis))
    return op.emitError("exactly one operand of the first matmul must have the "
                        "key axis '")
           << parts.keyAxis << "'";
  SmallVector<std::string> scoreAxes = axesOf(parts.probabilities);
  parts.row = freeAxis(scoreAxes, axesOf(parts.value), parts.keyAxis, kernel.axes);
  parts.out =
      freeAxis(axesOf(parts.value), scoreAxes, parts.keyAxis, kernel.axes);
  return parts;
}

std::optional<double> attn::constantScale(ScaleOp scale) {
  FloatAttr value;
  if (matchPattern(scale->getRegion(0).front().getTerminator()->getOperand(0),
                   m_Constant(&value)))
    return value.getValueAsDouble();
  return std::nullopt;
}

/// A mask kills keys when its minus infinity reaches the softmax: through masks and positive scales.
SmallVector<ScoreMask> attn::collectMasks(const KernelContext &context,
                                         const FlashParts &parts) {
  KernelOp kernel = context.kernel;
  MaskAxes axes{parts.row, parts.keyAxis, {}};
  for (const std::string &axis : {parts.row, parts.keyAxis})
    if (auto nest = context.axes.find(axis); nest != context.axes.end())
      for (const std::string &part : {nest->second.group, nest->second.inner})
        if (!part.empty())
          axes.nested.push_back(part);
  llvm::DenseSet<Operation *> killing;
  if (parts.softmax)
    for (Value at = parts.probabilities; Operation *op = at.getDefiningOp();) {
      if (auto mask = dyn_cast<MaskOp>(op)) {
        killing.insert(op);
        at = mask.getScores();
        continue;
      }
      auto scale = dyn_cast<ScaleOp>(op);
      if (!scale || constantScale(scale).value_or(-1) <= 0)
        break;
      at = scale.getScores();
    }
  SmallVector<ScoreMask> masks;
  for (MaskOp mask : kernel.getBody().getOps<MaskOp>())
    masks.push_back({analyzeMask(mask->getRegion(0).front().getTerminator()->getOperand(0),
                                 axes),
                     killing.contains(mask)});
  return masks;
}
