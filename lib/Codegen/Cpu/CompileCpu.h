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

/// Vector registers of this host: 32 of 512 bits or 16 narrower ones.
unsigned hostVectorRegisters();

/// Lowered module (after addCpuCodegenPasses) to optimised LLVM IR for this host.
/// Null after an error on the module.
std::unique_ptr<llvm::Module> translateForCpu(mlir::ModuleOp module,
                                              llvm::LLVMContext &context);

/// The bytes of a shared object that exports the programs by name, linked by the
/// system's linker. Fails with an error on the module that names the fix.
mlir::FailureOr<std::string> linkSharedObject(mlir::ModuleOp module,
                                              llvm::Module &code);

} // namespace attn

#endif // ATTN_LIB_CODEGEN_CPU_COMPILECPU_H
