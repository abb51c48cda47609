//===- ExprChecker.cpp - types of expressions -----------------------------===//

#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace attn::spec;

std::string attn::spec::showAxes(const Kernel &kernel,
                                 const std::vector<int> &axes) {
  std::string text = "[";
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i ? ", " : "") + kernel.axes[axes[i]].name;
  return text + "]";
}

std::string attn::spec::listAxes(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const Axis &axis : kernel.axes)
    names.push_back(axis.name);
  return names.empty() ? std::string()
                       : fmt::format("; the axes are {}", fmt::join(names, ", "));
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

int ExprChecker::lookUpLocal(const std::string &name) const {
  auto found = scope.find(name);
  return found == scope.end() ? -1 : found->second;
}

std::vector<std::string> ExprChecker::localNames() const {
  std::vector<std::string> names;
  for (auto &[name, id] : scope)
    names.push_back(name);
  return names;
}

std::unique_ptr<Expr> ExprChecker::make(ExprKind kind, const SyntaxExpr &syntax) {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  e->span = syntax.span;
  e->name = syntax.text;
  return e;
}

bool ExprChecker::reaches(int outer, int axis) const {
  return outer == axis || kernel.axes[outer].inner == axis ||
         kernel.axes[outer].group == axis;
}

bool ExprChecker::hasAxis(const Type &type, int axis) const {
  return std::find(type.axes.begin(), type.axes.end(), axis) != type.axes.end();
}

/// Union of two axis lists; an outer axis stands for the axes nested in it.
std::vector<int> ExprChecker::join(const std::vector<int> &a,
                                   const std::vector<int> &b) {
  std::vector<int> joined = a;
  for (int axis : b) {
    bool covered = std::any_of(joined.begin(), joined.end(),
                               [&](int other) { return reaches(other, axis); });
    if (covered)
      continue;
    // The new axis may cover ones already here: it takes the first's place.
    auto inside = std::find_if(joined.begin(), joined.end(),
                               [&](int other) { return reaches(axis, other); });
    if (inside == joined.end()) {
      joined.push_back(axis);
      continue;
    }
    *inside = axis;
    size_t place = inside - joined.begin();
    for (size_t i = joined.size(); i-- > 0;)
      if (i != place && reaches(axis, joined[i]))
        joined.erase(joined.begin() + i);
  }
  return joined;
}

bool ExprChecker::nestsApart(const Expr &tensor) {
  for (int outer : tensor.type.axes)
    for (int part : tensor.type.axes) {
      if (outer == part || !reaches(outer, part))
        continue;
      const Axis &nest = kernel.axes[outer];
      diagnostics.report(
          "nest-both", tensor.span,
          fmt::format("'{}' has axis '{}' beside '{}', which stands for it ({} = "
                      "{} * {}); give one of them another name",
                      tensor.name, kernel.axes[part].name, nest.name, nest.name,
                      kernel.axes[nest.group].name,
                      kernel.axes[nest.inner].name));
      return false;
    }
  return true;
}

bool ExprChecker::count(const SyntaxExpr &syntax, size_t least, size_t most,
                        const char *usage) {
  if (syntax.children.size() >= least && syntax.children.size() <= most)
    return true;
  // The axis without its over=.
  if (syntax.children.size() == most + 1 && !keyword(syntax, "over") &&
      (syntax.text == "matmul" || syntax.text == "softmax")) {
    const SyntaxExpr &last = syntax.children.back();
    if (last.kind == SyntaxExpr::NameRef && kernel.findAxis(last.text) >= 0) {
      diagnostics.report("missing-over", last.span,
                         fmt::format("'{}' is written {}", syntax.text, usage),
                         "over=" + last.text);
      return false;
    }
  }
  diagnostics.report("argument-count", syntax.span,
                     fmt::format("'{}' is written {}, not with {} plain "
                                 "argument{}",
                                 syntax.text, usage, syntax.children.size(),
                                 syntax.children.size() == 1 ? "" : "s"));
  return false;
}

/// Words for over= in other libraries.
static bool isForeignOver(const std::string &word) {
  return word == "axis" || word == "axes" || word == "dim" || word == "dims" ||
         word == "along";
}

