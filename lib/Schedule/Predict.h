//===- Predict.h - what a kernel will do, said beforehand -----------------===//
#ifndef ATTN_LIB_SCHEDULE_PREDICT_H
#define ATTN_LIB_SCHEDULE_PREDICT_H

#include "lib/Schedule/Kernels.h"

namespace attn {

/// Whether an operation takes a special-function unit, on a GPU.
bool isSpecial(mlir::Operation *op);

/// The terms of bundle::Prediction as an array of dictionaries
/// {what, coefficient, axes[, live]}, evaluated by the runner with lengths.
/// Device memory moves once a tensor: what a block reads again comes from the
/// L2 cache. Flash kernels with masks compute live pairs only; so do others whose
/// `program` says by `tile.live`, the axes of the pairs, that it passes over dead
/// ones.
mlir::ArrayAttr predict(const KernelContext &kernel, KernelKind kind,
                        mlir::func::FuncOp program);

/// The same for the kernel that measures a flash kernel's masks.
mlir::ArrayAttr predictMeasuredKeys(const KernelContext &kernel,
                                    const MeasuredKeys &keys);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_PREDICT_H
