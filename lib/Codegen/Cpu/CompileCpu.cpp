//===- CompileCpu.cpp - tile programs to a shared object ------------------===//

#include "lib/Codegen/Cpu/CompileCpu.h"

#include "lib/Bundle/ScratchFolder.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace attn;

static std::unique_ptr<llvm::TargetMachine>
targetMachine(const CpuOptions &options, std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string cpu = llvm::sys::getHostCPUName().str(), features;
  if (options.portable) {
    cpu = triple.isX86() ? "x86-64-v3" : "generic";
  } else {
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features +=
          (feature.getValue() ? "+" : "-") + feature.getKey().str() + ",";
    // Wide vectors are worth their clock here: the matmuls are long.
    if (triple.isX86())
      features += "-prefer-256-bit";
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

unsigned attn::vectorRegisters(const CpuOptions &options) {
  return !options.portable && llvm::sys::getHostCPUFeatures().lookup("avx512f")
             ? 32
             : 16;
}

std::unique_ptr<llvm::Module> attn::translateForCpu(ModuleOp module,
                                                    llvm::LLVMContext &context,
                                                    const CpuOptions &options) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code) {
    module.emitError("cannot be translated to LLVM IR");
    return nullptr;
  }
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(options, error);
  if (!machine) {
    module.emitError("no code generator for this host: ") << error;
    return nullptr;
  }
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration())
      function.addFnAttr("prefer-vector-width", "512");
  auto optimize = makeOptimizingTransformer(3, 0, machine.get());
  if (llvm::Error problem = optimize(code.get())) {
    module.emitError("LLVM's optimiser failed: ")
        << llvm::toString(std::move(problem));
    return nullptr;
  }
  return code;
}

/// The code calls nothing but the C and mathematics libraries, which the
/// process that loads it has, so a bare linker serves as well as a compiler.
static std::string findLinker() {
  for (const char *name : {"cc", "gcc", "clang", "ld", "ld.lld", "ld.lld-22"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return "";
}

FailureOr<std::string> attn::linkSharedObject(ModuleOp module,
                                              llvm::Module &code,
                                              const CpuOptions &options) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = targetMachine(options, error);
  if (!machine)
    return module.emitError("no code generator for this host: ") << error;

  std::string why;
  std::unique_ptr<bundle::ScratchFolder> folder = bundle::makeTemporary("attn", why);
  if (!folder)
    return module.emitError() << why;
  const std::string object = folder->path() + "/kernels.o",
                    library = folder->path() + "/kernels.so",
                    log = folder->path() + "/linker.log";
  {
    std::error_code failed;
    llvm::raw_fd_ostream out(object, failed);
    llvm::legacy::PassManager passes;
    if (failed || machine->addPassesToEmitFile(
                      passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
      return module.emitError("cannot write an object file");
    passes.run(code);
    out.close();
    if (out.has_error()) {
      out.clear_error();
      return module.emitError("cannot write an object file; is the disk full?");
    }
  }
  std::string linker = findLinker();
  if (linker.empty())
    return module.emitError(
        "target cpu needs a linker and none of cc, gcc, clang, "
        "ld, ld.lld is on PATH; install gcc or clang");
  llvm::StringRef arguments[] = {linker, "-shared", "-o", library, object};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log),
                                                llvm::StringRef(log)};
  int status =
      llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt, redirects);
  if (status != 0) {
    auto said = llvm::MemoryBuffer::getFile(log);
    llvm::StringRef line = said ? (*said)->getBuffer().split('\n').first : "";
    return module.emitError()
           << linker << " failed: " << (line.empty() ? "no message" : line);
  }
  auto bytes = llvm::MemoryBuffer::getFile(library);
  if (!bytes)
    return module.emitError("cannot read what the linker wrote");
  return (*bytes)->getBuffer().str();
}
