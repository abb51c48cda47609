//===- MatmulAxes.h - roles of the axes of a matmul -----------------------===//
#ifndef ATTN_LIB_SCHEDULE_MATMULAXES_H
#define ATTN_LIB_SCHEDULE_MATMULAXES_H

#include "lib/Schedule/Kernels.h"

namespace attn {

/// Rows are the innermost axis that only `a` has, columns the innermost that
/// only `b` has; either may be missing. All other axes of the result are batch.
struct MatmulAxes {
  std::string row, column, contracted;
};

MatmulAxes matmulAxes(MatmulOp matmul, const AxisTable &table);

/// The innermost of `axes` that is not in `other`, by name or by nesting, and
/// is not `excluded`. Empty when there is none.
std::string freeAxis(llvm::ArrayRef<std::string> axes,
                     llvm::ArrayRef<std::string> other,
                     llvm::StringRef excluded, const AxisTable &table);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_MATMULAXES_H