bool ExprChecker::keywords(const SyntaxExpr &syntax,
                           const std::vector<std::string> &known) {
  bool good = true;
  for (auto &keyword : syntax.keywords) {
    const Name &word = keyword.first;
    const SyntaxExpr &value = keyword.second;
    if (std::find(known.begin(), known.end(), word.text) == known.end()) {
      good = false;
      if (std::optional<std::string> text = notYet(word.text)) {
        diagnostics.report("not-yet", word.span, *text);
        continue;
      }
      if (lookUpLocal(word.text) >= 0 ||
          std::any_of(kernel.axes.begin(), kernel.axes.end(),
                      [&](const Axis &a) {
                        return a.index == word.text || a.name == word.text;
                      })) {
        diagnostics.report("equality-for-comparison", value.equals,
                           "a comparison is written with '=='", "==");
        continue;
      }
      if (isForeignOver(word.text) && !known.empty()) {
        diagnostics.report("unknown-keyword", word.span,
                           fmt::format("'{}' names its axis with over=",
                                       syntax.text),
                           "over");
        continue;
      }
      diagnostics.report("unknown-keyword", word.span,
                         fmt::format("'{}' has no argument '{}'", syntax.text,
                                     word.text),
                         nearest(word.text, known));
    }
  }
  return good;
}

const SyntaxExpr *ExprChecker::keyword(const SyntaxExpr &syntax,
                                       const char *word) {
  for (auto &[name, value] : syntax.keywords)
    if (name.text == word)
      return &value;
  return nullptr;
}

int ExprChecker::over(const SyntaxExpr &syntax) {
  const SyntaxExpr *value = keyword(syntax, "over");
  for (auto &[word, other] : syntax.keywords)
    if (!value && (isForeignOver(word.text) || nearest(word.text, {"over"})))
      return -1; // Reported already.
  if (!value) {
    diagnostics.report("missing-over", syntax.span,
                       fmt::format("'{}' needs over=AXIS", syntax.text));
    return -1;
  }
  int axis = value->kind == SyntaxExpr::NameRef ? kernel.findAxis(value->text) : -1;
  if (axis < 0 && value->kind == SyntaxExpr::NameRef && broken.count(value->text))
    return -1;
  if (axis < 0) {
    std::vector<std::string> names;
    for (const Axis &a : kernel.axes)
      names.push_back(a.name);
    std::optional<std::string> fix;
    for (const Axis &a : kernel.axes)
      if (value->kind == SyntaxExpr::NameRef && a.index == value->text)
        fix = a.name;
    if (!fix && value->kind == SyntaxExpr::NameRef)
      fix = nearest(value->text, names);
    diagnostics.report("over-not-axis", value->span,
                       fmt::format("over= takes the name of an axis{}",
                                   fix ? "" : listAxes(kernel)),
                       fix);
  }
  return axis;
}

