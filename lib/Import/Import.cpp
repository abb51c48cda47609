//===- Import.cpp - checked syntax tree to the attn dialect ---------------===//
//
// Tensor operations become operations; what stands between them becomes
// attn.map regions. A local that depends on no computed tensor (an index
// expression, a condition) is computed where it is used, not stored.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Import.h"
#include "lib/Import/RegionEmitter.h"
#include "lib/Spec/Parse.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn;
using spec::DType;
using spec::Expr;
using spec::ExprKind;

namespace {
struct KernelImporter {
  const spec::Module &module;
  const spec::Kernel &kernel;
  OpBuilder b;
  func::FuncOp function{};
  llvm::DenseMap<int, Value> tensors{};       ///< Locals held as tensors.
  llvm::DenseMap<int, const Expr *> inlined{}; ///< Locals computed at their uses.

  Location location(spec::Span span) {
    auto [line, column] = spec::lineAndColumn(module.text, span.begin);
    return FileLineColLoc::get(b.getContext(), module.path, line, column);
  }

  Type elementType(DType dtype) {
    switch (dtype) {
    case DType::F16:
      return b.getF16Type();
    case DType::BF16:
      return b.getBF16Type();
    case DType::I32:
      return b.getI32Type();
    case DType::I64:
      return b.getI64Type();
    case DType::I1:
      return b.getI1Type();
    default:
      return b.getF32Type();
    }
  }

  RankedTensorType tensorType(ArrayRef<int> axes, Type element) {
    SmallVector<int64_t> shape;
    SmallVector<StringAttr> names;
    for (int axis : axes) {
      int64_t extent = kernel.axes[axis].extent.value_or(0);
      shape.push_back(extent > 0 ? extent : ShapedType::kDynamic);
      names.push_back(b.getStringAttr(kernel.axes[axis].name));
    }
    return RankedTensorType::get(shape, element,
                                 AxesAttr::get(b.getContext(), names));
  }

  RegionEmitter emitter() {
    return RegionEmitter(
        b.getContext(),
        {kernel, [this](int i) -> Value { return function.getArgument(i); },
         [this](int i) { return inlined.lookup(i); },
         [this](const Expr &e) { return tensor(e); },
         [this](spec::Span s) { return location(s); }});
  }

  /// True when nothing in `expr` is a computed tensor.
  bool isInlineable(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Matmul:
    case ExprKind::Scale:
    case ExprKind::Mask:
    case ExprKind::Softmax:
      return false;
    case ExprKind::Local:
      return inlined.count(expr.ref);
    default:
      return llvm::all_of(expr.operands,
                          [&](const auto &o) { return isInlineable(*o); });
    }
  }

  /// An elementwise operation of class OpT around a region for `expr`.
  template <typename OpT>
  Value elementwise(const Expr &whole, const Expr &expr, Type yielded,
                    RankedTensorType type, Value scores = nullptr) {
    RegionEmitter region = emitter();
    region.emit(expr, yielded);
    OperationState state(location(whole.span), OpT::getOperationName());
    if (scores)
      state.addOperands(scores);
    state.addOperands(region.inputs());
    state.addTypes(type);
    state.addRegion(region.takeRegion());
    return b.create(state)->getResult(0);
  }

  Value map(const Expr &expr, Type element) {
    return elementwise<MapOp>(expr, expr, element,
                              tensorType(expr.type.axes, element));
  }

  /// The element type of a held tensor: integers as they are computed.
  Type heldType(const Expr &expr) { return elementType(expr.type.dtype); }

  Value tensor(const Expr &expr) {
    Location loc = location(expr.span);
    Type f32 = b.getF32Type();
    RankedTensorType type = tensorType(expr.type.axes, f32);
    switch (expr.kind) {
    case ExprKind::Argument:
      if (!kernel.arguments[expr.ref].scalar)
        return function.getArgument(expr.ref);
      return map(expr, heldType(expr));
    case ExprKind::Local:
      if (Value held = tensors.lookup(expr.ref))
        return held;
      return map(expr, heldType(expr));
    case ExprKind::Matmul:
      return matmul(expr);
    case ExprKind::Scale:
      return elementwise<ScaleOp>(expr, *expr.operands[1], f32, type,
                                  floats(*expr.operands[0]));
    case ExprKind::Mask:
      return elementwise<MaskOp>(expr, *expr.operands[1], b.getI1Type(), type,
                                 floats(*expr.operands[0]));
    case ExprKind::Softmax:
      return softmax(expr, /*wantsLse=*/false)->getResult(0);
    default:
      return map(expr, heldType(expr));
    }
    (void)loc;
  }

  /// `expr` as a float tensor: integers are brought to f32.
  Value floats(const Expr &expr) {
    if (spec::isFloat(expr.type.dtype))
      return tensor(expr);
    return map(expr, b.getF32Type());
  }

  Value matmul(const Expr &expr) {
    Location loc = location(expr.span);
    Value operands[] = {tensor(*expr.operands[0]), tensor(*expr.operands[1])};
    auto element = [](Value v) {
      return mlir::cast<RankedTensorType>(v.getType()).getElementType();
    };
    if (element(operands[0]) != element(operands[1])) {
      bool wide0 = element(operands[0]).isF32(), wide1 = element(operands[1]).isF32();
      if (wide0 || wide1) { // C1: the f32 one is rounded.
        Value &wide = operands[wide0 ? 0 : 1];
        Type narrow = element(operands[wide0 ? 1 : 0]);
        auto type = mlir::cast<RankedTensorType>(wide.getType());
        wide = RoundOp::create(b, loc, type.clone(narrow), wide);
      } else { // f16 with bf16: only f32 holds both.
        for (int i : {0, 1})
          operands[i] = map(*expr.operands[i], b.getF32Type());
      }
    }
    return MatmulOp::create(b, loc, tensorType(expr.type.axes, b.getF32Type()),
                            operands[0], operands[1],
                            kernel.axes[expr.ref].name);
  }

