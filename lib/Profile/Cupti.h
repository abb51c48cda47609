//===- Cupti.h - what the GPU's own instruments say of launches -----------===//
//
// A pass apart from timing: activity records cost host time, and counters
// repeat the work. CUPTI is loaded at run time; without it every function
// returns nothing and says why.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_CUPTI_H
#define ATTN_LIB_PROFILE_CUPTI_H

#include "lib/Profile/Results.h"

#include <functional>
#include <memory>
#include <set>

namespace attn::profile {

/// Activity of the kernels of one or more runs of a level.
struct LevelActivity {
  std::vector<Activity> kernels; ///< In launch order; times are medians.
  std::vector<Span> spans;       ///< Of the last run, in launch order.
  int otherWork = 0;             ///< Copies and sets that ran in between.
};

/// Records `runs` calls of `run`, each of which launches the same `kernels`
/// kernels, one after the other or `rest` milliseconds apart (TimingOptions). The
/// device must be idle before. Empty with `why` on failure.
std::optional<LevelActivity> recordActivity(runtime::Device &device,
                                            size_t kernels, int runs, int rest,
                                            const std::function<void()> &run,
                                            std::string &why);

/// How much is counted: each further counter repeats the work once more.
enum class CounterSet {
  Bytes, ///< Device memory's: two passes.
  Pipes, ///< And pipes, issue slots, clock, cache: eight.
  All    ///< And what warps wait for: over twenty.
};

/// The hardware counters of a device.
class KernelCounters {
public:
  /// Null with `why` where nothing can be counted.
  static std::unique_ptr<KernelCounters> open(runtime::Device &device,
                                              CounterSet set, std::string &why);
  virtual ~KernelCounters() = default;

  /// Counters of each of `kernels` launches. `launch(k)` makes one; all are
  /// repeated in order as often as the hardware needs to count everything. `sweep`
  /// reads more than the last-level cache holds, so that the bytes of each launch
  /// can be counted from an empty cache to everything written back. Empty with
  /// `why` on failure.
  virtual std::optional<std::vector<Counters>>
  count(size_t kernels, const std::function<void(size_t)> &launch,
        const std::function<void()> &sweep, std::string &why) = 0;
};

/// Metrics of KernelCounters that CUPTI here can count on `chip` ("GH100"); needs
/// no GPU. Empty with `why` on failure.
std::set<std::string> countableMetrics(const std::string &chip,
                                       std::string &why);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_CUPTI_H
