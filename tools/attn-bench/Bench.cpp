//===- Bench.cpp - predict, check and time the levels of a program --------===//

#include "tools/attn-bench/Bench.h"

#include "lib/Profile/CpuRoofs.h"
#include "lib/Profile/Cupti.h"
#include "lib/Profile/Reason.h"
#include "lib/Profile/Units.h"
#include "lib/Reference/Inputs.h"
#include "lib/Reference/Live.h"
#include "tools/attn-bench/Judge.h"
#include "tools/attn-bench/Loaded.h"
#include "tools/attn-bench/Memory.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn;
using namespace attn::bench;
using namespace attn::profile;

namespace {
class Bench {
public:
  Bench(const Options &options, Input &input, runtime::Device &device,
        Progress &progress)
      : options(options), input(input), device(device), progress(progress),
        gpu(device.info().kind != "cpu"),
        binds(resolveBinds(input.program, options.binds, input.defaults)),
        lengths(reference::axisLengths(*input.kernel, binds.lengths)) {}

  BenchResults run() {
    requireMemory(device, input.program, binds.lengths);
    describe();
    for (const bundle::Level &level : input.program.levels)
      predict(level);
    prepare();
    for (size_t i = 0; i < input.program.levels.size(); ++i)
      runLevel(input.program.levels[i], out.results.levels[i], out.spans[i]);
    if (options.timeline)
      for (size_t i = 0; i < input.program.levels.size(); ++i)
        recordPhases(input.program.levels[i], out.results.levels[i]);
    if (gpu && options.profile)
      profileLevels();
    sayWhatIsMissing();
    return std::move(out);
  }

private:
  void describe() {
    Results &r = out.results;
    r.spec = options.input;
    r.program = input.program.name;
    r.target = input.target;
    r.device = device.info().name;
    r.compiler = input.opened.manifest.compiler;
    r.binds = binds.shown;
    r.lengths = binds.lengths;
    r.gpu = gpu;
    progress.step("measuring this machine");
    r.roofs = gpu ? target::roofsOf(target::chipFor(device.info().facts))
                  : measureCpuRoofs(device.info().multiprocessors,
                                    device.info().facts.l2Bytes);
    progress.step("making inputs");
    reference::InputOptions inputOptions;
    inputOptions.seed = options.seed;
    inputOptions.scalars = binds.scalars;
    inputs = reference::makeInputs(*input.kernel, lengths, inputOptions);
    r.live = reference::liveFraction(*input.kernel, lengths, inputs);
    live = LiveKeys(r.live);
    reference::LiveRows rows = reference::liveRows(*input.kernel, lengths, inputs);
    live.rowAxis = rows.rowAxis;
    live.keyAxis = rows.keyAxis;
    for (const reference::LiveRow &row : rows.rows)
      live.rows.push_back({row.row, row.first, row.behind});
  }

  /// The guess, made before anything is looked at.
  void predict(const bundle::Level &level) {
    LevelResult result;
    result.name = level.name;
    for (const bundle::Kernel &kernel : level.kernels) {
      KernelResult k;
      k.symbol = kernel.symbol;
      k.label = kernel.label;
      k.schedule = kernel.schedule;
      k.threads = kernel.threads;
      try {
        k.blocks = runtime::gridBlocks(kernel, binds.lengths);
      } catch (const runtime::LaunchError &error) {
        result.failure = error.what(); // The plan will not be made either.
      }
      k.predicted = estimate(kernel, binds.lengths, live, k.blocks,
                             out.results.roofs);
      if (kernel.resources) {
        k.registers = kernel.resources->registers;
        k.spillBytes = kernel.resources->spillBytes;
        k.sharedBytes = kernel.resources->sharedBytes + kernel.dynamicShared;
      }
      result.launches += k.blocks > 0;
      result.predictedMs += k.predicted.seconds * 1e3;
      result.kernels.push_back(std::move(k));
    }
    out.results.levels.push_back(std::move(result));
    out.spans.emplace_back();
  }

  void prepare() {
    progress.step("copying inputs");
    copies = copyArguments(device, input.program, binds, inputs,
                           out.results.roofs.cacheBytes);
    timing.warmup = options.warmup;
    timing.repeats = options.repeats;
    timing.rest = options.rest;
    timing.flushBytes = copies.flushBytes;
  }

  LoadedLevel load(const bundle::Level &level) {
    progress.step(fmt::format("{}: loading", level.name));
    return loadLevel(device, input.folder, input.program, level, binds.lengths,
                     copies);
  }

