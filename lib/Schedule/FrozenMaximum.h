//===- FrozenMaximum.h - when a maximum that was not moved was wrong ------===//
//
// A frozen maximum m is the one of a tile's first and masked blocks; in the others
// probabilities are 2^(factor * s - m) whatever the scores are. Softmax does not
// depend on m, so the result is right unless a number left its range. Each way to
// leave it ends in one test a tile:
//
//   far above m   a probability, a sum or the product with the values overflows:
//                 the row sum is no longer below 2^64 (then its inverse is an
//                 ordinary number, too), or the accumulator is not finite. The
//                 second also finds a probability that f32 holds and f16 does not,
//                 since infinity times anything is infinity or NaN, and large
//                 values. A later correction cannot make it finite again.
//   far below m   as with a running maximum: m belongs to a key of the row, whose
//                 probability is 1, so what vanishes beside it may vanish.
//   no m          no key of the row was alive before the full blocks. Against the
//                 shift 0 its probabilities may all vanish, and masked blocks that
//                 come later would forget them. Its sum is made NaN beforehand, with
//                 the whole accumulator where that holds the sums.
//
// NaN in the data fails the test and is NaN again when the tile is done again.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_FROZENMAXIMUM_H
#define ATTN_LIB_SCHEDULE_FROZENMAXIMUM_H

#include "mlir/IR/Builders.h"

namespace attn {

/// The folded sum, NaN in rows whose maximum is still minus infinity when `kept`
/// (i32) blocks, not 0, come without a new maximum.
mlir::Value spoilUnset(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum,
                       mlir::Value maximum, mlir::Value kept);

/// The same for an accumulator that holds the sums (tile.dot ... sums); a branch,
/// since no such row is the rule.
mlir::Value spoilUnsetProduct(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value accumulator, mlir::Value maximum,
                              mlir::Value kept);

/// Whether some row of the warp fails the test (i1), from the sum, folded or one a
/// row, and the accumulator at the end of a tile.
mlir::Value leftRange(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sum,
                      mlir::Value accumulator);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_FROZENMAXIMUM_H
