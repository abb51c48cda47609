//===- Passes.h - passes of lib/Codegen -----------------------------------===//
#ifndef ATTN_LIB_CODEGEN_PASSES_H
#define ATTN_LIB_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Passes.h.inc"

/// tile programs -> LLVM dialect, for this host or (`portable`) any like it; see
/// CpuOptions.
void addCpuCodegenPasses(mlir::OpPassManager &pm, bool portable = false);
/// tile programs -> LLVM and NVVM dialects in a gpu.module.
void addGpuCodegenPasses(mlir::OpPassManager &pm);
} // namespace attn

#endif // ATTN_LIB_CODEGEN_PASSES_H
