//===- CuptiCounters.cpp - hardware counters of launches ------------------===//
//
// CUPTI's range profiler: a range around each launch, the whole level repeated
// once for every set of counters that the hardware can count at a time.
//
// What a launch moves depends on what the last-level cache holds before it and
// on whether what it leaves there counts. In a run a small result is read from the
// cache by the next kernel and reaches memory during some later one, or never.
// A figure that belongs to the launch alone needs both ends settled: the cache
// holds nothing of use before it, and lines that it leaves changed are written
// back within its count. A sweep of clean reads around the launch does both: the
// sweep behind it writes nothing itself, so all that is written during it is
// the launch's. Bytes of the run as it goes are counted beside that.
//
//===----------------------------------------------------------------------===//

#include "lib/Profile/Cupti.h"
#include "lib/Profile/CuptiApi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <stdexcept>

using namespace attn;
using namespace attn::profile;
using namespace attn::profile::cupti;

static const char *const kRead = "dram__bytes_read.sum";
static const char *const kWritten = "dram__bytes_write.sum";
static const char *const kHits = "lts__t_sector_hit_rate.pct";
static const char *const kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
static const char *const kSpecial =
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active";
static const char *const kOccupancy =
    "sm__warps_active.avg.pct_of_peak_sustained_active";
static const char *const kWarps = "smsp__warps_active.sum";
static const char *const kIssue =
    "smsp__issue_active.avg.pct_of_peak_sustained_active";
static const char *const kCycles = "sm__cycles_elapsed.max";
static const char *const kTime = "gpu__time_duration.sum"; // ns
static const char *const kCacheBytes = "lts__t_bytes.sum";
static const char *const kStallPrefix = "smsp__warps_issue_stalled_";

/// Why a warp waits, in the counters' words and in ours.
static const std::pair<const char *, const char *> kStalls[] = {
    {"long_scoreboard", "device memory or cache"},
    {"short_scoreboard", "shared memory or special functions"},
    {"barrier", "barrier"},
    {"math_pipe_throttle", "a busy arithmetic pipe"},
    {"mio_throttle", "the shared-memory queue"},
    {"lg_throttle", "the device-memory queue"},
    {"gmma", "wgmma"},
    {"wait", "fixed latency"},
    {"not_selected", "another warp's turn"},
    {"no_instruction", "instruction fetch"},
    {"dispatch_stall", "dispatch"},
    {"membar", "memory fence"},
    {"sleeping", "sleep"},
};

static std::string stallMetric(const char *reason) {
  return std::string(kStallPrefix) + reason + ".sum";
}

static std::vector<std::string> wantedMetrics(CounterSet set) {
  std::vector<std::string> list{kRead, kWritten};
  if (set != CounterSet::Bytes)
    list.insert(list.end(),
                {kTensor, kSpecial, kIssue, kCycles, kTime, kCacheBytes});
  if (set == CounterSet::All) {
    list.insert(list.end(), {kHits, kOccupancy, kWarps});
    for (const auto &[reason, words] : kStalls)
      list.push_back(stallMetric(reason));
  }
  return list;
}

static void check(const Api &api, Result result, const char *what) {
  if (result != 0)
    throw std::runtime_error(fmt::format("{}: {}", what, api.describe(result)));
}

static std::vector<const char *>
pointers(const std::vector<std::string> &list) {
  std::vector<const char *> all;
  for (const std::string &text : list)
    all.push_back(text.c_str());
  return all;
}

namespace {
/// What one count is about, and what goes before it uncounted.
struct Range {
  std::function<void()> before, counted;
};

/// The half that knows metrics: needs a chip's name, no GPU.
class Host {
public:
  Host(const Api &api, const std::string &chip, const uint8_t *availability,
       CounterSet set)
      : api(api) {
    HostBlock block;
    block.chip = chip.c_str();
    block.availability = availability;
    check(api, call(api.hostStart, block), "counters cannot be described");
    host = block.host;
    // One by one: an older chip lacks some, and one unknown refuses them all.
    for (const std::string &metric : wantedMetrics(set)) {
      const char *name = metric.c_str();
      AddMetricsBlock add;
      add.host = host;
      add.names = &name;
      add.count = 1;
      if (call(api.addMetrics, add) == 0)
        metrics.push_back(metric);
    }
    if (metrics.empty())
      throw std::runtime_error(
          fmt::format("none of the counters is known on {}", chip));
  }
  ~Host() {
    HostEndBlock block;
    block.host = host;
    call(api.hostEnd, block);
  }
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;

  std::vector<uint8_t> config() const {
    ConfigSizeBlock size;
    size.host = host;
    check(api, call(api.configSize, size), "counters cannot be scheduled");
    std::vector<uint8_t> image(size.bytes);
    ConfigBlock block;
    block.host = host;
    block.bytes = image.size();
    block.image = image.data();
    check(api, call(api.config, block), "counters cannot be scheduled");
    return image;
  }

