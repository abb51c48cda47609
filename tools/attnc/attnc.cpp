//===- attnc.cpp - spec to bundle -----------------------------------------===//
//
// A bundle is made beside its destination and renamed when it is whole, so that
// a failed or interrupted run leaves nothing half-written.
//
//===----------------------------------------------------------------------===//

#include "lib/Bundle/Launcher.h"
#include "lib/Bundle/Manifest.h"
#include "lib/Bundle/Open.h"
#include "lib/Bundle/Outputs.h"
#include "lib/Bundle/ScratchFolder.h"
#include "lib/Codegen/Assembler.h"
#include "lib/Import/Import.h"
#include "lib/Pipelines/Overrides.h"
#include "lib/Pipelines/Variants.h"
#include "lib/Schedule/Choose.h"
#include "lib/Spec/Links.h"
#include "lib/Spec/Parse.h"
#include "lib/Spec/Printable.h"
#include "lib/Target/Targets.h"
#include "tools/AxisBinds.h"
#include "tools/HideOptions.h"
#include "tools/Levels.h"
#include "tools/StandardOutput.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <optional>

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("attnc options");

static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("<spec.attn or ->"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Folder of the bundle"),
                                   cl::value_desc("dir"),
                                   cl::cat(category));
static cl::list<std::string>
    targets("targets", cl::CommaSeparated,
            cl::desc("cpu, sm_80, sm_90a (default: cpu,sm_80)"),
            cl::cat(category));
static cl::list<std::string>
    levels("levels", cl::desc("Levels, or all (default: all of each target)"),
           cl::cat(category));
static cl::list<std::string> bind("bind", cl::CommaSeparated,
                                  cl::desc("Lengths of axes, such as D=64"),
                                  cl::cat(category));
static cl::list<std::string>
    archs("cubin", cl::CommaSeparated,
          cl::desc("Also assemble cubins, such as sm_80,sm_90 (default sm_80; "
                   "none: PTX only)"),
          cl::cat(category));
static const std::string scheduleHelp =
    "Overrides for flash kernels, or default:\n" + attn::overridesInWords() +
    "\n(those after stages are for sm_90a). Given several times: the first is what\n"
    "runs, the others are variants for attn-bench --tune";
static cl::list<std::string> schedule(
    "schedule", cl::value_desc("rows=N,columns=N,..."), cl::desc(scheduleHelp),
    cl::cat(category));
static cl::opt<std::string> schedules(
    "schedules", cl::value_desc("A;B;...|search"),
    cl::desc("Variants beside what runs: overrides separated by semicolons, or "
             "search for the neighbours of the compiler's choice"),
    cl::cat(category));
static cl::opt<bool> tf32("tf32",
                          cl::desc("Let f32 matmuls round operands to tf32"),
                          cl::cat(category));
static cl::opt<bool>
    timeline("timeline",
             cl::desc("Also make each GPU level's attention kernels such that "
                      "they record their phases, for attn-bench --timeline "
                      "(default target then: sm_80)"),
             cl::cat(category));
static cl::opt<bool>
    allowSpills("allow-spills", cl::desc("Accept kernels that spill registers"),
                cl::cat(category));
static cl::opt<bool> timings("timings",
                             cl::desc("Print the time each level took"),
                             cl::cat(category));
static cl::opt<bool> quiet("quiet", cl::desc("No progress"), cl::cat(category));

static int fail(const llvm::Twine &text) {
  llvm::errs() << "attnc: error: " << text << "\n";
  return 2;
}

/// What --schedule and --schedules ask for.
static attn::VariantRequest requestedSchedules() {
  attn::VariantRequest request;
  auto add = [&](llvm::StringRef text) {
    request.schedules.push_back(text == "default" ? "" : text.str());
  };
  if (!schedule.empty())
    request.schedules.clear();
  for (const std::string &text : schedule)
    add(text);
  llvm::SmallVector<llvm::StringRef> variants;
  llvm::StringRef(schedules).split(variants, ';', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef text : variants)
    if (text.trim() == "search")
      request.search = true;
    else
      add(text.trim());
  return request;
}

/// Why no schedule asked for can be used for a level of a kernel; "" when one can.
static std::string unusable(const attn::VariantRequest &request,
                            const attn::spec::Module &source,
                            const attn::spec::Kernel &kernel, MLIRContext &context,
                            attn::PipelineOptions pipeline) {
  OwningOpRef<ModuleOp> module;
  std::string first;
  for (const std::string &text : request.schedules) {
    if (text.empty())
      return "";
    if (!module)
      module = attn::importModule(source, context, kernel.name);
    pipeline.schedule = text;
    std::string why = attn::checkOverridesFor(*module, pipeline);
    if (why.empty())
      return "";
    if (first.empty())
      first = why;
  }
  return first;
}

