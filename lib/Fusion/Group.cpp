//===- Group.cpp - collecting operations into a kernel --------------------===//

#include "lib/Fusion/Group.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

bool attn::isPointwise(Operation *op) {
  return isa<MapOp, ScaleOp, MaskOp, RoundOp, CopyOp>(op);
}

bool attn::isPlaceable(Operation *op) {
  return isa<func::FuncOp>(op->getParentOp()) &&
         (isPointwise(op) || isa<MatmulOp, SoftmaxOp, OnlineSoftmaxOp>(op));
}

/// The operation of the function's own block that `use` belongs to: the user,
/// or the operation whose region reads the value.
static Operation *topUser(OpOperand &use, Block *block) {
  return block->findAncestorOpInBlock(*use.getOwner());
}

/// A region that reads the tensor needs it in memory: that is no use inside.
static bool usedOnlyIn(const Group &group, Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return group.contains(user);
  });
}

void attn::absorbProducers(Group &group, bool alsoMatmul) {
  for (size_t i = 0; i < group.size(); ++i) {
    // The group grows while it is walked; a producer may become eligible when
    // its last user joins, so start over after each addition.
    for (Value operand : group[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || group.contains(producer) || !isPlaceable(producer))
        continue;
      bool matmul = alsoMatmul && isa<MatmulOp>(producer);
      if ((isPointwise(producer) || matmul) && usedOnlyIn(group, producer)) {
        group.insert(producer);
        if (matmul)
          alsoMatmul = false;
        i = size_t(-1); // Wraps to 0.
        break;
      }
    }
  }
}

void attn::absorbRounds(Group &group) {
  for (size_t i = 0; i < group.size(); ++i)
    for (Value result : group[i]->getResults())
      if (result.hasOneUse())
        if (auto round = dyn_cast<RoundOp>(*result.getUsers().begin()))
          if (isPlaceable(round))
            group.insert(round);
}

void attn::eraseUnused(func::FuncOp program) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isPlaceable(&op) && op.use_empty())
      op.erase();
}

KernelOp attn::makeKernel(const Group &group, StringRef label) {
  SmallVector<Operation *> ops(group.begin(), group.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUses(), [&](OpOperand &use) {
            Operation *user = topUser(use, op->getBlock());
            return !user || !group.contains(user);
          }))
        results.push_back(result);
  // At the last member: its operands are ready, and users of earlier members
  // outside the group, if any stand before it, are moved below.
  Operation *last = ops.back();
  OpBuilder b(last);
  auto kernel = KernelOp::create(b, last->getLoc(),
                                 TypeRange(ValueRange(results)), label);
  Block *body = b.createBlock(&kernel.getBody());
  for (Operation *op : ops)
    op->moveBefore(body, body->end());
  b.setInsertionPointToEnd(body);
  auto yielded = ReturnOp::create(b, kernel.getLoc(), results);
  for (auto [result, outside] : llvm::zip(results, kernel.getResults()))
    result.replaceUsesWithIf(outside, [&](OpOperand &use) {
      return use.getOwner() != yielded &&
             !kernel->isProperAncestor(use.getOwner());
    });
  // Users that stood between members now precede the kernel.
  SmallVector<Operation *> late;
  for (Value outside : kernel.getResults())
    for (Operation *user : outside.getUsers()) {
      Operation *top = kernel->getBlock()->findAncestorOpInBlock(*user);
      if (top && top->isBeforeInBlock(kernel) && !llvm::is_contained(late, top))
        late.push_back(top);
    }
  Operation *after = kernel;
  for (size_t i = 0; i < late.size(); ++i)
    for (Operation *user : late[i]->getUsers()) {
      Operation *top = kernel->getBlock()->findAncestorOpInBlock(*user);
      if (top && top->isBeforeInBlock(kernel) && !llvm::is_contained(late, top))
        late.push_back(top);
    }
  llvm::sort(late, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : late) {
    op->moveAfter(after);
    after = op;
  }
  return kernel;
}
