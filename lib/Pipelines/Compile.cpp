//===- Compile.cpp - from a checked spec to a bundle's levels -------------===//

#include "lib/Pipelines/Compile.h"

#include "lib/Bundle/Open.h"
#include "lib/Bundle/Signature.h"
#include "lib/Codegen/Assembler.h"
#include "lib/Codegen/Cpu/CompileCpu.h"
#include "lib/Codegen/Gpu/EmitPtx.h"
#include "lib/Codegen/Passes.h"
#include "lib/Import/Import.h"
#include "lib/Target/Targets.h"

#include "dialect/Attn/Attn.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

void attn::registerAllAttnDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect, tile::TileDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect,
                  vector::VectorDialect>();
}

std::optional<Stage> attn::parseStage(llvm::StringRef name) {
  if (name == "attn")
    return Stage::Attn;
  if (name == "fused")
    return Stage::Fused;
  if (name == "tile")
    return Stage::Tile;
  if (name == "nvvm" || name == "lowered")
    return Stage::Lowered;
  if (name == "llvm")
    return Stage::Llvm;
  if (name == "ptx")
    return Stage::Assembly;
  return std::nullopt;
}

LogicalResult attn::runPasses(ModuleOp module, Stage stage,
                              const PipelineOptions &options) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  if (stage >= Stage::Fused)
    addFusionPasses(pm, options);
  if (stage >= Stage::Tile)
    addSchedulePasses(pm, options);
  if (stage >= Stage::Lowered) {
    if (options.target == "cpu")
      addCpuCodegenPasses(pm);
    else
      addGpuCodegenPasses(pm);
  }
  return pm.run(module);
}

FailureOr<std::string> attn::printCode(ModuleOp lowered, Stage stage,
                                       const PipelineOptions &options) {
  llvm::LLVMContext context;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (options.target != "cpu" && stage == Stage::Assembly) {
    FailureOr<PtxModule> ptx = emitPtx(lowered, options.target);
    if (failed(ptx))
      return failure();
    return ptx->text;
  }
  std::unique_ptr<llvm::Module> code = options.target == "cpu"
                                           ? translateForCpu(lowered, context)
                                           : translateForGpu(lowered, context,
                                                             options.target);
  if (!code)
    return failure();
  out << *code;
  return text;
}

//===----------------------------------------------------------------------===//
// Manifest entries from tile programs
//===----------------------------------------------------------------------===//

static std::string stringField(DictionaryAttr dictionary, llvm::StringRef name) {
  auto value = dictionary.getAs<StringAttr>(name);
  return value ? value.str() : "";
}

static std::vector<std::string> stringList(DictionaryAttr dictionary,
                                           llvm::StringRef name) {
  std::vector<std::string> list;
  if (auto values = dictionary.getAs<ArrayAttr>(name))
    for (Attribute value : values)
      list.push_back(cast<StringAttr>(value).str());
  return list;
}

static bundle::Arg describeArgument(DictionaryAttr attribute) {
  bundle::Arg arg;
  std::string kind = stringField(attribute, "kind");
  if (kind == "map") {
    arg.axes = stringList(attribute, "axes");
    auto box = attribute.getAs<DenseI64ArrayAttr>("box");
    arg.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
    arg.optional = attribute.contains("optional");
  }
  arg.kind = kind == "scheduler" ? bundle::Arg::Kind::Scheduler
             : kind == "timeline" ? bundle::Arg::Kind::Timeline
             : kind == "map"      ? bundle::Arg::Kind::Map
             : kind == "pointer" ? bundle::Arg::Kind::Pointer
             : kind == "stride" ? bundle::Arg::Kind::Stride
             : kind == "length" ? bundle::Arg::Kind::Length
                                : bundle::Arg::Kind::Scalar;
  arg.name = stringField(attribute, "name");
  arg.axis = stringField(attribute, "axis");
  return arg;
}

