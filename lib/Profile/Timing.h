//===- Timing.h - how long a level takes ----------------------------------===//
//
// Runs follow one another on several copies of the arguments, so that a run
// never finds its operands in the cache because the last one left them there.
// Kernels are timed apart from the whole, because marks between kernels cost
// time themselves; host time is taken with no marks at all.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_TIMING_H
#define ATTN_LIB_PROFILE_TIMING_H

#include "lib/Runtime/Launch.h"

#include <functional>
#include <vector>

namespace attn::profile {

/// Of repeated measurements. Quartiles tell the spread of the middle half.
struct Summary {
  double median = 0, least = 0, most = 0, lowerQuartile = 0, upperQuartile = 0;
  int count = 0;
  /// Half the distance of the quartiles over the median.
  double spread() const {
    return median > 0 ? (upperQuartile - lowerQuartile) / 2 / median : 0;
  }
};

/// Of at least one sample.
Summary summarize(std::vector<double> samples);

/// Fewer samples than these have no 95 % interval of their median: all of six lie on one
/// side of it with probability 1/32, all of five with 1/16.
inline constexpr int kLeastRepeats = 6;

struct TimingOptions {
  int warmup = -1;  ///< Runs; -1: at least 3 and 50 ms.
  int repeats = -1; ///< Runs; -1: up to 50, at least kLeastRepeats, about a second.
  /// Bytes overwritten before every run; 0 when the copies of the arguments
  /// are larger than the cache anyway.
  int64_t flushBytes = 0;
  /// Milliseconds that the device is idle before every run. Work without a pause is
  /// slowed where power is what limits the clock; single calls are not.
  int rest = 0;
};

/// Waits until the device is done and leaves it idle for so many milliseconds; nothing
/// at all for 0.
void rest(runtime::Device &device, int milliseconds);

/// One launch on the time line, microseconds from the start of the run.
struct Span {
  double hostStart = 0, hostEnd = 0, deviceStart = 0, deviceEnd = 0;
};

struct LevelTiming {
  Summary level;                          ///< Milliseconds.
  std::vector<Summary> kernels;           ///< Milliseconds.
  std::optional<double> hostMicroseconds; ///< Per launch; GPUs only.
  std::vector<Span> spans;                ///< Of one run, by kernel.
};

/// Times `sets`, plans of the same level on different copies of the arguments
/// (at least one). Throws DeviceError when a kernel fails.
LevelTiming timeLevel(runtime::Device &device,
                      const std::vector<runtime::Plan *> &sets,
                      const TimingOptions &options);

/// Ways of doing the same, measured against each other.
struct RoundsTiming {
  std::vector<Summary> times; ///< Milliseconds, by way.
  std::vector<double> ratios; ///< Over the first way's: the median of the rounds' own.
};

/// Runs every way once a round, in an order that `seed` shuffles anew each round.
/// `ways` holds at least one. Throws DeviceError when a kernel fails.
RoundsTiming timeRounds(runtime::Device &device,
                        const std::vector<std::function<void()>> &ways,
                        const TimingOptions &options, unsigned seed);

/// Two ways of doing the same, measured against each other.
struct PairTiming {
  Summary first, second; ///< Milliseconds.
  double ratio = 1;      ///< Second over first: the median of the rounds' own.
};

/// Runs both in every round, in an order that changes from round to round by
/// `seed`. Throws DeviceError when a kernel fails.
PairTiming timePair(runtime::Device &device, const std::function<void()> &first,
                    const std::function<void()> &second,
                    const TimingOptions &options, unsigned seed);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TIMING_H
