//===- Scores.cpp - where a kernel's scores come from ---------------------===//

#include "test/Run/Scores.h"

#include <cmath>

using namespace attn;
using namespace attn::check;
using spec::Expr;
using spec::ExprKind;

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

namespace {
/// The first of each kind, in the order of the body.
struct Finder {
  const Expr *matmul = nullptr, *factor = nullptr, *softmax = nullptr,
             *product = nullptr;
  bool bounded = false;

  void visit(const Expr &expr) {
    auto isArgument = [&](size_t i) {
      return expr.operands[i]->kind == ExprKind::Argument;
    };
    if (expr.kind == ExprKind::Matmul) {
      if (isArgument(0) && isArgument(1))
        matmul = matmul ? matmul : &expr;
      else if (isArgument(1) && !product)
        product = &expr;
    }
    bounded |= expr.kind == ExprKind::Unary &&
               (expr.op == spec::Op::Tanh || expr.op == spec::Op::Sigmoid);
    if (expr.kind == ExprKind::Scale && !factor)
      factor = expr.operands[1].get();
    if (expr.kind == ExprKind::Softmax && !softmax)
      softmax = &expr;
    for (const auto &operand : expr.operands)
      visit(*operand);
  }
};
} // namespace

Scores::Scores(const spec::Kernel &kernel,
               const reference::AxisLengths &lengths) {
  Finder found;
  for (const spec::Statement &statement : kernel.body)
    found.visit(*statement.value);
  auto argument = [&](const Expr &matmul, size_t operand) {
    return &kernel.arguments[size_t(matmul.operands[operand]->ref)];
  };
  bounded = found.bounded;
  if (found.matmul) {
    queries = argument(*found.matmul, 0);
    keys = argument(*found.matmul, 1);
    over = found.matmul->ref;
  }
  if (found.product)
    values = argument(*found.product, 1);
  for (const spec::Result &r : kernel.results)
    for (const spec::Statement &statement : kernel.body)
      if (statement.value.get() == found.product &&
          statement.targets.front() == r.local)
        result = r.name;
  if (found.softmax)
    keyAxis = found.softmax->ref;
  if (found.factor)
    factor = constant(*found.factor, lengths);
}
