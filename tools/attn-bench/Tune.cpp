//===- Tune.cpp - check and time the schedules of a bundle ----------------===//

#include "tools/attn-bench/Tune.h"

#include "lib/Reference/Inputs.h"
#include "tools/attn-bench/Judge.h"
#include "tools/attn-bench/Loaded.h"
#include "tools/attn-bench/Memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

using namespace attn;
using namespace attn::bench;
using namespace attn::profile;

static std::string today() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday);
}

namespace {
/// One level with its schedules, the default first.
struct Contest {
  std::vector<const bundle::Level *> levels;
  TunedLevel *result;
};

class Tuner {
public:
  Tuner(const Options &options, Input &input, runtime::Device &device,
        Progress &progress)
      : options(options), input(input), device(device), progress(progress) {}

  TuneResults run() {
    out.spec = options.input;
    out.program = input.program.name;
    out.target = input.target;
    out.device = device.info().name;
    out.compiler = input.opened.manifest.compiler;
    out.date = today();
    gather();
    std::vector<Binds> sizes = options.sizes;
    if (sizes.empty())
      sizes.emplace_back();
    for (const Binds &size : sizes)
      runSize(size);
    // A time at some sizes only, or beside no default, would not compare.
    for (TunedLevel &level : out.levels)
      for (TunedSchedule &schedule : level.schedules)
        if (schedule.times.size() != out.sizes.size() ||
            !level.schedules[0].failure.empty())
          schedule.times.clear();
    return std::move(out);
  }

private:
  void gather() {
    for (const bundle::Level &level : input.program.levels)
      if (!level.variants.empty())
        out.levels.push_back({level.name, {}});
    if (out.levels.empty())
      throw InputError("--tune: no level has several schedules; make the bundle "
                       "with attnc --schedules=search, or several --schedule");
    size_t place = 0;
    for (const bundle::Level &level : input.program.levels) {
      if (level.variants.empty())
        continue;
      Contest contest{{&level}, &out.levels[place++]};
      for (const bundle::Level &variant : level.variants)
        contest.levels.push_back(&variant);
      for (const bundle::Level *each : contest.levels)
        contest.result->schedules.push_back(describe(*each));
      contests.push_back(std::move(contest));
    }
  }

  static TunedSchedule describe(const bundle::Level &level) {
    TunedSchedule schedule;
    schedule.overrides = level.schedule;
    for (const bundle::Kernel &kernel : level.kernels)
      if (kernel.choice) {
        schedule.description = kernel.schedule;
        schedule.choice = *kernel.choice;
        if (kernel.resources)
          schedule.registers = kernel.resources->registers;
      }
    return schedule;
  }

  void runSize(const Binds &size) {
    Binds given = options.binds;
    for (const auto &[name, value] : size)
      if (!given.emplace(name, value).second)
        throw InputError(fmt::format("--at: {} is given by --bind as well", name));
    RunBinds binds = resolveBinds(input.program, given, input.defaults);
    std::vector<std::string> words;
    for (const auto &[name, value] : size)
      words.push_back(name + "=" + value);
    out.sizes.push_back(fmt::format("{}", fmt::join(words, " ")));
    out.binds = binds.shown;
    for (const auto &[name, value] : size)
      out.binds.erase(name);

    requireMemory(device, input.program, binds.lengths);
    progress.step("making inputs");
    reference::AxisLengths lengths =
        reference::axisLengths(*input.kernel, binds.lengths);
    reference::InputOptions inputOptions;
    inputOptions.seed = options.seed;
    inputOptions.scalars = binds.scalars;
    reference::Inputs inputs =
        reference::makeInputs(*input.kernel, lengths, inputOptions);
    ArgumentCopies copies = copyArguments(device, input.program, binds, inputs,
                                          device.info().facts.l2Bytes);
    Judge judge(*input.kernel, lengths, inputs, options.seed,
                [&](double share) { progress.done(share); });
    for (Contest &contest : contests)
      runContest(contest, binds, copies, judge);
  }

  void runContest(Contest &contest, const RunBinds &binds, ArgumentCopies &copies,
                  Judge &judge) {
    std::vector<TunedSchedule> &schedules = contest.result->schedules;
    std::vector<LoadedLevel> loaded;
    std::vector<size_t> running; // Places of what is loaded.
    for (size_t i = 0; i < schedules.size(); ++i) {
      progress.step(fmt::format("{} {}: checking schedule {} of {}",
                                contest.result->name, out.sizes.back(), i + 1,
                                schedules.size()));
      if (!schedules[i].failure.empty())
        continue;
      try {
        LoadedLevel one = loadLevel(device, input.folder, input.program,
                                    *contest.levels[i], binds.lengths, copies);
        if (check(*contest.levels[i], one, copies, judge, schedules[i])) {
          running.push_back(i);
          loaded.push_back(std::move(one));
        }
      } catch (const runtime::LaunchError &error) {
        schedules[i].failure = error.what();
      }
    }
    // Without the default there is nothing to compare with.
    if (running.empty() || running[0] != 0)
      return;
    progress.step(fmt::format("{} {}: timing {} schedules", contest.result->name,
                              out.sizes.back(), running.size()));
    std::vector<size_t> turns(loaded.size());
    std::vector<std::function<void()>> ways;
    for (size_t i = 0; i < loaded.size(); ++i)
      ways.push_back([&, i] {
        loaded[i].list[turns[i]++ % loaded[i].list.size()]->launch();
      });
    TimingOptions timing;
    timing.warmup = options.warmup;
    timing.repeats = options.repeats;
    timing.flushBytes = copies.flushBytes;
    RoundsTiming rounds = timeRounds(device, ways, timing, options.seed);
    for (size_t i = 0; i < running.size(); ++i)
      schedules[running[i]].times.push_back(
          {rounds.times[i], 1 / rounds.ratios[i],
           changeOf(rounds.times[0], rounds.times[i])});
  }

  bool check(const bundle::Level &level, LoadedLevel &loaded,
             ArgumentCopies &copies, Judge &judge, TunedSchedule &schedule) {
    if (!options.check)
      return true;
    Verdict verdict =
        judge.judge(device, *loaded.list[0], *copies.sets[0], usesTf32(level));
    schedule.error = std::max(schedule.error.value_or(0), verdict.error);
    if (!verdict.pass) {
      schedule.wrong = true;
      const std::string &size = out.sizes.back();
      schedule.failure = fmt::format("differs from the reference{}{}: {}",
                                     size.empty() ? "" : " at ", size, verdict.why);
    }
    return verdict.pass;
  }

  const Options &options;
  Input &input;
  runtime::Device &device;
  Progress &progress;
  std::vector<Contest> contests;
  TuneResults out;
};
} // namespace

TuneResults
attn::bench::runTune(const Options &options, Input &input,
                     runtime::Device &device, Progress &progress) {
  return Tuner(options, input, device, progress).run();
}
