//===- TensorOperations.cpp - types of matmul, scale, mask and softmax ----===//

#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

bool ExprChecker::isProbabilities(const Expr &e) const {
  if (e.kind == ExprKind::Softmax)
    return true;
  if (e.kind != ExprKind::Local)
    return false;
  for (const Statement &statement : kernel.body)
    if (statement.targets[0] == e.ref)
      return statement.value->kind == ExprKind::Softmax;
  return false;
}

std::unique_ptr<Expr> ExprChecker::matmul(const SyntaxExpr &syntax) {
  bool good = keywords(syntax, {"over"}) &
              count(syntax, 2, 2, "matmul(a, b, over=AXIS)");
  int axis = good || keyword(syntax, "over") ? over(syntax) : -1;
  if (!good)
    return nullptr;
  ExprPtr a = check(syntax.children[0]), b = check(syntax.children[1]);
  if (!a || !b || axis < 0)
    return nullptr;
  for (Expr *operand : {a.get(), b.get()}) {
    if (!isFloat(operand->type.dtype)) {
      diagnostics.report("matmul-dtype", operand->span,
                         "matmul multiplies floats; cast the operand");
      return nullptr;
    }
    if (!hasAxis(operand->type, axis)) {
      diagnostics.report("over-missing", operand->span,
                         fmt::format("this operand has axes {} but no '{}'",
                                     showAxes(kernel, operand->type.axes),
                                     kernel.axes[axis].name));
      return nullptr;
    }
  }
  if (isProbabilities(*b) && !isProbabilities(*a)) {
    const SyntaxExpr &x = syntax.children[0], &y = syntax.children[1];
    bool names = x.kind == SyntaxExpr::NameRef && y.kind == SyntaxExpr::NameRef;
    diagnostics.warn("matmul-order", {a->span.begin, b->span.end},
                     "the probabilities come first: matmul(p, v, over=AXIS); in "
                     "this order no flash level is made",
                     names ? std::optional<std::string>(y.text + ", " + x.text)
                           : std::nullopt);
  }
  ExprPtr e = make(ExprKind::Matmul, syntax);
  e->ref = axis;
  // Batch axes in a's order, then a's own, then b's own.
  std::vector<int> batch, freeA, freeB;
  auto partner = [&](int x, const std::vector<int> &axes) {
    for (int y : axes)
      if (reaches(x, y) || reaches(y, x))
        return y;
    return -1;
  };
  for (int x : a->type.axes) {
    if (x == axis)
      continue;
    int y = partner(x, b->type.axes);
    if (y < 0)
      freeA.push_back(x);
    else
      batch.push_back(reaches(x, y) ? x : y);
  }
  for (int x : b->type.axes)
    if (x != axis && partner(x, a->type.axes) < 0)
      freeB.push_back(x);
  for (auto *part : {&batch, &freeA, &freeB})
    for (int x : *part)
      if (!hasAxis(e->type, x))
        e->type.axes.push_back(x);
  e->operands.push_back(std::move(a));
  e->operands.push_back(std::move(b));
  return e;
}

/// Whether only literals and lengths enter an expression.
static bool isFixed(const Expr &e) {
  return e.kind != ExprKind::Argument && e.kind != ExprKind::Read &&
         e.kind != ExprKind::Local &&
         std::all_of(e.operands.begin(), e.operands.end(),
                     [](const auto &operand) { return isFixed(*operand); });
}

/// The first index of `axis` in an expression, or null.
static const Expr *findIndex(const Expr &e, int axis) {
  if (e.kind == ExprKind::AxisIndex && e.ref == axis)
    return &e;
  for (const auto &operand : e.operands)
    if (const Expr *found = findIndex(*operand, axis))
      return found;
  return nullptr;
}

bool ExprChecker::within(const Expr &scores, const Expr &part, const char *what,
                         const char *instead) {
  for (int axis : part.type.axes) {
    bool inside = std::any_of(scores.type.axes.begin(), scores.type.axes.end(),
                              [&](int own) {
                                return own == axis ||
                                       kernel.axes[own].inner == axis ||
                                       kernel.axes[own].group == axis;
                              });
    if (inside || !nestsRead)
      continue;
    const Axis &a = kernel.axes[axis];
    std::string axes = showAxes(kernel, scores.type.axes);
    if (const Expr *index = findIndex(part, axis))
      diagnostics.report(
          "part-axes", index->span,
          fmt::format("'{}' runs along '{}', an axis that the scores {} do not "
                      "have; the length of the axis is '{}'",
                      index->name, a.name, axes, a.name),
          a.name);
    else
      diagnostics.report(
          "part-axes", part.span,
          fmt::format("the {} varies along '{}', an axis that the scores {} do "
                      "not have; to add the axis {}",
                      what, a.name, axes, instead));
    return false;
  }
  return true;
}

