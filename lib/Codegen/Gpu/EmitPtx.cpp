//===- EmitPtx.cpp - lowered programs to PTX ------------------------------===//

#include "lib/Codegen/Gpu/EmitPtx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace attn;

static std::unique_ptr<llvm::TargetMachine> machineFor(llvm::StringRef chip,
                                                       std::string &error) {
  static bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // a * b + c may become one rounding: C11 leaves room for the better result.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // PTX 7.5 has all that sm_80 code uses, and older drivers take it; wgmma and
  // tensor copies need 8.0.
  const char *version = chip == "sm_80" ? "+ptx75" : "+ptx80";
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip, version, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

static mlir::gpu::GPUModuleOp deviceModule(ModuleOp module) {
  auto modules = module.getOps<mlir::gpu::GPUModuleOp>();
  return modules.empty() ? nullptr : *modules.begin();
}

/// Inline assembly reaches LLVM without `convergent`; optimisations would then
/// move barriers and shuffles into branches.
static void markAssemblyConvergent(llvm::Module &code) {
  for (llvm::Function &function : code)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (call->isInlineAsm())
          call->setConvergent();
}

std::unique_ptr<llvm::Module> attn::translateForGpu(ModuleOp module,
                                                    llvm::LLVMContext &context,
                                                    llvm::StringRef chip) {
  DialectRegistry registry;
  registerAllGPUToLLVMIRTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  mlir::gpu::GPUModuleOp device = deviceModule(module);
  if (!device) {
    module.emitError("holds no gpu.module to translate");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(device, context);
  if (!code) {
    module.emitError("cannot be translated to LLVM IR");
    return nullptr;
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(chip, error);
  if (!machine) {
    module.emitError("LLVM has no NVPTX target: ") << error;
    return nullptr;
  }
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  markAssemblyConvergent(*code);
  llvm::PassBuilder builder(machine.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(*code, modules);
  return code;
}

FailureOr<PtxModule> attn::emitPtx(ModuleOp module, llvm::StringRef chip) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateForGpu(module, context, chip);
  if (!code)
    return failure();
  for (llvm::Function &function : *code)
    if (function.isDeclaration() && !function.isIntrinsic() &&
        !function.use_empty())
      return module.emitError("calls '")
             << function.getName() << "', which no GPU library here provides";
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(chip, error);
  if (!machine)
    return module.emitError("LLVM has no NVPTX target: ") << error;
  PtxModule result;
  {
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, out, nullptr,
                                     llvm::CodeGenFileType::AssemblyFile))
      return module.emitError("LLVM cannot write PTX");
    passes.run(*code);
    result.text.assign(text.begin(), text.end());
  }
  deviceModule(module).walk([&](LLVM::LLVMFuncOp kernel) {
    auto threads = kernel->getAttrOfType<IntegerAttr>("tile.threads");
    auto shared = kernel->getAttrOfType<IntegerAttr>("tile.shared_bytes");
    if (threads && shared)
      result.kernels.push_back({kernel.getName().str(),
                                static_cast<int>(threads.getInt()),
                                shared.getInt()});
  });
  return result;
}
