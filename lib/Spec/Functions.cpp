//===- Functions.cpp - types of calls ------------------------------------===//

#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

static const std::map<std::string, Op> kFunctions = {
    {"abs", Op::Abs},         {"floor", Op::Floor}, {"exp", Op::Exp},
    {"exp2", Op::Exp2},       {"log", Op::Log},     {"sqrt", Op::Sqrt},
    {"rsqrt", Op::Rsqrt},     {"tanh", Op::Tanh},   {"sigmoid", Op::Sigmoid},
    {"min", Op::Min},         {"max", Op::Max}};

/// What other languages call things, and what to write here.
static const std::map<std::string, std::string> kForeignFunctions = {
    {"mod", "for integers write x - y * (x / y), where '/' rounds down"},
    {"fmod", "for floats write x - y * floor(x / y)"},
    {"pow", "write a product, or exp2(y * log(x) / log(2))"},
    {"relu", "write max(x, 0)"},
    {"silu", "write x * sigmoid(x)"},
    {"clamp", "write min(max(x, low), high)"},
    {"clip", "write min(max(x, low), high)"},
    {"log2", "write log(x) / log(2)"},
    {"causal", "a causal mask is written mask(s, n <= m)"},
    {"causal_mask", "a causal mask is written mask(s, n <= m)"},
    {"masked_fill", "write mask(s, condition), which keeps where it holds"},
    {"tril", "a causal mask is written mask(s, n <= m)"},
    {"if", "write select(condition, x, y)"},
    {"dot", "write matmul(a, b, over=AXIS)"},
    {"einsum", "write matmul(a, b, over=AXIS); axes are matched by name"},
    {"bmm", "write matmul(a, b, over=AXIS); shared axes are the batch"},
    {"transpose", "operations match axes by name, so nothing needs it"},
    {"arange", "the lower-case name of an axis is its index"},
    {"len", "the name of an axis is its length"},
    {"sum", "a sum is a matmul over an axis"},
    {"dropout", "random numbers are not in the language"}};

/// Every function, those of tensors first.
static std::vector<std::string> functionNames() {
  std::vector<std::string> names = {"matmul", "scale", "mask", "softmax", "select", "cast"};
  for (auto &[name, op] : kFunctions)
    names.push_back(name);
  return names;
}

bool ExprChecker::isFunction(const std::string &word) {
  const std::vector<std::string> names = functionNames();
  return std::find(names.begin(), names.end(), word) != names.end();
}

/// The mask that a choice between scores and minus infinity is meant for.
std::optional<std::string>
ExprChecker::asMask(const SyntaxExpr &choice) const {
  auto isDropped = [](const SyntaxExpr &e) {
    return e.kind == SyntaxExpr::Unary && e.op == Op::Neg &&
           isInfinity(e.children[0]);
  };
  if (choice.children.size() != 3)
    return std::nullopt;
  const SyntaxExpr &condition = choice.children[0];
  auto written = [&](const SyntaxExpr &e) { return diagnostics.written(e.span); };
  if (isDropped(choice.children[2]))
    return fmt::format("mask({}, {})", written(choice.children[1]),
                       written(condition));
  if (isDropped(choice.children[1]))
    return fmt::format("mask({}, not ({}))", written(choice.children[2]),
                       written(condition));
  return std::nullopt;
}

/// where(condition, x, y) of other languages.
void ExprChecker::reportWhere(const SyntaxExpr &syntax) {
  if (std::optional<std::string> mask = asMask(syntax))
    diagnostics.report("where-function", syntax.span,
                       "'where' describes axes; to drop scores write "
                       "mask(s, condition)",
                       mask);
  else
    diagnostics.report("where-function", syntax.nameSpan,
                       "'where' describes axes; to choose between two values write "
                       "select(condition, x, y), to drop scores mask(s, condition)",
                       "select");
}

std::unique_ptr<Expr> ExprChecker::call(const SyntaxExpr &syntax) {
  const std::string &callee = syntax.text;
  if (callee == "matmul")
    return matmul(syntax);
  if (callee == "scale")
    return scale(syntax);
  if (callee == "mask")
    return mask(syntax);
  if (callee == "softmax")
    return softmax(syntax);
  if (callee == "select")
    return select(syntax);
  if (callee == "cast")
    return cast(syntax);
  auto found = kFunctions.find(callee);
  if (found != kFunctions.end())
    return function(syntax, found->second);
  const std::vector<std::string> known = functionNames();
  bool tensor = std::any_of(
      kernel.arguments.begin(), kernel.arguments.end(),
      [&](const Argument &a) { return a.name == callee && !a.scalar; });
  if (callee == "where")
    reportWhere(syntax);
  else if (tensor)
    diagnostics.report("call-of-tensor", syntax.nameSpan,
                       fmt::format("'{}' is a tensor; read it with [...]",
                                   callee));
  else if (std::optional<std::string> text = notYet(callee))
    diagnostics.report("not-yet", syntax.nameSpan, *text);
  else if (auto foreign = kForeignFunctions.find(callee);
           foreign != kForeignFunctions.end())
    diagnostics.report("foreign-function", syntax.nameSpan,
                       fmt::format("there is no '{}'; {}", callee,
                                   foreign->second));
  else if (!broken.count(callee)) {
    std::optional<std::string> fix = nearest(callee, known);
    diagnostics.report("unknown-function", syntax.nameSpan,
                       fmt::format("unknown function '{}'{}", callee,
                                   fix ? "" : listKnown(known)),
                       fix);
  }
  return nullptr;
}

