//===- RowLimits.h - masks as a range of keys for each row ----------------===//
//
// Masks that end in a softmax are one question, "is this key alive for this row",
// and most of it is affine: n <= m, m - n < window, n < N. Those conditions meet in
// one range of keys a row, found once for a block; an element is then compared with
// two numbers at most, whatever the masks say, and selected once.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_ROWLIMITS_H
#define ATTN_LIB_SCHEDULE_ROWLIMITS_H

#include "lib/Schedule/ElementwiseLowering.h"
#include "lib/Schedule/FlashParts.h"

namespace attn {

/// The masks from the last one upwards that only positive scales separate from the
/// softmax and that nothing else reads.
llvm::SmallVector<MaskOp> lastMasks(const FlashParts &parts);

/// Whether each key of the tile at `p` is inside the tensor and alive for each row
/// by `masks`: i1, rows x columns.
mlir::FailureOr<mlir::Value> emitAlive(ProgramBuilder &p,
                                       ElementwiseLowering &values,
                                       llvm::ArrayRef<MaskOp> masks,
                                       const MaskAxes &axes);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_ROWLIMITS_H
