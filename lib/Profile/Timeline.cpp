//===- Timeline.cpp - a buffer of stamps, decoded -------------------------===//

#include "lib/Profile/Timeline.h"

#include "lib/Bundle/Timeline.h"
#include "lib/Profile/Table.h"
#include "lib/Profile/Units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

using namespace attn;
using namespace attn::profile;
using bundle::LaneHeader;

bool attn::profile::isWait(const std::string &phase) {
  static const std::string end = "_wait";
  return phase.size() > end.size() &&
         phase.compare(phase.size() - end.size(), end.size(), end) == 0;
}

std::string attn::profile::phaseTitle(const std::string &phase) {
  std::string title = phase;
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

namespace {
/// A lane's stamps in clocks since it opened.
struct Track {
  int64_t lane = 0;
  LaneHeader header{};
  struct Step {
    uint32_t phase;
    uint64_t from, to;
  };
  std::vector<Step> steps;

  bool closed() const { return header.closeNs != 0; }
  uint64_t clocks() const { return header.closeClock - header.openClock; }
};

class Decoder {
public:
  Decoder(const bundle::Stamps &stamps, const std::byte *data, size_t size)
      : stamps(stamps), data(data) {
    int64_t expected = bundle::timelineBytes(stamps.lanes, stamps.steps);
    if (int64_t(size) != expected)
      throw std::runtime_error(fmt::format(
          "the buffer of stamps has {} bytes, {} are expected", size, expected));
  }

  std::vector<Track> tracks() const {
    std::vector<Track> all;
    for (int64_t lane = 0; lane < stamps.lanes; ++lane) {
      Track track;
      track.lane = lane;
      std::memcpy(&track.header, data + size_t(lane) * sizeof(LaneHeader),
                  sizeof(LaneHeader));
      if (track.header.openNs == 0)
        continue;
      follow(track);
      all.push_back(std::move(track));
    }
    return all;
  }

private:
  uint32_t stampAt(int64_t step, int64_t lane) const {
    uint32_t stamp;
    size_t place = size_t(stamps.lanes) * sizeof(LaneHeader) +
                   4 * size_t(step * stamps.lanes + lane);
    std::memcpy(&stamp, data + place, sizeof stamp);
    return stamp;
  }

  /// Stamps hold the clock's low bits; the rest follows from their order.
  void follow(Track &track) const {
    constexpr uint64_t kMask = (uint64_t(1) << bundle::kClockBits) - 1;
    int64_t count = track.closed() ? int64_t(track.header.stamps) : stamps.steps;
    count = std::min(count, stamps.steps);
    uint64_t now = track.header.openClock;
    for (int64_t step = 0; step < count; ++step) {
      uint32_t stamp = stampAt(step, track.lane);
      uint32_t phase = stamp & bundle::kLaneEnd;
      now += ((stamp >> bundle::kPhaseBits) - now) & kMask;
      uint64_t at = now - track.header.openClock;
      if (!track.steps.empty())
        track.steps.back().to = at;
      if (phase == bundle::kLaneEnd)
        return;
      if (phase >= stamps.phases.size())
        throw std::runtime_error(
            fmt::format("stamp {} of lane {} names phase {}, there are {}", step,
                        track.lane, phase, stamps.phases.size()));
      track.steps.push_back({phase, at, at});
    }
    // The buffer was full: when the last phase ended is not known.
    if (!track.steps.empty())
      track.steps.pop_back();
  }

  const bundle::Stamps &stamps;
  const std::byte *data;
};
} // namespace

/// Clocks a nanosecond. The multiprocessors share a clock's rate, so all lanes
/// tell it together, and the coarse steps of the timer average out.
static double clockRate(const std::vector<Track> &tracks) {
  double clocks = 0, ns = 0;
  for (const Track &track : tracks)
    if (track.closed()) {
      clocks += double(track.clocks());
      ns += double(track.header.closeNs - track.header.openNs);
    }
  if (!(clocks > 0) || !(ns > 0))
    throw std::runtime_error("no lane was closed, or the GPU's timer stood still "
                             "while the kernel ran; use longer sequences");
  return clocks / ns;
}

/// When a lane opened, by the device's timer: both ends tell, each with the error
/// of the timer's steps.
static double openedAt(const Track &track, double rate, uint64_t base) {
  double open = double(track.header.openNs - base);
  if (!track.closed())
    return open;
  double close = double(track.header.closeNs - base) - double(track.clocks()) / rate;
  return (open + close) / 2;
}

Timeline attn::profile::decodeTimeline(const bundle::Stamps &stamps,
                                       const std::byte *data, size_t size,
                                       int64_t drawn) {
  std::vector<Track> tracks = Decoder(stamps, data, size).tracks();
  if (tracks.empty())
    throw std::runtime_error("the kernel recorded nothing");
  Timeline timeline;
  timeline.phases = stamps.phases;
  timeline.roleNames = stamps.roles;
  timeline.gigahertz = clockRate(tracks);
  double rate = timeline.gigahertz;
  uint64_t base = tracks[0].header.openNs;
  for (const Track &track : tracks)
    base = std::min(base, track.header.openNs);
  double origin = openedAt(tracks[0], rate, base);
  for (const Track &track : tracks)
    origin = std::min(origin, openedAt(track, rate, base));

  int64_t perBlock = int64_t(stamps.roles.size());
  std::vector<std::vector<double>> clocks(
      stamps.roles.size(), std::vector<double>(stamps.phases.size()));
  std::vector<int64_t> lanes(stamps.roles.size());
  std::vector<int64_t> blocks;
  for (const Track &track : tracks) {
    size_t role = size_t(track.lane % perBlock);
    int64_t block = track.lane / perBlock;
    if (blocks.empty() || blocks.back() != block)
      blocks.push_back(block);
    ++lanes[role];
    for (const Track::Step &step : track.steps)
      clocks[role][step.phase] += double(step.to - step.from);
    int64_t made = track.closed() ? int64_t(track.header.stamps)
                                  : int64_t(bundle::kMostStamps) / stamps.lanes;
    timeline.stamps += made;
    timeline.dropped += std::max<int64_t>(0, made - stamps.steps);
    if (int64_t(blocks.size()) > drawn)
      continue;
    Lane lane{block, role, track.header.multiprocessor, {}};
    double start = openedAt(track, rate, base) - origin;
    for (const Track::Step &step : track.steps)
      lane.slices.push_back({step.phase, (start + double(step.from) / rate) * 1e-3,
                             (start + double(step.to) / rate) * 1e-3});
    timeline.lanes.push_back(std::move(lane));
  }
  timeline.blocks = int64_t(blocks.size());

  for (size_t role = 0; role < stamps.roles.size(); ++role) {
    double all = 0;
    for (double part : clocks[role])
      all += part;
    if (all <= 0)
      continue;
    RoleShares shares{stamps.roles[role], lanes[role],
                      all / rate * 1e-3 / double(lanes[role]), {}, 0};
    for (size_t phase = 0; phase < stamps.phases.size(); ++phase) {
      shares.shares.push_back(clocks[role][phase] / all);
      if (isWait(stamps.phases[phase]))
        shares.waiting += shares.shares.back();
    }
    timeline.roles.push_back(std::move(shares));
  }
  return timeline;
}

std::string attn::profile::timelineTable(const std::string &title,
                                         const Timeline &timeline) {
  auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  // A phase that no role has gets no column.
  std::vector<size_t> shown;
  for (size_t phase = 0; phase < timeline.phases.size(); ++phase)
    if (std::any_of(timeline.roles.begin(), timeline.roles.end(),
                    [&](const RoleShares &r) { return r.shares[phase] > 0; }))
      shown.push_back(phase);
  std::vector<std::vector<std::string>> rows{{"role", "lanes", "time"}};
  for (size_t phase : shown)
    rows[0].push_back(phaseTitle(timeline.phases[phase]));
  rows[0].push_back("waiting");
  for (const RoleShares &role : timeline.roles) {
    rows.push_back({"  " + role.role, std::to_string(role.lanes),
                    humanTime(role.microseconds * 1e-3)});
    for (size_t phase : shown)
      rows.back().push_back(role.shares[phase] > 0 ? percent(role.shares[phase])
                                                   : "-");
    rows.back().push_back(percent(role.waiting));
  }
  std::string text =
      fmt::format("phases of {}, {} of {} blocks recorded\n", title,
                  timeline.blocks, timeline.launched) +
      alignColumns(rows, 1);
  text += fmt::format("stamps cost {:+.1f} % (plain {}, stamped {}, {} rounds in "
                      "shuffled order); clock {:.2f} GHz\n",
                      100 * (timeline.cost.ratio - 1),
                      humanTime(timeline.cost.first.median),
                      humanTime(timeline.cost.second.median),
                      timeline.cost.first.count, timeline.gigahertz);
  if (timeline.spillBytes > 0)
    text += fmt::format("the stamped kernel spills {} bytes of registers a thread, "
                        "the plain one none\n",
                        timeline.spillBytes);
  if (timeline.dropped > 0)
    text += fmt::format("{} of {} stamps found no room: the shares are those of "
                        "each lane's beginning\n",
                        timeline.dropped, timeline.stamps);
  return text;
}
