//===- Compile.h - from a checked spec to a bundle's levels ---------------===//
#ifndef ATTN_LIB_PIPELINES_COMPILE_H
#define ATTN_LIB_PIPELINES_COMPILE_H

#include "lib/Bundle/Manifest.h"
#include "lib/Pipelines/Levels.h"
#include "lib/Spec/Ast.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace attn {

/// How far to take a module.
enum class Stage { Attn, Fused, Tile, Lowered, Llvm, Assembly };
std::optional<Stage> parseStage(llvm::StringRef name);

/// Runs the passes of a level on a module of the attn dialect, up to `stage`
/// (Llvm and Assembly stop at Lowered here). Errors go to the diagnostic engine.
mlir::LogicalResult runPasses(mlir::ModuleOp module, Stage stage,
                              const PipelineOptions &options);

/// LLVM IR or assembly (PTX; for the CPU host assembly is not printed, LLVM IR
/// is) of a module that runPasses brought to Lowered.
mlir::FailureOr<std::string> printCode(mlir::ModuleOp lowered, Stage stage,
                                       const PipelineOptions &options);

struct CompileOptions {
  PipelineOptions pipeline; ///< Target and level are set for each.
  std::vector<std::string> cubinArchs; ///< "sm_90"; empty: none.
  bool allowSpills = false;
  int variant = 0; ///< Not 0: part of the files' names, so that variants differ.
};

/// One level of one program: its manifest entry, and files by their name in the
/// bundle; with `pipeline.timeline` its stamped kernels as well. Fails with
/// diagnostics.
struct CompiledLevel {
  bundle::Level level;
  std::map<std::string, std::string> files;
  std::string assembler; ///< Name of the assembler that ran, or "".
  /// Why a level that was asked to record its phases (PipelineOptions::timeline)
  /// has no such kernels.
  std::string noTimeline;
};
mlir::FailureOr<CompiledLevel> compileLevel(mlir::MLIRContext &context,
                                            const spec::Module &module,
                                            const spec::Kernel &kernel,
                                            const CompileOptions &options);

/// Dialects that passes may load, for a context.
void registerAllAttnDialects(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_COMPILE_H
