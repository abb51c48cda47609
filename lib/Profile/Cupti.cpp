//===- Cupti.cpp - activity records of launches ---------------------------===//

#include "lib/Profile/Cupti.h"

#include "lib/Profile/CuptiApi.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

using namespace attn;
using namespace attn::profile;
using namespace attn::profile::cupti;

namespace {
/// What the callbacks gathered; they take no argument of ours.
struct Log {
  const Api *api = nullptr;
  std::vector<KernelRecord> kernels;
  std::map<uint32_t, CallRecord> calls; ///< By correlation.
  int otherWork = 0;
};
Log *current = nullptr;
} // namespace

static constexpr size_t kBufferBytes = 1 << 20;

static void giveBuffer(uint8_t **buffer, size_t *bytes, size_t *records) {
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *records = 0; // As many as fit.
}

static void takeBuffer(void *, uint32_t, uint8_t *buffer, size_t,
                       size_t valid) {
  ActivityRecord *record = nullptr;
  while (current && valid > 0 &&
         current->api->activityNext(buffer, valid, &record) == 0) {
    switch (record->kind) {
    case kKernel:
    case kConcurrentKernel:
      current->kernels.push_back(*reinterpret_cast<KernelRecord *>(record));
      break;
    case kDriverCall: {
      auto *call = reinterpret_cast<CallRecord *>(record);
      current->calls[call->correlation] = *call;
      break;
    }
    case kMemcpy:
    case kMemset:
      ++current->otherWork;
      break;
    }
  }
  std::free(buffer);
}

/// Runs in front of those that count.
static constexpr int kAhead = 2;

/// The clock of an idle GPU takes tens of milliseconds to rise, and the first
/// launch after enabling records pays for that.
static void warmUp(runtime::Device &device, const std::function<void()> &run) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  do {
    run();
    device.synchronize();
  } while (Clock::now() - start < std::chrono::milliseconds(50));
}

static double medianOf(std::vector<double> values) {
  return summarize(std::move(values)).median;
}

static std::optional<LevelActivity> digest(Log &log, size_t kernels, int runs,
                                           std::string &why) {
  std::sort(log.kernels.begin(), log.kernels.end(),
            [](const KernelRecord &a, const KernelRecord &b) {
              return a.start < b.start;
            });
  size_t expected = kernels * size_t(kAhead + runs);
  if (log.kernels.size() != expected) {
    why = fmt::format("CUPTI recorded {} of {} launches", log.kernels.size(),
                      expected);
    return std::nullopt;
  }
  log.kernels.erase(log.kernels.begin(), log.kernels.begin() + kernels * kAhead);
  LevelActivity activity;
  activity.otherWork = log.otherWork;
  uint64_t zero = UINT64_MAX;
  for (size_t k = 0; k < kernels; ++k) {
    std::vector<double> times;
    for (int r = 0; r < runs; ++r) {
      const KernelRecord &record = log.kernels[size_t(r) * kernels + k];
      times.push_back(double(record.end - record.start) * 1e-6);
    }
    const KernelRecord &last = log.kernels[size_t(runs - 1) * kernels + k];
    Activity a;
    a.milliseconds = medianOf(times);
    a.blocks = int64_t(last.grid[0]) * last.grid[1] * last.grid[2];
    a.threads = last.block[0] * last.block[1] * last.block[2];
    a.registers = last.registers;
    a.sharedBytes = int64_t(last.staticShared) + last.dynamicShared;
    a.correlation = last.correlation;
    activity.kernels.push_back(a);
    auto call = log.calls.find(last.correlation);
    if (call != log.calls.end())
      zero = std::min(zero, uint64_t(call->second.start));
    zero = std::min(zero, uint64_t(last.start));
  }
  auto microseconds = [&](uint64_t time) { return double(time - zero) * 1e-3; };
  for (size_t k = 0; k < kernels; ++k) {
    const KernelRecord &last = log.kernels[size_t(runs - 1) * kernels + k];
    Span span;
    span.deviceStart = microseconds(last.start);
    span.deviceEnd = microseconds(last.end);
    auto call = log.calls.find(last.correlation);
    if (call == log.calls.end()) {
      why = "CUPTI told no host call of a launch";
      return std::nullopt;
    }
    span.hostStart = microseconds(call->second.start);
    span.hostEnd = microseconds(call->second.end);
    activity.spans.push_back(span);
  }
  return activity;
}

std::optional<LevelActivity>
attn::profile::recordActivity(runtime::Device &device, size_t kernels, int runs,
                              int rest,
                              const std::function<void()> &run,
                              std::string &why) {
  const Api *api = cupti::api(why);
  if (!api)
    return std::nullopt;
  static const Result registered =
      api->activityCallbacks(giveBuffer, takeBuffer);
  if (registered != 0) {
    why = "CUPTI records no activity: " + api->describe(registered);
    return std::nullopt;
  }
  const int32_t kinds[] = {kConcurrentKernel, kDriverCall, kMemcpy, kMemset};
  for (int32_t kind : kinds)
    if (Result result = api->activityEnable(kind)) {
      why = "CUPTI records no activity: " + api->describe(result);
      for (int32_t enabled : kinds)
        api->activityDisable(enabled);
      return std::nullopt;
    }
  Log discarded, log;
  discarded.api = log.api = api;
  current = &discarded;
  warmUp(device, run);
  api->activityFlush(1);
  current = &log;
  // Queued as they are timed, without a pause in which the clock falls: the first
  // ones hide the launches of those behind them.
  for (int r = 0; r < kAhead + runs - 1; ++r) {
    profile::rest(device, rest);
    run();
  }
  device.synchronize();
  profile::rest(device, rest);
  run(); // The last one alone: a time line of a run, not of a full queue.
  device.synchronize();
  api->activityFlush(1);
  for (int32_t kind : kinds)
    api->activityDisable(kind);
  api->activityFlush(1);
  current = nullptr;
  return digest(log, kernels, runs, why);
}
