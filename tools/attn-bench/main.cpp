//===- main.cpp - attn-bench: check and profile the levels of a spec ------===//

#include "lib/Bundle/Outputs.h"
#include "lib/Profile/Compare.h"
#include "lib/Profile/Table.h"
#include "lib/Runtime/BundleError.h"
#include "lib/Target/Targets.h"
#include "tools/attn-bench/Bench.h"
#include "tools/attn-bench/Memory.h"
#include "tools/attn-bench/Options.h"
#include "tools/Progress.h"
#include "tools/attn-bench/Report.h"
#include "tools/attn-bench/Tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <unistd.h>

using namespace attn;
using namespace attn::bench;

static std::unique_ptr<runtime::Device> openDevice(const Options &options) {
  if (!options.target.empty() && options.target != "cuda" &&
      !target::findTarget(options.target)) {
    throw InputError(fmt::format("--target: '{}' is unknown; use one of: cuda, {}",
                                 options.target,
                                 fmt::join(target::targetNames(), ", ")));
  }
  std::string why;
  if (options.target == "cpu" ||
      (options.target.empty() && !runtime::cudaAvailable(why)))
    return runtime::openCpu(options.threads);
  if (!runtime::cudaAvailable(why))
    throw runtime::DeviceError(why + "; use --target=cpu");
  return runtime::openCuda();
}

static Input open(const Options &options, const runtime::Device &device,
                  Progress &progress) {
  if (!isatty(STDERR_FILENO)) // On a terminal attnc itself shows what it compiles.
    progress.step("compiling");
  Input input = openInput(options, device.info().capability);
  progress.step("");
  return input;
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

/// What a run reads is not written over: the spec with the README beside it, a
/// bundle, the runs that are compared.
static void checkOutputs(const Options &options) {
  std::vector<std::string> inputs;
  for (const std::string &name : options.compare)
    inputs.push_back(splitLevel(name).first);
  if (options.compare.empty())
    inputs = {options.input, readmeBeside(options.input)};
  std::vector<bundle::OutputFile> outputs;
  if (options.json && *options.json != "-")
    outputs.push_back({"--json", *options.json, true});
  if (!options.trace.empty())
    outputs.push_back({"--trace", options.trace, true});
  if (!options.report.empty()) {
    if (bundle::sameFile(options.report, options.input))
      throw InputError(fmt::format("--report: '{}' is the bundle that this run reads; "
                                   "name another folder",
                                   options.report));
    for (const std::string &path : reportFiles(options.report))
      outputs.push_back({"--report", path});
  }
  if (std::string why = bundle::writesOver(outputs, inputs); !why.empty())
    throw InputError(why);
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

static int tune(const Options &options, Progress &progress) {
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = open(options, *device, progress);
  profile::TuneResults results = runTune(options, input, *device, progress);
  progress.step("");
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
static int runSizes(const Options &options, Progress &progress) {
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = open(options, *device, progress);
  std::string tables, runs;
  int code = kOk;
  std::vector<Options> all;
  for (const auto &size : options.sizes) {
    Options one = options;
    for (const auto &[name, value] : size)
      if (!one.binds.emplace(name, value).second)
        throw InputError(fmt::format("--at: {} is given by --bind as well", name));
    // Found out before the first size runs.
    requireMemory(*device, input.program,
                  resolveBinds(input.program, one.binds, input.defaults).lengths);
    all.push_back(std::move(one));
  }
  for (const Options &one : all) {
    profile::Results results = runBench(one, input, *device, progress).results;
    tables += profile::table(results, options.kernels) + "\n";
    runs += (runs.empty() ? "" : ",\n") + profile::resultsJson(results);
    if (int failed = exitCode(options, results); failed && code != kCheckFailed)
      code = failed;
  }
  progress.step("");
  showOrWrite(options, tables, "{\"runs\": [" + runs + "]}\n");
  return code;
}

static int run(const Options &options, Progress &progress) {
  if (!options.sizes.empty())
    return runSizes(options, progress);
  if (!options.report.empty())
    checkReportFolder(options.report); // Found out before the long part.
  std::unique_ptr<runtime::Device> device = openDevice(options);
  Input input = open(options, *device, progress);
  BenchResults bench = runBench(options, input, *device, progress);
  progress.step("");
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
  Progress progress("attn-bench");
  auto fail = [&](const std::string &why, int code) {
    progress.step("");
    fmt::print(stderr, "attn-bench: {}\n", why);
    return code;
  };
  try {
    checkOutputs(options);
    if (!options.compare.empty())
      return compare(options);
    return options.tune ? tune(options, progress) : run(options, progress);
  } catch (const SpecError &error) {
    return fail(error.what(), kCheckFailed);
  } catch (const runtime::BundleError &error) {
    return fail(error.what(), kBadInput);
  } catch (const runtime::DeviceError &error) {
    return fail(error.what(), kDeviceFailed);
  } catch (const std::bad_alloc &) {
    return fail("too little memory for tensors of this size; use smaller lengths",
                kBadInput);
  } catch (const std::exception &error) {
    // InputError, LaunchError, a file that cannot be written.
    return fail(error.what(), kBadInput);
  }
}
