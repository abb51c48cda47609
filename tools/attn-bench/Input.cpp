//===- Input.cpp - from a path to a bundle in hand ------------------------===//

#include "tools/attn-bench/Input.h"

#include "lib/Spec/Links.h"
#include "lib/Spec/Printable.h"
#include "lib/Target/Targets.h"
#include "tools/attn-bench/Compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace attn;
using namespace attn::bench;
namespace fs = std::filesystem;

/// Where a spec's bundle goes.
static std::unique_ptr<bundle::ScratchFolder> makeTemporary() {
  std::string why;
  std::unique_ptr<bundle::ScratchFolder> folder = bundle::makeTemporary("attn-bench", why);
  if (!folder)
    throw InputError(why);
  return folder;
}

/// The newest compile target whose code a device runs.
static std::string newestTarget(int capability) {
  std::string best, why;
  int bestCapability = -1;
  for (const target::CompileTarget &t : target::compileTargets())
    if (target::runsOn(t.name, capability, why) &&
        t.capability >= bestCapability) {
      best = t.name;
      bestCapability = t.capability;
    }
  if (best.empty())
    throw InputError(fmt::format("this GPU has compute capability {}.{}, the "
                                 "oldest target is sm_80; use "
                                 "--target=cpu",
                                 capability / 10, capability % 10));
  return best;
}

/// Whether --target names a device rather than a compile target.
static bool namesDevice(const std::string &target) {
  return target.empty() || target == "cuda";
}

static spec::ParseResult parseOrThrow(const std::string &path,
                                      const spec::Binds &binds) {
  spec::ParseResult result = spec::parseFile(path, binds);
  if (result.unreadable())
    throw InputError(spec::printable(result.diagnostics.front().message));
  if (!result.ok())
    throw SpecError("the spec is wrong\n" + spec::render(result));
  return result;
}

static void compileSpec(const Options &options, int capability, Input &input) {
  // Parsed here first: which binds the compiler needs depends on the text, and
  // a wrong spec is reported without starting it.
  spec::ParseResult parsed = parseOrThrow(options.input, {});
  std::string program = options.program;
  if (program.empty() && !parsed.module.kernels.empty())
    program = parsed.module.kernels[0].name;
  input.defaults = defaultBinds(options.input, program);
  input.target =
      namesDevice(options.target) ? newestTarget(capability) : options.target;
  input.temporary = makeTemporary();
  input.folder = input.temporary->path();

  std::string levels = options.levels.empty()
                           ? "all"
                           : fmt::format("{}", fmt::join(options.levels, ","));
  std::vector<std::string> arguments{options.input, "-o", input.folder,
                                     "--targets=" + input.target,
                                     "--levels=" + levels};
  std::vector<std::string> binds =
      compileBinds(parsed.module, options.binds, input.defaults);
  if (!binds.empty()) {
    arguments.push_back("--bind");
    arguments.push_back(fmt::format("{}", fmt::join(binds, ",")));
  }
  // An assembled kernel tells its registers; the driver then compiles nothing.
  if (capability > 0)
    arguments.push_back(fmt::format("--cubin=sm_{}", capability));
  if (options.tf32)
    arguments.push_back("--tf32");
  if (!options.schedule.empty())
    arguments.push_back("--schedule=" + options.schedule);
  if (options.timeline)
    arguments.push_back("--timeline");
  if (options.tune)
    arguments.push_back("--schedules=" + (options.schedules.empty()
                                              ? std::string("search")
                                              : options.schedules));
  runCompiler(arguments);
}

/// --timeline needs stamped kernels in at least one of the levels that run.
static void checkTimeline(const Options &options, const Input &input) {
  for (const bundle::Level &level : input.program.levels)
    if (!level.timeline.empty())
      return;
  std::vector<std::string> names;
  for (const bundle::Level &level : input.program.levels)
    names.push_back(level.name);
  if (input.temporary)
    throw InputError(fmt::format("--timeline: none of the levels {} of target {} has "
                                 "an attention kernel that records its phases; "
                                 "targets and levels that have it: {}",
                                 fmt::join(names, ", "), input.target,
                                 target::timelineTargets()));
  std::vector<std::string> binds;
  for (const auto &[axis, length] : input.opened.manifest.binds)
    binds.push_back(fmt::format("{}={}", axis, length));
  throw InputError(fmt::format(
      "--timeline: the bundle {} has no kernels that record their phases (levels "
      "{}); make it again with attnc {}/spec.attn --timeline --targets={}{}{} -o DIR",
      options.input, fmt::join(names, ", "), input.folder, input.target,
      binds.empty() ? "" : " --bind=", fmt::join(binds, ",")));
}