/// The libraries' fixes name the flag of attn-opt and attn-bench, which take one target.
static std::string withOurFlags(std::string text) {
  static const std::string theirs = "--target=", ours = "--targets=";
  for (size_t at = 0; (at = text.find(theirs, at)) != std::string::npos;
       at += ours.size())
    text.replace(at, theirs.size(), ours);
  return text;
}

/// What code for a target is assembled for, of the names that --cubin gives: code for
/// one chip's own instructions assembles for that chip only.
static std::vector<std::string> cubinsOf(const std::string &target,
                                         const std::vector<std::string> &asked) {
  const attn::target::CompileTarget *found = attn::target::findTarget(target);
  if (found->isCpu() || asked.empty())
    return {};
  return found->exact ? std::vector<std::string>{target} : asked;
}

/// Whether a folder holds what attnc writes and nothing else: it is replaced as a
/// whole, so another tool's manifest.json or a file put beside ours must not go.
static bool holdsOnlyABundle(const std::string &folder) {
  namespace fs = llvm::sys::fs;
  auto text = llvm::MemoryBuffer::getFile(folder + "/manifest.json");
  if (!text)
    return false;
  llvm::Expected<llvm::json::Value> manifest = llvm::json::parse((*text)->getBuffer());
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return false;
  }
  const llvm::json::Object *top = manifest->getAsObject();
  if (!top || !top->getString("compiler").value_or("").starts_with("attn "))
    return false;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; at != end && !error;
       at.increment(error)) {
    if (fs::is_directory(at->path()) ||
        !attn::bundle::isBundleFile(llvm::sys::path::filename(at->path()).str()))
      return false;
  }
  return !error;
}

/// Why no bundle can be put there; "" when it can.
static std::string occupied(const std::string &wanted) {
  namespace fs = llvm::sys::fs;
  if (std::string link = attn::danglingLink(wanted); !link.empty())
    return link;
  if (!fs::exists(wanted))
    return "";
  if (!fs::is_directory(wanted))
    return "'" + wanted + "' exists and is not a folder";
  std::error_code error;
  bool empty = fs::directory_iterator(wanted, error) == fs::directory_iterator();
  if (!empty && !holdsOnlyABundle(wanted))
    return "'" + wanted + "' exists and is not a bundle, or holds more than one; "
           "choose another -o";
  return "";
}