static void describePrediction(ArrayAttr terms, bundle::Prediction &prediction) {
  for (Attribute attribute : terms) {
    auto term = cast<DictionaryAttr>(attribute);
    std::string what = stringField(term, "what");
    if (what == "tensorUnit") {
      prediction.tensorUnit = stringField(term, "unit");
      continue;
    }
    if (what == "step") {
      prediction.steps[stringField(term, "blocks")] = {
          term.getAs<FloatAttr>("slots").getValueAsDouble(),
          term.getAs<FloatAttr>("special").getValueAsDouble()};
      continue;
    }
    bundle::Term entry;
    entry.coefficient = term.getAs<FloatAttr>("coefficient").getValueAsDouble();
    entry.axes = stringList(term, "axes");
    entry.live = term.contains("live");
    auto &list = what == "bytesRead"      ? prediction.bytesRead
                 : what == "bytesWritten" ? prediction.bytesWritten
                 : what == "tensorFlops"  ? prediction.tensorFlops
                 : what == "scalarFlops"  ? prediction.scalarFlops
                                          : prediction.exponentials;
    list.push_back(entry);
  }
}

static std::map<std::string, int64_t> numbers(DictionaryAttr dictionary,
                                              llvm::StringRef name) {
  std::map<std::string, int64_t> list;
  for (NamedAttribute entry : dictionary.getAs<DictionaryAttr>(name))
    list[entry.getName().str()] = cast<IntegerAttr>(entry.getValue()).getInt();
  return list;
}

/// How a program records its phases, if it does.
static std::optional<bundle::Stamps> describeStamps(func::FuncOp program) {
  auto roles = program->getAttrOfType<ArrayAttr>(tile::kTimelineAttr);
  if (!roles)
    return std::nullopt;
  bundle::Stamps stamps;
  auto lanes = *program.getBody().front().getOps<tile::OpenLaneOp>().begin();
  stamps.lanes = static_cast<int64_t>(lanes.getLanes());
  stamps.steps = static_cast<int64_t>(lanes.getSteps());
  for (Attribute role : roles)
    stamps.roles.push_back(cast<StringAttr>(role).str());
  for (unsigned i = 0; i <= tile::getMaxEnumValForPhase(); ++i)
    stamps.phases.push_back(
        tile::stringifyPhase(static_cast<tile::Phase>(i)).str());
  return stamps;
}

static bundle::Kernel describeKernel(func::FuncOp program) {
  bundle::Kernel kernel;
  kernel.symbol = program.getName().str();
  kernel.label = program->getAttrOfType<StringAttr>("tile.label").str();
  kernel.schedule = program->getAttrOfType<StringAttr>("tile.schedule").str();
  if (auto choice = program->getAttrOfType<DictionaryAttr>("tile.choice"))
    kernel.choice = {numbers(choice, "problem"), numbers(choice, "schedule")};
  // Blocks of warp groups fill a multiprocessor: one each.
  if (auto persistent = program->getAttrOfType<IntegerAttr>("tile.persistent"))
    kernel.persistent = persistent.getInt() ? 1 : 0;
  kernel.cluster = tile::clusterOf(program);
  for (Attribute attribute : program->getAttrOfType<ArrayAttr>(tile::kGridAttr)) {
    auto factor = cast<tile::GridAttr>(attribute);
    kernel.grid.push_back({factor.getAxis().str(), factor.getTile()});
  }
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    kernel.args.push_back(describeArgument(
        program.getArgAttrOfType<DictionaryAttr>(i, tile::kArgAttr)));
  describePrediction(program->getAttrOfType<ArrayAttr>("tile.prediction"),
                     kernel.prediction);
  kernel.stamps = describeStamps(program);
  return kernel;
}

/// Lets the code say what it takes (lib/Bundle/Signature.h).
static void addSignatures(llvm::Module &code, const bundle::Program &program,
                          const bundle::Level &level) {
  for (const bundle::Kernel &kernel : level.kernels) {
    llvm::Constant *text = llvm::ConstantDataArray::getString(
        code.getContext(), bundle::signature(program, level, kernel));
    new llvm::GlobalVariable(code, text->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, text,
                             bundle::signatureSymbol(kernel));
  }
}

/// Smaller schedules of a level's flash kernels, tried in this order when score
/// functions need more registers than the measured choice leaves them.
static ArrayRef<const char *> smallerSchedules(const PipelineOptions &pipeline) {
  // A frozen maximum, whose producer has more to remember, is given up first.
  static const char *const wgmma[] = {"vote=1,columns=64", "vote=1,columns=48",
                                      "vote=1,columns=32",
                                      "vote=1,groups=2,columns=64,stages=2",
                                      "vote=1,groups=2,columns=32,stages=2"};
  // A warp alone shares no loop with others, which f32 with masks of i64 may need.
  static const char *const mma[] = {"columns=32", "columns=16",
                                    "rows=16,columns=16,warps=1"};
  static const char *const pipelined[] = {"columns=64", "columns=48", "columns=32",
                                          "columns=16"};
  if (pipeline.level == "specialized")
    return wgmma;
  const target::CompileTarget *target = target::findTarget(pipeline.target);
  if (pipeline.level == "pipelined" && target &&
      target->has(target::Feature::Wgmma))
    return pipelined;
  if (pipeline.level == "flash" || pipeline.level == "pipelined")
    return mma;
  return {};
}

