//===- ScoreMasks.cpp - the masks between scores and a softmax ------------===//

#include "lib/Schedule/ScoreMasks.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

std::optional<double> attn::constantScale(ScaleOp scale) {
  FloatAttr value;
  if (matchPattern(scale->getRegion(0).front().getTerminator()->getOperand(0),
                   m_Constant(&value)))
    return value.getValueAsDouble();
  return std::nullopt;
}

MaskAxes attn::maskAxes(StringRef row, StringRef key, const AxisTable &table) {
  MaskAxes axes{row.str(), key.str(), {}};
  for (StringRef axis : {row, key})
    if (auto nest = table.find(axis); nest != table.end())
      for (const std::string &part : {nest->second.group, nest->second.inner})
        if (!part.empty())
          axes.nested.push_back(part);
  return axes;
}

SmallVector<ScoreMask> attn::collectMasks(KernelOp kernel, Value scores,
                                          const MaskAxes &axes) {
  llvm::DenseSet<Operation *> killing;
  for (Value at = scores; Operation *op = at ? at.getDefiningOp() : nullptr;) {
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

SoftmaxOp attn::softmaxBehind(Value tensor) {
  auto kernel = tensor.getDefiningOp<KernelOp>();
  if (!kernel)
    return nullptr;
  Value made = kernel.getBody().front().getTerminator()->getOperand(
      cast<OpResult>(tensor).getResultNumber());
  while (auto round = made.getDefiningOp<RoundOp>())
    made = round.getOperand();
  auto softmax = made.getDefiningOp<SoftmaxOp>();
  bool here = softmax && softmax->getParentOp() == kernel &&
              softmax.getProbabilities() == made;
  return here ? softmax : SoftmaxOp();
}
