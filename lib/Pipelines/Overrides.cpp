//===- Overrides.cpp - schedules that a user writes, before they are used -===//

#include "lib/Pipelines/Overrides.h"

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/Passes.h"
#include "lib/Spec/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

using namespace mlir;
using namespace attn;

static bool isOfASchedule(const std::string &name) {
  const std::vector<ScheduleField> &fields = scheduleFields();
  return std::any_of(fields.begin(), fields.end(),
                     [&](const ScheduleField &field) { return field.name == name; });
}

std::string attn::checkOverrideText(const std::string &overrides) {
  std::vector<std::string> names;
  for (const ScheduleField &field : scheduleFields())
    if (field.overridable())
      names.push_back(field.name);
  std::set<std::string> given;
  for (const Override &item : readOverrides(overrides)) {
    if (isOfASchedule(item.name) && !item.field)
      return fmt::format(
          "'{}' cannot be written: it is of other kernels than attention, or "
          "follows from what can be: {}, each written NAME=N",
          item.name, fmt::join(names, ", "));
    if (!item.field) {
      std::optional<std::string> near = spec::nearest(item.name, names);
      return fmt::format("'{}' is no field of a schedule; {}", item.name,
                         near ? "did you mean " + *near + "?"
                              : fmt::format("it has {}, each written NAME=N",
                                            fmt::join(names, ", ")));
    }
    if (!item.value)
      return fmt::format("'{}': {} takes a number from {} to {}, such as {}={}",
                         item.text, item.name, item.field->least, kMostOfAField,
                         item.name,
                         std::max(item.field->least, Schedule().*item.field->member));
    if (!given.insert(item.name).second)
      return fmt::format("{} is given twice; write it once", item.name);
  }
  return "";
}

/// The first error of choosing a schedule on a copy of `module`; "" when one is chosen.
static std::string choosingError(ModuleOp module, const PipelineOptions &pipeline) {
  OwningOpRef<ModuleOp> copy = module.clone();
  std::string reason;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
      reason = diagnostic.str();
    return success();
  });
  PassManager pm(module.getContext());
  addFusionPasses(pm, pipeline);
  ChooseSchedulePassOptions choose;
  choose.target = pipeline.target;
  choose.level = pipeline.level;
  choose.overrides = pipeline.schedule;
  pm.addPass(createChooseSchedulePass(choose));
  return succeeded(pm.run(*copy)) ? "" : reason;
}

std::string attn::checkOverridesFor(ModuleOp module,
                                    const PipelineOptions &pipeline) {
  if (pipeline.schedule.empty())
    return "";
  std::string reason = choosingError(module, pipeline);
  PipelineOptions without = pipeline;
  without.schedule.clear();
  return !reason.empty() && choosingError(module, without).empty() ? reason : "";
}

bool attn::hasAttentionKernel(ModuleOp module, const PipelineOptions &pipeline) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  PassManager pm(module.getContext());
  addFusionPasses(pm, pipeline);
  if (failed(pm.run(*copy)))
    return false;
  return copy
      ->walk([](KernelOp kernel) {
        FailureOr<KernelKind> kind = classify(kernel);
        return succeeded(kind) && *kind == KernelKind::Flash ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}