  std::map<std::string, double> evaluate(const std::vector<uint8_t> &data,
                                         size_t range) const {
    std::vector<double> values(metrics.size(), NAN);
    std::vector<const char *> names = pointers(metrics);
    EvaluateBlock block;
    block.host = host;
    block.data = data.data();
    block.bytes = data.size();
    block.range = range;
    block.names = names.data();
    block.count = names.size();
    block.values = values.data();
    check(api, call(api.evaluate, block), "counters cannot be read");
    std::map<std::string, double> named;
    for (size_t i = 0; i < metrics.size(); ++i)
      if (std::isfinite(values[i]))
        named[metrics[i]] = values[i];
    return named;
  }

  std::vector<std::string> metrics;

private:
  const Api &api;
  void *host = nullptr;
};

/// The profiler of a context, on while it lives.
class Ranges {
public:
  Ranges(const Api &api, void *context) : api(api) {
    EnableBlock block;
    block.context = context;
    check(api, call(api.enable, block), "the range profiler does not start");
    ranges = block.ranges;
  }
  ~Ranges() {
    RangesBlock block;
    block.ranges = ranges;
    call(api.disable, block);
  }
  Ranges(const Ranges &) = delete;
  Ranges &operator=(const Ranges &) = delete;

  /// A counter image for `count` ranges of the host's metrics.
  std::vector<uint8_t> dataImage(const Host &host, size_t count) {
    std::vector<const char *> names = pointers(host.metrics);
    DataSizeBlock size;
    size.ranges = ranges;
    size.names = names.data();
    size.count = names.size();
    size.mostRanges = count;
    size.mostNodes = uint32_t(count);
    check(api, call(api.dataSize, size), "counters need an image");
    std::vector<uint8_t> data(size.bytes);
    DataBlock block;
    block.ranges = ranges;
    block.bytes = data.size();
    block.data = data.data();
    check(api, call(api.dataStart, block), "counters need an image");
    return data;
  }

  void collect(const std::vector<uint8_t> &config, std::vector<uint8_t> &data,
               const std::vector<Range> &work, runtime::Device &device) {
    SetConfigBlock set;
    set.ranges = ranges;
    set.configBytes = config.size();
    set.config = config.data();
    set.dataBytes = data.size();
    set.data = data.data();
    set.mostRanges = work.size();
    check(api, call(api.setConfig, set), "counters cannot be set");
    RangesBlock self;
    self.ranges = ranges;
    StopBlock stop;
    stop.ranges = ranges;
    constexpr int kMostPasses = 200; // A profiler that never ends is broken.
    for (int pass = 0; pass < kMostPasses && !stop.allSubmitted; ++pass) {
      check(api, call(api.start, self), "counters cannot be started");
      for (size_t r = 0; r < work.size(); ++r) {
        std::string name = std::to_string(r);
        if (work[r].before)
          work[r].before();
        PushBlock push;
        push.ranges = ranges;
        push.name = name.c_str();
        check(api, call(api.push, push), "counters cannot be started");
        work[r].counted();
        check(api, call(api.pop, self), "counters cannot be stopped");
      }
      device.synchronize();
      check(api, call(api.stop, stop), "counters cannot be stopped");
    }
    DecodeBlock decode;
    decode.ranges = ranges;
    check(api, call(api.decode, decode), "counters cannot be read");
    if (decode.dropped > 0 || !stop.allSubmitted)
      throw std::runtime_error("the profiler dropped launches");
  }

private:
  const Api &api;
  void *ranges = nullptr;
};
} // namespace

static Counters countersOf(const std::map<std::string, double> &values) {
  auto value = [&](const std::string &name) -> std::optional<double> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt
                                 : std::optional<double>(found->second);
  };
  auto share = [&](const char *name) {
    std::optional<double> percent = value(name);
    return percent ? std::optional<double>(*percent / 100) : std::nullopt;
  };
  Counters c;
  if (auto bytes = value(kRead))
    c.runBytesRead = std::llround(*bytes);
  if (auto bytes = value(kWritten))
    c.runBytesWritten = std::llround(*bytes);
  c.l2Hits = share(kHits);
  c.tensorPipe = share(kTensor);
  c.specialPipe = share(kSpecial);
  c.occupancy = share(kOccupancy);
  c.issueSlots = share(kIssue);
  if (auto bytes = value(kCacheBytes))
    c.cacheBytes = std::llround(*bytes);
  if (auto cycles = value(kCycles), time = value(kTime); cycles && time && *time > 0)
    c.gigahertz = *cycles / *time;
  std::optional<double> warps = value(kWarps);
  for (const auto &[reason, words] : kStalls)
    if (auto stalled = value(stallMetric(reason));
        stalled && warps && *warps > 0 && *stalled > 0)
      c.stalls.push_back({words, *stalled / *warps});
  std::stable_sort(
      c.stalls.begin(), c.stalls.end(),
      [](const auto &a, const auto &b) { return a.second > b.second; });
  return c;
}

