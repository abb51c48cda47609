//===- ChooseSchedule.cpp - decide each kernel's tiles --------------------===//

#include "lib/Analysis/MaskRange.h"
#include "lib/Schedule/Choose.h"
#include "lib/Schedule/EvenGrowth.h"
#include "lib/Schedule/FlashParts.h"
#include "lib/Schedule/MatmulAxes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Predict.h"
#include "lib/Schedule/ScheduleAttr.h"
#include "lib/Schedule/ScoreBound.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

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

/// Whether a tensor map can cover the tensor: 16-bit elements, 2 to 5 axes, rows
/// of whole 16 bytes. Temporaries are padded, others need a fixed length.
static bool fitsMap(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() < 2 || type.getRank() > 5 ||
      !(type.getElementType().isF16() || type.getElementType().isBF16()))
    return false;
  int64_t last = type.getRank() - 1;
  return isTemporary(tensor) ||
         (!type.isDynamicDim(last) && type.getDimSize(last) % 8 == 0);
}

static bool endsWith(Value tensor, StringRef axis) {
  SmallVector<std::string> axes = axesOf(tensor);
  return !axes.empty() && axes.back() == axis;
}

namespace {
/// The second product of a kernel with two matmuls.
struct ValueProduct {
  Value probabilities, value;
  StringRef keyAxis;
};
} // namespace

static ValueProduct valueProductOf(KernelOp kernel, MatmulOp first) {
  ValueProduct product;
  for (Operation &op : kernel.getBody().front()) {
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op))
      product = {softmax.getScores(), softmax.getValues(), softmax.getOver()};
    if (auto matmul = dyn_cast<MatmulOp>(op); matmul && matmul != first) {
      auto isOutside = [&](Value operand) {
        return !operand.getDefiningOp() ||
               operand.getDefiningOp()->getParentOp() != kernel;
      };
      product = {matmul.getA(), matmul.getB(), matmul.getOver()};
      if (!isOutside(product.value) && isOutside(product.probabilities))
        std::swap(product.probabilities, product.value);
    }
  }
  return product;
}

/// Problem::boxes of a kernel with two matmuls.
static bool fitFlashBoxes(KernelOp kernel, MatmulOp first, Value value) {
  return value && endsWith(first.getA(), first.getOver()) &&
         endsWith(first.getB(), first.getOver()) && fitsMap(first.getA()) &&
         fitsMap(first.getB()) && fitsMap(value) &&
         llvm::any_of(kernel.getResults(), [&](Value result) {
           return llvm::is_contained(axesOf(result), axesOf(value).back());
         });
}

/// See Problem::window.
static bool limitsBothSides(KernelOp kernel, StringRef keyAxis) {
  // The row's index counts as uniform here: only the key's sign matters.
  MaskAxes axes{"", keyAxis.str(), {}};
  bool least = false, most = false;
  auto look = [&](auto look, const MaskRange &range) -> void {
    if (range.kind == MaskRange::NonPositive)
      (range.affine.key < 0 ? least : most) |= range.affine.key != 0;
    if (range.kind == MaskRange::And)
      for (const MaskRange &part : range.parts)
        look(look, part);
  };
  for (auto mask : kernel.getBody().getOps<MaskOp>())
    look(look, analyzeMask(
                   mask->getRegion(0).front().getTerminator()->getOperand(0), axes));
  return least && most;
}

/// Adds the tensors that `op` and what is in it read from outside the kernel.
static void addTensorsRead(KernelOp kernel, Operation &op,
                           llvm::SetVector<Value> &tensors) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) &&
          (!operand.getDefiningOp() ||
           operand.getDefiningOp()->getParentOp() != kernel))
        tensors.insert(operand);
  });
}

/// See Problem::captured.
static int64_t capturedBytes(KernelOp kernel, MatmulOp first, StringRef keyAxis) {
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
      addTensorsRead(kernel, op, tensors);
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

/// Problem::drifts and Problem::grows.
static void describeGrowth(KernelOp kernel, const MatmulAxes &scores, Problem &problem) {
  StringRef keyAxis;
  for (auto softmax : kernel.getBody().getOps<OnlineSoftmaxOp>())
    keyAxis = softmax.getOver();
  auto hasKeys = [&](Value value) { return llvm::is_contained(axesOf(value), keyAxis); };
  StringRef row = scores.row == keyAxis ? scores.column : scores.row;
  MapOp lastMap;
  for (Operation &op : kernel.getBody().front())
    if (isa<MapOp, ScaleOp>(op) && hasKeys(op.getResult(0)))
      lastMap = dyn_cast<MapOp>(op);
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<MapOp, ScaleOp>(op))
      continue;
    if (&op == lastMap && growsEvenly(lastMap, row, keyAxis)) {
      op.walk([&](IndexOp index) { problem.grows |= index.getAxis() == keyAxis; });
      continue;
    }
    bool other = llvm::count_if(op.getOperands(), hasKeys) > 1;
    op.walk([&](IndexOp index) { other |= index.getAxis() == keyAxis; });
    problem.drifts |= other;
  }
}

