//===- ElementwiseLowering.cpp - attn elementwise work as tile code -------===//

#include "lib/Schedule/ElementwiseLowering.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// True when every index of a read is the index of the tensor's own axis there:
/// then it is a broadcast, and a plain load serves it.
static bool readsOwnAxes(ReadOp read, const TensorInfo &tensor) {
  for (auto [index, axis] : llvm::zip(read.getIndices(), tensor.axes)) {
    auto op = index.getDefiningOp<IndexOp>();
    if (!op || op.getAxis() != axis)
      return false;
  }
  return true;
}

/// Whether products with an f32 `factor` are as good as those with its value.
static bool isNormal(double factor) {
  double size = std::fabs(factor);
  return size > 1e-30 && size < 1e30;
}

/// x times y. Constant factors are gathered into one.
Value ElementwiseLowering::multiply(Location loc, Value x, Value y) {
  if (constantOf(x))
    std::swap(x, y);
  std::optional<double> factor = constantOf(y);
  if (factor && elementOf(x).isF32()) {
    auto product = x.getDefiningOp<arith::MulFOp>();
    std::optional<double> other =
        product ? constantOf(product.getRhs()) : std::nullopt;
    if (other && isNormal(*factor) && isNormal(*other) &&
        isNormal(*factor * *other)) {
      x = product.getLhs();
      *factor *= *other;
    }
    y = p.floatLike(x, *factor);
  }
  return arith::MulFOp::create(p.b, loc, x, y);
}

/// A division by a constant as a product with its inverse, whose last place may
/// differ: where only smooth functions see it. Null elsewhere.
Value ElementwiseLowering::divideByProduct(arith::DivFOp op, Value x, Value y) {
  std::optional<double> divisor = constantOf(y);
  bool smooth = llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<math::TanhOp, math::ExpOp, math::Exp2Op>(user);
  });
  if (!smooth || !divisor || !isNormal(*divisor) || !elementOf(x).isF32())
    return nullptr;
  return multiply(op.getLoc(), x, p.floatLike(x, 1 / *divisor));
}

/// Evaluates one operation of a region on values of mixed shape.
FailureOr<Value> ElementwiseLowering::evaluateOp(Operation *op) {
  Location loc = op->getLoc();
  auto look = [&](Value v) -> Value { return regionValues.lookup(v); };
  if (auto index = dyn_cast<IndexOp>(op)) {
    Value value = p.index(index.getAxis(), index.getType());
    if (!value)
      return op->emitError("axis '")
             << index.getAxis() << "' is not among the axes of this kernel";
    return value;
  }
  if (auto length = dyn_cast<LengthOp>(op)) {
    Value value = p.length(length.getAxis());
    if (!length.getType().isInteger(64))
      value = arith::TruncIOp::create(p.b, loc, length.getType(), value);
    return value;
  }
  if (auto read = dyn_cast<ReadOp>(op)) {
    TensorInfo tensor = tensorOf(read.getTensor());
    if (readsOwnAxes(read, tensor))
      return p.load(tensor);
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(look(index));
    return p.gather(tensor, indices);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(look(operand));
  p.unify(operands);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitError("is not an elementwise operation");
  if (isa<arith::MulFOp>(op))
    return multiply(loc, operands[0], operands[1]);
  if (auto division = dyn_cast<arith::DivFOp>(op))
    if (Value product = divideByProduct(division, operands[0], operands[1]))
      return product;
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Type element = op->getResult(0).getType();
  state.addTypes(operands.empty() ? element : typeLike(operands[0], element));
  return p.b.create(state)->getResult(0);
}

FailureOr<Value> ElementwiseLowering::evaluateElement(Value value) {
  if (Value known = regionValues.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    auto function = dyn_cast<func::FuncOp>(parent);
    if (!function) { // An element of a tensor.
      unsigned skipped =
          parent->getNumOperands() - argument.getOwner()->getNumArguments();
      FailureOr<Value> element =
          evaluate(parent->getOperand(skipped + argument.getArgNumber()));
      if (succeeded(element))
        regionValues[value] = *element;
      return element;
    }
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "attn.name");
    return regionValues[value] = p.scalar(name.getValue(), value.getType());
  }
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      if (failed(evaluateElement(operand)))
        return failure();
  FailureOr<Value> result = evaluateOp(op);
  if (succeeded(result))
    regionValues[value] = *result;
  return result;
}

FailureOr<Value> ElementwiseLowering::evaluateUniform(Value value) {
  FailureOr<Value> result = evaluateElement(value);
  if (succeeded(result) && shapeOf(*result).first != 0)
    return emitError(value.getLoc(), "element of a tensor is not uniform");
  return result;
}

/// Runs `op`'s region with `operands` (tile values of its `ins`), returns what
/// it yields.
FailureOr<Value> ElementwiseLowering::evaluateRegion(Operation *op,
                                                     ValueRange operands) {
  Block &body = op->getRegion(0).front();
  for (auto [argument, value] : llvm::zip(body.getArguments(), operands))
    regionValues[argument] = value;
  // Scalars come from outside: arguments of the function, or constants.
  WalkResult outside = body.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!isa<RankedTensorType>(operand.getType()) &&
          operand.getParentBlock() != &body)
        if (failed(evaluateUniform(operand)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (outside.wasInterrupted())
    return failure();
  for (Operation &inner : body.without_terminator()) {
    FailureOr<Value> result = evaluateOp(&inner);
    if (failed(result))
      return failure();
    regionValues[inner.getResult(0)] = *result;
  }
  return regionValues.lookup(body.getTerminator()->getOperand(0));
}

FailureOr<Value> ElementwiseLowering::evaluate(Value tensor) {
  if (Value known = values.lookup(tensor))
    return known;
  Operation *op = tensor.getDefiningOp();
  bool inKernel = op && isa_and_nonnull<KernelOp>(op->getParentOp());
  if (!inKernel || !isa<MapOp, ScaleOp, MaskOp, RoundOp, CopyOp>(op))
    return values[tensor] = p.load(tensorOf(tensor));

  Location loc = op->getLoc();
  if (leftOut.contains(op)) {
    FailureOr<Value> scores = evaluate(cast<MaskOp>(op).getScores());
    if (succeeded(scores))
      values[tensor] = *scores;
    return scores;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> value = evaluate(operand);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  Value result;
  if (isa<CopyOp>(op)) {
    result = operands[0];
  } else if (isa<RoundOp>(op)) {
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    result = operands[0];
    if (elementOf(result) != element)
      result = arith::TruncFOp::create(p.b, loc, typeLike(result, element),
                                       result);
  } else if (isa<MapOp>(op)) {
    FailureOr<Value> mapped = evaluateRegion(op, operands);
    if (failed(mapped))
      return failure();
    result = *mapped;
  } else {
    // scale and mask: the first operand is s, the rest are the region's.
    FailureOr<Value> other =
        evaluateRegion(op, ValueRange(operands).drop_front());
    if (failed(other))
      return failure();
    Value pair[] = {p.toF32(operands[0]), *other};
    if (isa<ScaleOp>(op)) {
      p.unify(pair);
      result = multiply(loc, pair[0], pair[1]);
    } else {
      p.unify(pair);
      if (shapeOf(pair[0]).first == 0) { // A rank-0 score: a tile of one.
        pair[0] = p.expand(pair[0], 1, 1);
        pair[1] = p.expand(pair[1], 1, 1);
      }
      result = tile::MaskOp::create(p.b, loc, pair[0].getType(), pair[0], pair[1],
                                    /*zero=*/false);
    }
  }
  return values[tensor] = result;
}
