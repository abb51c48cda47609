//===- Reason.cpp - why a prediction missed, as far as one can tell -------===//

#include "lib/Profile/Reason.h"

#include "lib/Profile/Units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace attn;
using namespace attn::profile;

static std::string tooSlow(const KernelResult &kernel,
                           const target::Roofs &roofs, double seconds) {
  const Estimate &e = kernel.predicted;
  if (kernel.spillBytes.value_or(0) > 0)
    return fmt::format("{} bytes of registers a thread spill to memory",
                       *kernel.spillBytes);
  if (e.bound == "launch" || e.launchSeconds > 0.2 * seconds)
    return roofs.onePipe ? "waking the threads outweighs so little work"
                         : "start-up and the first loads outweigh so little work";
  if (kernel.blocks < roofs.multiprocessors)
    return fmt::format("{} blocks leave {} of {} {} idle", kernel.blocks,
                       roofs.multiprocessors - kernel.blocks,
                       roofs.multiprocessors,
                       roofs.onePipe ? "threads" : "multiprocessors");

  double share = e.roofSeconds / seconds;
  if (e.bound == "cache")
    return fmt::format("lines of the L2 cache pass at {:.0f} % of its rate: operands "
                       "whose rows begin within lines, and what blocks share, are more "
                       "than memory brings",
                       100 * e.cacheSeconds / seconds);
  if (e.bound == "memory") {
    double compute =
        roofs.onePipe ? e.tensorSeconds + e.scalarSeconds + e.exponentialSeconds
                      : std::max({e.tensorSeconds, e.scalarSeconds,
                                  e.exponentialSeconds});
    if (e.cacheSeconds > std::max(compute, 0.5 * e.memorySeconds))
      return fmt::format("the L2 cache's lines ({}) are not hidden behind memory",
                         humanTime(e.cacheSeconds * 1e3));
    if (compute > 0.5 * e.memorySeconds)
      return fmt::format("arithmetic ({}) is not hidden behind the loads",
                         humanTime(compute * 1e3));
    if (kernel.occupancy && kernel.occupancy->share < 0.3)
      return fmt::format("{} warps a multiprocessor ({}) are too few to hide "
                         "the latency of memory",
                         kernel.occupancy->warps, kernel.occupancy->limiter);
    return fmt::format(
        "accesses reach {:.0f} % of a long copy's rate: operands "
        "read more than once, or in pieces",
        100 * share);
  }
  if (e.bound == "matmul") {
    double softmax = std::max(e.scalarSeconds, e.exponentialSeconds);
    if (!roofs.onePipe && softmax > 0.3 * e.tensorSeconds)
      return fmt::format("matmuls wait for the softmax: its own pipes need {}",
                         humanTime(softmax * 1e3));
    if (roofs.onePipe)
      return fmt::format("multiply-adds run at {:.0f} % of the rate measured "
                         "beforehand: loads and conversions of operands fill the "
                         "rest, or other programs ran",
                         100 * share);
    return fmt::format(
        "the matmul unit is {:.0f} % busy: loads of operands and "
        "latency fill the rest",
        100 * share);
  }
  if (roofs.onePipe)
    return fmt::format("arithmetic ({}) runs at {:.0f} % of the rate measured "
                       "beforehand: index and mask arithmetic is not in the count, or "
                       "other programs ran",
                       e.bound, 100 * share);
  return fmt::format(
      "the {} pipe is {:.0f} % busy: index and mask arithmetic is "
      "not in the count",
      e.bound, 100 * share);
}

/// What the counters say of a kernel that took longer; empty when they agree
/// with the prediction or were not read.
static std::string seenByCounters(const KernelResult &kernel) {
  if (!kernel.counted)
    return "";
  const Counters &c = *kernel.counted;
  if (c.bytesRead && c.bytesWritten && kernel.predicted.bytes() > 0) {
    double moved = double(*c.bytesRead + *c.bytesWritten);
    double extra = moved / double(kernel.predicted.bytes()) - 1;
    if (kernel.predicted.bound == "memory" && extra > 0.1)
      return fmt::format(
          "{} were counted, {} of the prediction: operands are read "
          "more than once and the cache catches {:.0f} % of it",
          humanBytes(moved), humanMiss(extra), 100 * c.l2Hits.value_or(0));
  }
  if (!c.stalls.empty() && c.stalls[0].second > 0.2)
    return fmt::format("warps wait for {} {:.0f} % of their time",
                       c.stalls[0].first, 100 * c.stalls[0].second);
  return "";
}

