//===- KeyOffset.h - what of a score grows evenly along the keys ----------===//
//
// s + slope * (n - m) costs an element two operations more than s: the distance
// times the slope, and the sum. A lane of the accumulator layout holds columns
// c = 8 j + 2 q + i, i = 0, 1, for one q. With n = n0 + c it is
//
//   (s + slope * (8 j + i)) + slope * (n0 + 2 q - m)
//
// where the first sum is one multiply-add by a constant, and the second is one
// number a row and lane: the softmax takes it with its maximum, which it subtracts
// anyway.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_KEYOFFSET_H
#define ATTN_LIB_SCHEDULE_KEYOFFSET_H

#include "lib/Schedule/ProgramBuilder.h"

namespace attn {

/// In units of the scores that are left.
struct KeyOffset {
  mlir::Value columns; ///< The second sum, rows x 8; null where there is none.
  mlir::Value growth;  ///< From one key to the next, a scalar.
};

/// Takes such a term off `scores` (rows x columns f32, not used yet) and a positive
/// constant `factor` off what is left of them. Rounds differently from the sum as it
/// is written: for scores of 16-bit operands only.
KeyOffset takeKeyOffset(ProgramBuilder &p, mlir::Value &scores, double &factor);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_KEYOFFSET_H