std::unique_ptr<Expr> ExprChecker::scale(const SyntaxExpr &syntax) {
  if (!keywords(syntax, {}) || !count(syntax, 2, 2, "scale(s, factor)"))
    return nullptr;
  ExprPtr s = check(syntax.children[0]), c = check(syntax.children[1]);
  if (!s || !c || !number(*s, "scale") || !number(*c, "scale"))
    return nullptr;
  if (!within(*s, *c, "factor", "multiply with '*'"))
    return nullptr;
  ExprPtr e = make(ExprKind::Scale, syntax);
  e->type.axes = join(s->type.axes, c->type.axes);
  e->operands.push_back(std::move(s));
  e->operands.push_back(std::move(c));
  return e;
}

std::unique_ptr<Expr> ExprChecker::mask(const SyntaxExpr &syntax) {
  if (!keywords(syntax, {}) || !count(syntax, 2, 2, "mask(s, condition)"))
    return nullptr;
  ExprPtr s = check(syntax.children[0]), p = check(syntax.children[1]);
  if (!s || !p || !number(*s, "mask"))
    return nullptr;
  if (p->type.dtype != DType::I1) {
    diagnostics.report("condition-expected", p->span,
                       "mask keeps scores where a condition holds; this is a "
                       "number");
    return nullptr;
  }
  if (!within(*s, *p, "condition", "write select"))
    return nullptr;
  if (p->type.axes.empty() && isFixed(*p)) {
    const SyntaxExpr &written = syntax.children[1];
    std::optional<std::string> fix;
    if (written.kind == SyntaxExpr::Binary && written.op >= Op::Eq &&
        written.op <= Op::Ge && p->kind == ExprKind::Binary &&
        p->operands[0]->kind == ExprKind::AxisLength &&
        p->operands[1]->kind == ExprKind::AxisLength)
      fix = fmt::format("{} {} {}", kernel.axes[p->operands[0]->ref].index,
                        written.text, kernel.axes[p->operands[1]->ref].index);
    diagnostics.warn("constant-mask", p->span,
                     "no index enters this condition, so all scores are kept or "
                     "none; the index of an axis is its lower-case name",
                     fix);
  }
  ExprPtr e = make(ExprKind::Mask, syntax);
  e->type.axes = join(s->type.axes, p->type.axes);
  e->operands.push_back(std::move(s));
  e->operands.push_back(std::move(p));
  return e;
}

std::unique_ptr<Expr> ExprChecker::softmax(const SyntaxExpr &syntax) {
  bool good = keywords(syntax, {"over", "sink"}) &
              count(syntax, 1, 1, "softmax(s, over=AXIS)");
  int axis = good || keyword(syntax, "over") ? over(syntax) : -1;
  if (!good)
    return nullptr;
  ExprPtr s = check(syntax.children[0]);
  const SyntaxExpr *sinkSyntax = keyword(syntax, "sink");
  ExprPtr sink = sinkSyntax ? check(*sinkSyntax) : nullptr;
  if (!s || axis < 0 || (sinkSyntax && !sink) || !number(*s, "softmax"))
    return nullptr;
  if (!hasAxis(s->type, axis)) {
    diagnostics.report("over-missing", s->span,
                       fmt::format("this operand has axes {} but no '{}'",
                                   showAxes(kernel, s->type.axes),
                                   kernel.axes[axis].name));
    return nullptr;
  }
  ExprPtr e = make(ExprKind::Softmax, syntax);
  e->ref = axis;
  e->type.axes = s->type.axes;
  if (sink) {
    if (!number(*sink, "sink"))
      return nullptr;
    for (int x : sink->type.axes) {
      bool inside = std::any_of(
          s->type.axes.begin(), s->type.axes.end(),
          [&](int y) { return y != axis && reaches(y, x); });
      if (!inside && nestsRead) {
        diagnostics.report("sink-axes", sink->span,
                           fmt::format("the sink may vary along the axes of the "
                                       "scores but not along '{}'",
                                       kernel.axes[x].name));
        return nullptr;
      }
    }
  }
  e->operands.push_back(std::move(s));
  if (sink)
    e->operands.push_back(std::move(sink));
  return e;
}
