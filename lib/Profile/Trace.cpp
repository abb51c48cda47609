//===- Trace.cpp - one run of each level in the Chrome trace format -------===//

#include "lib/Profile/Json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace attn;
using namespace attn::profile;
using Json = nlohmann::ordered_json;

static constexpr int kProcess = 1, kHost = 1, kDevice = 2;
static constexpr int kFirstTimeline = 2; ///< Processes of warp groups' lanes.
static constexpr double kGap = 20; ///< Microseconds between two levels.

static Json laneName(int lane, const std::string &name, int process = kProcess) {
  return {{"ph", "M"},
          {"pid", process},
          {"tid", lane},
          {"name", "thread_name"},
          {"args", {{"name", name}}}};
}

static Json processName(int process, const std::string &name) {
  return {{"ph", "M"},
          {"pid", process},
          {"name", "process_name"},
          {"args", {{"name", name}}}};
}

static Json slice(int lane, const std::string &name, double start, double end,
                  Json args, int process = kProcess) {
  return {{"ph", "X"},
          {"pid", process},
          {"tid", lane},
          {"name", name},
          {"ts", start},
          {"dur", std::max(end - start, 0.001)},
          {"args", std::move(args)}};
}

static Json footprint(const KernelResult &kernel) {
  Json args{{"symbol", kernel.symbol},
            {"schedule", kernel.schedule},
            {"blocks", kernel.blocks},
            {"threads", kernel.threads},
            {"predicted_us", kernel.predicted.seconds * 1e6},
            {"bound", kernel.predicted.bound},
            {"bytes", kernel.predicted.bytes()},
            {"flops", kernel.predicted.flops()}};
  if (kernel.registers)
    args["registers"] = *kernel.registers;
  if (kernel.sharedBytes)
    args["shared_bytes"] = *kernel.sharedBytes;
  if (kernel.activity)
    args["correlation"] = kernel.activity->correlation;
  if (kernel.measured)
    args["measured_us"] = kernel.measured->median * 1e3;
  if (kernel.occupancy) {
    args["occupancy"] = kernel.occupancy->share;
    args["limiter"] = kernel.occupancy->limiter;
  }
  return args;
}

/// A value of a counter's track from `ts` on.
static Json sample(const std::string &track, double ts, double value) {
  return {{"ph", "C"},
          {"pid", kProcess},
          {"name", track},
          {"ts", ts},
          {"args", {{"value", value}}}};
}

/// What the kernel did on average, as steps of a track: counted where counters
/// were read, else reckoned from the prediction and the time it took.
static void addTracks(Json &events, const KernelResult &kernel,
                      const Span &span) {
  double seconds = (span.deviceEnd - span.deviceStart) * 1e-6;
  auto track = [&](const char *name, std::optional<double> value) {
    if (!value)
      return;
    events.push_back(sample(name, span.deviceStart, *value));
    events.push_back(sample(name, span.deviceEnd, 0));
  };
  const Estimate &e = kernel.predicted;
  if (seconds > 0) {
    track("predicted bytes over time, GB/s", double(e.bytes()) / seconds / 1e9);
    track("predicted operations over time, GFLOP/s", e.flops() / seconds / 1e9);
  }
  if (kernel.occupancy)
    track("resident warps, % of the most", 100 * kernel.occupancy->share);
  if (!kernel.counted)
    return;
  const Counters &c = *kernel.counted;
  auto percent = [](const std::optional<double> &share) {
    return share ? std::optional<double>(100 * *share) : std::nullopt;
  };
  if (c.bytesRead && c.bytesWritten && seconds > 0)
    track("counted device memory, GB/s",
          double(*c.bytesRead + *c.bytesWritten) / seconds / 1e9);
  track("counted L2 hits, %", percent(c.l2Hits));
  track("counted tensor pipe, %", percent(c.tensorPipe));
  track("counted special-function pipe, %", percent(c.specialPipe));
  track("counted warps at work, % of the most", percent(c.occupancy));
}

