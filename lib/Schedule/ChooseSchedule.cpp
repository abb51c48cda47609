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

/// See Problem::boxes.
static bool fitBoxes(KernelOp kernel, MatmulOp first) {
  Value value;
  for (Operation &op : kernel.getBody().front()) {
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
      value = softmax.getValues();
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && matmul != first)
      for (Value operand : {matmul.getA(), matmul.getB()})
        if (!operand.getDefiningOp() ||
            operand.getDefiningOp()->getParentOp() != kernel)
          value = operand;
  }
  auto fits = [&](Value tensor, StringRef inner) {
    SmallVector<std::string> axes = axesOf(tensor);
    auto type = cast<RankedTensorType>(tensor.getType());
    bool known = inner.empty() || (!axes.empty() && axes.back() == inner);
    return known && axes.size() >= 2 && axes.size() <= 5 &&
           (type.getElementType().isF16() || type.getElementType().isBF16()) &&
           !type.isDynamicDim(axes.size() - 1) &&
           type.getDimSize(axes.size() - 1) % 8 == 0;
  };
  return value && fits(first.getA(), first.getOver()) &&
         fits(first.getB(), first.getOver()) && fits(value, "") &&
         llvm::any_of(kernel.getResults(), [&](Value result) {
           return llvm::is_contained(axesOf(result), axesOf(value).back());
         });
}

/// See Problem::captured.
static int64_t capturedBytes(KernelOp kernel, MatmulOp first) {
  StringRef keyAxis;
  for (Operation &op : kernel.getBody().front()) {
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
      keyAxis = softmax.getOver();
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && matmul != first)
      keyAxis = matmul.getOver();
  }
  auto onlyIn = [](const std::string &axis, ArrayRef<std::string> in,
                   ArrayRef<std::string> out) {
    return llvm::is_contained(in, axis) && !llvm::is_contained(out, axis);
  };
  SmallVector<std::string> query = axesOf(first.getA()), key = axesOf(first.getB());
  if (llvm::is_contained(query, keyAxis))
    std::swap(query, key);
  llvm::SetVector<Value> tensors;
  for (Operation &op : kernel.getBody().front())
    if (isa<MapOp, ScaleOp, MaskOp>(op))
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
            if (!operand.getDefiningOp() ||
                operand.getDefiningOp()->getParentOp() != kernel)
              tensors.insert(operand);
      });
  int64_t bytes = 0;
  for (Value tensor : tensors) {
    SmallVector<std::string> axes = axesOf(tensor);
    auto type = cast<RankedTensorType>(tensor.getType()).getElementType();
    bool rows = llvm::any_of(axes, [&](const std::string &axis) {
      return onlyIn(axis, query, key);
    });
    if (rows && axes.back() == keyAxis && axes.size() <= 5 &&
        (type.isF16() || type.isBF16()))
      bytes += 2;
  }
  return bytes;
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
  problem.boxes = fitBoxes(kernel, first);
  if (kind == KernelKind::Flash)
    problem.captured = capturedBytes(kernel, first);
  problem.uneven = !kernel.getBody().getOps<MaskOp>().empty();
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
    if (target != "cpu" && target != "sm_80" && target != "sm_90a") {
      getOperation().emitError("unknown target '")
          << target << "'; known are cpu, sm_80 and sm_90a";
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
      ScheduleTarget kernelGoal = goal;
      if (*kind == KernelKind::Flash && level == "specialized") {
        kernelGoal.unit = Unit::Wgmma;
        kernelGoal.sharedPerBlock = 227 * 1024;
      }
      auto chosen = choose(describeProblem(kernel, *kind), kernelGoal);
      if (auto *reason = std::get_if<std::string>(&chosen)) {
        kernel.emitError("no schedule: ") << *reason;
        return WalkResult::interrupt();
      }
      Schedule schedule = std::get<Schedule>(chosen);
      if (*kind == KernelKind::Flash && goal.unit != Unit::Cpu) {
        std::string error = applyOverrides(overrides, schedule);
        if (error.empty() && kernelGoal.unit == Unit::Wgmma)
          error = checkGroups(describeProblem(kernel, *kind), schedule,
                              kernelGoal.sharedPerBlock);
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