/// Problem::boxes of a kernel with one matmul: its rows come with the summed axis
/// innermost, its columns with either axis.
static bool fitMatmulBoxes(MatmulOp matmul, const MatmulAxes &axes) {
  return !axes.row.empty() && !axes.column.empty() &&
         matmul.getA().getType().getElementType() ==
             matmul.getB().getType().getElementType() &&
         endsWith(matmul.getA(), axes.contracted) &&
         (endsWith(matmul.getB(), axes.contracted) ||
          endsWith(matmul.getB(), axes.column)) &&
         fitsMap(matmul.getA()) && fitsMap(matmul.getB());
}

/// Whether the rows of a kernel's results that end with `column` take whole 16
/// bytes, and what the widest element of a result takes.
static std::pair<bool, int> resultRows(KernelOp kernel, StringRef column) {
  bool whole = true;
  unsigned bytes = 1;
  for (Value result : kernel.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    unsigned size = std::max(1u, type.getElementTypeBitWidth() / 8);
    bytes = std::max(bytes, size);
    int64_t extent = type.getRank() ? type.getDimSize(type.getRank() - 1) : 0;
    bool fixed = extent > 0 && extent * size % 16 == 0;
    whole &= endsWith(result, column) && (isTemporary(result) || fixed);
  }
  return {whole, static_cast<int>(bytes)};
}

/// Problem::apart of a softmax over `key`.
static bool liesApart(KernelOp kernel, StringRef key) {
  llvm::SetVector<Value> tensors(kernel.getResults().begin(), kernel.getResults().end());
  for (Operation &op : kernel.getBody().front())
    addTensorsRead(kernel, op, tensors);
  return llvm::any_of(tensors, [&](Value tensor) {
    return llvm::is_contained(axesOf(tensor), key) && !endsWith(tensor, key);
  });
}

Problem attn::describeProblem(KernelOp kernel, KernelKind kind,
                              const AxisTable &axes) {
  Problem problem;
  problem.kind = kind;
  problem.uneven = !kernel.getBody().getOps<MaskOp>().empty();
  MatmulOp first;
  Value result;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    for (Region &region : op.getRegions()) {
      problem.work += region.front().getOperations().size() - 1;
      region.walk([&](Operation *inner) {
        problem.special += isSpecial(inner);
        problem.tanh |= isa<math::TanhOp>(inner);
      });
    }
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      problem.apart = liesApart(kernel, softmax.getOver());
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      if (!first)
        first = matmul;
      result = matmul.getResult();
    }
    if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op)) {
      result = softmax.getResult();
      problem.softmax = true;
      problem.lse = softmax.getLse() && !softmax.getLse().use_empty();
      problem.wide = outlivesRounding(
          kernel,
          freeAxis(axesOf(softmax.getValues()), axesOf(softmax.getScores()),
                   softmax.getOver(), axes),
          cast<RankedTensorType>(softmax.getValues().getType()).getElementType());
      problem.bounded = fixedReference(softmax).has_value();
      problem.bf16 = cast<RankedTensorType>(softmax.getValues().getType())
                         .getElementType()
                         .isBF16();
    }
  }
  if (!first)
    return problem;
  auto a = cast<RankedTensorType>(first.getA().getType());
  problem.contracted = extentOf(first.getA(), first.getOver());
  problem.bytes = a.getElementTypeBitWidth() / 8;
  problem.f32 = a.getElementType().isF32();
  if (kind == KernelKind::Matmul) {
    MatmulAxes roles = matmulAxes(first, axes);
    problem.boxes = fitMatmulBoxes(first, roles);
    std::tie(problem.resultRows, problem.resultBytes) =
        resultRows(kernel, roles.column);
  } else {
    MatmulAxes roles = matmulAxes(first, axes);
    ValueProduct product = valueProductOf(kernel, first);
    // Without rows there is nothing for warp groups to divide.
    problem.boxes = !roles.row.empty() && !roles.column.empty() &&
                    fitFlashBoxes(kernel, first, product.value);
    problem.captured = capturedBytes(kernel, first, product.keyAxis);
    describeGrowth(kernel, roles, problem);
    problem.window = limitsBothSides(kernel, product.keyAxis);
    // Values without an axis of their own are one column.
    std::string out = freeAxis(axesOf(product.value), axesOf(product.probabilities),
                               product.keyAxis, axes);
    problem.columns = out.empty() ? 1 : extentOf(product.value, out);
    return problem;
  }
  // The innermost axis of the result is its column axis.
  SmallVector<std::string> resultAxes = axesOf(result);
  if (!resultAxes.empty())
    problem.columns = extentOf(result, resultAxes.back());
  return problem;
}