std::unique_ptr<Expr> ExprChecker::function(const SyntaxExpr &syntax, Op op) {
  bool two = op == Op::Min || op == Op::Max;
  std::string usage = two ? syntax.text + "(x, y)" : syntax.text + "(x)";
  if (two && (syntax.children.size() == 1 || keyword(syntax, "over"))) {
    diagnostics.report("reduction", syntax.span,
                       fmt::format("'{0}' is written {0}(x, y), element by element; "
                                   "the reductions are matmul and softmax",
                                   syntax.text));
    return nullptr;
  }
  if (!keywords(syntax, {}) || !count(syntax, two ? 2 : 1, two ? 2 : 1,
                                      usage.c_str()))
    return nullptr;
  ExprPtr e = make(two ? ExprKind::Binary : ExprKind::Unary, syntax);
  e->op = op;
  bool exact = true, good = true;
  for (const SyntaxExpr &child : syntax.children) {
    ExprPtr operand = check(child);
    if (!operand || !number(*operand, ("'" + syntax.text + "'").c_str())) {
      good = false;
      continue;
    }
    exact &= isInteger(operand->type.dtype);
    e->type.axes = join(e->type.axes, operand->type.axes);
    e->operands.push_back(std::move(operand));
  }
  if (!good)
    return nullptr;
  if (op == Op::Rsqrt || op == Op::Log)
    warnIndex(*e->operands[0], (syntax.text + " is infinite").c_str());
  bool keepsIntegers = two || op == Op::Abs || op == Op::Floor;
  e->type.dtype = exact && keepsIntegers ? DType::I64 : DType::F32;
  return e;
}

std::unique_ptr<Expr> ExprChecker::select(const SyntaxExpr &syntax) {
  if (!keywords(syntax, {}) ||
      !count(syntax, 3, 3, "select(condition, if_true, if_false)"))
    return nullptr;
  if (std::optional<std::string> mask = asMask(syntax)) {
    diagnostics.report("no-infinity", syntax.span,
                       "there is no infinity to write; to drop scores write "
                       "mask(s, condition)",
                       mask);
    return nullptr;
  }
  ExprPtr condition = check(syntax.children[0]);
  ExprPtr yes = check(syntax.children[1]);
  ExprPtr no = check(syntax.children[2]);
  if (!condition || !yes || !no)
    return nullptr;
  if (condition->type.dtype != DType::I1) {
    diagnostics.report("condition-expected", condition->span,
                       "select takes a condition first, not a number");
    return nullptr;
  }
  if ((yes->type.dtype == DType::I1) != (no->type.dtype == DType::I1)) {
    diagnostics.report("select-branches", syntax.span,
                       "select must choose between two numbers or two "
                       "conditions");
    return nullptr;
  }
  ExprPtr e = make(ExprKind::Select, syntax);
  bool exact = isInteger(yes->type.dtype) && isInteger(no->type.dtype);
  e->type.dtype = yes->type.dtype == DType::I1 ? DType::I1
                  : exact                      ? DType::I64
                                               : DType::F32;
  e->type.axes = join(join(condition->type.axes, yes->type.axes), no->type.axes);
  e->operands.push_back(std::move(condition));
  e->operands.push_back(std::move(yes));
  e->operands.push_back(std::move(no));
  return e;
}

std::unique_ptr<Expr> ExprChecker::cast(const SyntaxExpr &syntax) {
  if (!keywords(syntax, {}) || !count(syntax, 2, 2, "cast(x, dtype)"))
    return nullptr;
  ExprPtr operand = check(syntax.children[0]);
  const SyntaxExpr &word = syntax.children[1];
  if (word.kind != SyntaxExpr::NameRef) {
    diagnostics.report("cast-dtype", word.span,
                       "cast takes a dtype such as f32 second");
    return nullptr;
  }
  std::optional<DType> to = resolveDType(word.text, word.span, diagnostics);
  if (!operand || !to)
    return nullptr;
  DType from = operand->type.dtype;
  if (*to == DType::I1 && from != DType::I1) {
    diagnostics.report("cast-to-condition", syntax.span,
                       "a number does not cast to a condition; compare it",
                       std::nullopt);
    return nullptr;
  }
  if (isInteger(*to) && isFloat(from)) {
    diagnostics.report("cast-to-integer", syntax.span,
                       "a float does not cast to an integer; index expressions "
                       "stay exact (C9)");
    return nullptr;
  }
  ExprPtr e = make(ExprKind::Cast, syntax);
  e->type.dtype = *to;
  e->type.axes = operand->type.axes;
  e->operands.push_back(std::move(operand));
  return e;
}
