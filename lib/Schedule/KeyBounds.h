//===- KeyBounds.h - which key blocks a block of rows visits --------------===//
#ifndef ATTN_LIB_SCHEDULE_KEYBOUNDS_H
#define ATTN_LIB_SCHEDULE_KEYBOUNDS_H

#include "lib/Schedule/ElementwiseLowering.h"
#include "lib/Schedule/MeasuredKeys.h"

namespace attn {

/// The bounds of tile.for_keys, as scalars of the program.
struct KeyBounds {
  mlir::Value fullBegin, leftBegin, rightBegin; ///< i64
  mlir::Value fullCount, leftCount, rightCount; ///< i32
};

/// The key blocks that warp groups of one block share.
struct KeyHull {
  mlir::Value begin; ///< i64
  mlir::Value count; ///< i32, at least 1
};

/// Bounds for rows [firstRow, lastRow] (i64, inclusive) and `length` keys in
/// blocks of `step`. The rows are up to `rowBlocks` blocks of `keys.rows`. `values`
/// evaluates the uniform parts.
mlir::FailureOr<KeyBounds> emitKeyBounds(ProgramBuilder &p,
                                         ElementwiseLowering &values,
                                         const MeasuredKeys &keys,
                                         mlir::Value firstRow,
                                         mlir::Value lastRow,
                                         mlir::Value length, int64_t step,
                                         int64_t rowBlocks);

/// All blocks that rows [firstRow, lastRow] need, one block even for no key.
mlir::FailureOr<KeyHull> emitKeyHull(ProgramBuilder &p,
                                     ElementwiseLowering &values,
                                     const MeasuredKeys &keys,
                                     mlir::Value firstRow, mlir::Value lastRow,
                                     mlir::Value length, int64_t step,
                                     int64_t rowBlocks);

/// The keys (i64, half open) that rows [firstRow, lastRow] may need; all others
/// are dead for every one of them. Zero and `length` itself when nothing is
/// known.
struct LiveKeys {
  mlir::Value low, high;
};
mlir::FailureOr<LiveKeys> emitLiveKeys(ProgramBuilder &p,
                                       ElementwiseLowering &values,
                                       llvm::ArrayRef<ScoreMask> masks,
                                       mlir::Value firstRow,
                                       mlir::Value lastRow, mlir::Value length);

/// `bounds` with at least one block, inside `hull`, whatever the masks say.
KeyBounds atLeastOneBlock(ProgramBuilder &p, const KeyBounds &bounds,
                          const KeyHull &hull);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_KEYBOUNDS_H
