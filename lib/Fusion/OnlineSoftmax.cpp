//===- OnlineSoftmax.cpp - softmax and its matmul in one pass -------------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_ONLINESOFTMAXPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The matmul at the root of `scores`, through pointwise operations that are
/// used once; null when there is none of the form query x key.
static MatmulOp scoreMatmul(Value scores, StringRef key) {
  while (Operation *op = scores.getDefiningOp()) {
    if (!llvm::hasSingleElement(scores.getUses()))
      return nullptr;
    if (auto matmul = dyn_cast<MatmulOp>(op))
      return isOfOneOperand(matmul, key) ? matmul : MatmulOp();
    if (!isPointwise(op))
      return nullptr;
    // Follow the operand that has the key axis and is itself computed.
    Value next;
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp() && hasAxis(operand.getType(), key) && !next)
        next = operand;
    if (!next)
      return nullptr;
    scores = next;
  }
  return nullptr;
}

static void rewrite(SoftmaxOp softmax) {
  auto refuse = [&](StringRef why) {
    softmax.emitRemark("softmax stays a kernel of its own: ") << why;
  };
  Value p = softmax.getProbabilities();
  if (!p.hasOneUse())
    return refuse("its probabilities have more than one use");
  Operation *user = *p.getUsers().begin();
  auto round = dyn_cast<RoundOp>(user);
  Value multiplied = p;
  if (round) {
    if (!round->hasOneUse())
      return refuse("its probabilities have more than one use");
    multiplied = round.getResult();
    user = *round->getUsers().begin();
  }
  auto matmul = dyn_cast<MatmulOp>(user);
  if (!matmul || matmul.getOver() != softmax.getOver())
    return refuse("no matmul over the same axis follows");
  if (!scoreMatmul(softmax.getScores(), softmax.getOver()))
    return refuse("its scores do not come from one matmul of queries and keys");
  Value values =
      matmul.getA() == multiplied ? matmul.getB() : matmul.getA();
  // The new operation stands at the matmul: earlier users of the log-sum-exp
  // would see it too late.
  if (softmax.getLse())
    for (Operation *reader : softmax.getLse().getUsers()) {
      Operation *top = matmul->getBlock()->findAncestorOpInBlock(*reader);
      if (top && top->isBeforeInBlock(matmul))
        return refuse("its log-sum-exp is used before the matmul");
    }
  OpBuilder b(matmul);
  Type lse = softmax.getLse() ? softmax.getLse().getType() : Type();
  auto online = OnlineSoftmaxOp::create(b, softmax.getLoc(), matmul.getType(),
                                        lse, softmax.getScores(), values,
                                        softmax.getSink(), softmax.getOver());
  matmul.replaceAllUsesWith(online.getResult());
  if (lse)
    softmax.getLse().replaceAllUsesWith(online.getLse());
  matmul.erase();
  if (round)
    round.erase();
  softmax.erase();
}

namespace {
struct OnlineSoftmax : attn::impl::OnlineSoftmaxPassBase<OnlineSoftmax> {
  using OnlineSoftmaxPassBase::OnlineSoftmaxPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    SmallVector<SoftmaxOp> softmaxes;
    for (SoftmaxOp softmax : getOperation().getOps<SoftmaxOp>())
      softmaxes.push_back(softmax);
    for (SoftmaxOp softmax : softmaxes)
      rewrite(softmax);
  }
};
} // namespace
