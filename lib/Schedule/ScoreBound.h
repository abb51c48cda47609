//===- ScoreBound.h - scores that cannot grow beyond a number -------------===//
//
// A softmax needs a running maximum because 2^score overflows. For scores that a
// function has squeezed between two numbers (a soft cap) any number near zero will
// do: the maximum of the first block, say. After that an exponential waits for its
// own score alone, not for a whole block of them.
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

/// How far from zero (in exponents) a row's reference may lie when it never moves:
/// the difference of a score and its reference stays within 75. None when scores
/// are not that small (a soft cap of 50 is), a sink joins them, or probabilities are
/// not bf16, with the exponents of f32. Sums then stay normal numbers while values
/// lie between 2^-51 and 2^52 / keys.
std::optional<double> fixedReference(OnlineSoftmaxOp softmax);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SCOREBOUND_H
