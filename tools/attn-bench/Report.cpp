//===- Report.cpp - the folder that --report writes -----------------------===//

#include "tools/attn-bench/Report.h"

#include "lib/Bundle/ScratchFolder.h"
#include "lib/Profile/Diff.h"
#include "lib/Target/Targets.h"
#include "tools/attn-bench/Compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

using namespace attn;
using namespace attn::bench;
using namespace attn::profile;
namespace fs = std::filesystem;

static std::string traceName(const std::string &level) {
  return fmt::format("trace-{}.json", level);
}

/// What is there under a report's name and comes from no report stays there.
static void checkReplaceable(const std::string &folder, const std::string &name) {
  std::string path = (fs::path(folder) / name).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    return;
  if (!fs::is_regular_file(path, ignored) ||
      !isReportFile(name, bundle::readFile(path)))
    throw InputError(fmt::format("--report: '{}' is there and was not written by "
                                 "attn-bench --report; name another folder, or move "
                                 "that file away",
                                 path));
}

namespace {
/// A hidden folder on the report's own file system, gone with the object.
class Staging {
public:
  explicit Staging(const std::string &report) {
    fs::path target = fs::absolute(report).lexically_normal();
    if (!target.has_filename()) // "out/"
      target = target.parent_path();
    std::error_code ignored;
    exists = fs::is_directory(target, ignored);
    if (!exists && fs::exists(fs::symlink_status(target, ignored)))
      throw InputError(
          fmt::format("--report: '{}' is a file; name a folder", report));
    path = target.string();
    fs::path base = exists ? target : target.parent_path();
    try {
      scratch.emplace((base / ("." + target.filename().string() + ".")).string());
    } catch (const std::runtime_error &error) {
      std::string why = error.what();
      throw InputError(fmt::format("--report: cannot write to '{}'{}",
                                   base.string(), why.substr(why.rfind(": "))));
    }
  }

  void add(const std::string &name, const std::string &text) {
    try {
      bundle::writeFileAtomically(scratch->path() + "/" + name, text);
    } catch (const std::runtime_error &error) {
      // The staging path would only confuse: its reason stands after it.
      std::string why = error.what();
      throw InputError(fmt::format("--report: cannot write '{}/{}'{}", path,
                                   name, why.substr(why.rfind(": "))));
    }
    names.push_back(name);
  }

  /// Shows everything added, in that order.
  void publish() {
    if (!exists) {
      scratch->share();
      move(scratch->path(), path);
      return;
    }
    for (const std::string &name : names)
      checkReplaceable(path, name);
    for (const std::string &name : names)
      move(scratch->path() + "/" + name, path + "/" + name);
  }

private:
  void move(const std::string &from, const std::string &to) {
    if (std::rename(from.c_str(), to.c_str()) != 0)
      throw InputError(fmt::format("--report: cannot write '{}': {}", to,
                                   std::strerror(errno)));
  }

  std::string path;
  std::optional<bundle::ScratchFolder> scratch;
  std::vector<std::string> names;
  bool exists = false;
};
} // namespace

void attn::bench::checkReportFolder(const std::string &folder) {
  Staging probe(folder);
  for (const std::string &path : reportFiles(folder))
    checkReplaceable(folder, fs::path(path).filename().string());
}

std::vector<std::string> attn::bench::reportFiles(const std::string &folder) {
  std::vector<std::string> paths;
  auto add = [&](const std::string &name) {
    paths.push_back((fs::path(folder) / name).string());
  };
  for (const char *name :
       {"report.html", "report.json", "levels.csv", "kernels.csv", "trace.json"})
    add(name);
  std::set<std::string> levels;
  for (const target::CompileTarget &target : target::compileTargets())
    levels.insert(target.levels.begin(), target.levels.end());
  for (const std::string &level : levels)
    add(traceName(level));
  return paths;
}

std::vector<LevelTrace> attn::bench::tracesOf(const BenchResults &bench) {
  std::vector<LevelTrace> traces;
  for (size_t i = 0; i < bench.results.levels.size(); ++i)
    if (!bench.spans[i].empty())
      traces.push_back({&bench.results.levels[i], bench.spans[i]});
  return traces;
}

/// Lines around a change that the page shows.
static constexpr int kContext = 3;

std::vector<Step> attn::bench::stepsOf(const Options &options,
                                       const Input &input,
                                       const Results &results) {
  auto print = [&](const LevelResult &level, const std::string &stage) {
    std::vector<std::string> arguments{
        input.folder + "/spec.attn", "--attn", "--target=" + input.target,
        "--level=" + level.name, "--emit=" + stage};
    std::vector<std::string> binds;
    for (const auto &[name, value] : input.opened.manifest.binds)
      binds.push_back(fmt::format("{}={}", name, value));
    if (!binds.empty())
      arguments.push_back(fmt::format("--bind={}", fmt::join(binds, ",")));
    if (options.tf32)
      arguments.push_back("--tf32");
    if (!options.schedule.empty())
      arguments.push_back("--schedule=" + options.schedule);
    return printIr(arguments);
  };
  std::vector<Step> steps;
  for (size_t i = 0; i + 1 < results.levels.size(); ++i) {
    Step step;
    step.from = i;
    step.to = i + 1;
    try {
      // Fusion shows in the attn dialect; what changes only the schedule shows
      // in the tile programs.
      for (const char *stage : {"fused", "tile"}) {
        step.stage = stage;
        step.diff = unifiedDiff(print(results.levels[i], stage),
                                print(results.levels[i + 1], stage), kContext);
        if (!step.diff.empty())
          break;
      }
      if (step.diff.empty())
        step.missing = "both levels have the same IR";
    } catch (const InputError &error) {
      step.missing = error.what();
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

void attn::bench::writeReport(const std::string &folder, const Report &report) {
  std::string json = reportJson(report);
  Staging staging(folder);
  staging.add("report.json", json);
  staging.add("levels.csv", levelsCsv(report.results));
  staging.add("kernels.csv", kernelsCsv(report.results));
  for (const LevelTrace &trace : report.traces)
    staging.add(traceName(trace.level->name),
                traceJson(report.results, {trace}));
  staging.add("trace.json", traceJson(report.results, report.traces));
  staging.add("report.html", reportPage(json));
  staging.publish();
}
