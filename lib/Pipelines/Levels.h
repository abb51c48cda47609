//===- Levels.h - levels and targets as pass pipelines --------------------===//
//
// The one place where fusion, schedule and code generation meet. attn-opt, attnc
// and the tests build their pipelines from these functions.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PIPELINES_LEVELS_H
#define ATTN_LIB_PIPELINES_LEVELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace attn {

struct PipelineOptions {
  std::string level = "flash";
  std::string target = "cpu";
  bool tf32 = false;
  std::string schedule; ///< Overrides, see lib/Schedule/Choose.h.
  bool timeline = false; ///< Programs that record their phases; GPUs only.
};

/// Levels of a target, least fused first. Empty for an unknown target.
std::vector<std::string> levelsOf(llvm::StringRef target);
/// One line that says what is wrong and what would be right; empty when known.
std::string checkNames(llvm::StringRef target, llvm::StringRef level);

/// attn -> attn.kernel regions.
void addFusionPasses(mlir::OpPassManager &pm, const PipelineOptions &options);
/// What is wrong with asking for a timeline of a level of a target ("": of any level);
/// empty when nothing is.
std::string checkTimeline(llvm::StringRef target, llvm::StringRef level);

/// attn.kernel -> tile programs ready for code generation.
void addSchedulePasses(mlir::OpPassManager &pm, const PipelineOptions &options);

/// Registers every pass of the project with the command line.
void registerAllAttnPasses();

} // namespace attn

#endif // ATTN_LIB_PIPELINES_LEVELS_H
