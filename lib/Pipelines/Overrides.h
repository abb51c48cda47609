//===- Overrides.h - schedules that a user writes, before they are used ---===//
#ifndef ATTN_LIB_PIPELINES_OVERRIDES_H
#define ATTN_LIB_PIPELINES_OVERRIDES_H

#include "lib/Pipelines/Levels.h"

#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// What is wrong with "rows=64,columns=32" whatever spec it is for: a field that is
/// unknown, given twice or no number. Empty when nothing is.
std::string checkOverrideText(const std::string &overrides);

/// What is wrong with `pipeline.schedule` for the kernels of `module`, which is in the
/// attn dialect and stays as it is. Empty when nothing is, and where the level cannot
/// be made without the schedule either: its own error is then the one to tell.
std::string checkOverridesFor(mlir::ModuleOp module,
                              const PipelineOptions &pipeline);

/// Whether the level has a kernel that a schedule can be written for. `module` is in the
/// attn dialect and stays as it is.
bool hasAttentionKernel(mlir::ModuleOp module, const PipelineOptions &pipeline);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_OVERRIDES_H