  void runLevel(const bundle::Level &level, LevelResult &result,
                std::vector<Span> &spans) {
    LoadedLevel loaded;
    try {
      loaded = load(level);
      result.codeKind = loaded.code->kind();
      result.temporaryBytes = loaded.temporaries->bytes();
      if (timing.flushBytes > 0)
        runtime::Buffer(device, timing.flushBytes); // Must be there as well.
    } catch (const runtime::LaunchError &error) {
      result.failure = error.what();
      return;
    }
    const std::vector<runtime::Plan *> &list = loaded.list;
    for (size_t k = 0; k < result.kernels.size(); ++k)
      addFacts(level.kernels[k], list[0]->facts(k), result.kernels[k]);

    if (options.check) {
      progress.step(fmt::format("{}: checking{}", level.name, announced(result)));
      if (!judge)
        judge = std::make_unique<Judge>(*input.kernel, lengths, inputs,
                                        options.seed,
                                        [&](double share) { progress.done(share); });
      Verdict verdict =
          judge->judge(device, *list[0], *copies.sets[0], usesTf32(level));
      result.error = verdict.error;
      result.check = verdict.pass ? Check::Passed : Check::Failed;
      if (!verdict.pass) {
        result.failure = "differs from the reference: " + verdict.why;
        return;
      }
    }

    progress.step(fmt::format("{}: timing{}", level.name, announced(result)));
    LevelTiming times = timeLevel(device, list, timing);
    result.measured = times.level;
    result.hostMicroseconds = times.hostMicroseconds;
    for (size_t k = 0; k < result.kernels.size(); ++k) {
      KernelResult &kernel = result.kernels[k];
      if (kernel.blocks == 0)
        continue;
      kernel.measured = times.kernels[k];
      kernel.reason = likeliestReason(kernel, out.results.roofs);
    }
    spans = times.spans;
  }

  /// How long one run will take, where somebody would wonder.
  static std::string announced(const LevelResult &result) {
    constexpr double kLongMs = 2000;
    return result.predictedMs < kLongMs
               ? ""
               : ", a run is predicted to take " + humanTime(result.predictedMs);
  }

  /// What the warp groups do: a run of the level's stamped kernels, and what the
  /// stamps cost. All other times are the plain kernels'.
  void recordPhases(const bundle::Level &level, LevelResult &result) {
    std::string what = "phases of level " + level.name;
    if (level.timeline.empty()) {
      out.results.missing.push_back(
          {what, "it holds no attention kernel that records them"});
      return;
    }
    if (!result.measured)
      return; // Its own failure is told.
    const bundle::Level &stamped = level.timeline.front();
    LoadedLevel plain = load(level), recording;
    try {
      recording = load(stamped);
    } catch (const runtime::LaunchError &error) {
      out.results.missing.push_back({what, error.what()});
      return;
    }
    progress.step(fmt::format("{}: recording phases", level.name));
    if (options.check) {
      Verdict verdict = judge->judge(device, *recording.list[0], *copies.sets[0],
                                     usesTf32(level));
      if (!verdict.pass) {
        result.check = Check::Failed;
        result.failure =
            "with stamps it differs from the reference: " + verdict.why;
        return;
      }
    }
    for (size_t k = 0; k < stamped.kernels.size(); ++k) {
      const std::optional<bundle::Stamps> &stamps = stamped.kernels[k].stamps;
      if (!stamps || result.kernels[k].blocks == 0)
        continue;
      size_t turn = 0;
      auto launch = [&](LoadedLevel &which) {
        which.list[turn++ % which.list.size()]->launch(k);
      };
      PairTiming cost = timePair(
          device, [&] { launch(plain); }, [&] { launch(recording); }, timing,
          options.seed);
      std::vector<std::byte> bytes = recordOnce(*recording.list[0], k);
      try {
        Timeline timeline = decodeTimeline(*stamps, bytes.data(), bytes.size(),
                                           options.timelineBlocks);
        timeline.launched = recording.list[0]->blocks(k);
        timeline.cost = cost;
        auto local = recording.list[0]->facts(k).localBytes;
        if (local && result.kernels[k].spillBytes.value_or(0) == 0)
          timeline.spillBytes = *local;
        result.kernels[k].timeline = std::move(timeline);
      } catch (const std::runtime_error &error) { // An unreadable buffer.
        out.results.missing.push_back({what, error.what()});
      }
    }
  }

  /// The stamps of one launch.
  std::vector<std::byte> recordOnce(runtime::Plan &plan, size_t kernel) {
    plan.launch(kernel);
    device.synchronize();
    const runtime::Buffer &buffer = *plan.stamps(kernel);
    std::vector<std::byte> bytes(size_t(buffer.bytes()));
    device.copyOut(bytes.data(), buffer.data(), buffer.bytes());
    return bytes;
  }

