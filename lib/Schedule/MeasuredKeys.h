//===- MeasuredKeys.h - live keys of masks that depend on data ------------===//
//
// `doc_q[m] == doc_k[n]` says nothing about where the live keys of a row lie until
// the numbers are read. A kernel of its own reads them once, before the attention
// kernel, and leaves four numbers for each block of rows and each such condition
// (MaskRange::Separable):
//
//   any.low, any.high    all keys that may be alive for some row of the block
//   full.low, full.high  keys that are alive for all of its rows, possibly none
//
// Both ranges are half open; an empty `any` is (2^31 - 1, 0), so that it adds
// nothing to a hull. A key is tested against the least and the largest value of
// the block's rows, so the cost is one test for each key and block of rows.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_MEASUREDKEYS_H
#define ATTN_LIB_SCHEDULE_MEASUREDKEYS_H

#include "lib/Schedule/FlashParts.h"

namespace attn {

/// The masks of a flash kernel and which of their conditions are measured.
struct MeasuredKeys {
  llvm::SmallVector<ScoreMask> masks;
  llvm::SmallVector<MaskRange> conditions; ///< By MaskRange::measured.
  std::string row, key;
  int64_t rows = 1; ///< Of a block; a multiple of 4 times the conditions.
  /// i32, the batch axes that the conditions vary with, then the row axis, padded
  /// to whole blocks. Condition c of the block from row m0 on has its four
  /// numbers at m0 + 4 c.
  TensorInfo bounds;

  bool empty() const { return conditions.empty(); }
  /// Reads them (i64) for condition `which` of the block that holds `row` (i64).
  void read(ProgramBuilder &p, mlir::Value row, unsigned which,
            mlir::Value (&found)[4]) const;
};

/// Decides what is measured; `bounds` has no name yet. Failure emits an error.
mlir::FailureOr<MeasuredKeys> planMeasuredKeys(const KernelContext &kernel);

/// Writes the measuring kernel.
mlir::LogicalResult lowerMeasuredKeys(const KernelContext &kernel,
                                      const MeasuredKeys &keys,
                                      ProgramBuilder &p);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_MEASUREDKEYS_H
