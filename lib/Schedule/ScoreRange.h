//===- ScoreRange.h - scores too large for one multiply-add ---------------===//
//
// A probability is 2^(factor * s - m) with m = factor * (largest s), rounded: one
// fused multiply-add a score. The rounding of m is the same for a whole row and
// cancels in p / sum, but it is as large as |m| 2^-24: beyond |m| of about 2^31 it
// leaves the range of 2^x, and a row whose keys all have one score, say a mask's
// -1e30, would lose every key or overflow (C4).
//
// From |m| = 2^30 on two different f32 scores are at least 2^(64) apart in
// probability, so any increasing function of s - largest that is 0 at 0 and steep
// enough is right to the last place. Such rows are rare; forms of the softmax
// choose where to treat them apart.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_SCORERANGE_H
#define ATTN_LIB_SCHEDULE_SCORERANGE_H

#include "mlir/IR/Builders.h"

namespace attn {

/// By how much scores may exceed a maximum that is kept, in units of log2: then
/// probabilities are at most 2^8, far inside f16.
inline constexpr double kMostExcess = 8;

/// |maximum|, in units of log2, up to which one multiply-add is right.
inline constexpr double kLargestMaximum = 1073741824; // 2^30

/// All of rows x 1, f32.
///
/// factor * largest, kept finite where `largest` is: -3.4e38, which frameworks mask
/// with, times log2(e) would be minus infinity, a row without a key.
mlir::Value scaleLargest(mlir::OpBuilder &b, mlir::Location loc, mlir::Value largest,
                         double factor);
/// Whether the maximum is finite and beyond kLargestMaximum; i1.
mlir::Value isLarge(mlir::OpBuilder &b, mlir::Location loc, mlir::Value maximum);
/// What is subtracted: the maximum, or 0 where it is minus infinity or large. A row
/// with a score of plus infinity is NaN throughout, as its probabilities are.
mlir::Value shiftOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value maximum);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SCORERANGE_H
