//===- attn-opt.cpp - passes on .attn and .mlir, level by level -----------===//

#include "lib/Bundle/Manifest.h"
#include "lib/Bundle/Outputs.h"
#include "lib/Import/Import.h"
#include "lib/Pipelines/Compile.h"
#include "lib/Pipelines/Overrides.h"
#include "lib/Schedule/Choose.h"
#include "lib/Spec/Links.h"
#include "lib/Spec/Parse.h"
#include "lib/Spec/Printable.h"
#include "tools/AxisBinds.h"
#include "tools/HideOptions.h"
#include "tools/StandardOutput.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace cl = llvm::cl;

static constexpr const char *kVersion = "attn-opt 0.1.0 (MLIR 22)";

static constexpr const char *kOverview =
    "attn-opt - the IR of an attention spec, level by level\n\n"
    "Examples:\n"
    "  attn-opt kernels/causal.attn                       the attn dialect\n"
    "  attn-opt kernels/causal.attn --level=flash --emit=fused\n"
    "  attn-opt kernels/causal.attn --level=flash --target=sm_80 --emit=tile\n"
    "  attn-opt kernels/causal.attn --level=pipelined --target=sm_80 --emit=ptx\n"
    "  attn-opt kernels/causal.attn --level=specialized --target=sm_90a --emit=tile\n"
    "  attn-opt kernels/causal.attn --attn-insert-copies --attn-isolate-ops\n"
    "  attn-opt dump.mlir --tile-split-key-loop           go on from a dump\n\n"
    "Exit code: 0 all well, 1 the spec or IR is wrong or a pass failed, 2 wrong\n"
    "usage, no such input, or output that cannot be written.\n";

namespace {
struct Options {
  cl::opt<std::string> input{cl::Positional, cl::desc("<input .attn or .mlir>"),
                             cl::init("-")};
  cl::opt<std::string> output{"o", cl::desc("Output file"),
                              cl::value_desc("file"), cl::init("-")};
  cl::opt<std::string> level{
      "level", cl::desc("Fusion level: reference, naive, inplace, fused, flash, "
                        "pipelined (sm_80), specialized (sm_90a)")};
  cl::opt<std::string> target{"target", cl::desc("cpu, sm_80 or sm_90a"),
                              cl::init("cpu")};
  cl::opt<std::string> emit{
      "emit",
      cl::desc("Stop at: attn, fused, tile, nvvm, llvm, ptx (with --level)")};
  cl::list<std::string> bind{"bind", cl::CommaSeparated,
                             cl::desc("Lengths of axes, such as D=64"),
                             cl::value_desc("AXIS=N,...")};
  std::string scheduleHelp = "Overrides for flash kernels:\n" + attn::overridesInWords() +
                             "\n(those after stages are for sm_90a)";
  cl::opt<std::string> schedule{"schedule", cl::value_desc("rows=N,columns=N,..."),
                                cl::desc(scheduleHelp)};
  cl::opt<bool> tf32{"tf32", cl::desc("Let f32 matmuls round operands to tf32")};
  cl::opt<bool> timeline{"timeline",
                         cl::desc("Tile programs that record their phases")};
  cl::opt<bool> attnInput{"attn", cl::desc("Read the input as .attn")};
  cl::opt<bool> locations{"locations", cl::desc("Print source locations")};
};
} // namespace

/// Reports `text` and gives the exit status for wrong usage or input.
static int fail(const llvm::Twine &text) {
  llvm::errs() << "attn-opt: error: " << text << "\n";
  return 2;
}

/// Writes the output whole or not at all; gives the exit code.
static int write(const std::string &name, const std::string &text) {
  if (name != "-") {
    try {
      attn::bundle::writeFileAtomically(name, text);
    } catch (const std::exception &problem) {
      return fail(problem.what());
    }
    return 0;
  }
  llvm::outs() << text;
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return 0;
  llvm::outs().clear_error();
  return fail("cannot write the output; is the disk full?");
}

/// A file to read from; on null the status to return has been put in `status`.
static std::unique_ptr<llvm::MemoryBuffer> openInput(const std::string &name,
                                                     int &status) {
  std::string error;
  if (std::string link = attn::danglingLink(name); !link.empty()) {
    status = fail("cannot open input file: " + link);
    return nullptr;
  }
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(name, &error);
  if (!file)
    status = fail(error);
  else if (file->getBuffer().trim().empty()) {
    status = fail("'" + name + "' is empty; give a spec (.attn) or MLIR");
    file = nullptr;
  }
  return file;
}

