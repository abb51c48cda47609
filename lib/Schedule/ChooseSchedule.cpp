//===- ChooseSchedule.cpp - decide each kernel's tiles --------------------===//

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/ScheduleAttr.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Length of `axis` in a tensor's type, 0 when it is known at run time only.
static int64_t extentOf(Value tensor, StringRef axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (auto [i, name] : llvm::enumerate(axesOf(tensor)))
    if (name == axis && !type.isDynamicDim(i))
      return type.getDimSize(i);
  return 0;
}

Problem attn::describeProblem(KernelOp kernel, KernelKind kind) {
  Problem problem;
  problem.kind = kind;
  MatmulOp first;
  Value result;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    for (Region &region : op.getRegions())
      problem.work += region.front().getOperations().size() - 1;
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      if (!first)
        first = matmul;
      result = matmul.getResult();
    }
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
      result = softmax.getResult();
  }
  if (!first)
    return problem;
  auto a = cast<RankedTensorType>(first.getA().getType());
  problem.contracted = extentOf(first.getA(), first.getOver());
  problem.bytes = a.getElementTypeBitWidth() / 8;
  problem.f32 = a.getElementType().isF32();
  // The innermost axis of the result is its column axis.
  SmallVector<std::string> axes = axesOf(result);
  if (!axes.empty())
    problem.columns = extentOf(result, axes.back());
  return problem;
}

namespace {
struct ChooseSchedule : attn::impl::ChooseSchedulePassBase<ChooseSchedule> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  void runOnOperation() override {
    ScheduleTarget goal;
    if (target != "cpu" && target != "sm_80") {
      getOperation().emitError("unknown target '")
          << target << "'; known are cpu and sm_80";
      return signalPassFailure();
    }
    goal.unit = target == "cpu" ? Unit::Cpu : Unit::MmaSync;
    goal.pipelined = level == "pipelined";
    WalkResult walked = getOperation().walk([&](KernelOp kernel) {
      if (kernel->hasAttr("schedule"))
        return WalkResult::advance();
      FailureOr<KernelKind> kind = classify(kernel);
      if (failed(kind))
        return WalkResult::interrupt();
      auto chosen = choose(describeProblem(kernel, *kind), goal);
      if (auto *reason = std::get_if<std::string>(&chosen)) {
        kernel.emitError("no schedule: ") << *reason;
        return WalkResult::interrupt();
      }
      Schedule schedule = std::get<Schedule>(chosen);
      if (*kind == KernelKind::Flash && goal.unit != Unit::Cpu) {
        std::string error = applyOverrides(overrides, schedule);
        if (!error.empty()) {
          kernel.emitError(error);
          return WalkResult::interrupt();
        }
      }
      OpBuilder b(kernel);
      kernel->setAttr("schedule", scheduleAttr(b, schedule));
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
