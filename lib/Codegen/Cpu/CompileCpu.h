//===- CompileCpu.h - tile programs to a shared object --------------------===//
#ifndef ATTN_LIB_CODEGEN_CPU_COMPILECPU_H
#define ATTN_LIB_CODEGEN_CPU_COMPILECPU_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attn {

/// Which hosts the code must run on.
struct CpuOptions {
  /// False: the host that compiles, with all its features. True: any host of
  /// its architecture made since about 2015 (x86-64-v3: AVX2, FMA, F16C).
  bool portable = false;
};

/// Vector registers to plan for: 32 of 512 bits or 16 narrower ones.
unsigned vectorRegisters(const CpuOptions &options = {});

/// Lowered module (after addCpuCodegenPasses) to optimised LLVM IR.
/// Null after an error on the module.
std::unique_ptr<llvm::Module> translateForCpu(mlir::ModuleOp module,
                                              llvm::LLVMContext &context,
                                              const CpuOptions &options = {});

/// The bytes of a shared object that exports the programs by name, linked by
/// the system's linker. Fails with an error on the module that names the fix.
mlir::FailureOr<std::string> linkSharedObject(mlir::ModuleOp module,
                                              llvm::Module &code,
                                              const CpuOptions &options = {});

} // namespace attn

#endif // ATTN_LIB_CODEGEN_CPU_COMPILECPU_H