/// What a user may do about a kernel that runs out of registers; overrides are for
/// flash kernels alone.
static std::string smallerTile(const bundle::Kernel &kernel,
                               const PipelineOptions &pipeline) {
  auto tile = kernel.choice ? kernel.choice->schedule : std::map<std::string, int64_t>();
  if (!smallerSchedules(pipeline).empty()) {
    if (tile["columns"] > 16)
      return llvm::formatv("use a smaller tile (--schedule=columns={0})",
                           std::max<int64_t>(16, tile["columns"] / 32 * 16));
    if (tile["groups"] == 0 && tile["rows"] > 16)
      return llvm::formatv("use a smaller tile (--schedule=rows={0},columns=16,warps={1})",
                           tile["rows"] / 2,
                           std::max<int64_t>(1, std::min(tile["warps"], tile["rows"] / 32)));
  }
  return "leave this level out (--levels)";
}

/// One attempt. When the assembler runs out of registers, `tooLarge` is set and
/// nothing is said, or, without `tooLarge`, an error is.
static FailureOr<CompiledLevel>
compileOnce(MLIRContext &context, const spec::Module &source,
            const spec::Kernel &kernel, const CompileOptions &options,
            const PipelineOptions &pipeline, bool *tooLarge) {
  OwningOpRef<ModuleOp> module = importModule(source, context, kernel.name);
  if (failed(runPasses(*module, Stage::Tile, pipeline)))
    return failure();
  CompiledLevel result;
  result.level.name = pipeline.level;
  result.level.target = pipeline.target;
  for (Attribute attribute :
       (*module)->getAttrOfType<ArrayAttr>("tile.temporaries")) {
    auto entry = cast<DictionaryAttr>(attribute);
    result.level.temporaries.push_back(
        {stringField(entry, "name"), stringField(entry, "dtype"),
         stringList(entry, "axes"), bundle::Role::Temporary,
         entry.getAs<IntegerAttr>("pad").getInt()});
  }
  for (func::FuncOp program : module->getOps<func::FuncOp>())
    result.level.kernels.push_back(describeKernel(program));

  std::string stem = kernel.name + "." + pipeline.target + "." + pipeline.level +
                     (pipeline.timeline ? ".timeline" : "") +
                     (options.variant ? ".v" + std::to_string(options.variant) : "");
  PassManager pm(&context);
  if (pipeline.target == "cpu") {
    addCpuCodegenPasses(pm);
    if (failed(pm.run(*module)))
      return failure();
    llvm::LLVMContext llvmContext;
    std::unique_ptr<llvm::Module> code = translateForCpu(*module, llvmContext);
    if (!code)
      return failure();
    addSignatures(*code, bundle::describeProgram(kernel), result.level);
    FailureOr<std::string> library = linkSharedObject(*module, *code);
    if (failed(library))
      return failure();
    result.level.files["so"] = stem + ".so";
    result.files[stem + ".so"] = std::move(*library);
    return result;
  }

  addGpuCodegenPasses(pm);
  if (failed(pm.run(*module)))
    return failure();
  FailureOr<PtxModule> ptx = emitPtx(*module, pipeline.target);
  if (failed(ptx))
    return failure();
  for (const PtxKernel &info : ptx->kernels)
    for (bundle::Kernel &entry : result.level.kernels)
      if (entry.symbol == info.symbol) {
        entry.threads = info.threads;
        entry.dynamicShared = info.sharedBytes;
      }
  result.level.files["ptx"] = stem + ".ptx";
  result.files[stem + ".ptx"] = ptx->text;
  for (const std::string &arch : options.cubinArchs) {
    AssemblyResult assembly = assemble(ptx->text, arch);
    if (!assembly.available)
      break; // PTX is enough; the driver assembles it.
    if (!assembly.error.empty())
      return module->emitError("assembling for ") << arch << " failed: "
                                                   << assembly.error;
    result.assembler = assembly.assembler;
    // A stamped kernel may spill: what its stamps cost is measured and told.
    bool mayNotSpill = !options.allowSpills && !pipeline.timeline;
    bool spills = !assembly.serialised.empty();
    for (const auto &[symbol, resources] : assembly.resources)
      spills |= mayNotSpill && resources.spillBytes > 0;
    if (spills && tooLarge) {
      *tooLarge = true;
      return failure();
    }
    if (!assembly.serialised.empty() && !options.allowSpills)
      return module->emitError("the assembler serialises wgmma: ")
             << assembly.serialised.front()
             << "; use another tile (--schedule=columns=64) or --allow-spills";
    for (bundle::Kernel &entry : result.level.kernels) {
      auto found = assembly.resources.find(entry.symbol);
      if (found == assembly.resources.end())
        continue;
      if (found->second.spillBytes > 0 && mayNotSpill)
        return module->emitError("kernel ")
               << entry.symbol << " spills " << found->second.spillBytes
               << " bytes of registers on " << arch << "; "
               << smallerTile(entry, pipeline) << " or use --allow-spills";
      if (!entry.resources)
        entry.resources = found->second;
    }
    result.level.files["cubin:" + arch] = stem + "." + arch + ".cubin";
    result.files[stem + "." + arch + ".cubin"] = std::move(assembly.cubin);
  }
  return result;
}

