//===- Interpreter.cpp - values of a kernel's locals on a box -------------===//

#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::reference;
using spec::DType;
using spec::Expr;
using spec::ExprKind;
using spec::Op;

Interpreter::Interpreter(const Box &box, const Inputs &inputs, bool tf32)
    : box(box), kernel(*box.kernel), inputs(inputs), tf32(tf32),
      locals(kernel.locals.size()), arguments(kernel.arguments.size()),
      definitions(kernel.locals.size()) {
  for (const spec::Argument &argument : kernel.arguments)
    narrow |=
        argument.type.dtype == DType::F16 || argument.type.dtype == DType::BF16;
  for (const spec::Statement &statement : kernel.body)
    for (int target : statement.targets)
      definitions[size_t(target)] = &statement;
}

ValuePtr Interpreter::local(int id) {
  ValuePtr &held = locals[size_t(id)];
  if (held)
    return held;
  const spec::Statement &statement = *definitions[size_t(id)];
  if (statement.targets.size() == 2) {
    ValuePtr logSumExp;
    locals[size_t(statement.targets[0])] =
        softmax(*statement.value, &logSumExp);
    locals[size_t(statement.targets[1])] = logSumExp;
    return locals[size_t(id)];
  }
  return held = value(*statement.value);
}

/// Operand `index` of an expression, over the axes of the expression.
ValuePtr Interpreter::operand(const Expr &expr, size_t index) {
  return broadcast(box, value(*expr.operands[index]), expr.type.axes);
}

ValuePtr Interpreter::realOperand(const Expr &expr, size_t index) {
  return toReal(operand(expr, index));
}

/// Whether an expression is integer arithmetic with an axis's index in it.
static bool isIndex(const Expr &expr) {
  if (expr.kind == ExprKind::AxisIndex)
    return true;
  if (spec::isFloat(expr.type.dtype) ||
      (expr.kind != ExprKind::Unary && expr.kind != ExprKind::Binary))
    return false;
  return std::any_of(expr.operands.begin(), expr.operands.end(),
                     [](const auto &operand) { return isIndex(*operand); });
}

/// Whether a step is ahead of an expression's operands, given whether one is
/// ahead of it: what lib/Codegen/ExpandMath.cpp finds in a kernel's body.
static bool stepAheadOfOperands(const Expr &expr, bool ahead) {
  switch (expr.kind) {
  case ExprKind::Unary:
    return expr.op == Op::Floor ||
           (ahead && (expr.op == Op::Neg || expr.op == Op::Abs));
  case ExprKind::Binary:
    return (expr.op >= Op::Eq && expr.op <= Op::Ge) ||
           (ahead &&
            (expr.op == Op::Add || expr.op == Op::Sub || expr.op == Op::Mul));
  case ExprKind::Cast:
    return expr.type.dtype == DType::F16 || expr.type.dtype == DType::BF16;
  case ExprKind::Select:
  case ExprKind::Scale:
    return ahead;
  default: // A local may be computed elsewhere.
    return false;
  }
}

ValuePtr Interpreter::value(const Expr &expr) {
  bool ahead = stepAhead;
  stepAhead = stepAheadOfOperands(expr, ahead);
  ValuePtr result = form(expr, ahead);
  stepAhead = ahead;
  return result;
}