  /// The GPU's own instruments, after all timing. Activity first: the driver
  /// keeps records and counters apart.
  void profileLevels() {
    std::string noActivity, noCounters;
    for (bool counting : {false, true})
      for (size_t i = 0; i < input.program.levels.size(); ++i) {
        LevelResult &result = out.results.levels[i];
        if (!result.measured || result.launches == 0 ||
            !(counting ? noCounters : noActivity).empty())
          continue;
        LoadedLevel loaded = load(input.program.levels[i]);
        device.synchronize();
        progress.step(fmt::format("{}: {}", result.name,
                                  counting ? "counting" : "recording"));
        if (counting)
          count(result, *loaded.list[0], noCounters);
        else
          record(result, loaded.list, out.spans[i], noActivity);
      }
    if (!noActivity.empty())
      out.results.missing.push_back({"activity records", noActivity});
    if (!noCounters.empty())
      out.results.missing.push_back({"counted bytes and pipes", noCounters});
    for (LevelResult &level : out.results.levels)
      for (KernelResult &kernel : level.kernels)
        kernel.reason = likeliestReason(kernel, out.results.roofs);
  }

  /// Places of the kernels that are launched.
  static std::vector<size_t> launched(const LevelResult &result) {
    std::vector<size_t> places;
    for (size_t k = 0; k < result.kernels.size(); ++k)
      if (result.kernels[k].blocks > 0)
        places.push_back(k);
    return places;
  }

  void record(LevelResult &result, const std::vector<runtime::Plan *> &plans,
              std::vector<Span> &spans, std::string &why) {
    constexpr int kRuns = 7;
    std::vector<size_t> places = launched(result);
    size_t turn = 0;
    std::optional<LevelActivity> activity = recordActivity(
        device, places.size(), kRuns, options.rest,
        [&] { plans[turn++ % plans.size()]->launch(); }, why);
    if (!activity)
      return;
    for (size_t i = 0; i < places.size(); ++i) {
      result.kernels[places[i]].activity = activity->kernels[i];
      spans[places[i]] = activity->spans[i];
    }
  }

  void count(LevelResult &result, runtime::Plan &plan, std::string &why) {
    if (!counting && !(counting = KernelCounters::open(device, options.counters, why)))
      return;
    if (!sweep.data()) {
      // Several times the cache: it does not replace the oldest line each time.
      sweep = runtime::Buffer(device, 4 * out.results.roofs.cacheBytes);
      device.fill(sweep.data(), 0, sweep.bytes());
    }
    std::vector<size_t> places = launched(result);
    std::optional<std::vector<Counters>> counters = counting->count(
        places.size(), [&](size_t i) { plan.launch(places[i]); },
        [&] { device.readThrough(sweep.data(), sweep.bytes()); }, why);
    for (size_t i = 0; counters && i < places.size(); ++i)
      result.kernels[places[i]].counted = (*counters)[i];
  }

  /// A profile on a CPU has less to say; a reader is told so, once.
  void sayWhatIsMissing() {
    if (gpu || !options.profile)
      return;
    out.results.missing = {
        {"counted bytes and pipes",
         "the hardware counters that this tool reads are a GPU's"},
        {"registers, shared memory, occupancy",
         "code for a CPU has no such limits for the blocks it runs"},
        {"host time a launch",
         "on a CPU the host's threads are the device: a launch returns when "
         "its kernel is done"}};
  }

  /// What the device says of the code it runs; it may have compiled it itself.
  void addFacts(const bundle::Kernel &kernel,
                const runtime::FunctionFacts &facts, KernelResult &result) {
    if (facts.registers)
      result.registers = facts.registers;
    if (facts.localBytes)
      result.spillBytes = int(*facts.localBytes);
    if (facts.sharedBytes)
      result.sharedBytes = *facts.sharedBytes + kernel.dynamicShared;
    if (gpu && result.registers && result.sharedBytes)
      result.occupancy = target::occupancy(
          target::architecture(device.info().capability), kernel.threads,
          *result.registers, *result.sharedBytes);
  }

  const Options &options;
  Input &input;
  runtime::Device &device;
  Progress &progress;
  bool gpu;
  RunBinds binds;
  reference::AxisLengths lengths;
  reference::Inputs inputs;
  ArgumentCopies copies;
  LiveKeys live;
  TimingOptions timing;
  std::unique_ptr<KernelCounters> counting;
  runtime::Buffer sweep; ///< Larger than the last-level cache, for counting.
  std::unique_ptr<Judge> judge;
  BenchResults out;
};
} // namespace

BenchResults attn::bench::runBench(
    const Options &options, Input &input, runtime::Device &device, Progress &progress) {
  return Bench(options, input, device, progress).run();
}
