//===- main.cpp - attn-check: bundles against the float64 reference -------===//
//
// The correctness grid: every level of every program of the given bundles, over
// lengths, heads, groups, scalars and inputs. Needs no LLVM.
//
//===----------------------------------------------------------------------===//

#include "lib/Bundle/Open.h"
#include "lib/Bundle/Outputs.h"
#include "lib/Runtime/BundleError.h"
#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Links.h"
#include "lib/Target/Targets.h"
#include "test/Run/Check.h"
#include "tools/Levels.h"
#include "tools/Progress.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

using namespace attn;
using namespace attn::check;

/// Of an axis, as everywhere (lib/Runtime/Lengths.cpp).
static constexpr int64_t kMostLength = int64_t(1) << 30;

static const char *kFooter = R"(
Examples:
  attn-check out/causal
      the grid on the GPU if there is one, else on the CPU
  attn-check out/* --device=cpu --lengths=1,64,65,200 --cases=8
      a short one
  attn-check out/causal --levels=flash --bind B=1,H=2,M=65,N=129 --input=huge --seed=7
      one case, as a failure's line names it

Exit code: 0 all passed, 1 a check failed, 2 wrong usage or input (a broken
bundle too), 3 the device is missing or failed.
)";

namespace {
struct Options {
  std::vector<std::string> bundles, levelTexts, bindTexts;
  std::vector<std::string> levels; ///< None: all.
  std::string deviceName, targetName, json, input;
  int threads = 0;
  double seconds = 0;
  CaseOptions cases;
  RunOptions run;
};

class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct Failure {
  std::string bundle, program, level, target, what, options;
};

/// "; did you mean flash" where a known name is near.
std::string didYouMean(const std::string &word, const std::vector<std::string> &known) {
  std::optional<std::string> near = spec::nearest(word, known);
  return near ? fmt::format("; did you mean {}", *near) : "";
}

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Checker {
public:
  Checker(const Options &options, runtime::Device &device, Progress &progress)
      : options(options), device(device), progress(progress), started(now()) {}

  void bundle(const std::string &folder) {
    if (std::string link = danglingLink(folder); !link.empty())
      throw UsageError(link);
    std::error_code error;
    bool isFolder = std::filesystem::is_directory(folder, error);
    if (!isFolder && std::filesystem::exists(folder, error))
      throw UsageError(fmt::format("'{0}' is no bundle but a file; attn-check runs what "
                                   "attnc made of a spec: attnc {0} -o DIR, then "
                                   "attn-check DIR",
                                   folder));
    if (isFolder && !std::filesystem::exists(folder + "/manifest.json", error))
      throw UsageError(fmt::format("'{0}' is no bundle: it has no manifest.json; make "
                                   "one with attnc SPEC -o DIR",
                                   folder));
    bundle::Opened opened = bundle::open(folder);
    findNames(folder, opened.manifest);
    for (const bundle::Program &program : opened.manifest.programs)
      this->program(folder, opened.kernelOf(program), program);
  }

  /// The last line, and the exit code.
  int finish() {
    if (refused)
      fmt::print("attn-check: {} refused launches; the first: {}\n", refused,
                 firstRefusal);
    if (stopped)
      fmt::print(
          "attn-check: stopped after {:.0f} s, the grid is not complete\n",
          options.seconds);
    if (!options.json.empty())
      bundle::writeFileAtomically(options.json, json());
    if (passed + failures.size() == 0) {
      std::fflush(stdout);
      fmt::print(stderr, "attn-check: nothing was checked: {}\n",
                 refused              ? "every launch was refused"
                 : skippedWhy.empty() ? "no level matches"
                                      : skippedWhy);
      return 2;
    }
    fmt::print("attn-check: {} passed, {} failed\n", passed, failures.size());
    std::fflush(stdout);
    return failures.empty() ? 0 : 1;
  }

private:
  struct LoadedLevel {
    const bundle::Level *level;
    std::shared_ptr<runtime::Code> code;
  };

  /// A level that this bundle lacks is passed over; should nothing be left, the last line
  /// says what there was.
  void findNames(const std::string &folder, const bundle::Manifest &manifest) {
    std::vector<std::string> here;
    bool some = false;
    for (const bundle::Program &program : manifest.programs)
      for (const bundle::Level &level : program.levels) {
        std::string name = fmt::format("{} ({})", level.name, level.target);
        if (std::find(here.begin(), here.end(), name) == here.end())
          here.push_back(name);
        some |= named(level);
      }
    if (!some)
      skippedWhy = fmt::format("--levels and --target leave nothing of bundle {}; it "
                               "has {}",
                               folder, fmt::join(here, ", "));
  }

  /// Whether --target and --levels ask for it.
  bool named(const bundle::Level &level) const {
    if (!options.targetName.empty() && level.target != options.targetName)
      return false;
    return options.levels.empty() ||
           std::find(options.levels.begin(), options.levels.end(), level.name) !=
               options.levels.end();
  }

  bool wanted(const bundle::Level &level) {
    return named(level) &&
           target::runsOn(level.target, device.info().capability, skippedWhy);
  }

  void program(const std::string &folder, const spec::Kernel &kernel,
               const bundle::Program &program) {
    std::vector<LoadedLevel> levels;
    for (const bundle::Level &level : program.levels)
      if (wanted(level))
        levels.push_back({&level, device.load(level, folder)});
    if (levels.empty())
      return;
    double begin = now();
    size_t failedBefore = failures.size();
    worst = 0;
    int64_t checks = 0;
    std::vector<Case> cases = makeCases(kernel, options.cases);
    for (const Case &each : cases) // What --bind gives, or the grid, must be lengths.
      runtime::resolveLengths(program, each.lengths);
    progress.step(program.name);
    for (size_t i = 0; i < cases.size() && !timeIsUp(); ++i) {
      std::string which = fmt::format("case {} of {}", i + 1, cases.size());
      progress.part(which + ", making inputs");
      Expected expected(kernel, cases[i]);
      for (const LoadedLevel &loaded : levels) {
        std::string level = fmt::format("{}, {}", which, loaded.level->name);
        progress.part(level + ": the reference");
        expected.results(usesTf32(*loaded.level),
                         [&](double share) { progress.done(share); });
        progress.part(level);
        checks += one(folder, program, loaded, expected);
      }
    }
    progress.step("");
    fmt::print("{:<40} {} levels, {} checks, {} (worst error {:.2f} of what is "
               "allowed, {:.1f} s)\n",
               folder, levels.size(), checks,
               failures.size() == failedBefore
                   ? "ok"
                   : fmt::format("{} FAILED", failures.size() - failedBefore),
               worst, now() - begin);
    std::fflush(stdout);
  }

  /// Returns whether a check was made.
  bool one(const std::string &folder, const bundle::Program &program,
           const LoadedLevel &loaded, Expected &expected) {
    Outcome outcome =
        checkLevel(device, program, *loaded.level, loaded.code, expected,
                   options.run);
    std::string &what = outcome.failure;
    if (!outcome.cannotRun.empty()) {
      // Too little memory for an unfused level's score matrix is no fault.
      if (outcome.tooLarge) {
        if (!refused++)
          firstRefusal = outcome.cannotRun;
        return false;
      }
      what = "the launch was refused: " + outcome.cannotRun;
    }
    worst = std::max(worst, outcome.worstRatio);
    if (outcome.memory) {
      progress.makeRoom();
      fmt::print("{} {}: {} bytes besides arguments and results (temporaries "
                 "{}, rise while it ran {}) -- {}\n",
                 program.name, loaded.level->name, outcome.memory->total(),
                 outcome.memory->workspace,
                 outcome.memory->peak ? std::to_string(*outcome.memory->peak)
                                      : "not measured",
                 expected.theCase.options());
    }
    if (what.empty()) {
      ++passed;
      return true;
    }
    progress.makeRoom();
    Failure failure{folder,
                    program.name,
                    loaded.level->name,
                    loaded.level->target,
                    what,
                    expected.theCase.options()};
    fmt::print(
        "FAIL {} {} {}: {} -- attn-check {} --target={} --levels={} {}\n",
        failure.program, failure.target, failure.level, failure.what,
        failure.bundle, failure.target, failure.level, failure.options);
    std::fflush(stdout);
    failures.push_back(std::move(failure));
    return true;
  }

  bool timeIsUp() {
    if (options.seconds > 0 && now() - started > options.seconds)
      stopped = true;
    return stopped;
  }

  std::string json() const {
    nlohmann::json root;
    root["device"] = device.info().name;
    root["passed"] = passed;
    root["failed"] = failures.size();
    root["complete"] = !stopped;
    root["refused"] = refused;
    root["failures"] = nlohmann::json::array();
    for (const Failure &f : failures)
      root["failures"].push_back({{"bundle", f.bundle},
                                  {"program", f.program},
                                  {"target", f.target},
                                  {"level", f.level},
                                  {"what", f.what},
                                  {"options", f.options}});
    return root.dump(2) + "\n";
  }

  const Options &options;
  runtime::Device &device;
  Progress &progress;
  double started;
  double worst = 0;
  size_t passed = 0, refused = 0;
  bool stopped = false;
  std::string firstRefusal, skippedWhy;
  std::vector<Failure> failures;
};
} // namespace

static std::unique_ptr<runtime::Device> openDevice(const Options &options) {
  std::string why;
  const target::CompileTarget *asked = target::findTarget(options.targetName);
  bool cuda = options.deviceName == "cuda" ||
              (options.deviceName.empty() &&
               (asked ? !asked->isCpu() : runtime::cudaAvailable(why)));
  if (cuda && !runtime::cudaAvailable(why))
    throw runtime::DeviceError(why + "; run attn-check --device=cpu (a bundle has code "
                                     "for it from attnc --targets=cpu)");
  return cuda ? runtime::openCuda() : runtime::openCpu(options.threads);
}

static int run(Options &options, Progress &progress) {
  if (!options.targetName.empty() && !target::findTarget(options.targetName)) {
    std::vector<std::string> known = target::targetNames();
    throw UsageError(fmt::format("--target: '{}' is unknown{}; known are {}",
                                 options.targetName,
                                 didYouMean(options.targetName, known),
                                 fmt::join(known, ", ")));
  }
  if (std::string why = readLevels(options.levelTexts, options.levels); !why.empty())
    throw UsageError(why);
  if (!options.json.empty())
    if (std::string why =
            bundle::writesOver({{"--json", options.json, true}}, options.bundles);
        !why.empty())
      throw UsageError(why);
  if (!options.input.empty()) {
    options.cases.kind = parseInputKind(options.input);
    if (!options.cases.kind)
      throw UsageError(fmt::format("--input: '{}' is unknown; use {}",
                                   options.input, allInputKinds()));
  }
  for (int64_t length : options.cases.lengths)
    if (length < 0 || length > kMostLength)
      throw UsageError(
          fmt::format("--lengths: a length is 0 to {}", kMostLength));
  for (const std::string &text : options.bindTexts)
    for (const std::string &item : CLI::detail::split(text, ',')) {
      size_t equals = item.find('=');
      if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--bind: '{}' is not NAME=VALUE", item));
      if (!options.cases.binds
               .emplace(item.substr(0, equals), item.substr(equals + 1))
               .second)
        throw UsageError(fmt::format("--bind: {} is given twice; give it one value",
                                     item.substr(0, equals)));
    }
  std::unique_ptr<runtime::Device> device = openDevice(options);
  fmt::print("attn-check on {}\n", device->info().name);
  Checker checker(options, *device, progress);
  for (const std::string &folder : options.bundles)
    checker.bundle(folder);
  return checker.finish();
}

int main(int argc, char **argv) {
  Options options;
  options.cases.lengths = {0,   1,   2,   63,  64,   65,   127,
                           128, 129, 137, 257, 1000, 1025, 4096};
  CLI::App app{
      "Runs the levels of bundles over a grid of lengths, heads, scalars "
      "and inputs, and\ncompares each with a float64 reference."};
  app.name("attn-check");
  app.footer(kFooter);
  app.add_option("bundle", options.bundles, "folders made by attnc")
      ->required();
  app.add_option("--device", options.deviceName, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--target", options.targetName, "levels of this target only");
  app.add_option("--levels", options.levelTexts, "levels, comma-separated, or all")
      ->expected(0, 1)
      ->type_name("L,...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--lengths", options.cases.lengths, "lengths of M and N")
      ->delimiter(',');
  app.add_option("--cases", options.cases.count, "cases of a program")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--seed", options.cases.seed, "seed of the grid");
  app.add_option("--input", options.input,
                 allInputKinds() + "; left out, a mixture");
  app.add_option("--repeats", options.run.repeats,
                 "launches of each case that must agree bit by bit")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--memory", options.run.memory,
               "print the memory each launch needs besides its arguments");
  app.add_option("--bind", options.bindTexts, "fixed lengths and scalars");
  app.add_option("--work", options.cases.work,
                 "multiply-adds of a case, above which it gets fewer heads")
      ->check(CLI::PositiveNumber);
  app.add_flag("--batch-heads", options.cases.batchHeads,
               "more than 65535 heads in the batch");
  app.add_option("--seconds", options.seconds, "stop after this time")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "of the CPU device; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--json", options.json, "write the outcome to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    bool help = error.get_exit_code() == 0;
    if (!help) {
      fmt::print(stderr, "attn-check: {}; see attn-check --help\n", error.what());
      return 2;
    }
    app.exit(error);
    if (std::fflush(stdout) == 0 && !std::ferror(stdout))
      return 0;
    fmt::print(stderr, "attn-check: cannot write to standard output: {}\n",
               std::strerror(errno));
    return 2;
  }
  Progress progress("attn-check");
  auto fail = [&](const std::string &why, int code) {
    progress.step("");
    fmt::print(stderr, "attn-check: {}\n", why);
    return code;
  };
  try {
    int code = run(options, progress);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw UsageError("cannot write the output; is the disk full?");
    return code;
  } catch (const std::bad_alloc &) {
    return fail("too little memory for tensors of this size", 2);
  } catch (const runtime::BundleError &error) {
    return fail(error.what(), 2);
  } catch (const runtime::DeviceError &error) {
    return fail(error.what(), 3);
  } catch (const std::exception &error) {
    return fail(error.what(), 2);
  }
}