/// Reports an i1 where a number is wanted.
bool ExprChecker::number(const Expr &e, const char *where) {
  if (e.type.dtype != DType::I1)
    return true;
  diagnostics.report("boolean-as-number", e.span,
                     fmt::format("{} takes a number, not a condition; use "
                                 "select(condition, 1, 0)",
                                 where));
  return false;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void ExprChecker::statement(const SyntaxStatement &syntax) {
  ExprPtr value = syntax.unread ? nullptr : check(syntax.value);
  bool good = value != nullptr;
  bool isSoftmax = value && value->kind == ExprKind::Softmax;
  if (good && syntax.targets.size() > (isSoftmax ? 2u : 1u)) {
    diagnostics.report(
        "target-count", syntax.targets[isSoftmax ? 2 : 1].span,
        isSoftmax ? std::string("softmax gives two values: p, lse = softmax(...)")
                  : std::string("only softmax gives two values"));
    good = false;
  }
  Statement statement;
  statement.span = syntax.span;
  for (size_t i = 0; i < syntax.targets.size(); ++i) {
    const Name &target = syntax.targets[i];
    bool legal = true;
    for (const Argument &argument : kernel.arguments)
      if (argument.name == target.text) {
        diagnostics.report("assign-argument", target.span,
                           fmt::format("'{}' is an argument and cannot be "
                                       "assigned",
                                       target.text));
        legal = false;
      }
    for (const Axis &axis : kernel.axes)
      if (axis.index == target.text || axis.name == target.text) {
        diagnostics.report("assign-axis", target.span,
                           fmt::format("'{}' names axis '{}' and cannot be "
                                       "assigned",
                                       target.text, axis.name));
        legal = false;
      }
    if (i > 0 && target.text == syntax.targets[0].text) {
      diagnostics.report("target-repeated", target.span,
                         fmt::format("'{}' is assigned twice in one statement",
                                     target.text));
      legal = false;
    }
    if (!legal || !good) {
      broken.insert(target.text);
      scope.erase(target.text);
      good = false;
      continue;
    }
    Local local;
    local.name = target.text;
    local.span = target.span;
    local.type = value->type;
    if (i == 1) { // lse
      local.type.dtype = DType::F32;
      local.type.axes.clear();
      for (int axis : value->type.axes)
        if (axis != value->ref)
          local.type.axes.push_back(axis);
    }
    kernel.locals.push_back(local);
    statement.targets.push_back(static_cast<int>(kernel.locals.size()) - 1);
  }
  if (!good)
    return;
  for (size_t i = 0; i < syntax.targets.size(); ++i) {
    scope[syntax.targets[i].text] = statement.targets[i];
    broken.erase(syntax.targets[i].text);
  }
  statement.value = std::move(value);
  kernel.body.push_back(std::move(statement));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::unique_ptr<Expr> ExprChecker::check(const SyntaxExpr &syntax) {
  switch (syntax.kind) {
  case SyntaxExpr::Int: {
    ExprPtr e = make(ExprKind::IntLiteral, syntax);
    e->integer = syntax.integer;
    e->type.dtype = DType::I64;
    return e;
  }
  case SyntaxExpr::Float: {
    ExprPtr e = make(ExprKind::FloatLiteral, syntax);
    e->real = syntax.real;
    return e;
  }
  case SyntaxExpr::Bool: {
    ExprPtr e = make(ExprKind::BoolLiteral, syntax);
    e->integer = syntax.integer;
    e->type.dtype = DType::I1;
    return e;
  }
  case SyntaxExpr::NameRef:
    return name(syntax);
  case SyntaxExpr::Unary:
    return unary(syntax);
  case SyntaxExpr::Binary:
    return binary(syntax);
  case SyntaxExpr::Call:
    return call(syntax);
  case SyntaxExpr::Index:
    return read(syntax);
  }
  return nullptr;
}

std::string attn::spec::listKnown(const std::vector<std::string> &known) {
  if (known.empty() || known.size() > 24)
    return "";
  return fmt::format("; known are {}", fmt::join(known, ", "));
}

bool attn::spec::isInfinity(const SyntaxExpr &e) {
  return e.kind == SyntaxExpr::NameRef &&
         (e.text == "inf" || e.text == "infinity" || e.text == "INFINITY");
}

std::unique_ptr<Expr> ExprChecker::name(const SyntaxExpr &syntax) {
  const std::string &word = syntax.text;
  if (int local = lookUpLocal(word); local >= 0) {
    ExprPtr e = make(ExprKind::Local, syntax);
    e->ref = local;
    usedLocals.insert(local);
    e->type = kernel.locals[local].type;
    return e;
  }
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].name == word) {
      usedArguments.insert(static_cast<int>(i));
      if (broken.count(word))
        return nullptr;
      ExprPtr e = make(ExprKind::Argument, syntax);
      e->ref = static_cast<int>(i);
      e->type = kernel.arguments[i].type;
      if (!nestsApart(*e))
        return nullptr;
      if (e->type.dtype == DType::I32)
        e->type.dtype = DType::I64; // Integer arithmetic is exact (C9).
      return e;
    }
  for (size_t i = 0; i < kernel.axes.size(); ++i) {
    bool index = kernel.axes[i].index == word;
    if (!index && kernel.axes[i].name != word)
      continue;
    ExprPtr e = make(index ? ExprKind::AxisIndex : ExprKind::AxisLength, syntax);
    e->ref = static_cast<int>(i);
    e->type.dtype = DType::I64;
    if (index)
      e->type.axes = {static_cast<int>(i)};
    return e;
  }
  if (broken.count(word))
    return nullptr;
  std::vector<std::string> known = localNames();
  for (const Argument &argument : kernel.arguments)
    known.push_back(argument.name);
  for (const Axis &axis : kernel.axes) {
    known.push_back(axis.index);
    known.push_back(axis.name);
  }
  if (isFunction(word)) {
    diagnostics.report("function-without-call", syntax.span,
                       fmt::format("'{}' is a function; call it with (...)",
                                   word));
    return nullptr;
  }
  if (isInfinity(syntax)) {
    diagnostics.report("no-infinity", syntax.span,
                       "there is no infinity to write; mask(s, condition) puts "
                       "minus infinity where the condition fails");
    return nullptr;
  }
  std::optional<std::string> fix = nearest(word, known);
  diagnostics.report(
      "unknown-name", syntax.span,
      fmt::format("unknown name '{}'{}", word, fix ? "" : listKnown(known)), fix);
  return nullptr;
}