  SoftmaxOp softmax(const Expr &expr, bool wantsLse) {
    Type f32 = b.getF32Type();
    Value scores = floats(*expr.operands[0]);
    Value sink;
    if (expr.operands.size() > 1)
      sink = floats(*expr.operands[1]);
    SmallVector<int> others;
    for (int axis : expr.type.axes)
      if (axis != expr.ref)
        others.push_back(axis);
    Type lse = wantsLse ? Type(tensorType(others, f32)) : Type();
    return SoftmaxOp::create(b, location(expr.span),
                             tensorType(expr.type.axes, f32), lse, scores, sink,
                             kernel.axes[expr.ref].name);
  }

  void statement(const spec::Statement &statement) {
    const Expr &value = *statement.value;
    if (statement.targets.size() == 2) {
      SoftmaxOp op = softmax(value, /*wantsLse=*/true);
      tensors[statement.targets[0]] = op.getProbabilities();
      tensors[statement.targets[1]] = op.getLse();
      return;
    }
    if (isInlineable(value))
      inlined[statement.targets[0]] = &value;
    else
      tensors[statement.targets[0]] = tensor(value);
  }

  /// The value of a result in its declared type and order.
  Value result(const spec::Result &result,
               llvm::SmallPtrSetImpl<void *> &returned) {
    Location loc = location(result.span);
    RankedTensorType declared =
        tensorType(result.type.axes, elementType(result.type.dtype));
    Value value = tensors.lookup(result.local);
    if (!value) {
      RegionEmitter region = emitter();
      region.emit(*inlined.lookup(result.local), declared.getElementType());
      OperationState state(loc, MapOp::getOperationName());
      state.addOperands(region.inputs());
      state.addTypes(declared);
      state.addRegion(region.takeRegion());
      value = b.create(state)->getResult(0);
    }
    auto type = mlir::cast<RankedTensorType>(value.getType());
    if (type.getElementType() != declared.getElementType()) {
      Type from = type.getElementType(), to = declared.getElementType();
      if (isa<FloatType>(from) && from.isF32()) {
        value = RoundOp::create(b, loc, declared, value);
      } else { // A narrow float to another float, or i32 to i64.
        RegionEmitter region = emitter();
        Expr local;
        local.kind = ExprKind::Local;
        local.ref = result.local;
        local.span = result.span;
        local.type = kernel.locals[result.local].type;
        region.emit(local, to);
        OperationState state(loc, MapOp::getOperationName());
        state.addOperands(region.inputs());
        state.addTypes(declared);
        state.addRegion(region.takeRegion());
        value = b.create(state)->getResult(0);
      }
    } else if (type != declared || isa<BlockArgument>(value) ||
               returned.contains(value.getAsOpaquePointer())) {
      value = CopyOp::create(b, loc, declared, value);
    }
    returned.insert(value.getAsOpaquePointer());
    return value;
  }

  void run() {
    SmallVector<Type> arguments, results;
    for (const spec::Argument &argument : kernel.arguments) {
      Type element = elementType(argument.type.dtype);
      arguments.push_back(argument.scalar
                              ? element
                              : Type(tensorType(argument.type.axes, element)));
    }
    for (const spec::Result &result : kernel.results)
      results.push_back(
          tensorType(result.type.axes, elementType(result.type.dtype)));
    function = func::FuncOp::create(b, location(kernel.span), kernel.name,
                                    b.getFunctionType(arguments, results));
    SmallVector<Attribute> axes;
    auto name = [&](int axis) {
      return axis < 0 ? StringAttr() : b.getStringAttr(kernel.axes[axis].name);
    };
    for (const spec::Axis &axis : kernel.axes)
      axes.push_back(AxisAttr::get(b.getContext(), b.getStringAttr(axis.name),
                                   axis.extent.value_or(0), name(axis.group),
                                   name(axis.inner)));
    for (auto [i, argument] : llvm::enumerate(kernel.arguments))
      function.setArgAttr(i, kNameAttr, b.getStringAttr(argument.name));
    for (auto [i, result] : llvm::enumerate(kernel.results))
      function.setResultAttr(i, kNameAttr, b.getStringAttr(result.name));
    function->setAttr(kAxesAttr, b.getArrayAttr(axes));

    b.setInsertionPointToEnd(function.addEntryBlock());
    for (const spec::Statement &s : kernel.body)
      statement(s);
    SmallVector<Value> values;
    llvm::SmallPtrSet<void *, 4> returned;
    for (const spec::Result &r : kernel.results)
      values.push_back(result(r, returned));
    func::ReturnOp::create(b, location(kernel.span), values);
  }
};
} // namespace

OwningOpRef<ModuleOp> attn::importModule(const spec::Module &module,
                                         MLIRContext &context,
                                         llvm::StringRef only) {
  context.loadDialect<AttnDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> result =
      ModuleOp::create(FileLineColLoc::get(&context, module.path, 1, 1));
  for (const spec::Kernel &kernel : module.kernels) {
    if (!only.empty() && kernel.name != only)
      continue;
    b.setInsertionPointToEnd(result->getBody());
    KernelImporter importer{module, kernel, b};
    importer.run();
  }
  return result;
}
