//===- Interval.h - ranges of integer expressions -------------------------===//
//
// Index expressions are exact (C9) and 64-bit unless 32 are proved enough (C8).
// The proof is interval arithmetic: lengths and indices lie in [0, 2^30], which
// the runner enforces, an i32 scalar or element anywhere in its type. Bounds
// saturate at the i64 range, where arithmetic wraps.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_INTERVAL_H
#define ATTN_LIB_ANALYSIS_INTERVAL_H

#include <algorithm>
#include <cstdint>
#include <limits>

namespace attn {

struct Interval {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  static Interval everything() { return {}; }
  static Interval exactly(int64_t v) { return {v, v}; }
  static Interval length() { return {0, int64_t(1) << 30}; }
  static Interval i32() {
    return {std::numeric_limits<int32_t>::min(),
            std::numeric_limits<int32_t>::max()};
  }
  bool fits32() const { return low >= i32().low && high <= i32().high; }
  bool contains(int64_t v) const { return low <= v && v <= high; }

  /// An out-of-range bound means that the operation may wrap: anything goes.
  static Interval from(__int128 low, __int128 high) {
    const __int128 least = std::numeric_limits<int64_t>::min();
    const __int128 most = std::numeric_limits<int64_t>::max();
    if (low < least || high > most)
      return everything();
    return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }
  Interval operator+(Interval o) const {
    return from(__int128(low) + o.low, __int128(high) + o.high);
  }
  Interval operator-(Interval o) const {
    return from(__int128(low) - o.high, __int128(high) - o.low);
  }
  Interval operator*(Interval o) const {
    __int128 p[] = {__int128(low) * o.low, __int128(low) * o.high,
                    __int128(high) * o.low, __int128(high) * o.high};
    return from(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
  }
  Interval join(Interval o) const {
    return {std::min(low, o.low), std::max(high, o.high)};
  }
};

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_INTERVAL_H
