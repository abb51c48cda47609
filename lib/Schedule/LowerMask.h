//===- LowerMask.h - what a mask becomes in one copy of the key loop ------===//
#ifndef ATTN_LIB_SCHEDULE_LOWERMASK_H
#define ATTN_LIB_SCHEDULE_LOWERMASK_H

#include "dialect/Tile/Tile.h"

namespace attn {

/// Makes `mask` a select, or drops it where every key is known to be alive.
/// Gives what stands in its place.
mlir::Value lowerMask(tile::MaskOp mask, bool live);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_LOWERMASK_H
