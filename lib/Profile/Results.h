//===- Results.h - what attn-bench found, before it is printed ------------===//
#ifndef ATTN_LIB_PROFILE_RESULTS_H
#define ATTN_LIB_PROFILE_RESULTS_H

#include "lib/Profile/Estimate.h"
#include "lib/Profile/Timeline.h"
#include "lib/Profile/Timing.h"
#include "lib/Target/Occupancy.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::profile {

/// What hardware counters saw of one launch. Absent figures were not offered.
struct Counters {
  /// Device memory's, of the launch alone: from a cache that holds nothing of
  /// use until all that it changed is written back.
  std::optional<int64_t> bytesRead, bytesWritten;
  /// The same while it ran, among the level's other launches.
  std::optional<int64_t> runBytesRead, runBytesWritten;
  std::optional<int64_t> cacheBytes; ///< Through the L2 cache.
  std::optional<double> l2Hits;      ///< Share of the L2 cache's lookups.
  std::optional<double> tensorPipe;  ///< Share of cycles, matmul unit at work.
  std::optional<double> specialPipe; ///< Share of cycles, special functions.
  std::optional<double> issueSlots;  ///< Share of cycles, instructions issued.
  std::optional<double> gigahertz;   ///< Clock while counted.
  std::optional<double> occupancy;   ///< Warps at work over the most that fit.
  /// Warps that wait at an issue slot, by reason, worst first.
  std::vector<std::pair<std::string, double>> stalls;
};

/// What the driver recorded of one launch (CUPTI activity).
struct Activity {
  double milliseconds = 0;
  int64_t blocks = 0;
  int threads = 0;
  int registers = 0;       ///< Per thread.
  int64_t sharedBytes = 0; ///< Static and dynamic, per block.
  uint32_t correlation = 0; ///< Of the host's call that made it.
};

struct KernelResult {
  std::string symbol;
  std::string label;
  std::string schedule;
  int64_t blocks = 0;
  int threads = 1;
  Estimate predicted;
  std::optional<Summary> measured;    ///< Milliseconds.
  std::optional<int> registers;       ///< Per thread.
  std::optional<int> spillBytes;      ///< Per thread.
  std::optional<int64_t> sharedBytes; ///< Static and dynamic, per block.
  std::optional<target::Occupancy> occupancy;
  std::optional<Counters> counted;
  std::optional<Activity> activity;
  std::optional<Timeline> timeline; ///< Of a run of its stamped form.
  std::string reason; ///< Of a miss over 10 %; empty without one.
};

enum class Check { Passed, Failed, Skipped };

struct LevelResult {
  std::string name;
  std::string codeKind; ///< "cubin:sm_90", "ptx", "so".
  int launches = 0;     ///< Grids that are not empty.
  double predictedMs = 0;
  std::optional<Summary> measured; ///< Milliseconds; absent when it failed.
  std::optional<double> hostMicroseconds; ///< Per launch; GPUs only.
  int64_t temporaryBytes = 0;
  Check check = Check::Skipped;
  std::optional<double> error; ///< Largest absolute error of a result.
  std::string failure;         ///< Why the check failed, or why it cannot run.
  std::vector<KernelResult> kernels;
};

/// Something that a profile should tell and this one cannot.
struct Missing {
  std::string what;
  std::string why;
};

struct Results {
  std::string spec; ///< Path or bundle as given.
  std::string program;
  std::string target;
  std::string device;
  std::string compiler;
  std::map<std::string, std::string> binds; ///< Lengths and scalars.
  std::map<std::string, int64_t> lengths;
  double live = 1; ///< Fraction of (row, key) pairs that masks leave.
  bool gpu = false;
  target::Roofs roofs;
  std::vector<LevelResult> levels;
  std::vector<Missing> missing;
};

/// measured / predicted - 1.
inline double miss(double predictedMs, double measuredMs) {
  return predictedMs > 0 ? measuredMs / predictedMs - 1 : 0;
}
/// A miss that the table marks and explains.
inline bool isMiss(double predictedMs, double measuredMs) {
  double m = miss(predictedMs, measuredMs);
  return m > 0.10 || m < -0.10;
}

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_RESULTS_H
