//===- EmitPtx.h - lowered programs to PTX --------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_EMITPTX_H
#define ATTN_LIB_CODEGEN_GPU_EMITPTX_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attn {

struct PtxKernel {
  std::string symbol;
  int threads = 0;         ///< Per block.
  int64_t sharedBytes = 0; ///< Dynamic, per block.
};

struct PtxModule {
  std::string text;
  std::vector<PtxKernel> kernels;
};

/// The gpu.module in a module that addGpuCodegenPasses lowered, as optimised
/// LLVM IR. Null after an error on the module.
std::unique_ptr<llvm::Module> translateForGpu(mlir::ModuleOp module,
                                              llvm::LLVMContext &context,
                                              llvm::StringRef chip);

/// PTX for `chip` ("sm_80"), all kernels in one text. An unresolved library
/// call is an error.
mlir::FailureOr<PtxModule> emitPtx(mlir::ModuleOp module, llvm::StringRef chip);

} // namespace attn

#endif // ATTN_LIB_CODEGEN_GPU_EMITPTX_H
