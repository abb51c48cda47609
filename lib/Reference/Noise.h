//===- Noise.h - how large rounding errors of the contract are ------------===//
//
// C11 bounds every level's error by twice that of the `naive` level. One run of
// `naive` is a poor yardstick element by element: where its roundings happen to
// cancel, a level that is just as good would fail. So beside a model of `naive`
// the interpreter carries the variance of its error, propagated to first order
// as if roundings were independent, and a comparison takes the larger of the
// two. The variance is what makes the check sharp where it should be: a row
// with one live key has none, and one wrong bit there fails.
//
// The figures below are root mean squares of relative errors. f32 operations
// round correctly; division, roots and transcendental functions may be the
// short device forms of about two units in the last place; tensor cores cut off
// when they accumulate, which drifts instead of averaging out.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_NOISE_H
#define ATTN_LIB_REFERENCE_NOISE_H

#include "lib/Reference/Float.h"

#include <algorithm>
#include <cmath>

namespace attn::reference {

inline constexpr double square(double x) { return x * x; }

/// Of one correctly rounded f32 operation: uniform within half a unit.
inline constexpr double kRounding = square(0x1p-24) / 3;
/// Of a function of about two units in the last place.
inline constexpr double kFunction = square(0x1p-22);
/// Of tanh: its instruction is good to 2^-11, which 16-bit kernels may use.
inline constexpr double kTanh16 = square(0x1p-11);
inline constexpr double kTanh32 = square(0x1p-21);

/// Added to a log-sum-exp by what the kernel subtracts in place of the row's
/// maximum, which may be 2^8 too low, or that much too high where keys that a mask
/// hides took part: two numbers of that size then cancel.
inline constexpr double kReference = kRounding * square(8 * 0.6931471805599453);

/// Added by an index times a slope of 1 in kernels of 16-bit inputs, which may take it
/// apart: the slope times a place in a tile of at most 128 keys, and times the tile's
/// own place. They cancel where the index is small.
inline constexpr double kSlope16 = 2 * kRounding * square(128);

/// Added to an exponential's relative error by its argument x: a difference and
/// a product with log2 e are rounded, and so is that constant.
inline double argumentNoise(double x) { return square(0x1p-24 * x); }

inline double finite(double variance, double result) {
  return std::isfinite(result) ? variance : 0;
}

/// Added by a correctly rounded f32 operation with this result.
inline double roundingNoise(double result) {
  return finite(kRounding * square(result), result);
}

/// Added when a value of some variance is rounded to a format with `unit`
/// between neighbours: uniform over one unit, none when the value lies on the
/// grid and stays there, never more than the value itself.
inline double quantisationNoise(double value, double rounded, double unit,
                                double variance) {
  if (!std::isfinite(value) ||
      (rounded == value && 400 * variance < unit * unit))
    return 0;
  return std::min(square(unit) / 12, square(value));
}

/// Multiples of (sum of products)^2 and of the sum of squared products that
/// accumulating `terms` of them in f32 adds. Partial sums grow like a walk, a
/// drift or both; `cutsOff` is for tensor cores.
struct AccumulationNoise {
  double ofSum = 0, ofSquares = 0;
  AccumulationNoise(int64_t terms, bool cutsOff) {
    double n = double(terms);
    ofSum = square(0x1p-24) * (n / 27 + 1);
    ofSquares = square(0x1p-24) * n / 18;
    if (!cutsOff)
      return;
    // Of eight terms at a time. They are cut off, towards minus infinity, where the
    // sum's last places end and a few bits below; where a large first term leaves
    // only those to the rest, an H200 loses up to 1.3 units a step in one direction.
    double steps = n / 8;
    ofSum += square(2 * 0x1p-24 * steps);
    ofSquares += square(0x1p-24 * (steps + 1)) / 2;
  }
};

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_NOISE_H