std::unique_ptr<Expr> ExprChecker::unary(const SyntaxExpr &syntax) {
  ExprPtr operand = check(syntax.children[0]);
  if (!operand)
    return nullptr;
  ExprPtr e = make(ExprKind::Unary, syntax);
  e->op = syntax.op;
  e->type.axes = operand->type.axes;
  if (syntax.op == Op::Not) {
    if (operand->type.dtype != DType::I1) {
      diagnostics.report("condition-expected", operand->span,
                         "'not' takes a condition, not a number");
      return nullptr;
    }
    e->type.dtype = DType::I1;
  } else {
    if (!number(*operand, "'-'"))
      return nullptr;
    e->type.dtype = isInteger(operand->type.dtype) ? DType::I64 : DType::F32;
  }
  e->operands.push_back(std::move(operand));
  return e;
}

std::unique_ptr<Expr> ExprChecker::binary(const SyntaxExpr &syntax) {
  ExprPtr left = check(syntax.children[0]);
  ExprPtr right = check(syntax.children[1]);
  if (!left || !right)
    return nullptr;
  ExprPtr e = make(ExprKind::Binary, syntax);
  e->op = syntax.op;
  e->type.axes = join(left->type.axes, right->type.axes);
  if (syntax.op == Op::And || syntax.op == Op::Or) {
    for (Expr *operand : {left.get(), right.get()})
      if (operand->type.dtype != DType::I1) {
        diagnostics.report("condition-expected", operand->span,
                           fmt::format("'{}' takes conditions, not numbers",
                                       syntax.text));
        return nullptr;
      }
    e->type.dtype = DType::I1;
  } else {
    std::string where = "'" + syntax.text + "'";
    if (!number(*left, where.c_str()) || !number(*right, where.c_str()))
      return nullptr;
    bool exact = isInteger(left->type.dtype) && isInteger(right->type.dtype);
    if (syntax.op == Op::Div && right->kind == ExprKind::IntLiteral &&
        right->integer == 0) {
      diagnostics.report("divide-by-zero", right->span, "division by zero");
      return nullptr;
    }
    bool compares = syntax.op >= Op::Eq && syntax.op <= Op::Ge;
    e->type.dtype = compares ? DType::I1 : exact ? DType::I64 : DType::F32;
    if (syntax.op == Op::Div && !exact)
      warnIndex(*right, "a division by it is infinite");
  }
  e->operands.push_back(std::move(left));
  e->operands.push_back(std::move(right));
  warnDivision(syntax, *e);
  return e;
}

std::unique_ptr<Expr> ExprChecker::read(const SyntaxExpr &syntax) {
  int id = -1;
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].name == syntax.text && lookUpLocal(syntax.text) < 0)
      id = static_cast<int>(i);
  if (id < 0 || kernel.arguments[id].scalar) {
    if (broken.count(syntax.text))
      return nullptr;
    std::vector<std::string> tensors;
    for (const Argument &argument : kernel.arguments)
      if (!argument.scalar)
        tensors.push_back(argument.name);
    bool other = id >= 0 || lookUpLocal(syntax.text) >= 0;
    diagnostics.report("read-not-tensor", syntax.nameSpan,
                       fmt::format("'{}' is not a tensor argument; only those "
                                   "are read with [...]",
                                   syntax.text),
                       other ? std::nullopt : nearest(syntax.text, tensors));
    return nullptr;
  }
  usedArguments.insert(id);
  if (broken.count(syntax.text))
    return nullptr;
  const Argument &argument = kernel.arguments[id];
  ExprPtr e = make(ExprKind::Read, syntax);
  e->ref = id;
  e->type.dtype = argument.type.dtype == DType::I32 ? DType::I64
                                                    : argument.type.dtype;
  if (syntax.children.size() != argument.type.axes.size()) {
    diagnostics.report("read-rank", syntax.span,
                       fmt::format("'{}' has axes {} and takes {} ind{}, not {}",
                                   syntax.text,
                                   showAxes(kernel, argument.type.axes),
                                   argument.type.axes.size(),
                                   argument.type.axes.size() == 1 ? "ex" : "ices",
                                   syntax.children.size()));
    return nullptr;
  }
  bool good = true;
  for (const SyntaxExpr &child : syntax.children) {
    ExprPtr index = check(child);
    if (index && !isInteger(index->type.dtype)) {
      std::optional<std::string> fix;
      diagnostics.report("read-index", index->span,
                         "an index must be an integer", fix);
      index = nullptr;
    }
    if (!index) {
      good = false;
      continue;
    }
    if (index->kind == ExprKind::AxisIndex)
      bareReads.push_back({id, static_cast<int>(&child - syntax.children.data()),
                           index->ref, index->span});
    e->type.axes = join(e->type.axes, index->type.axes);
    e->operands.push_back(std::move(index));
  }
  return good ? std::move(e) : nullptr;
}