ValuePtr Interpreter::form(const Expr &expr, bool exactQuotient) {
  bool real = spec::isFloat(expr.type.dtype);
  switch (expr.kind) {
  case ExprKind::IntLiteral:
  case ExprKind::FloatLiteral:
  case ExprKind::BoolLiteral:
  case ExprKind::AxisIndex:
  case ExprKind::AxisLength:
    return leaf(expr);
  case ExprKind::Argument:
    return argument(expr.ref);
  case ExprKind::Local:
    return local(expr.ref);
  case ExprKind::Unary:
    return applyUnary(expr.op, real ? realOperand(expr, 0) : operand(expr, 0),
                      narrow);
  case ExprKind::Binary: {
    bool exact = !spec::isFloat(expr.operands[0]->type.dtype) &&
                 !spec::isFloat(expr.operands[1]->type.dtype) && !real;
    if (exact)
      return applyBinary(expr.op, operand(expr, 0), operand(expr, 1));
    ValuePtr left = realOperand(expr, 0), right = realOperand(expr, 1);
    ValuePtr result = applyBinary(expr.op, left, right, exactQuotient);
    bool whole[2] = {isIndex(*expr.operands[0]), isIndex(*expr.operands[1])};
    return narrow && expr.op == Op::Mul && whole[0] != whole[1]
               ? takenApart(result, whole[0] ? right : left)
               : result;
  }
  case ExprKind::Select:
    return applySelect(operand(expr, 0),
                       real ? realOperand(expr, 1) : operand(expr, 1),
                       real ? realOperand(expr, 2) : operand(expr, 2));
  case ExprKind::Cast:
    return applyCast(expr.type.dtype,
                     real ? realOperand(expr, 0) : operand(expr, 0));
  case ExprKind::Read:
    return read(expr);
  case ExprKind::Matmul:
    return matmul(expr);
  case ExprKind::Scale:
    return applyBinary(Op::Mul, realOperand(expr, 0), realOperand(expr, 1));
  case ExprKind::Mask:
    return applyMask(realOperand(expr, 0), operand(expr, 1));
  case ExprKind::Softmax:
    return softmax(expr, nullptr);
  }
  throw InputError("unknown expression");
}

ValuePtr Interpreter::leaf(const Expr &expr) {
  if (expr.kind == ExprKind::FloatLiteral) {
    Value v = makeValue(box, {}, true);
    v.exact = {expr.real};
    double error = double(float(expr.real)) - expr.real;
    if (error != 0)
      v.variance = {error * error};
    return std::make_shared<Value>(std::move(v));
  }
  Value v = makeValue(box, expr.type.axes, false);
  if (expr.kind == ExprKind::AxisIndex)
    v.whole = box.coordinates[size_t(expr.ref)];
  else if (expr.kind == ExprKind::AxisLength)
    v.whole = {(*box.lengths)[size_t(expr.ref)]};
  else
    v.whole = {expr.integer};
  return std::make_shared<Value>(std::move(v));
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static const HostTensor &findTensor(const Inputs &inputs,
                                    const spec::Argument &argument) {
  auto found = inputs.tensors.find(argument.name);
  if (found == inputs.tensors.end())
    throw InputError(fmt::format("input {} is missing", argument.name));
  if (found->second.dtype != argument.type.dtype ||
      found->second.shape.size() != argument.type.axes.size())
    throw InputError(fmt::format(
        "input {} must be {} of rank {}", argument.name,
        spec::spelling(argument.type.dtype), argument.type.axes.size()));
  return found->second;
}

static void put(Value &v, size_t at, const HostTensor &tensor,
                int64_t element) {
  double held = tensor.at(element);
  if (v.real)
    v.exact[at] = held;
  else if (tensor.dtype == DType::I64) { // A double does not hold all of i64.
    int64_t whole;
    std::memcpy(&whole, tensor.data.data() + element * 8, 8);
    v.whole[at] = whole;
  } else
    v.whole[at] = int64_t(held);
}

static void sizeValue(Value &v) {
  if (v.real)
    v.exact.resize(size_t(v.size()));
  else
    v.whole.resize(size_t(v.size()));
}

ValuePtr Interpreter::scalarArgument(const spec::Argument &argument) {
  auto found = inputs.scalars.find(argument.name);
  if (found == inputs.scalars.end())
    throw InputError(fmt::format("scalar {} is missing", argument.name));
  Value v = makeValue(box, {}, spec::isFloat(argument.type.dtype));
  double real = std::visit([](auto x) { return double(x); }, found->second);
  int64_t whole = std::visit([](auto x) { return int64_t(x); }, found->second);
  if (v.real)
    v.exact = {double(float(real))};
  else
    v.whole = {whole};
  return std::make_shared<Value>(std::move(v));
}

ValuePtr Interpreter::argument(int id) {
  ValuePtr &held = arguments[size_t(id)];
  if (held)
    return held;
  const spec::Argument &argument = kernel.arguments[size_t(id)];
  if (argument.scalar)
    return held = scalarArgument(argument);
  const HostTensor &tensor = findTensor(inputs, argument);
  Value v =
      makeValue(box, argument.type.axes, spec::isFloat(argument.type.dtype));
  sizeValue(v);
  // Offsets of the elements of the box, axis by axis.
  std::vector<int64_t> elements = {0};
  int64_t stride = 1;
  std::vector<int64_t> strides(tensor.shape.size());
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= tensor.shape[i];
  }
  for (size_t i = 0; i < strides.size(); ++i) {
    const auto &list = box.coordinates[size_t(argument.type.axes[i])];
    std::vector<int64_t> next;
    next.reserve(elements.size() * list.size());
    for (int64_t base : elements)
      for (int64_t coordinate : list)
        next.push_back(base + coordinate * strides[i]);
    elements = std::move(next);
  }
  for (size_t i = 0; i < elements.size(); ++i)
    put(v, i, tensor, elements[i]);
  return held = std::make_shared<Value>(std::move(v));
}

