//===- RunningSums.cpp - lanes of a running sum wait for the loop's end ---===//
//
// A softmax keeps `sum = sum * correction + reduce(p)`. The correction is the
// same in all lanes that share a row, so the lanes may keep shares of the sum and
// combine them once, after the loop: no exchange in it, and the old sum and the
// correction are done with at the first element instead of the last.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

void GpuEmitter::deferSums(scf::ForOp op) {
  for (auto [argument, next] :
       llvm::zip(op.getRegionIterArgs(),
                 op.getBody()->getTerminator()->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto update = next.getDefiningOp<math::FmaOp>();
    if (!type || type.getDimSize(1) != 1 || !update ||
        update->getBlock() != op.getBody() || update.getA() != argument ||
        !argument.hasOneUse() || !update->hasOneUse())
      continue;
    auto sum = update.getC().getDefiningOp<tile::ReduceOp>();
    if (!sum || sum.getKind() != tile::ReduceKind::Add || !sum->hasOneUse() ||
        sum->getBlock() != op.getBody())
      continue;
    // A tile of one column is no sum over lanes, and the factor must be known
    // when the sum begins.
    Value factor = update.getB();
    Operation *before = factor.getDefiningOp();
    bool early = !before || before->getBlock() != op.getBody() ||
                 before->isBeforeInBlock(sum);
    if (sum.getValue().getType().getDimSize(1) == 1 || !early)
      continue;
    runningSums[sum] = {argument, factor, update};
    sumUpdates[update] = sum.getResult();
    sharedOut.insert(argument);
  }
}

Slots GpuEmitter::share(Slots whole) {
  Value first = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                      threadColumn, t.c32(0));
  for (Value &value : whole.values)
    value = t.select(first, value, t.real(0));
  return whole;
}
