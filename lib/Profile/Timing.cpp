//===- Timing.cpp - how long a level takes --------------------------------===//

#include "lib/Profile/Timing.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

using namespace attn;
using namespace attn::profile;
using namespace attn::runtime;
using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

Summary attn::profile::summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  auto at = [&](double quantile) {
    double place = quantile * double(samples.size() - 1);
    size_t below = size_t(place);
    size_t above = std::min(below + 1, samples.size() - 1);
    double part = place - double(below);
    return samples[below] * (1 - part) + samples[above] * part;
  };
  Summary s;
  s.count = int(samples.size());
  s.least = samples.front();
  s.most = samples.back();
  s.median = at(0.5);
  s.lowerQuartile = at(0.25);
  s.upperQuartile = at(0.75);
  return s;
}

void attn::profile::rest(Device &device, int milliseconds) {
  if (milliseconds <= 0)
    return;
  device.synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Host and device count from marks that are not quite at the same time: no
/// kernel starts before its launch does.
static void alignClocks(std::vector<Span> &spans) {
  double late = 0;
  for (const Span &span : spans)
    late = std::max(late, span.hostStart - span.deviceStart);
  for (Span &span : spans) {
    span.deviceStart += late;
    span.deviceEnd += late;
  }
}

namespace {
class Timer {
public:
  Timer(Device &device, const std::vector<Plan *> &sets,
        const TimingOptions &options)
      : device(device), sets(sets), options(options),
        gpu(device.info().kind != "cpu") {
    if (options.flushBytes > 0)
      scratch = Buffer(device, options.flushBytes);
  }

  LevelTiming run() {
    LevelTiming timing;
    warmUp();
    timing.level = timeWhole();
    timing.kernels = timeKernels();
    if (gpu)
      timing.hostMicroseconds = timeHost(timing.level.median);
    timing.spans = traceOne();
    return timing;
  }

private:
  Plan &next() { return *sets[turn++ % sets.size()]; }

  void flush() {
    if (options.flushBytes > 0)
      device.fill(scratch.data(), uint8_t(turn), options.flushBytes);
  }

  void warmUp() {
    // Clocks of an idle GPU take tens of milliseconds to rise.
    auto start = Clock::now();
    int runs = 0;
    auto more = [&] {
      if (options.warmup >= 0)
        return runs < options.warmup;
      // A slow level is warm after one run.
      double elapsed = millisecondsSince(start);
      return runs < 1 || (elapsed < 50) || (runs < 3 && elapsed < 1000);
    };
    for (; more(); ++runs) {
      next().launch();
      device.synchronize();
    }
    auto one = Clock::now();
    next().launch();
    device.synchronize();
    double each = std::max(millisecondsSince(one), 1e-3);
    repeats = options.repeats > 0 ? options.repeats
                                  : std::clamp(int(1000 / each), kLeastRepeats, 50);
  }

  Summary timeWhole() {
    std::vector<std::unique_ptr<Event>> starts, ends;
    for (int i = 0; i < repeats; ++i) {
      starts.push_back(device.createEvent());
      ends.push_back(device.createEvent());
    }
    // All runs are queued before the first is awaited: a launch is then never
    // waited for, as in a program that keeps the device busy. After a rest a run in
    // front hides the launch.
    for (int i = 0; i < repeats; ++i) {
      rest(device, options.rest);
      if (options.rest > 0)
        next().launch();
      flush();
      device.record(*starts[i]);
      next().launch();
      device.record(*ends[i]);
    }
    device.synchronize();
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i)
      samples.push_back(device.milliseconds(*starts[i], *ends[i]));
    return summarize(std::move(samples));
  }

  std::vector<Summary> timeKernels() {
    size_t kernels = sets[0]->kernels();
    std::vector<std::vector<double>> samples(kernels);
    std::vector<std::unique_ptr<Event>> marks;
    for (size_t k = 0; k <= kernels; ++k)
      marks.push_back(device.createEvent());
    for (int i = 0; i < repeats; ++i) {
      // Work in front of the first mark hides the launches behind it.
      rest(device, options.rest);
      flush();
      if (gpu)
        next().launch();
      Plan &plan = next();
      device.record(*marks[0]);
      for (size_t k = 0; k < kernels; ++k) {
        plan.launch(k);
        device.record(*marks[k + 1]);
      }
      device.synchronize();
      for (size_t k = 0; k < kernels; ++k)
        samples[k].push_back(device.milliseconds(*marks[k], *marks[k + 1]));
    }
    std::vector<Summary> summaries;
    for (std::vector<double> &list : samples)
      summaries.push_back(summarize(std::move(list)));
    return summaries;
  }

  /// Few enough launches that the driver's queue never fills and the device is
  /// done soon, the best of several rounds because another process may have had
  /// the core.
  double timeHost(double levelMs) {
    size_t kernels = std::max<size_t>(sets[0]->kernels(), 1);
    int runs = int(std::max<size_t>(1, 128 / kernels));
    runs = std::min(runs, std::max(2, int(20 / std::max(levelMs, 1e-3))));
    double best = 0;
    for (int round = 0, rounds = levelMs > 10 ? 2 : 5; round < rounds; ++round) {
      device.synchronize();
      auto start = Clock::now();
      for (int i = 0; i < runs; ++i)
        sets[0]->launch();
      double each = millisecondsSince(start) * 1e3 / double(runs * kernels);
      if (round == 0 || each < best)
        best = each;
    }
    device.synchronize();
    return best;
  }

  std::vector<Span> traceOne() {
    Plan &plan = next();
    std::vector<Span> spans(plan.kernels());
    std::vector<std::unique_ptr<Event>> starts, ends;
    for (size_t k = 0; k < spans.size(); ++k) {
      starts.push_back(device.createEvent());
      ends.push_back(device.createEvent());
    }
    auto base = device.createEvent();
    device.synchronize();
    device.record(*base);
    auto zero = Clock::now();
    for (size_t k = 0; k < spans.size(); ++k) {
      device.record(*starts[k]);
      spans[k].hostStart = millisecondsSince(zero) * 1e3;
      plan.launch(k);
      spans[k].hostEnd = millisecondsSince(zero) * 1e3;
      device.record(*ends[k]);
    }
    device.synchronize();
    for (size_t k = 0; k < spans.size(); ++k) {
      spans[k].deviceStart = device.milliseconds(*base, *starts[k]) * 1e3;
      spans[k].deviceEnd = device.milliseconds(*base, *ends[k]) * 1e3;
    }
    alignClocks(spans);
    return spans;
  }

  Device &device;
  const std::vector<Plan *> &sets;
  const TimingOptions &options;
  bool gpu;
  Buffer scratch;
  size_t turn = 0;
  int repeats = kLeastRepeats;
};
} // namespace

