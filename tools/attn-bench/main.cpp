//===- main.cpp - attn-bench: check and profile the levels of a spec ------===//

#include "lib/Profile/Compare.h"
#include "lib/Profile/Table.h"
#include "lib/Runtime/BundleError.h"
#include "lib/Target/Targets.h"
#include "tools/attn-bench/Bench.h"
#include "tools/attn-bench/Options.h"
#include "tools/attn-bench/Report.h"
#include "tools/attn-bench/Tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <unistd.h>

using namespace attn;
using namespace attn::bench;

/// A line on stderr that the next one replaces; silent unless a person looks.
static void showProgress(const std::string &what) {
  if (isatty(STDERR_FILENO))
    fmt::print(stderr, "\r\033[K{}{}", what, what.empty() ? "" : " ...");
  std::fflush(stderr);
}

static std::unique_ptr<runtime::Device> openDevice(const Options &options) {
  if (!options.target.empty() && options.target != "cuda" &&
      !target::findTarget(options.target)) {
    std::vector<std::string> names{"cuda"};
    for (const target::CompileTarget &target : target::compileTargets())
      names.push_back(target.name);
    throw InputError(fmt::format("--target: '{}' is unknown; use one of: {}",
                                 options.target, fmt::join(names, ", ")));
  }
  std::string why;
  if (options.target == "cpu" ||
      (options.target.empty() && !runtime::cudaAvailable(why)))
    return runtime::openCpu(options.threads);
  if (!runtime::cudaAvailable(why))
    throw runtime::DeviceError(why + "; use --target=cpu");
  return runtime::openCuda();
}

static void show(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0)
    throw InputError("cannot write to stdout");
}

/// The table on stdout, or the JSON where --json names no file.
static void showOrWrite(const Options &options, const std::string &table,
                        const std::string &json) {
  bool onlyJson = options.json && *options.json == "-";
  if (options.json && !onlyJson)
    bundle::writeFileAtomically(*options.json, json);
  show(onlyJson ? json : table);
}

/// "out.json:flash" names a file and one of its levels.
static std::pair<std::string, std::string> splitLevel(const std::string &name) {
  size_t colon = name.rfind(':');
  if (colon == std::string::npos || access(name.c_str(), F_OK) == 0)
    return {name, ""};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

static int compare(const Options &options) {
  const std::string &a = options.compare[0], &b = options.compare[1];
  auto [fileA, levelA] = splitLevel(a);
  auto [fileB, levelB] = splitLevel(b);
  profile::Comparison comparison = profile::compareRuns(
      a, bundle::readFile(fileA), levelA, b, bundle::readFile(fileB), levelB);
  std::string json = profile::comparisonJson(comparison);
  if (!options.json)
    show(profile::comparisonTable(comparison));
  else if (*options.json == "-")
    show(json);
  else
    bundle::writeFileAtomically(*options.json, json);
  return kOk;
}

static int tune(const Options &options) {
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = openInput(options, device->info().capability);
  profile::TuneResults results = runTune(options, input, *device, showProgress);
  showProgress("");
  showOrWrite(options, profile::tuneTable(results), profile::tuneJson(results));
  int code = kOk;
  for (const profile::TunedLevel &level : results.levels) {
    for (const profile::TunedSchedule &schedule : level.schedules)
      if (schedule.wrong)
        code = kCheckFailed;
    if (code == kOk && level.schedules[0].times.empty())
      code = kBadInput; // The default does not run.
  }
  return code;
}

/// What the process returns for a run.
static int exitCode(const Options &options, const profile::Results &results) {
  int code = kOk;
  for (const profile::LevelResult &level : results.levels) {
    bool failed = level.check == profile::Check::Failed;
    if (options.json == "-" && !level.failure.empty())
      fmt::print(stderr, "attn-bench: {}: {}\n", level.name, level.failure);
    if (failed)
      code = kCheckFailed;
    else if (!level.failure.empty() && code == kOk)
      code = kBadInput;
  }
  return code;
}

/// One size after the other, in one process: the device is opened once.
static int runSizes(const Options &options) {
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = openInput(options, device->info().capability);
  std::string tables, runs;
  int code = kOk;
  for (const auto &size : options.sizes) {
    Options one = options;
    for (const auto &[name, value] : size)
      if (!one.binds.emplace(name, value).second)
        throw InputError(fmt::format("--at: {} is given by --bind as well", name));
    profile::Results results =
        runBench(one, input, *device, showProgress).results;
    tables += profile::table(results, options.kernels) + "\n";
    runs += (runs.empty() ? "" : ",\n") + profile::resultsJson(results);
    if (int failed = exitCode(options, results); failed && code != kCheckFailed)
      code = failed;
  }
  showProgress("");
  showOrWrite(options, tables, "{\"runs\": [" + runs + "]}\n");
  return code;
}

static int run(const Options &options) {
  if (!options.sizes.empty())
    return runSizes(options);
  if (!options.report.empty())
    checkReportFolder(options.report); // Found out before the long part.
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = openInput(options, device->info().capability);
  BenchResults bench = runBench(options, input, *device, showProgress);
  showProgress("");
  const profile::Results &results = bench.results;

  // Files first: the table on the screen then speaks of what is on the disk.
  if (!options.trace.empty())
    bundle::writeFileAtomically(options.trace,
                                profile::traceJson(results, tracesOf(bench)));
  if (!options.report.empty())
    writeReport(options.report,
                {results, tracesOf(bench), stepsOf(options, input, results)});
  showOrWrite(options, profile::table(results, options.kernels),
              profile::resultsJson(results));
  return exitCode(options, results);
}

int main(int argc, char **argv) {
  Options options;
  if (auto code = parseOptions(argc, argv, options))
    return *code;
  try {
    if (!options.compare.empty())
      return compare(options);
    return options.tune ? tune(options) : run(options);
  } catch (const runtime::BundleError &error) {
    showProgress("");
    fmt::print(stderr, "attn-bench: {}\n", error.what());
    return kBadInput;
  } catch (const runtime::DeviceError &error) {
    showProgress("");
    fmt::print(stderr, "attn-bench: {}\n", error.what());
    return kDeviceFailed;
  } catch (const std::bad_alloc &) {
    fmt::print(stderr, "attn-bench: too little memory for tensors of this size; use "
                       "smaller lengths\n");
    return 2;
  } catch (const std::exception &error) {
    // InputError, LaunchError, a file that cannot be written.
    showProgress("");
    fmt::print(stderr, "attn-bench: {}\n", error.what());
    return kBadInput;
  }
}