/// The host's slice, the device's slice and the arrow between them.
static void addLaunch(Json &events, const LevelResult &level,
                      const KernelResult &kernel, const Span &span, int arrow) {
  Json args = footprint(kernel);
  args["level"] = level.name;
  events.push_back(slice(kHost, "launch " + kernel.label, span.hostStart,
                         span.hostEnd, {{"level", level.name}}));
  events.push_back(slice(kDevice, kernel.label, span.deviceStart,
                         span.deviceEnd, std::move(args)));
  addTracks(events, kernel, span);
  events.push_back({{"ph", "s"},
                    {"pid", kProcess},
                    {"tid", kHost},
                    {"name", "launch"},
                    {"cat", "launch"},
                    {"id", arrow},
                    {"ts", span.hostStart}});
  events.push_back({{"ph", "f"},
                    {"bp", "e"},
                    {"pid", kProcess},
                    {"tid", kDevice},
                    {"name", "launch"},
                    {"cat", "launch"},
                    {"id", arrow},
                    {"ts", span.deviceStart}});
}

/// The warp groups' phases, from `start` on; gives when the last one ends.
static double addTimeline(Json &events, int process, const std::string &level,
                          const KernelResult &kernel, double start) {
  const Timeline &timeline = *kernel.timeline;
  events.push_back(processName(
      process, fmt::format("{} {}: warp groups, with stamps ({:+.1f} % time)",
                           level, kernel.label, 100 * (timeline.cost.ratio - 1))));
  double end = start;
  int lane = 0;
  for (const Lane &group : timeline.lanes) {
    ++lane;
    events.push_back(laneName(lane,
                              fmt::format("block {} on SM {}, {}", group.block,
                                          group.multiprocessor,
                                          timeline.roleNames[group.role]),
                              process));
    for (const PhaseSlice &phase : group.slices) {
      events.push_back(slice(lane, phaseTitle(timeline.phases[phase.phase]),
                             start + phase.start, start + phase.end,
                             Json::object(), process));
      end = std::max(end, start + phase.end);
    }
  }
  return end;
}

std::string attn::profile::traceJson(const Results &results,
                                     const std::vector<LevelTrace> &traces) {
  Json events = Json::array();
  events.push_back(processName(kProcess, results.program));
  events.push_back(laneName(kHost, "host"));
  events.push_back(laneName(kDevice, "stream 0: " + results.device));

  double start = 0;
  int arrow = 0, process = kFirstTimeline;
  for (const LevelTrace &trace : traces) {
    double end = start;
    // The level's own slice spans its kernels; it comes first because a slice
    // must stand before those it holds.
    size_t whole = events.size();
    double first = -1, last = 0;
    for (size_t i = 0; i < trace.spans.size(); ++i) {
      const KernelResult &kernel = trace.level->kernels[i];
      if (kernel.blocks == 0)
        continue; // Nothing was launched.
      Span span = trace.spans[i];
      for (double *time :
           {&span.hostStart, &span.hostEnd, &span.deviceStart, &span.deviceEnd})
        *time += start;
      if (first < 0) {
        first = span.deviceStart;
        events.push_back(nullptr);
      }
      last = span.deviceEnd;
      end = std::max({end, span.hostEnd, span.deviceEnd});
      addLaunch(events, *trace.level, kernel, span, ++arrow);
      if (kernel.timeline)
        end = std::max(end, addTimeline(events, process++, trace.level->name,
                                        kernel, span.deviceStart));
    }
    if (first >= 0)
      events[whole] = slice(kDevice, trace.level->name, first, last,
                            {{"launches", trace.level->launches},
                             {"predicted_ms", trace.level->predictedMs}});
    start = end + kGap;
  }
  Json j{{"displayTimeUnit", "ms"},
         {"otherData", {{"spec", results.spec}, {"target", results.target}}},
         {"traceEvents", events}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}
