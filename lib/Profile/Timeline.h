//===- Timeline.h - what the warp groups of a kernel did, and when --------===//
//
// From the buffer that a stamped kernel wrote (lib/Bundle/Timeline.h) to phases
// in microseconds, and to each role's shares of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_TIMELINE_H
#define ATTN_LIB_PROFILE_TIMELINE_H

#include "lib/Bundle/Manifest.h"
#include "lib/Profile/Timing.h"

#include <cstddef>

namespace attn::profile {

/// A phase of a lane, microseconds from the moment the first lane opened.
struct PhaseSlice {
  size_t phase = 0; ///< Place in Timeline::phases.
  double start = 0, end = 0;
};

/// What one warp group of one block did.
struct Lane {
  int64_t block = 0;
  size_t role = 0; ///< Place in Timeline::roleNames.
  uint32_t multiprocessor = 0;
  std::vector<PhaseSlice> slices; ///< One after the other, without gaps.
};

/// All lanes of a role together.
struct RoleShares {
  std::string role;
  int64_t lanes = 0;
  double microseconds = 0;    ///< Of a lane, on average; what was recorded.
  std::vector<double> shares; ///< Of that time, by phase; they add up to 1.
  double waiting = 0;         ///< Shares of the phases that are idle.
};

/// One run of a stamped kernel.
struct Timeline {
  std::vector<std::string> phases; ///< "load_wait", ...
  std::vector<std::string> roleNames; ///< A block's lanes.
  std::vector<RoleShares> roles;      ///< Those that were recorded.
  std::vector<Lane> lanes;         ///< Of the blocks that are to be drawn.
  int64_t blocks = 0;              ///< That were recorded.
  int64_t launched = 0;
  int64_t stamps = 0;  ///< Made by the recorded lanes.
  int64_t dropped = 0; ///< Of them, for want of room.
  int64_t spillBytes = 0; ///< Of registers, a thread, in the stamped kernel only.
  double gigahertz = 0; ///< Of the multiprocessors' clock.
  PairTiming cost;      ///< Plain kernel first, stamped kernel second.
};

/// Whether a warp group does nothing in that phase.
bool isWait(const std::string &phase);
/// "load wait"
std::string phaseTitle(const std::string &phase);

/// Decodes `size` bytes at `data`. Lanes of the first `drawn` recorded blocks are
/// kept, all count for the shares. Throws std::runtime_error when the buffer is
/// not what `stamps` says, or when nothing was recorded.
Timeline decodeTimeline(const bundle::Stamps &stamps, const std::byte *data,
                        size_t size, int64_t drawn);

/// A row for each role: its time, shares and waiting share. Below, what the
/// stamps cost and what is missing. `title` names level and kernel.
std::string timelineTable(const std::string &title, const Timeline &timeline);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TIMELINE_H
