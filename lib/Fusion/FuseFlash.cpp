//===- FuseFlash.cpp - both matmuls in one kernel -------------------------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_FUSEFLASHPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static unsigned matmulsIn(const Group &group) {
  return llvm::count_if(group, [](Operation *op) { return isa<MatmulOp>(op); });
}

/// Takes what computes a matmul's operand out again: tiles of queries, keys and
/// values come from memory as they are, since each is read by many blocks that
/// would compute it anew.
static void leaveToMemory(Group &group, Value operand) {
  Operation *producer = operand.getDefiningOp();
  if (!producer || !isPointwise(producer) || !group.remove(producer))
    return;
  for (Value input : producer->getOperands())
    leaveToMemory(group, input);
}
static void leaveToMemory(Group &group, MatmulOp matmul) {
  leaveToMemory(group, matmul.getA());
  leaveToMemory(group, matmul.getB());
}

/// Around an online softmax: what only feeds it, then the rounding after it.
static bool fuseSoftmax(OnlineSoftmaxOp softmax) {
  Group group;
  group.insert(softmax);
  absorbProducers(group, /*alsoMatmul=*/true);
  if (matmulsIn(group) != 1) {
    softmax.emitError("scores of an online softmax must come from one matmul "
                      "that only feeds it");
    return false;
  }
  for (Operation *op : Group(group))
    if (auto matmul = dyn_cast<MatmulOp>(op))
      leaveToMemory(group, matmul);
  leaveToMemory(group, softmax.getValues());
  absorbRounds(group);
  makeKernel(group, "flash");
  return true;
}

/// A body without softmax: a matmul over an axis that an earlier matmul made
/// its key axis, pointwise operations between them.
static void fuseMatmuls(MatmulOp second) {
  for (Value operand : second->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !isPlaceable(producer) ||
        !(isPointwise(producer) || isa<MatmulOp>(producer)) ||
        second.getA() == second.getB())
      continue;
    Group group;
    group.insert(second);
    // Only what feeds this operand: the other one is the values.
    Group chain;
    if (!operand.hasOneUse())
      continue;
    chain.insert(producer);
    absorbProducers(chain, /*alsoMatmul=*/!isa<MatmulOp>(producer));
    if (matmulsIn(chain) != 1)
      continue;
    auto first = cast<MatmulOp>(*llvm::find_if(
        chain, [](Operation *op) { return isa<MatmulOp>(op); }));
    if (!isOfOneOperand(first, second.getOver()))
      continue;
    leaveToMemory(chain, first);
    group.insert(chain.begin(), chain.end());
    absorbRounds(group);
    makeKernel(group, "flash");
    return;
  }
}

namespace {
struct FuseFlash : attn::impl::FuseFlashPassBase<FuseFlash> {
  using FuseFlashPassBase::FuseFlashPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    eraseUnused(getOperation());
    SmallVector<OnlineSoftmaxOp> softmaxes;
    for (OnlineSoftmaxOp op : getOperation().getOps<OnlineSoftmaxOp>())
      softmaxes.push_back(op);
    for (OnlineSoftmaxOp softmax : softmaxes)
      if (!fuseSoftmax(softmax))
        return signalPassFailure();
    SmallVector<MatmulOp> matmuls;
    for (MatmulOp op : getOperation().getOps<MatmulOp>())
      matmuls.push_back(op);
    // The last first: the first of a pair moves into the second's kernel.
    for (MatmulOp matmul : llvm::reverse(matmuls))
      if (isPlaceable(matmul))
        fuseMatmuls(matmul);
  }
};
} // namespace
