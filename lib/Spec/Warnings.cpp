//===- Warnings.cpp - what is legal in a spec and hardly meant ------------===//

#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

/// `1 / D` is an integer, and 0.
void ExprChecker::warnDivision(const SyntaxExpr &syntax, const Expr &e) {
  if (e.op != Op::Div || e.type.dtype != DType::I64 || !e.type.axes.empty() ||
      e.operands[0]->kind != ExprKind::IntLiteral)
    return;
  const Expr &over = *e.operands[1];
  int64_t above = e.operands[0]->integer;
  std::string result = "rounds down";
  if (over.kind == ExprKind::IntLiteral) {
    if (above % over.integer == 0)
      return;
    result = fmt::format("gives {}", above / over.integer);
  } else if (over.kind == ExprKind::AxisLength) {
    result = fmt::format("gives 0 where {} is above {}", over.name, above);
  }
  diagnostics.warn("integer-division", e.operands[0]->span,
                   fmt::format("'{}' of two integers {}; write {}.0 for a real "
                               "quotient",
                               syntax.text, result, above),
                   fmt::format("{}.0", above));
}

/// `rsqrt(d)` where the length D was meant.
void ExprChecker::warnIndex(const Expr &e, const char *what) {
  if (e.kind != ExprKind::AxisIndex)
    return;
  const std::string &length = kernel.axes[e.ref].name;
  diagnostics.warn("index-not-length", e.span,
                   fmt::format("'{}' is an index and starts at 0, where {}; the "
                               "length is '{}'",
                               e.name, what, length),
                   length);
}

void ExprChecker::warnings(const std::vector<int> &kept) {
  usedLocals.insert(kept.begin(), kept.end());
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    if (!usedArguments.count(static_cast<int>(i)))
      diagnostics.warn("unused-argument", kernel.arguments[i].span,
                       fmt::format("argument '{}' is never used",
                                   kernel.arguments[i].name));
  for (const Statement &statement : kernel.body)
    if (std::none_of(statement.targets.begin(), statement.targets.end(),
                     [&](int target) { return usedLocals.count(target); })) {
      const Local &local = kernel.locals[statement.targets[0]];
      diagnostics.warn("unused-value", local.span,
                       fmt::format("this value of '{}' is never used", local.name));
    }
  for (const BareRead &read : bareReads) {
    const Argument &argument = kernel.arguments[read.argument];
    int own = argument.type.axes[read.position];
    // An axis of this tensor alone has no other index to be read by.
    bool shared = false;
    for (size_t i = 0; i < kernel.arguments.size(); ++i)
      shared |= static_cast<int>(i) != read.argument &&
                hasAxis(kernel.arguments[i].type, own);
    // A tensor read by its own index too is compared with itself on purpose:
    // doc[b, m] == doc[b, n].
    bool both = std::any_of(
        bareReads.begin(), bareReads.end(), [&](const BareRead &other) {
          return other.argument == read.argument &&
                 other.position == read.position && other.axis == own;
        });
    if (!shared || both || reaches(own, read.axis) || reaches(read.axis, own))
      continue;
    diagnostics.warn("read-other-axis", read.span,
                     fmt::format("'{}' runs along '{}', but this axis of '{}' is "
                                 "'{}', whose index is '{}'",
                                 kernel.axes[read.axis].index,
                                 kernel.axes[read.axis].name, argument.name,
                                 kernel.axes[own].name, kernel.axes[own].index),
                     kernel.axes[own].index);
  }
}