static std::string tooFast(const KernelResult &kernel,
                           const target::Roofs &roofs) {
  const Estimate &e = kernel.predicted;
  if (e.bound == "memory" && e.bytes() <= 4 * roofs.cacheBytes)
    return fmt::format("operands ({}) partly stay in the cache ({})",
                       humanBytes(double(e.bytes())),
                       humanBytes(double(roofs.cacheBytes)));
  if (e.bound == "launch" || e.launchSeconds > 0.2 * e.seconds)
    return roofs.onePipe
               ? "waking the threads took less than it did beforehand"
               : "launches overlap better than the table's launch cost says";
  if (roofs.onePipe)
    return fmt::format("the {} rate measured beforehand is lower than what this "
                       "machine does: other programs ran then",
                       e.bound);
  // Rates of single pipes were measured alone; how near each other's a kernel that
  // keeps several busy comes was not.
  if (e.tensorFlops > 0 && e.exponentials > 0)
    return "matmuls and softmax overlap better than the table says";
  // A score function's operations contract or leave the loop, each counts for several.
  if (e.bound == "f32" && e.exponentials > 0)
    return "fewer instructions were compiled than operations of the spec were counted as";
  return fmt::format("the table's {} rate is lower than what this device does",
                     e.bound);
}

/// A later launch, after more of the same work, took the time that was predicted.
static std::string wasNotWarm(const KernelResult &kernel) {
  if (!kernel.activity)
    return "";
  double later = kernel.activity->milliseconds;
  if (later <= 0 || isMiss(kernel.predicted.seconds * 1e3, later) ||
      kernel.measured->median < 1.05 * later)
    return "";
  return fmt::format("a launch after more of the same work took {}: the device had not "
                     "warmed up",
                     humanTime(later));
}

std::string attn::profile::likeliestReason(const KernelResult &kernel,
                                           const target::Roofs &roofs) {
  if (!kernel.measured ||
      !isMiss(kernel.predicted.seconds * 1e3, kernel.measured->median))
    return "";
  double seconds = kernel.measured->median * 1e-3;
  if (seconds <= kernel.predicted.seconds)
    return tooFast(kernel, roofs);
  if (std::string cold = wasNotWarm(kernel); !cold.empty())
    return cold;
  std::string reason = tooSlow(kernel, roofs, seconds);
  std::string seen = seenByCounters(kernel);
  return seen.empty() ? reason : reason + "; " + seen;
}

bool attn::profile::beatsMemory(const KernelResult &kernel,
                                const target::Roofs &roofs) {
  const Estimate &e = kernel.predicted;
  return kernel.measured && kernel.measured->median * 1e-3 < e.roofSeconds &&
         e.roofSeconds <= e.memorySeconds && e.bytes() <= roofs.cacheBytes;
}

std::string attn::profile::aboveRoofNote(const Results &results) {
  std::vector<std::string> cached, others;
  for (const LevelResult &level : results.levels)
    for (const KernelResult &kernel : level.kernels) {
      constexpr double kNoise = 1.02;
      if (!kernel.measured || kernel.predicted.roofSeconds * 1e3 <=
                                  kNoise * kernel.measured->median)
        continue;
      auto &list = beatsMemory(kernel, results.roofs) ? cached : others;
      std::string name = level.name + " " + kernel.label;
      if (std::find(list.begin(), list.end(), name) == list.end())
        list.push_back(name);
    }
  std::string text;
  if (!cached.empty())
    text += fmt::format("in cache: {}: the operands stay in the cache ({}), the roof is "
                        "that of memory\n",
                        fmt::join(cached, ", "),
                        humanBytes(double(results.roofs.cacheBytes)));
  if (!others.empty())
    text += fmt::format(
        "over 100 % of the roofline: {}: {}\n", fmt::join(others, ", "),
        results.gpu ? "the table's rates are lower than what this device does"
                    : "the rates were measured just before, while other programs ran; "
                      "run again on a quiet machine");
  return text;
}

std::string attn::profile::occupancyNote(const KernelResult &kernel) {
  // A fused kernel holds its tile on chip: few blocks fit, on purpose.
  const Estimate &e = kernel.predicted;
  bool fused =
      e.tensorFlops > 0 && (e.exponentials > 0 || kernel.label == "flash");
  if (!fused || !kernel.occupancy || kernel.occupancy->share >= 0.3)
    return "";
  return fmt::format("{:.0f} % occupancy ({}) is right here: the kernel keeps "
                     "its tile in registers and shared memory instead of "
                     "device memory.",
                     100 * kernel.occupancy->share, kernel.occupancy->limiter);
}
