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
#include <set>

namespace attn::profile {

/// Activity of the kernels of one or more runs of a level.
struct LevelActivity {
  std::vector<Activity> kernels; ///< In launch order; times are medians.
  std::vector<Span> spans;       ///< Of the last run, in launch order.
  int otherWork = 0;             ///< Copies and sets that ran in between.
};

/// Records `runs` calls of `run`, each of which launches the same `kernels`
/// kernels. The device must be idle before. Empty with `why` on failure.
std::optional<LevelActivity> recordActivity(runtime::Device &device,
                                            size_t kernels, int runs,
                                            const std::function<void()> &run,
                                            std::string &why);

/// Counters of each of `kernels` launches. `launch(k)` makes one; all are
/// repeated in order as often as the hardware needs to count everything. Empty
/// with `why` on failure.
std::optional<std::vector<Counters>>
countKernels(runtime::Device &device, size_t kernels,
             const std::function<void(size_t)> &launch, std::string &why);

/// Metrics of countKernels that CUPTI here can count on `chip` ("GH100"); needs
/// no GPU. Empty with `why` on failure.
std::set<std::string> countableMetrics(const std::string &chip,
                                       std::string &why);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_CUPTI_H
