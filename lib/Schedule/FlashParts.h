//===- FlashParts.h - what a flash kernel consists of ---------------------===//
#ifndef ATTN_LIB_SCHEDULE_FLASHPARTS_H
#define ATTN_LIB_SCHEDULE_FLASHPARTS_H

#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/ScoreMasks.h"

namespace attn {

/// The parts of a flash kernel.
struct FlashParts {
  MatmulOp scores;          ///< query x key
  OnlineSoftmaxOp softmax;  ///< Null in a body without softmax...
  MatmulOp values;          ///< ...where this is probabilities x value.
  mlir::Value probabilities; ///< What the second matmul multiplies by.
  mlir::Value value, query, key;
  std::string keyAxis, contracted, row, out;
};

/// Failure emits an error at the kernel.
mlir::FailureOr<FlashParts> findFlashParts(const KernelContext &kernel);

/// Every mask between the first matmul and the softmax, if there is one.
llvm::SmallVector<ScoreMask> collectMasks(const KernelContext &kernel,
                                          const FlashParts &parts);

/// Whether a result with the value product's axis `out` (any, where the values have no
/// axis of their own) keeps more bits than probabilities that were rounded to `weight`.
bool outlivesRounding(KernelOp kernel, llvm::StringRef out, mlir::Type weight);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_FLASHPARTS_H
