//===- Group.h - collecting operations into a kernel ----------------------===//
#ifndef ATTN_LIB_FUSION_GROUP_H
#define ATTN_LIB_FUSION_GROUP_H

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// Operations of one block that will share a launch.
using Group = llvm::SetVector<mlir::Operation *>;

/// True for a function that fusion is for.
inline bool isProgram(mlir::func::FuncOp function) {
  return function->hasAttr(kAxesAttr);
}
/// True for operations that fusion places: tensor operations not in a kernel.
bool isPlaceable(mlir::Operation *op);
/// map, scale, mask, round, copy.
bool isPointwise(mlir::Operation *op);

/// Adds the pointwise producers whose every use is in the group, repeatedly.
/// `alsoMatmul` lets one matmul in by the same rule.
void absorbProducers(Group &group, bool alsoMatmul = false);
/// Adds rounds of the group's results that are their only use.
void absorbRounds(Group &group);

/// Erases operations nobody uses: a launch has a result.
void eraseUnused(mlir::func::FuncOp program);

/// Moves the group into a new attn.kernel. Values used outside are its results.
KernelOp makeKernel(const Group &group, llvm::StringRef label);

} // namespace attn

#endif // ATTN_LIB_FUSION_GROUP_H