/// t[i, j]: indices are clamped, an empty tensor reads as 0.
ValuePtr Interpreter::read(const Expr &expr) {
  const spec::Argument &argument = kernel.arguments[size_t(expr.ref)];
  const HostTensor &tensor = findTensor(inputs, argument);
  Value v = makeValue(box, expr.type.axes, spec::isFloat(argument.type.dtype));
  sizeValue(v);
  std::vector<ValuePtr> indices;
  for (size_t i = 0; i < expr.operands.size(); ++i)
    indices.push_back(operand(expr, i));
  if (tensor.elements() == 0)
    return std::make_shared<Value>(std::move(v));
  for (int64_t e = 0; e < v.size(); ++e) {
    int64_t element = 0;
    for (size_t i = 0; i < indices.size(); ++i)
      element = element * tensor.shape[i] +
                std::clamp<int64_t>(indices[i]->whole[size_t(e)], 0,
                                    tensor.shape[i] - 1);
    put(v, size_t(e), tensor, element);
  }
  return std::make_shared<Value>(std::move(v));
}

//===----------------------------------------------------------------------===//
// Matmul and softmax
//===----------------------------------------------------------------------===//

ValuePtr Interpreter::matmul(const Expr &expr) {
  const Expr &left = *expr.operands[0], &right = *expr.operands[1];
  ValuePtr a = value(left), b = value(right);
  DType ta = left.type.dtype, tb = right.type.dtype;
  bool cutsOff = ta != DType::F32 || tb != DType::F32 || tf32;
  if (ta == DType::F32 && tb != DType::F32)
    a = roundOperand(tb, a);
  else if (tb == DType::F32 && ta != DType::F32)
    b = roundOperand(ta, b);
  else if (tf32 && ta == DType::F32) {
    a = roundOperandToTf32(a);
    b = roundOperandToTf32(b);
  }
  auto reached = [&](int axis, const std::vector<int> &axes) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](int other) { return box.covers(axis, other); });
  };
  std::vector<int> batch, rows, columns;
  for (int axis : expr.type.axes) {
    bool inA = reached(axis, left.type.axes),
         inB = reached(axis, right.type.axes);
    (inA && inB ? batch : inA ? rows : columns).push_back(axis);
  }
  auto joined = [](std::vector<int> x, const std::vector<int> &y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  auto product = [&](const std::vector<int> &axes) {
    int64_t count = 1;
    for (int axis : axes)
      count *= box.size(axis);
    return count;
  };
  std::vector<int> over = {expr.ref};
  a = broadcast(box, a, joined(joined(batch, rows), over));
  b = broadcast(box, b, joined(joined(batch, over), columns));
  Value result = makeValue(box, joined(joined(batch, rows), columns), true);
  ValuePtr c =
      contract(*a, *b, product(batch), product(rows), box.size(expr.ref),
               product(columns), cutsOff, std::move(result));
  return broadcast(box, c, expr.type.axes);
}

ValuePtr Interpreter::softmax(const Expr &expr, ValuePtr *logSumExp) {
  std::vector<int> others;
  for (int axis : expr.type.axes)
    if (axis != expr.ref)
      others.push_back(axis);
  std::vector<int> order = others;
  order.push_back(expr.ref);
  ValuePtr scores = broadcast(box, toReal(value(*expr.operands[0])), order);
  ValuePtr sink;
  if (expr.operands.size() > 1)
    sink = broadcast(box, toReal(value(*expr.operands[1])), others);
  Value lse = makeValue(box, others, true);
  ValuePtr p = softmaxRows(scores, sink.get(), logSumExp ? &lse : nullptr);
  if (logSumExp)
    *logSumExp = std::make_shared<Value>(std::move(lse));
  return broadcast(box, p, expr.type.axes);
}
