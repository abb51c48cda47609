//===- MaterializeMasks.cpp - masks as tensors ----------------------------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_MATERIALIZEMASKSPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The axes of the result that the mask's predicate depends on, in its order.
static RankedTensorType maskType(MaskOp mask, OpBuilder &b) {
  auto result = cast<RankedTensorType>(mask.getType());
  SmallVector<int64_t> shape;
  SmallVector<StringAttr> names;
  for (auto [name, length] : llvm::zip(axisNames(result), result.getShape())) {
    bool used = false;
    StringRef outer = name.getValue();
    mask.getBody().walk([&](IndexOp index) {
      used |= reaches(mask, outer, index.getAxis());
    });
    for (Value input : mask.getInputs())
      for (StringAttr axis : axisNames(input.getType()))
        used |= reaches(mask, outer, axis.getValue());
    if (used) {
      shape.push_back(length);
      names.push_back(name);
    }
  }
  return RankedTensorType::get(shape, b.getF32Type(),
                               AxesAttr::get(b.getContext(), names));
}

static void materialize(MaskOp mask) {
  OpBuilder b(mask);
  Location loc = mask.getLoc();
  // The mask: the predicate's region, with a choice of 0 or -inf at its end.
  auto built = MapOp::create(b, loc, maskType(mask, b), mask.getInputs());
  built.getBody().takeBody(mask.getBody());
  auto yield = cast<YieldOp>(built.getBody().front().getTerminator());
  b.setInsertionPoint(yield);
  auto constant = [&](double v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(v));
  };
  yield.getValueMutable().assign(arith::SelectOp::create(
      b, loc, yield.getValue(), constant(0),
      constant(-std::numeric_limits<double>::infinity())));
  // The scores plus the mask.
  b.setInsertionPointAfter(built);
  Value inputs[] = {mask.getScores(), built.getResult()};
  auto added = MapOp::create(b, loc, mask.getType(), inputs);
  Block *body = b.createBlock(&added.getBody());
  for (Value input : inputs)
    body->addArgument(cast<RankedTensorType>(input.getType()).getElementType(),
                      loc);
  Value score = body->getArgument(0);
  if (!score.getType().isF32())
    score = arith::ExtFOp::create(b, loc, b.getF32Type(), score);
  YieldOp::create(b, loc,
                  arith::AddFOp::create(b, loc, score, body->getArgument(1)));
  mask.replaceAllUsesWith(added.getResult());
  mask.erase();
}

namespace {
struct MaterializeMasks : attn::impl::MaterializeMasksPassBase<MaterializeMasks> {
  using MaterializeMasksPassBase::MaterializeMasksPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    SmallVector<MaskOp> masks;
    getOperation().walk([&](MaskOp mask) { masks.push_back(mask); });
    for (MaskOp mask : masks)
      materialize(mask);
  }
};
} // namespace
