//===- EvenGrowth.h - scores that a slope along the keys is added to ------===//
//
// s + slope * (n - m) grows evenly: its largest key is the first or the last, known
// from the sign of the slope alone. A softmax that keeps the maximum of the keys it
// saw first can tell from that whether it may (ConsumeKeys.h).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_EVENGROWTH_H
#define ATTN_LIB_SCHEDULE_EVENGROWTH_H

#include "dialect/Attn/Attn.h"

namespace attn {

/// Whether `map` adds to its first operand a term in which the index of `key` is
/// only added to and multiplied with what is the same for all rows and keys, so that
/// KeyOffset.h can take it apart.
bool growsEvenly(MapOp map, llvm::StringRef row, llvm::StringRef key);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_EVENGROWTH_H
