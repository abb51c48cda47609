//===- Options.cpp - the command line of attn-bench -----------------------===//

#include "tools/attn-bench/Options.h"
#include "tools/Levels.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace attn;
using namespace attn::bench;

static const char *kExamples = R"(
Examples:
  attn-bench kernels/causal.attn
      every level of causal attention at its default size, on the GPU if there
      is one, else on the CPU
  attn-bench kernels/causal.attn --bind B=4,H=16,M=4096,N=4096,D=64 --kernels
      at a size of your own, with a row for each kernel
  attn-bench kernels/sliding_window.attn --levels=naive,flash --bind window=512
      two levels; scalar arguments are bound like lengths
  attn-bench kernels/causal.attn --report out/causal-report
      the same as a page: open out/causal-report/report.html
  attn-bench kernels/causal.attn --levels=specialized --timeline --trace t.json
      what each warp group waits for and computes, phase by phase; its lanes
      stand in the trace
  attn-bench bundle/ --target=cuda --json out.json --trace out.trace.json
      a bundle made by attnc on another machine; the trace opens in Perfetto

  attn-bench kernels/causal.attn --tune --levels=specialized --at M=1024,N=1024
      --at M=4096,N=4096
      the schedules near the compiler's choice, at two lengths

  attn-bench --compare before.json after.json
  attn-bench --compare run.json:flash run.json:pipelined
      two runs, or two levels of one: the change and whether it is significant

Exit code: 0 all well, 1 a level differs from the reference or the spec is wrong,
2 wrong usage or input (a broken bundle too), 3 the device is missing or failed.
)";

static bool looksLikeInput(const std::string &text) {
  std::filesystem::path path(text);
  std::error_code ignored;
  return path.extension() == ".attn" ||
         std::filesystem::is_directory(path, ignored);
}

/// Adds "B=4,H=16" to `binds`.
static void addBinds(const std::string &option, const std::string &text,
                     std::map<std::string, std::string> &binds) {
  for (const std::string &item : CLI::detail::split(text, ',')) {
    size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
      throw InputError(fmt::format(
          "{0}: '{1}' is not NAME=VALUE; write {0} B=4,H=16", option, item));
    std::string name = item.substr(0, equals);
    auto [it, isNew] = binds.emplace(name, item.substr(equals + 1));
    if (!isNew)
      throw InputError(fmt::format("{}: {} is given twice, as {} and {}", option,
                                   name, it->second, item.substr(equals + 1)));
  }
}

/// The exit code of a run that only prints `text`.
static int printed(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0)
    return kOk;
  fmt::print(stderr, "attn-bench: cannot write to standard output: {}\n",
             std::strerror(errno));
  return kBadInput;
}