/// The context that the device's launches go to.
static void *currentContext() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto get = reinterpret_cast<int (*)(void **)>(
      driver ? dlsym(driver, "cuCtxGetCurrent") : nullptr);
  void *context = nullptr;
  if (!get || get(&context) != 0 || !context)
    throw std::runtime_error("no CUDA context is current");
  return context;
}

static std::vector<uint8_t> availabilityOf(const Api &api, void *context) {
  AvailabilityBlock block;
  block.context = context;
  check(api, call(api.availability, block),
        "the driver does not let counters be read");
  std::vector<uint8_t> image(block.bytes);
  block.image = image.data();
  check(api, call(api.availability, block),
        "the driver does not let counters be read");
  return image;
}

/// Loaded, started and able to count, or throws.
static const Api &countingApi() {
  std::string why;
  const Api *api = cupti::api(why);
  if (!api || !api->noCounters.empty())
    throw std::runtime_error(api ? api->noCounters : why);
  return *api;
}

namespace {
class CuptiCounters : public KernelCounters {
public:
  CuptiCounters(runtime::Device &device, CounterSet set)
      : api(countingApi()), device(device), set(set) {
    Block begin;
    check(api, call(api.profilerStart, begin), "the profiler does not start");
    context = currentContext();
    ChipNameBlock block;
    check(api, call(api.chipName, block), "the GPU is unknown to CUPTI");
    chip = block.name;
    availability = availabilityOf(api, context);
  }

  std::optional<std::vector<Counters>>
  count(size_t kernels, const std::function<void(size_t)> &launch,
        const std::function<void()> &sweep, std::string &why) override try {
    std::vector<Range> inRun, byItself;
    for (size_t k = 0; k < kernels; ++k) {
      inRun.push_back({nullptr, [&launch, k] { launch(k); }});
      byItself.push_back({[&] {
                            sweep();
                            device.synchronize();
                          },
                          [&launch, k] { launch(k); }});
      byItself.push_back({[&] { device.synchronize(); }, sweep});
    }
    std::vector<Counters> counters;
    for (const auto &values : metrics(set, inRun))
      counters.push_back(countersOf(values));
    auto bytes = metrics(CounterSet::Bytes, byItself);
    for (size_t k = 0; k < kernels; ++k) {
      const auto &itself = bytes[2 * k], &behind = bytes[2 * k + 1];
      if (itself.count(kRead))
        counters[k].bytesRead = std::llround(itself.at(kRead));
      if (itself.count(kWritten) && behind.count(kWritten))
        counters[k].bytesWritten =
            std::llround(itself.at(kWritten) + behind.at(kWritten));
    }
    return counters;
  } catch (const runtime::DeviceError &) {
    throw; // The device's own failure is not about counters.
  } catch (const std::runtime_error &error) {
    why = error.what();
    return std::nullopt;
  }

private:
  /// The metrics of each range, in order.
  std::vector<std::map<std::string, double>> metrics(CounterSet which,
                                                     const std::vector<Range> &work) {
    Host host(api, chip, availability.data(), which);
    // The profiler keeps pointers to both until it is off again.
    std::vector<uint8_t> config = host.config(), data;
    {
      Ranges ranges(api, context);
      data = ranges.dataImage(host, work.size());
      ranges.collect(config, data, work, device);
    }
    RangeCountBlock counted;
    counted.data = data.data();
    counted.bytes = data.size();
    check(api, call(api.rangeCount, counted), "counters cannot be read");
    if (counted.ranges != work.size())
      throw std::runtime_error(fmt::format("the profiler counted {} of {} ranges",
                                           counted.ranges, work.size()));
    std::vector<std::map<std::string, double>> values(work.size());
    for (size_t r = 0; r < counted.ranges; ++r) {
      RangeInfoBlock info;
      info.data = data.data();
      info.bytes = data.size();
      info.range = r;
      check(api, call(api.rangeInfo, info), "counters cannot be read");
      if (size_t at = size_t(std::atoi(info.name)); at < values.size())
        values[at] = host.evaluate(data, r);
    }
    return values;
  }

  const Api &api;
  runtime::Device &device;
  CounterSet set;
  void *context = nullptr;
  std::string chip;
  std::vector<uint8_t> availability;
};
} // namespace

std::unique_ptr<KernelCounters>
KernelCounters::open(runtime::Device &device, CounterSet set, std::string &why) try {
  return std::make_unique<CuptiCounters>(device, set);
} catch (const runtime::DeviceError &) {
  throw;
} catch (const std::runtime_error &error) {
  why = error.what();
  return nullptr;
}

std::set<std::string> attn::profile::countableMetrics(const std::string &chip,
                                                      std::string &why) try {
  const Api &api = countingApi();
  Host host(api, chip, nullptr, CounterSet::All);
  host.config();
  return {host.metrics.begin(), host.metrics.end()};
} catch (const std::runtime_error &error) {
  why = error.what();
  return {};
}
