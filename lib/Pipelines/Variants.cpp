//===- Variants.cpp - one level under several schedules -------------------===//

#include "lib/Pipelines/Variants.h"

#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/Search.h"
#include "lib/Target/Targets.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

#include <algorithm>

using namespace mlir;
using namespace attn;

/// The schedules of a level's flash kernels, in numbers.
static std::vector<std::map<std::string, int64_t>>
schedulesOf(const bundle::Level &level) {
  std::vector<std::map<std::string, int64_t>> list;
  for (const bundle::Kernel &kernel : level.kernels)
    if (kernel.choice)
      list.push_back(kernel.choice->schedule);
  return list;
}

static std::string nameOf(const std::string &schedule) {
  return schedule.empty() ? "default" : schedule;
}

namespace {
/// Compiles one schedule after the other into one level.
class Gatherer {
public:
  Gatherer(MLIRContext &context, const spec::Module &module,
           const spec::Kernel &kernel, const CompileOptions &options,
           const std::function<void(const std::string &)> &note)
      : context(context), module(module), kernel(kernel), options(options),
        note(note) {}

  void add(const std::string &schedule) {
    CompileOptions one = options;
    one.pipeline.schedule = schedule;
    if (result) {
      one.pipeline.timeline = false;
      one.variant = static_cast<int>(result->level.variants.size()) + 1;
    }
    std::string reason;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
        reason = diagnostic.str();
      return success();
    });
    FailureOr<CompiledLevel> made = compileLevel(context, module, kernel, one);
    if (failed(made)) {
      if (firstReason.empty())
        firstReason = reason;
      impossible = reason.rfind("no schedule: ", 0) == 0;
      if (!impossible)
        note("schedule " + nameOf(schedule) + " is left out: " + reason);
    } else if (!result) {
      result = std::move(*made);
      seen.push_back(schedulesOf(result->level));
    } else if (llvm::is_contained(seen, schedulesOf(made->level))) {
      note("schedule " + nameOf(schedule) + " is left out: it is one that the "
           "level has");
    } else {
      seen.push_back(schedulesOf(made->level));
      result->level.variants.push_back(std::move(made->level));
      for (auto &[name, contents] : made->files)
        result->files[name] = std::move(contents);
    }
  }

  std::optional<CompiledLevel> result;
  std::string firstReason;
  bool impossible = false; ///< The spec has no schedule here, whatever is asked.

private:
  MLIRContext &context;
  const spec::Module &module;
  const spec::Kernel &kernel;
  const CompileOptions &options;
  const std::function<void(const std::string &)> &note;
  std::vector<std::vector<std::map<std::string, int64_t>>> seen;
};
} // namespace

/// Neighbours of what the level's flash kernel runs.
static std::vector<std::string> searched(const bundle::Level &level) {
  for (const bundle::Kernel &kernel : level.kernels)
    if (kernel.choice) {
      Problem problem = problemFrom(kernel.choice->problem);
      return neighbours(problem,
                        scheduleTarget(*target::findTarget(level.target),
                                       level.name, KernelKind::Flash),
                        scheduleFrom(kernel.choice->schedule));
    }
  return {};
}

FailureOr<CompiledLevel> attn::compileVariants(
    MLIRContext &context, const spec::Module &module, const spec::Kernel &kernel,
    const CompileOptions &options, const VariantRequest &request,
    const std::function<void(const std::string &)> &note,
    const std::function<void(const std::string &)> &progress) {
  if (!request.several()) {
    CompileOptions one = options;
    one.pipeline.schedule = request.schedules.front();
    return compileLevel(context, module, kernel, one);
  }
  Gatherer gatherer(context, module, kernel, options, note);
  auto addAll = [&](const std::vector<std::string> &schedules) {
    for (const std::string &schedule : schedules) {
      // Overrides are for flash kernels: without one there is nothing to vary.
      if (gatherer.impossible ||
          (gatherer.result && schedulesOf(gatherer.result->level).empty()))
        return;
      progress(nameOf(schedule));
      gatherer.add(schedule);
    }
  };
  addAll(request.schedules);
  if (!gatherer.result)
    return emitError(UnknownLoc::get(&context), gatherer.firstReason);
  if (request.search)
    addAll(searched(gatherer.result->level));
  return std::move(*gatherer.result);
}
