//===- AttnOps.cpp - verifiers and folds of the attn dialect --------------===//

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "dialect/Attn/AttnOps.cpp.inc"

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Every axis of a tensor must be listed by the function and agree with it.
static LogicalResult verifyAxes(Operation *op, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<StringAttr> names = axisNames(type);
  if (names.size() != static_cast<size_t>(tensor.getRank()))
    return op->emitOpError("tensor of rank ")
           << tensor.getRank() << " names " << names.size() << " axes";
  Type element = tensor.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isInteger(1) && !element.isInteger(32) && !element.isInteger(64))
    return op->emitOpError("tensor holds ")
           << element << "; known are f16, bf16, f32, i1, i32 and i64";
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function || !function->hasAttr(kAxesAttr))
    return op->emitOpError("belongs in a func.func with 'attn.axes'");
  for (auto [i, name] : llvm::enumerate(names)) {
    AxisAttr axis = lookUpAxis(op, name.getValue());
    if (!axis)
      return op->emitOpError("axis '")
             << name.getValue() << "' is not in 'attn.axes'";
    int64_t length = axis.getExtent() ? axis.getExtent() : ShapedType::kDynamic;
    if (tensor.getDimSize(i) != length)
      return op->emitOpError("length of axis '")
             << name.getValue() << "' differs from 'attn.axes'";
  }
  return success();
}

/// An axis stands for those it nests: a tensor with both would have no meaning
/// but on a diagonal.
static LogicalResult verifyNestsApart(Operation *op, Type type) {
  for (StringAttr outer : axisNames(type))
    for (StringAttr part : axisNames(type))
      if (outer != part && reaches(op, outer.getValue(), part.getValue()))
        return op->emitOpError("axis '")
               << outer.getValue() << "' nests '" << part.getValue()
               << "', which the tensor has too";
  return success();
}

static LogicalResult verifyAllAxes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (isa<RankedTensorType>(type) &&
        (failed(verifyAxes(op, type)) || failed(verifyNestsApart(op, type))))
      return failure();
  return success();
}

/// `axis` is one of `tensor`'s, or one of them reaches it.
static bool covers(Operation *op, Type tensor, StringRef axis) {
  return llvm::any_of(axisNames(tensor), [&](StringAttr name) {
    return reaches(op, name.getValue(), axis);
  });
}

LogicalResult MatmulOp::verify() {
  if (failed(verifyAllAxes(*this)))
    return failure();
  if (!isa<FloatType>(elementOf(getA())) || !isa<FloatType>(elementOf(getB())))
    return emitOpError("operands must hold floats (M3)");
  if (!hasAxis(getA().getType(), getOver()) || !hasAxis(getB().getType(), getOver()))
    return emitOpError("both operands must have the summed axis '")
           << getOver() << "' (M1)";
  if (hasAxis(getType(), getOver()))
    return emitOpError("result must not have the summed axis '")
           << getOver() << "' (M1)";
  if (!elementOf(getResult()).isF32())
    return emitOpError("result must hold f32 (M2)");
  for (Value operand : {getA(), getB()})
    for (StringAttr name : axisNames(operand.getType()))
      if (name.getValue() != getOver() &&
          !covers(*this, getType(), name.getValue()))
        return emitOpError("result lacks axis '") << name.getValue() << "' (M2)";
  for (StringAttr name : axisNames(getType()))
    if (!hasAxis(getA().getType(), name.getValue()) &&
        !hasAxis(getB().getType(), name.getValue()))
      return emitOpError("no operand has axis '") << name.getValue() << "' (M2)";
  return success();
}