LevelTiming attn::profile::timeLevel(Device &device,
                                     const std::vector<Plan *> &sets,
                                     const TimingOptions &options) {
  return Timer(device, sets, options).run();
}

RoundsTiming
attn::profile::timeRounds(Device &device,
                          const std::vector<std::function<void()>> &ways,
                          const TimingOptions &options, unsigned seed) {
  const bool gpu = device.info().kind != "cpu";
  Buffer scratch;
  if (options.flushBytes > 0)
    scratch = Buffer(device, options.flushBytes);
  auto start = device.createEvent(), end = device.createEvent();
  auto once = [&](size_t way, uint8_t byte) {
    // Work in front of the first mark hides the launches behind it.
    if (options.flushBytes > 0)
      device.fill(scratch.data(), byte, options.flushBytes);
    else if (gpu)
      ways[way]();
    device.record(*start);
    ways[way]();
    device.record(*end);
    device.synchronize();
    return device.milliseconds(*start, *end);
  };
  auto begin = Clock::now();
  double round = 0;
  do {
    round = 0;
    for (size_t way = 0; way < ways.size(); ++way)
      round += once(way, 0);
  } while (options.warmup < 0 && millisecondsSince(begin) < 50);
  int rounds = options.repeats > 0
                   ? options.repeats
                   : std::clamp(int(500 * ways.size() / std::max(round, 1e-3)), 7, 51);
  std::vector<std::vector<double>> samples(ways.size()), ratios(ways.size());
  std::vector<size_t> order(ways.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed + 1);
  for (int i = 0; i < rounds; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t way : order)
      samples[way].push_back(once(way, uint8_t(i)));
    for (size_t way = 0; way < ways.size(); ++way)
      ratios[way].push_back(samples[way].back() / std::max(samples[0].back(), 1e-9));
  }
  RoundsTiming timing;
  for (size_t way = 0; way < ways.size(); ++way) {
    timing.times.push_back(summarize(std::move(samples[way])));
    timing.ratios.push_back(summarize(std::move(ratios[way])).median);
  }
  return timing;
}

PairTiming attn::profile::timePair(Device &device,
                                   const std::function<void()> &first,
                                   const std::function<void()> &second,
                                   const TimingOptions &options, unsigned seed) {
  RoundsTiming rounds = timeRounds(device, {first, second}, options, seed);
  return {rounds.times[0], rounds.times[1], rounds.ratios[1]};
}
