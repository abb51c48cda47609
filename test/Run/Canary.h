//===- Canary.h - integers whose result is exact --------------------------===//
//
// A wgmma whose first operand lies in registers reads them while the warp goes
// on; code that writes them too early gives wrong results now and then, of a
// size that a tolerance for rounding may hide. Here nothing rounds, so that any
// wrong probability register changes the result by far more than is allowed:
//
// - Keys are of as many classes as the queries have elements (at most 64), each
//   aligned run of that many keys a permutation of them, another one each run.
//   A query scores 1024 or more with the keys of one class and as much below 0 with
//   the others: the probabilities are exactly 1 or 0 before the row is divided, one
//   live key in each run, elsewhere in every row and run. A register of another run,
//   row or half shows another place. A soft cap of c leaves c and -c of such scores (a
//   tanh is 1 there), and of 30 e^-60 of the other keys, which no sum of f32 holds.
//   The live ones are then as large as each other, if not 1: a row's probabilities
//   round by one factor, and its results with them.
// - Values are integers from -7 to 7, different in nearly any two places, so
//   that a wrong place gives a wrong sum. All float tensors besides are 0.
//
// Sums are exact in f32 in any order; what is left is one division by the number
// of live keys, and the result must be that quotient rounded once.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TEST_RUN_CANARY_H
#define ATTN_TEST_RUN_CANARY_H

#include "lib/Bundle/Manifest.h"
#include "test/Run/Scores.h"

namespace attn::check {

/// Overwrites every float tensor of `inputs`. Throws reference::InputError for
/// a kernel without queries, keys, softmax and values, or of scale 0.
void fillCanary(const spec::Kernel &kernel, const Scores &scores, uint64_t seed,
                reference::Inputs &inputs);

/// Whether a level keeps probabilities 1 and 0 before the division: one launch
/// from the queries to the result. Others round 1 / n.
bool canaryIsExact(const bundle::Level &level);

/// The first element of a result further than rounding once from the exact
/// one, or "". `scores.bounded` allows probabilities rounded to the result's type, too:
/// a wrong one still changes a sum by more. Throws reference::InputError where that is no quotient of whole numbers
/// either, of a sum of values by at most `mostKeys`: the kernel's score functions then
/// leave other keys a share, and the canary is no test of it.
std::string canaryFailure(const reference::ResultSamples &expected,
                          const reference::HostTensor &actual, const Scores &scores,
                          int64_t mostKeys);

/// How many keys of a row a canary leaves alive, at most.
int64_t canaryKeys(const spec::Kernel &kernel, const Scores &scores,
                   const reference::AxisLengths &lengths);

} // namespace attn::check

#endif // ATTN_TEST_RUN_CANARY_H
