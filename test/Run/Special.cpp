//===- Special.cpp - inputs that try a kernel -----------------------------===//

#include "test/Run/Cases.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace attn;
using namespace attn::check;
using reference::HostTensor;
using reference::Inputs;
using spec::Expr;
using spec::ExprKind;

namespace {
/// The matmul of queries and keys, and the constant its scores are scaled by.
struct Scores {
  const Expr *matmul = nullptr;
  const Expr *factor = nullptr;

  explicit Scores(const spec::Kernel &kernel) {
    for (const spec::Statement &statement : kernel.body)
      visit(*statement.value);
  }
  void visit(const Expr &expr) {
    if (expr.kind == ExprKind::Matmul && !matmul &&
        expr.operands[0]->kind == ExprKind::Argument &&
        expr.operands[1]->kind == ExprKind::Argument)
      matmul = &expr;
    if (expr.kind == ExprKind::Scale && !factor)
      factor = expr.operands[1].get();
    for (const auto &operand : expr.operands)
      visit(*operand);
  }
};
} // namespace

/// Value of a constant factor; 1 for what this does not know.
static double constant(const Expr &expr,
                       const reference::AxisLengths &lengths) {
  switch (expr.kind) {
  case ExprKind::IntLiteral:
    return double(expr.integer);
  case ExprKind::FloatLiteral:
    return expr.real;
  case ExprKind::AxisLength:
    return double(lengths[size_t(expr.ref)]);
  case ExprKind::Unary: {
    double x = constant(*expr.operands[0], lengths);
    if (expr.op == spec::Op::Neg)
      return -x;
    return expr.op == spec::Op::Rsqrt ? 1 / std::sqrt(x) : x;
  }
  default:
    return 1;
  }
}

/// Sets element 0 along `axis` of a tensor everywhere.
static void setFirst(HostTensor &tensor, const spec::Type &type, int axis,
                     double value) {
  int64_t inner = 1, length = 1;
  for (size_t i = type.axes.size(); i-- > 0;) {
    if (type.axes[i] == axis) {
      length = tensor.shape[i];
      break;
    }
    inner *= tensor.shape[i];
  }
  for (int64_t e = 0; e < tensor.elements(); ++e)
    if (e / inner % length == 0)
      tensor.set(e, value);
}

/// Moves every scaled score down by about `depth`.
static void lowerScores(const spec::Kernel &kernel,
                        const reference::AxisLengths &lengths, double depth,
                        Inputs &inputs) {
  Scores scores(kernel);
  if (!scores.matmul)
    return;
  double factor = scores.factor ? constant(*scores.factor, lengths) : 1;
  if (factor == 0)
    return;
  double size = std::sqrt(depth / std::fabs(factor));
  for (size_t side : {0, 1}) {
    const spec::Argument &argument =
        kernel.arguments[size_t(scores.matmul->operands[side]->ref)];
    double sign = side == 0 && factor > 0 ? -1 : 1;
    setFirst(inputs.tensors.at(argument.name), argument.type,
             scores.matmul->ref, sign * size);
  }
}

static bool isMaskData(const spec::Argument &argument) {
  return !argument.scalar && !spec::isFloat(argument.type.dtype);
}

bool attn::check::hasMaskData(const spec::Kernel &kernel) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     isMaskData);
}

/// Integer data that matches nothing: everywhere, in a first tile, or here and
/// there. Each argument has a value of its own, so that none equals another.
static void hide(const spec::Kernel &kernel, uint64_t seed, Inputs &inputs) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const spec::Argument &argument = kernel.arguments[i];
    if (!isMaskData(argument))
      continue;
    HostTensor &tensor = inputs.tensors.at(argument.name);
    double value =
        argument.type.dtype == spec::DType::I1 ? 0 : -7.0 - double(i);
    int64_t row = std::max<int64_t>(1, tensor.shape.back());
    uint64_t way = random() % 3;
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      bool hidden = way == 0 || (way == 1 && e % row < 64) ||
                    (way == 2 && random() % 3 == 0);
      if (hidden)
        tensor.set(e, value);
    }
  }
}

Inputs attn::check::makeInputs(const spec::Kernel &kernel,
                               const reference::AxisLengths &lengths,
                               const Case &c) {
  reference::InputOptions options;
  options.seed = c.seed;
  options.scalars = c.scalars;
  if (c.kind == InputKind::Spread)
    options.amplitude = 4;
  Inputs inputs = reference::makeInputs(kernel, lengths, options);
  switch (c.kind) {
  case InputKind::Negative:
    lowerScores(kernel, lengths, 60, inputs);
    break;
  case InputKind::Huge:
    lowerScores(kernel, lengths, 6e4, inputs);
    break;
  case InputKind::Masked:
    hide(kernel, c.seed, inputs);
    break;
  case InputKind::Equal:
    if (Scores scores(kernel); scores.matmul) {
      const spec::Argument &q =
          kernel.arguments[size_t(scores.matmul->operands[0]->ref)];
      HostTensor &tensor = inputs.tensors.at(q.name);
      std::fill(tensor.data.begin(), tensor.data.end(), std::byte(0));
    }
    break;
  case InputKind::Normal:
  case InputKind::Strided:
  case InputKind::Spread:
    break;
  }
  return inputs;
}