/// Shared by map, scale and mask. `inputs` are what the region sees.
static LogicalResult verifyElementwise(Operation *op, ValueRange inputs,
                                       Type yielded) {
  if (failed(verifyAllAxes(op)))
    return failure();
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != inputs.size())
    return op->emitOpError("region takes ")
           << body.getNumArguments() << " elements but there are "
           << inputs.size() << " inputs (E1)";
  for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
    if (argument.getType() != elementOf(input))
      return op->emitOpError("region argument of type ")
             << argument.getType() << " stands for " << elementOf(input)
             << " (E1)";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return op->emitOpError("region must end in attn.yield (E2)");
  if (yield.getValue().getType() != yielded)
    return op->emitOpError("region must yield ") << yielded << " (E2)";
  for (Value operand : op->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      for (StringAttr name : axisNames(tensor))
        if (!covers(op, op->getResult(0).getType(), name.getValue()))
          return op->emitOpError("result lacks axis '")
                 << name.getValue() << "' of an operand (E3)";
  // Indices name axes that the result has or reaches.
  WalkResult walked = body.walk([&](IndexOp index) {
    if (covers(op, op->getResult(0).getType(), index.getAxis()))
      return WalkResult::advance();
    index.emitOpError("axis '") << index.getAxis()
        << "' is not an axis of the result (E3)";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult MapOp::verify() {
  return verifyElementwise(*this, getInputs(), elementOf(getResult()));
}

LogicalResult ScaleOp::verify() {
  Builder b(getContext());
  if (!elementOf(getResult()).isF32() || !isa<FloatType>(elementOf(getScores())))
    return emitOpError("scales floats to f32 (S1)");
  return verifyElementwise(*this, getInputs(), b.getF32Type());
}

/// Scaling f32 by the constant 1 changes nothing.
OpFoldResult ScaleOp::fold(FoldAdaptor) {
  FloatAttr factor;
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (yield && matchPattern(yield.getValue(), m_Constant(&factor)) &&
      factor.getValueAsDouble() == 1.0 && getScores().getType() == getType())
    return getScores();
  return {};
}

LogicalResult MaskOp::verify() {
  Builder b(getContext());
  if (!elementOf(getResult()).isF32() || !isa<FloatType>(elementOf(getScores())))
    return emitOpError("masks floats to f32 (K1)");
  return verifyElementwise(*this, getInputs(), b.getI1Type());
}

static LogicalResult verifySameAxes(Operation *op) {
  if (failed(verifyAllAxes(op)))
    return failure();
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  bool same = axisNames(from).size() == axisNames(to).size() &&
              llvm::all_of(axisNames(from), [&](StringAttr name) {
                return hasAxis(to, name.getValue());
              });
  return same ? success()
              : op->emitOpError("must keep the set of axes (R1)");
}

LogicalResult RoundOp::verify() {
  if (!isa<FloatType>(elementOf(getValue())) ||
      !isa<FloatType>(elementOf(getResult())))
    return emitOpError("must round a float to a float (R1)");
  return verifySameAxes(*this);
}

OpFoldResult RoundOp::fold(FoldAdaptor) {
  return getValue().getType() == getType() ? getValue() : OpFoldResult();
}

LogicalResult CopyOp::verify() {
  if (elementOf(getValue()) != elementOf(getResult()))
    return emitOpError("must keep the element type (R1)");
  return verifySameAxes(*this);
}

/// Constraints X1 to X4.
static LogicalResult verifySoftmax(Operation *op, Value scores, Value sink,
                                   StringRef over, Value lse) {
  if (failed(verifyAllAxes(op)))
    return failure();
  if (!hasAxis(scores.getType(), over))
    return op->emitOpError("scores lack the axis '") << over << "' (X1)";
  if (!isa<FloatType>(elementOf(scores)))
    return op->emitOpError("scores must hold floats (X1)");
  auto others = [&](Type type) {
    return llvm::all_of(axisNames(type), [&](StringAttr name) {
      return name.getValue() != over &&
             covers(op, scores.getType(), name.getValue());
    });
  };
  if (lse && (axisNames(lse.getType()).size() + 1 !=
                  axisNames(scores.getType()).size() ||
              !others(lse.getType()) || !elementOf(lse).isF32()))
    return op->emitOpError("log-sum-exp must be f32 with the other axes of the "
                           "scores (X3)");
  if (sink && (!others(sink.getType()) || !isa<FloatType>(elementOf(sink))))
    return op->emitOpError("sink must be a float with none but the other axes "
                           "of the scores (X4)");
  return success();
}

LogicalResult SoftmaxOp::verify() {
  if (failed(verifySoftmax(*this, getScores(), getSink(), getOver(), getLse())))
    return failure();
  auto scores = cast<RankedTensorType>(getScores().getType());
  auto wanted = RankedTensorType::get(
      scores.getShape(), Builder(getContext()).getF32Type(), scores.getEncoding());
  if (getProbabilities().getType() != wanted)
    return emitOpError("probabilities must be ") << wanted << " (X2)";
  return success();
}

LogicalResult OnlineSoftmaxOp::verify() {
  if (failed(verifySoftmax(*this, getScores(), getSink(), getOver(), getLse())))
    return failure();
  if (!hasAxis(getValues().getType(), getOver()))
    return emitOpError("values lack the axis '") << getOver() << "' (M1)";
  if (hasAxis(getResult().getType(), getOver()) || !elementOf(getResult()).isF32())
    return emitOpError("result must be f32 without the axis '")
           << getOver() << "' (M2)";
  return success();
}

LogicalResult KernelOp::verify() {
  auto yielded = dyn_cast<ReturnOp>(getBody().front().getTerminator());
  if (!yielded)
    return emitOpError("must end in attn.return");
  if (yielded.getValues().getTypes() != getResultTypes())
    return yielded.emitOpError("must return the kernel's result types");
  for (Operation &op : getBody().front().without_terminator())
    if (isa<KernelOp>(op))
      return op.emitOpError("kernels do not nest");
  if (getNumResults() == 0)
    return emitOpError("must have a result");
  // Reads go to memory, and what a kernel computes is not there yet.
  WalkResult walked = getBody().walk([&](ReadOp read) {
    Operation *source = read.getTensor().getDefiningOp();
    if (!source || !(*this)->isProperAncestor(source))
      return WalkResult::advance();
    read.emitOpError("reads a tensor that its own kernel computes");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ReadOp::verify() {
  if (failed(verifyAxes(*this, getTensor().getType())))
    return failure();
  if (getIndices().size() != axisNames(getTensor().getType()).size())
    return emitOpError("needs one index for each axis (D1)");
  if (getResult().getType() != elementOf(getTensor()))
    return emitOpError("result must be ") << elementOf(getTensor()) << " (D2)";
  return success();
}
