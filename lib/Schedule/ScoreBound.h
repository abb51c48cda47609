//===- ScoreBound.h - scores that cannot grow beyond a number -------------===//
//
// A softmax needs a running maximum because 2^score overflows. Scores that a
// function has squeezed between two numbers (a soft cap) are their own reference:
// without a maximum an exponential waits for its own score alone, not for a whole
// block of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_SCOREBOUND_H
#define ATTN_LIB_SCHEDULE_SCOREBOUND_H

#include "dialect/Attn/Attn.h"

#include <optional>

namespace attn {

/// The most that the size of an element can be, as far as the operations that made
/// it tell: a tensor in a kernel, or a scalar in one of its regions. Elements that
/// masks kill, and NaN, do not count.
std::optional<double> scoreBound(mlir::Value value);

/// Whether a softmax can do without a maximum: its scores stay within 75 / log2(e)
/// (a soft cap of 50 does), no sink joins them, and probabilities are bf16, with
/// the exponents of f32. Sums then stay normal numbers while values lie between
/// 2^-51 and 2^52 / keys.
bool needsNoMaximum(OnlineSoftmaxOp softmax);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SCOREBOUND_H
