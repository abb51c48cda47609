//===- FusePointwise.cpp - pointwise work rides with the softmax ----------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_FUSEPOINTWISEPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True when two tensors have the same set of axes.
static bool sameAxes(Value a, Value b) {
  auto names = axisNames(a.getType()), others = axisNames(b.getType());
  return names.size() == others.size() &&
         llvm::all_of(names, [&](StringAttr n) { return llvm::is_contained(others, n); });
}

/// Chains of pointwise operations on one set of axes.
static void fuseChains(func::FuncOp function) {
  SmallVector<Operation *> pointwise;
  for (Operation &op : function.getBody().front())
    if (isPlaceable(&op) && isPointwise(&op))
      pointwise.push_back(&op);
  for (Operation *last : llvm::reverse(pointwise)) {
    if (!isPlaceable(last)) // Already in the kernel of a later one.
      continue;
    Group group;
    group.insert(last);
    absorbProducers(group);
    Group alike;
    for (Operation *op : group)
      if (sameAxes(op->getResult(0), last->getResult(0)))
        alike.insert(op);
    // One op that only rounds stays with its producer for attn-isolate-ops.
    if (alike.size() > 1)
      makeKernel(alike, "map");
  }
}

namespace {
struct FusePointwise : attn::impl::FusePointwisePassBase<FusePointwise> {
  using FusePointwisePassBase::FusePointwisePassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    eraseUnused(getOperation());
    SmallVector<SoftmaxOp> softmaxes;
    for (SoftmaxOp op : getOperation().getOps<SoftmaxOp>())
      softmaxes.push_back(op);
    for (SoftmaxOp softmax : softmaxes) {
      Group group;
      group.insert(softmax);
      absorbProducers(group);
      absorbRounds(group);
      makeKernel(group, "softmax");
    }
    fuseChains(getOperation());
  }
};
} // namespace