/// One level with the first schedule that its registers suffice for, which
/// `pipeline` then holds.
static FailureOr<CompiledLevel> compilePlain(MLIRContext &context,
                                             const spec::Module &source,
                                             const spec::Kernel &kernel,
                                             const CompileOptions &options,
                                             PipelineOptions &pipeline) {
  ArrayRef<const char *> smaller = smallerSchedules(pipeline);
  bool mayShrink = pipeline.schedule.empty() && !options.allowSpills &&
                   pipeline.target != "cpu" && !smaller.empty();
  if (!mayShrink)
    return compileOnce(context, source, kernel, options, pipeline, nullptr);
  bool tooLarge = false;
  FailureOr<CompiledLevel> result =
      compileOnce(context, source, kernel, options, pipeline, &tooLarge);
  for (size_t i = 0; tooLarge && i < smaller.size(); ++i) {
    pipeline.schedule = smaller[i];
    tooLarge = false;
    bool last = i + 1 == smaller.size();
    result = compileOnce(context, source, kernel, options, pipeline,
                         last ? nullptr : &tooLarge);
  }
  return result;
}

/// Adds the level's kernels with stamps, in the same schedule. A level without
/// attention programs has none; one whose products the assembler would then
/// serialise says so.
static LogicalResult addTimeline(MLIRContext &context, const spec::Module &source,
                                 const spec::Kernel &kernel,
                                 const CompileOptions &options,
                                 PipelineOptions pipeline, CompiledLevel &plain) {
  pipeline.timeline = true;
  bool tooLarge = false;
  FailureOr<CompiledLevel> stamped =
      compileOnce(context, source, kernel, options, pipeline,
                  options.allowSpills ? nullptr : &tooLarge);
  if (tooLarge) {
    plain.noTimeline = "with stamps the assembler serialises its products; use a "
                       "smaller tile (--schedule=columns=48) or --allow-spills";
    return success();
  }
  if (failed(stamped))
    return failure();
  if (llvm::none_of(stamped->level.kernels, [](const bundle::Kernel &k) {
        return k.stamps.has_value();
      })) {
    plain.noTimeline = "none of its kernels holds both products; targets and levels "
                       "that have it: " +
                       target::timelineTargets();
    return success();
  }
  plain.level.timeline.push_back(std::move(stamped->level));
  for (auto &[name, contents] : stamped->files)
    plain.files[name] = std::move(contents);
  return success();
}

FailureOr<CompiledLevel> attn::compileLevel(MLIRContext &context,
                                            const spec::Module &source,
                                            const spec::Kernel &kernel,
                                            const CompileOptions &options) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.timeline = false;
  FailureOr<CompiledLevel> result =
      compilePlain(context, source, kernel, options, pipeline);
  if (succeeded(result) && options.pipeline.timeline &&
      failed(addTimeline(context, source, kernel, options, pipeline, *result)))
    return failure();
  if (succeeded(result))
    result->level.schedule = options.pipeline.schedule;
  return result;
}