ScheduleTarget attn::scheduleTarget(const target::CompileTarget &target,
                                    StringRef level, KernelKind kind) {
  ScheduleTarget goal;
  if (target.isCpu()) {
    goal.unit = Unit::Cpu;
    return goal;
  }
  goal.sharedPerBlock = target.sharedPerBlock;
  goal.pipelined = level == "pipelined";
  // Level flash keeps the form of older GPUs: the step before copies run ahead.
  bool ahead = kind == KernelKind::Matmul ||
               (kind == KernelKind::Flash && level != "flash");
  if (ahead && target.has(target::Feature::Wgmma) &&
      target.has(target::Feature::Tma))
    goal.unit = Unit::Wgmma;
  return goal;
}

namespace {
struct ChooseSchedule : attn::impl::ChooseSchedulePassBase<ChooseSchedule> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  void runOnOperation() override {
    const target::CompileTarget *compileTarget = target::findTarget(target);
    if (!compileTarget) {
      getOperation().emitError("unknown target '")
          << target << "'; known are " << llvm::join(target::targetNames(), ", ");
      return signalPassFailure();
    }
    WalkResult walked = getOperation().walk([&](KernelOp kernel) {
      if (kernel->hasAttr("schedule"))
        return WalkResult::advance();
      FailureOr<KernelKind> kind = classify(kernel);
      if (failed(kind))
        return WalkResult::interrupt();
      ScheduleTarget goal = scheduleTarget(*compileTarget, level, *kind);
      Problem problem = describeProblem(
          kernel, *kind, readAxes(kernel->getParentOfType<func::FuncOp>()));
      auto chosen = choose(problem, goal);
      if (auto *reason = std::get_if<std::string>(&chosen)) {
        kernel.emitError("no schedule: ") << *reason;
        return WalkResult::interrupt();
      }
      Schedule schedule = std::get<Schedule>(chosen);
      if (*kind == KernelKind::Flash && failed(obey(kernel, problem, goal, schedule)))
        return WalkResult::interrupt();
      OpBuilder b(kernel);
      kernel->setAttr("schedule", scheduleAttr(b, schedule));
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  /// Applies the user's overrides.
  LogicalResult obey(KernelOp kernel, const Problem &problem,
                     const ScheduleTarget &goal, Schedule &schedule) {
    Schedule chosen = schedule;
    std::string error = applyOverrides(overrides, schedule);
    std::vector<std::string> idle = idleOverrides(problem, goal.unit, chosen, schedule);
    if (error.empty() && goal.unit == Unit::Cpu) { // One thread a block, no copies.
      schedule.warps = chosen.warps;
      schedule.stages = chosen.stages;
      if (schedule.rows > 128)
        error = llvm::formatv("rows={0}: on the CPU one thread computes a tile, of at "
                              "most 128 rows; rows=128 would fit",
                              schedule.rows);
    }
    if (error.empty())
      error = checkOverrides(problem, chosen, schedule, goal.sharedPerBlock);
    if (error.empty() && goal.unit == Unit::MmaSync && problem.kind == KernelKind::Flash &&
        schedule.rows * schedule.columns > 256 * 32 * schedule.warps)
      error = llvm::formatv("schedule rows={0},columns={1},warps={2} needs {3} "
                            "registers a thread for its scores alone, a thread has "
                            "255; columns={4} would fit",
                            schedule.rows, schedule.columns, schedule.warps,
                            schedule.rows * schedule.columns / (32 * schedule.warps),
                            std::max<int64_t>(16, 128 * 32 * schedule.warps /
                                                      schedule.rows / 16 * 16));
    if (!error.empty())
      return kernel.emitError(error);
    for (const std::string &text : idle)
      kernel.emitWarning("schedule: ") << text;
    return success();
  }
};
} // namespace
