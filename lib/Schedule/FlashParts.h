//===- FlashParts.h - what a flash kernel consists of ---------------------===//
#ifndef ATTN_LIB_SCHEDULE_FLASHPARTS_H
#define ATTN_LIB_SCHEDULE_FLASHPARTS_H

#include "lib/Analysis/MaskRange.h"
#include "lib/Schedule/Kernels.h"

#include <optional>

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

/// The constant a scale multiplies by, if it is one.
std::optional<double> constantScale(ScaleOp scale);

/// One mask on the way from the scores to the softmax. A mask whose minus
/// infinity might not survive until the softmax cannot make a key dead, but it
/// still must hold where a block is called fully live.
struct ScoreMask {
  MaskRange range;
  bool killsKeys = true;
};

/// Every mask between the first matmul and the softmax.
llvm::SmallVector<ScoreMask> collectMasks(const KernelContext &kernel,
                                          const FlashParts &parts);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_FLASHPARTS_H
