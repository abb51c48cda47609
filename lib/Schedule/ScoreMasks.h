//===- ScoreMasks.h - the masks between scores and a softmax --------------===//
#ifndef ATTN_LIB_SCHEDULE_SCOREMASKS_H
#define ATTN_LIB_SCHEDULE_SCOREMASKS_H

#include "lib/Analysis/MaskRange.h"
#include "lib/Schedule/ProgramBuilder.h"

#include "dialect/Attn/Attn.h"

#include <optional>

namespace attn {

/// One mask on the way from the scores to the softmax. A mask whose minus
/// infinity might not survive until the softmax cannot make a key dead, but it
/// still must hold where a block is called fully live.
struct ScoreMask {
  MaskRange range;
  bool killsKeys = true;
};

/// The constant a scale multiplies by, if it is one.
std::optional<double> constantScale(ScaleOp scale);

/// How region values relate to a block of rows along `row` and keys along `key`.
MaskAxes maskAxes(llvm::StringRef row, llvm::StringRef key,
                  const AxisTable &table);

/// Every mask of `kernel`. Those whose minus infinity reaches `scores`, what a
/// softmax takes (null: nothing), kill keys: through masks and positive scales.
llvm::SmallVector<ScoreMask> collectMasks(KernelOp kernel, mlir::Value scores,
                                          const MaskAxes &axes);

/// The softmax whose probabilities a tensor holds, rounded at most; null when
/// there is none in the kernel that makes it.
SoftmaxOp softmaxBehind(mlir::Value tensor);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SCOREMASKS_H
