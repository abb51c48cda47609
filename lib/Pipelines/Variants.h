//===- Variants.h - one level under several schedules ---------------------===//
#ifndef ATTN_LIB_PIPELINES_VARIANTS_H
#define ATTN_LIB_PIPELINES_VARIANTS_H

#include "lib/Pipelines/Compile.h"

#include <functional>

namespace attn {

struct VariantRequest {
  /// Overrides, at least one; "" is the compiler's own choice. The first that can
  /// be made is what the level runs, the others become its variants.
  std::vector<std::string> schedules{""};
  /// Also the neighbours of the schedule that runs (lib/Schedule/Search.h).
  bool search = false;

  bool several() const { return search || schedules.size() > 1; }
};

/// One level of one program under every schedule of `request`
/// (`options.pipeline.schedule` is not looked at). With several, one that does not
/// fit, spills or equals an earlier one is left out and `note` is told which and
/// why; it fails when none can be made. `progress` is told what is being compiled.
/// A level without a flash kernel knows one schedule only.
mlir::FailureOr<CompiledLevel>
compileVariants(mlir::MLIRContext &context, const spec::Module &module,
                const spec::Kernel &kernel, const CompileOptions &options,
                const VariantRequest &request,
                const std::function<void(const std::string &)> &note,
                const std::function<void(const std::string &)> &progress);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_VARIANTS_H
