//===- Json.h - results for programs: JSON and Chrome traces --------------===//
#ifndef ATTN_LIB_PROFILE_JSON_H
#define ATTN_LIB_PROFILE_JSON_H

#include "lib/Profile/Results.h"

namespace attn::profile {

/// One object: spec, target, device, binds, levels (name, launches, predicted,
/// measured, error, kernels, ...). Times in milliseconds, bytes as integers,
/// null for what is unknown.
std::string resultsJson(const Results &results);

/// One run of a level on the time line.
struct LevelTrace {
  const LevelResult *level = nullptr;
  std::vector<Span> spans; ///< By kernel.
};

/// Chrome trace format (opens in Perfetto): a host lane with the launches, a
/// lane of the stream with the kernels and their footprint, an arrow from each
/// launch to its kernel, and tracks of what was counted or predicted. The
/// levels follow one another. A kernel with a timeline also has a lane for each
/// warp group of its drawn blocks, as a process of its own; those come from a run
/// of the stamped kernel, moved to where the plain one started.
std::string traceJson(const Results &results,
                      const std::vector<LevelTrace> &traces);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_JSON_H