/// Whether text of an unknown kind is a spec: its first line that is no comment declares
/// a kernel. MLIR has '#' at the beginning of lines too, and no operation of that name.
static bool looksLikeSpec(llvm::StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    line = line.trim();
    if (!line.empty() && !line.starts_with("#"))
      return line == "kernel" || line.starts_with("kernel ");
    text = rest;
  }
  return false;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  attn::checkStandardOutput("attn-opt");
  // Before MLIR and the tool add their options: what is there now is of LLVM's code
  // generators, and stands in --help-hidden.
  attn::hideOptions();
  attn::registerAllAttnPasses();
  registerTransformsPasses();

  DialectRegistry registry;
  attn::registerAllAttnDialects(registry);

  static Options options;
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  MlirOptMainConfig::registerCLOptions(registry);
  cl::SetVersionPrinter([](raw_ostream &out) { out << kVersion << "\n"; });
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs()))
    return 2;

  if (std::string why = attn::bundle::writesOver({{"-o", options.output}},
                                                 {options.input});
      options.output != "-" && !why.empty())
    return fail(why);
  bool isAttn = options.attnInput ||
                llvm::StringRef(options.input).ends_with(".attn");
  std::unique_ptr<llvm::MemoryBuffer> file; // Null for what is said to be a spec.
  if (!isAttn) {
    int status = 0;
    file = openInput(options.input, status);
    if (!file)
      return status;
    isAttn = looksLikeSpec(file->getBuffer());
  }
  bool driven = isAttn || !options.level.empty() || !options.emit.empty();
  if (!driven) {
    // Plain MLIR: everything mlir-opt does, --verify-diagnostics included.
    std::string text;
    llvm::raw_string_ostream out(text);
    if (failed(MlirOptMain(out, std::move(file), registry,
                           MlirOptMainConfig::createFromCLOptions())))
      return 1;
    return write(options.output, text);
  }

  attn::PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.level = options.level.empty() ? "flash" : options.level.getValue();
  pipeline.schedule = options.schedule;
  pipeline.tf32 = options.tf32;
  pipeline.timeline = options.timeline;
  std::string wrong = attn::checkNames(pipeline.target, pipeline.level);
  if (wrong.empty() && pipeline.timeline)
    wrong = attn::checkTimeline(pipeline.target, "");
  if (wrong.empty() && !pipeline.schedule.empty())
    if (std::string text = attn::checkOverrideText(pipeline.schedule); !text.empty())
      wrong = "--schedule: " + text;
  if (!wrong.empty())
    return fail(wrong);
  if (pipeline.timeline) // The level is printed, as it is: unstamped.
    if (std::string why = attn::checkTimeline(pipeline.target, pipeline.level);
        !why.empty())
      llvm::errs() << "attn-opt: note: " << why << "\n";
  std::string emit = !options.emit.empty()    ? options.emit.getValue()
                     : !options.level.empty() ? "tile"
                                              : "attn";
  std::optional<attn::Stage> stage = attn::parseStage(emit);
  if (!stage)
    return fail("unknown --emit '" + emit +
                "'; known are attn, fused, tile, nvvm, llvm, ptx");
  if (emit == "ptx" && pipeline.target == "cpu")
    return fail("target cpu has no PTX; use --target=sm_80 or --emit=llvm");

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  if (isAttn) // A user of specs has no use for the IR around an error.
    context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  OwningOpRef<ModuleOp> module;
  if (isAttn) {
    attn::spec::Binds binds;
    if (std::string why = attn::readAxisBinds(options.bind, binds); !why.empty())
      return fail(why);
    attn::spec::ParseResult parsed =
        file ? attn::spec::parse(options.input == "-" ? "<stdin>"
                                                      : options.input.getValue(),
                                 file->getBuffer().str(), binds)
             : attn::spec::parseFile(options.input, binds);
    if (parsed.unreadable())
      return fail(attn::spec::printable(parsed.diagnostics.front().message));
    if (std::string why = attn::checkAxisBinds(parsed, binds); !why.empty())
      return fail(why);
    if (!parsed.ok()) {
      llvm::errs() << attn::spec::render(parsed);
      return 1;
    }
    llvm::errs() << attn::spec::render(parsed); // Warnings, if any.
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(
            attn::spec::maskControls(parsed.module.text), parsed.module.path),
        llvm::SMLoc());
    module = attn::importModule(parsed.module, context);
    if (failed(verify(*module)))
      return 1;
  } else {
    sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, &context);
    if (!module)
      return 1;
  }

  // Passes named on the command line run in their order, else the level's.
  // A pass on functions nests by itself, as with plain MLIR.
  PassManager pm(module.get()->getName(), PassManager::Nesting::Implicit);
  if (failed(applyPassManagerCLOptions(pm)))
    return 1;
  auto listed = MlirOptMainConfig::createFromCLOptions();
  if (failed(listed.setupPassPipeline(pm)) || failed(pm.run(*module)))
    return 1;
  if (pm.empty() || !options.level.empty()) {
    if (std::string why = attn::checkOverridesFor(*module, pipeline);
        *stage >= attn::Stage::Tile && !why.empty())
      return fail("--schedule: " + why);
    if (*stage >= attn::Stage::Tile && !pipeline.schedule.empty() &&
        !attn::hasAttentionKernel(*module, pipeline))
      llvm::errs() << "attn-opt: note: --schedule has no effect: level " << pipeline.level
                   << " has no attention kernel, as level flash has\n";
    if (failed(attn::runPasses(*module, *stage, pipeline)))
      return 1;
  }
  if (*stage >= attn::Stage::Llvm) {
    FailureOr<std::string> code = attn::printCode(*module, *stage, pipeline);
    return failed(code) ? 1 : write(options.output, *code);
  }
  OpPrintingFlags flags;
  if (options.locations)
    flags.enableDebugInfo(true, false);
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, flags);
  return write(options.output, text + "\n");
}