static void chooseProgram(const Options &options, Input &input) {
  std::vector<std::string> names;
  for (const bundle::Program &program : input.opened.manifest.programs)
    names.push_back(program.name);
  if (names.empty())
    throw InputError(fmt::format("bundle {} holds no program", input.folder));
  if (options.program.empty() && names.size() > 1)
    throw InputError(
        fmt::format("{} holds several programs: {}; choose one with --program",
                    options.input, fmt::join(names, ", ")));
  std::string wanted = options.program.empty() ? names[0] : options.program;
  auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end())
    throw InputError(fmt::format("{} holds no program {}; it has {}",
                                 options.input, wanted,
                                 fmt::join(names, ", ")));
  input.program = input.opened.manifest.programs[size_t(found - names.begin())];
}

/// Picks the newest target in the bundle that the device runs, unless one is
/// asked for.
static void chooseTarget(const Options &options, int capability, Input &input) {
  std::set<std::string> present;
  for (const bundle::Level &level : input.program.levels)
    present.insert(level.target);
  std::string wanted = namesDevice(options.target) ? "" : options.target;
  if (!wanted.empty() && !present.count(wanted))
    throw InputError(fmt::format("{} holds no code for target {}; it has {}",
                                 options.input, wanted,
                                 fmt::join(present, ", ")));
  std::string why = "it is empty";
  if (wanted.empty()) {
    int best = -1;
    for (const std::string &name : present)
      if (target::runsOn(name, capability, why) &&
          target::findTarget(name)->capability > best) {
        best = target::findTarget(name)->capability;
        wanted = name;
      }
  } else if (!target::runsOn(wanted, capability, why)) {
    wanted.clear();
  }
  if (wanted.empty())
    throw InputError(
        fmt::format("{} has nothing for this device: {}", options.input, why));
  input.target = wanted;
}

/// Keeps the levels asked for, of the chosen target.
static void chooseLevels(const Options &options, Input &input) {
  std::vector<bundle::Level> levels;
  std::vector<std::string> names;
  for (bundle::Level &level : input.program.levels)
    if (level.target == input.target) {
      names.push_back(level.name);
      levels.push_back(std::move(level));
    }
  for (const std::string &wanted : options.levels)
    if (std::find(names.begin(), names.end(), wanted) == names.end())
      throw InputError(fmt::format("{} has no level '{}' for {}; it has {}",
                                   options.input, wanted, input.target,
                                   fmt::join(names, ", ")));
  input.program.levels.clear();
  for (bundle::Level &level : levels)
    if (options.levels.empty() ||
        std::find(options.levels.begin(), options.levels.end(), level.name) !=
            options.levels.end())
      input.program.levels.push_back(std::move(level));
}

Input attn::bench::openInput(const Options &options, int capability) {
  Input input;
  std::error_code error;
  if (options.timeline && capability == 0)
    throw InputError("--timeline records the clock of a GPU's multiprocessors; on "
                     "the CPU there is none: run it on a machine with a GPU, "
                     "without --target=cpu. Targets and levels that have it: " +
                     target::timelineTargets());
  fs::file_status status = fs::status(options.input, error);
  if (std::string link = danglingLink(options.input); !link.empty())
    throw InputError(link);
  if (!fs::exists(status))
    throw InputError(fmt::format("no such file or folder: {}", options.input));
  if (fs::is_directory(status)) {
    if (options.tf32 || !options.schedule.empty() || !options.schedules.empty())
      throw InputError("--tf32, --schedule and --schedules are for specs: the code of a "
                       "bundle is made; give them to attnc");
    input.folder = options.input;
    if (!fs::exists(fs::path(options.input) / "manifest.json", error))
      throw InputError(fmt::format("{} is no bundle: it has no manifest.json; "
                                   "make one with attnc SPEC -o {}",
                                   options.input, options.input));
  } else {
    compileSpec(options, capability, input);
  }
  try {
    input.opened = bundle::open(input.folder);
  } catch (const std::runtime_error &failure) {
    throw InputError(failure.what());
  }
  chooseProgram(options, input);
  chooseTarget(options, capability, input);
  chooseLevels(options, input);
  if (options.timeline)
    checkTimeline(options, input);
  input.kernel = &input.opened.kernelOf(input.program);
  return input;
}