/// Moves a finished bundle into place; an older bundle there is replaced.
static std::string install(const std::string &made, const std::string &wanted) {
  namespace fs = llvm::sys::fs;
  if (std::string why = occupied(wanted); !why.empty())
    return why;
  if (fs::exists(wanted)) {
    std::string old = made + ".old";
    if (auto failed = fs::rename(wanted, old))
      return "cannot replace '" + wanted + "': " + failed.message();
    if (auto failed = fs::rename(made, wanted)) {
      fs::rename(old, wanted);
      return "cannot write '" + wanted + "': " + failed.message();
    }
    fs::remove_directories(old);
    return "";
  }
  if (auto failed = fs::rename(made, wanted))
    return "cannot write '" + wanted + "': " + failed.message();
  return "";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  attn::checkStandardOutput("attnc");
  registerPassManagerCLOptions();
  cl::SetVersionPrinter([](raw_ostream &out) {
    out << "attnc 0.1.0 (LLVM " << LLVM_VERSION_STRING << ")\n";
  });
  attn::hideOptions(&category);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "attnc - compiles an attention spec into a bundle of kernels\n\n"
          "Examples:\n"
          "  attnc kernels/causal.attn -o out/causal\n"
          "  attnc kernels/causal.attn -o out/c64 --targets=sm_80 "
          "--levels=flash,pipelined --bind D=64 --cubin=sm_90\n"
          "  generate-a-spec | attnc - -o out/mine --targets=cpu\n\n"
          "Exit code: 0 the bundle is made, 1 the spec is wrong or cannot be "
          "compiled,\n"
          "2 wrong usage, no such input, or output that cannot be written.\n",
          &llvm::errs()))
    return 2;
  if (input.empty() || !output.getNumOccurrences())
    return fail(llvm::Twine(input.empty() ? "no input; give a spec and"
                                          : "no place for the bundle; give") +
                " -o FOLDER, for example attnc kernels/causal.attn -o out/causal");

  attn::spec::Binds binds;
  if (std::string why = attn::readAxisBinds(bind, binds); !why.empty())
    return fail(why);
  attn::spec::ParseResult parsed = attn::spec::parseFile(input, binds);
  if (parsed.unreadable())
    return fail(attn::spec::printable(parsed.diagnostics.front().message));
  if (std::string why = attn::checkAxisBinds(parsed, binds); !why.empty())
    return fail(why);
  if (!parsed.ok()) {
    llvm::errs() << attn::spec::render(parsed);
    return 1;
  }
  llvm::errs() << attn::spec::render(parsed); // Warnings, if any.
  std::vector<std::string> targetList(targets.begin(), targets.end());
  if (targetList.empty())
    targetList = timeline ? std::vector<std::string>{"sm_80"}
                          : std::vector<std::string>{"cpu", "sm_80"};
  std::vector<std::string> once; // A target named twice is made once.
  for (const std::string &target : targetList)
    if (!llvm::is_contained(once, target))
      once.push_back(target);
  targetList = once;
  std::vector<std::string> levelList;
  if (std::string why = attn::readLevels(levels, levelList); !why.empty())
    return fail(why);
  for (const std::string &target : targetList) {
    std::string wrong = attn::checkNames(target, "");
    if (wrong.empty() && timeline)
      wrong = attn::checkTimeline(target, "");
    if (!wrong.empty())
      return fail(wrong);
  }
  // A level must exist for some target asked for; others have no such level.
  for (const std::string &level : levelList)
    if (llvm::none_of(targetList, [&](const std::string &target) {
          return attn::checkNames(target, level).empty();
        }))
      return fail(attn::checkNames(targetList.front(), level));
  std::vector<std::string> archList(archs.begin(), archs.end());
  if (archList.empty())
    archList = {"sm_80"};
  if (archList == std::vector<std::string>{"none"})
    archList.clear();
  for (const std::string &arch : archList)
    if (std::string wrong = attn::target::checkArch(arch); !wrong.empty())
      return fail("--cubin: " + wrong);
  for (const std::string &target : targetList)
    for (const std::string &arch : cubinsOf(target, archList))
      if (std::string wrong = attn::checkAssembler(arch); !wrong.empty())
        return fail("--cubin: " + wrong);
  attn::VariantRequest request = requestedSchedules();
  const std::string scheduleFlag = schedule.empty() ? "--schedules: " : "--schedule: ";
  for (const std::string &text : request.schedules)
    if (std::string why = attn::checkOverrideText(text); !text.empty() && !why.empty())
      return fail(scheduleFlag + why);
  // The linker's and the assembler's files.
  if (llvm::is_contained(targetList, "cpu") || !archList.empty())
    if (std::string why = attn::bundle::temporaryProblem(); !why.empty())
      return fail(why);

  // Made beside the destination: a rename must not cross file systems.
  llvm::SmallString<256> wanted(output);
  llvm::sys::fs::make_absolute(wanted);
  llvm::sys::path::remove_dots(wanted, true);
  if (llvm::SmallString<256> real; !llvm::sys::fs::real_path(wanted, real))
    wanted = real; // What a link points to is replaced, not the link.
  if (output.empty())
    return fail("-o needs the name of a folder");
  if (std::string why = occupied(wanted.str().str()); !why.empty())
    return fail(why);
  std::string parent = llvm::sys::path::parent_path(wanted).str();
  if (auto failed = llvm::sys::fs::create_directories(parent))
    return fail("cannot create '" + parent + "': " + failed.message());
  std::optional<attn::bundle::ScratchFolder> unfinished;
  try {
    unfinished.emplace(wanted.str().str() + ".part-");
  } catch (const std::exception &problem) {
    return fail(problem.what());
  }
  const std::string &made = unfinished->path();

  DialectRegistry registry;
  attn::registerAllAttnDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // A user has no use for the kernel's IR.
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(
          attn::spec::maskControls(parsed.module.text), parsed.module.path),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());

  attn::bundle::Manifest manifest;
  manifest.compiler =
      std::string("attn 0.1.0, LLVM ") + LLVM_VERSION_STRING;
  manifest.binds = binds;
  manifest.specHash = attn::bundle::hashOfSpec(parsed.module.text);
  bool scheduled = llvm::all_of(request.schedules,
                                [](const std::string &text) { return text.empty(); });
  bool progress = !quiet && llvm::sys::Process::StandardErrIsDisplayed();
  try {
    for (const attn::spec::Kernel &kernel : parsed.module.kernels) {
      attn::bundle::Program program = attn::bundle::describeProgram(kernel);
      for (const std::string &target : targetList)
        for (const std::string &level : attn::levelsOf(target)) {
          if (!levelList.empty() && !llvm::is_contained(levelList, level))
            continue;
          if (progress)
            llvm::errs() << "\r\033[K" << kernel.name << " " << target << " "
                         << level;
          auto start = std::chrono::steady_clock::now();
          attn::CompileOptions options;
          options.pipeline = {level, target, tf32, "", timeline};
          options.cubinArchs = cubinsOf(target, archList);
          options.allowSpills = allowSpills;
          if (std::string why = unusable(request, parsed.module, kernel, context,
                                         options.pipeline);
              !why.empty()) {
            if (progress)
              llvm::errs() << "\r\033[K";
            return fail(scheduleFlag + why);
          }
          // Asked for all levels, one that has no schedule for this spec is left
          // out with its reason; asked for by name it is an error.
          std::string reason;
          ScopedDiagnosticHandler leaveOut(&context, [&](Diagnostic &diagnostic) {
            std::string text = diagnostic.str();
            if (levelList.empty() && text.rfind("no schedule: ", 0) == 0)
              reason = withOurFlags(text.substr(13));
            else if (withOurFlags(text) != text)
              handler.emitDiagnostic(diagnostic.getLocation(), withOurFlags(text),
                                     diagnostic.getSeverity());
            else
              return failure();
            return success();
          });
          std::string where = "level " + level + " of target " + target;
          auto compiled = attn::compileVariants(
              context, parsed.module, kernel, options, request,
              [&](const std::string &text) {
                llvm::errs() << (progress ? "\r\033[K" : "") << "attnc: note: "
                             << where << ": " << withOurFlags(text) << "\n";
              },
              [&](const std::string &text) {
                if (progress)
                  llvm::errs() << "\r\033[K" << kernel.name << " " << target << " "
                               << level << " " << text;
              });
          if (failed(compiled) && !reason.empty()) {
            llvm::errs() << "attnc: note: level " << level << " of target "
                         << target << " is left out: " << reason << "\n";
            continue;
          }
          if (failed(compiled)) {
            llvm::errs() << "attnc: error: level " << level << " of target "
                         << target << " could not be compiled\n";
            return 1;
          }
          if (!compiled->noTimeline.empty())
            llvm::errs() << "attnc: note: level " << level << " of target "
                         << target << " has no timeline: "
                         << compiled->noTimeline << "\n";
          for (auto &[name, contents] : compiled->files)
            attn::bundle::writeFileAtomically(made + "/" + name, contents);
          if (!compiled->assembler.empty())
            manifest.assembler = compiled->assembler;
          for (const attn::bundle::Kernel &made : compiled->level.kernels)
            scheduled |= made.choice.has_value();
          program.levels.push_back(std::move(compiled->level));
          if (timings) {
            std::chrono::duration<double, std::milli> took =
                std::chrono::steady_clock::now() - start;
            llvm::outs() << llvm::format("%-20s %-6s %-10s %8.1f ms\n",
                                         kernel.name.c_str(), target.c_str(),
                                         level.c_str(), took.count());
          }
        }
      manifest.programs.push_back(program);
      if (llvm::any_of(program.levels, [](const attn::bundle::Level &level) {
            return level.target != "cpu"; // The header launches on GPUs.
          }))
        attn::bundle::writeFileAtomically(made + "/" + kernel.name + ".h",
                                          attn::bundle::launcherHeader(program));
    }
    if (progress)
      llvm::errs() << "\r\033[K";
    if (!scheduled)
      llvm::errs() << "attnc: note: " << scheduleFlag
                   << "it has no effect: no level here has an attention kernel, as level "
                      "flash has\n";
    attn::bundle::writeFileAtomically(made + "/spec.attn", parsed.module.text);
    attn::bundle::writeFileAtomically(made + "/manifest.json",
                                      attn::bundle::toJson(manifest));
  } catch (const std::exception &problem) {
    return fail(problem.what());
  }
  unfinished->share();
  std::string problem = install(made, wanted.str().str());
  return problem.empty() ? 0 : fail(problem);
}