std::optional<int> attn::bench::parseOptions(int argc, char **argv,
                                             Options &options) {
  CLI::App app{
      "Runs the levels of an attention kernel side by side: checks each "
      "against a float64\nreference, then shows its predicted and its "
      "measured profile."};
  app.name("attn-bench");
  app.footer(kExamples);
  std::vector<std::string> binds, levels, sizes;
  std::string json, counters;
  bool noCheck = false;
  auto *input = app.add_option("input", options.input,
                               "a spec (.attn) or the folder of a bundle");
  input->type_name("SPEC|BUNDLE");
  app.add_option("--target", options.target,
                 "cuda, cpu, or a compile target such as sm_80 (default: cuda "
                 "if a GPU is there, else cpu)")
      ->type_name("T");
  app.add_option("--levels", levels, "levels to run, comma-separated, or all (default)")
      ->expected(0, 1)
      ->type_name("L,...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("--bind", binds, "lengths of axes and values of scalars")
      ->type_name("B=4,H=16,...")
      ->allow_extra_args(false);
  app.add_option("--program", options.program,
                 "the kernel to run, where a file holds several")
      ->type_name("NAME");
  app.add_flag("--kernels", options.kernels, "a row for each kernel as well");
  auto *jsonOption =
      app.add_option("--json", json,
                     "write the results as one JSON object to FILE; without "
                     "FILE, or with -, to stdout instead of the table")
          ->expected(0, 1)
          ->type_name("[FILE]");
  app.add_option("--trace", options.trace,
                 "write a Chrome trace of one run of each level")
      ->type_name("FILE");
  app.add_option("--report", options.report,
                 "write the profile as a page (report.html), JSON, CSV and "
                 "traces to DIR")
      ->type_name("DIR");
  app.add_option("--compare", options.compare,
                 "compare two runs that --json or --report wrote, all levels "
                 "or one of each, instead of running anything")
      ->expected(1, -1)
      ->type_name("A.json[:LEVEL] B.json[:LEVEL]");
  app.add_flag("--profile", options.profile,
               "read the GPU's activity records and counters, in a pass apart "
               "from timing (implied by --report, --trace and --counters)");
  auto *countersOption =
      app.add_option(
             "--counters", counters,
             "how much --profile counts, which it implies; each set repeats the work "
             "more often (2, 8, over 20 times)")
          ->check(CLI::IsMember({"bytes", "pipes", "all"}))
          ->default_str("all");
  app.add_flag("--timeline", options.timeline,
               "let stamped copies of the attention kernels record when each "
               "phase begins; shows the shares of phases, what the stamps cost, "
               "and lanes in the trace (GPUs; a bundle needs attnc --timeline)");
  auto *blocksOption = app.add_option("--timeline-blocks", options.timelineBlocks,
                                      "with --timeline and --trace or --report: blocks "
                                      "of a kernel whose lanes are "
                                      "drawn (default: 2)")
                           ->check(CLI::Range(1, 1024))
                           ->type_name("N");
  app.add_option("--warmup", options.warmup,
                 "runs before timing (default: 3 and at least 50 ms)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--repeats", options.repeats,
                 "timed runs (default: about a second's worth)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--rest", options.rest,
                 "let the device be idle this long before each timed run, as between "
                 "single calls: work without pause is slowed by a GPU's power limit")
      ->check(CLI::Range(0, 10000))
      ->type_name("MS");
  app.add_option("--threads", options.threads,
                 "threads of the CPU target (default: all cores)")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--tf32", options.tf32,
               "compile f32 matmuls of a spec to tf32 instructions");
  app.add_option("--schedule", options.schedule,
                 "compile a spec with this schedule of its flash kernels")
      ->type_name("rows=N,...");
  app.add_flag("--tune", options.tune,
               "check and time the schedules of each level side by side, in "
               "shuffled rounds; prints the row of lib/Schedule/MeasuredRows.h");
  app.add_option("--schedules", options.schedules,
                 "with --tune of a spec: the schedules, as attnc takes them "
                 "(default: search)")
      ->type_name("A;B|search");
  app.add_option("--at", sizes,
                 "a size, in addition to --bind; given several times, each is a "
                 "run of its own (--json: an object with a list, \"runs\"), with "
                 "--tune a column")
      ->type_name("M=1024,N=1024")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed, "of the random inputs (default: 1)");
  app.add_flag("--no-check", noCheck, "do not compare with the reference");
  app.set_version_flag("--version", "attn-bench " ATTN_VERSION);

  try {
    app.parse(argc, argv);
    for (const std::string &bind : binds)
      addBinds("--bind", bind, options.binds);
    for (const std::string &size : sizes)
      addBinds("--at", size, options.sizes.emplace_back());
    if (!options.compare.empty() && options.compare.size() != 2)
      throw InputError(fmt::format(
          "--compare takes two files, A.json B.json (or one twice, with levels: "
          "A.json:flash A.json:pipelined), not {}",
          options.compare.size()));
    if (!options.compare.empty() &&
        (!options.input.empty() || !options.trace.empty() || !options.report.empty()))
      throw InputError("--compare runs nothing: it takes --json, and no spec or "
                       "bundle, --trace or --report");
    if (!options.tune && !options.schedules.empty())
      throw InputError("--schedules is for --tune");
    if (!options.tune && !sizes.empty() &&
        (!options.trace.empty() || !options.report.empty()))
      throw InputError("--trace and --report are of one size: use --bind, not --at");
    if (blocksOption->count() > 0 && !options.timeline)
      throw InputError("--timeline-blocks is for --timeline");
    if (options.tune && (options.kernels || options.timeline || options.profile ||
                         countersOption->count() > 0 || !options.trace.empty() ||
                         !options.report.empty()))
      throw InputError("--tune compares schedules: it takes no --kernels, --trace, "
                       "--report, --profile, --counters or --timeline");
  } catch (const CLI::CallForHelp &) {
    return printed(app.help());
  } catch (const CLI::CallForVersion &) {
    return printed("attn-bench " ATTN_VERSION "\n");
  } catch (const std::runtime_error &error) { // CLI::ParseError is one too.
    fmt::print(stderr, "attn-bench: {}; see attn-bench --help\n", error.what());
    return kBadInput;
  }

  if (std::string why = readLevels(levels, options.levels); !why.empty()) {
    fmt::print(stderr, "attn-bench: {}\n", why);
    return kBadInput;
  }
  options.check = !noCheck;
  options.counters = counters == "bytes"   ? profile::CounterSet::Bytes
                     : counters == "pipes" ? profile::CounterSet::Pipes
                                           : profile::CounterSet::All;
  if (!options.report.empty() || !options.trace.empty() || countersOption->count() > 0)
    options.profile = true;
  if (jsonOption->count() > 0) {
    // `--json SPEC` means "to stdout": a spec is never written to.
    if (options.input.empty() && looksLikeInput(json)) {
      options.input = json;
      json.clear();
    }
    options.json = json.empty() ? "-" : json;
  }
  if (!options.compare.empty())
    return std::nullopt;
  if (options.input.empty()) {
    fmt::print(stderr, "attn-bench: no input; give a spec or a bundle, for "
                       "example attn-bench kernels/causal.attn\n");
    return kBadInput;
  }
  return std::nullopt;
}
