//===- Checker.cpp - declarations: axes, arguments, where, results --------===//

#include "lib/Spec/Checker.h"
#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace attn::spec;

static constexpr int64_t kLongestAxis = int64_t(1) << 30;
static const char *const kResultAxes =
    "results are tensors of at least one axis; give an argument an axis of length 1 if "
    "need be";

namespace {
struct KernelChecker {
  const SyntaxKernel &syntax;
  const Binds &binds;
  Diagnostics &diagnostics;
  Kernel kernel;
  std::set<int> argumentAxes; ///< Axes that some argument has.

  static std::string lower(std::string text) {
    for (char &c : text)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  }

  int addAxis(const Name &name) {
    int id = kernel.findAxis(name.text);
    if (id >= 0)
      return id;
    for (const Axis &axis : kernel.axes)
      if (axis.index == lower(name.text)) {
        diagnostics.report("axis-index-clash", name.span,
                           fmt::format("axes '{}' and '{}' would share the "
                                       "index '{}'",
                                       axis.name, name.text, axis.index));
        break;
      }
    Axis axis;
    axis.name = name.text;
    axis.index = lower(name.text);
    axis.span = name.span;
    kernel.axes.push_back(axis);
    return static_cast<int>(kernel.axes.size()) - 1;
  }

  /// Letters of other alphabets have been reported, and have no case here.
  static bool beginsAsAxis(const std::string &name) {
    return (name[0] >= 'A' && name[0] <= 'Z') ||
           static_cast<unsigned char>(name[0]) >= 0x80;
  }

  /// The axes of a type, lower-case ones as the axes they must mean: one report a
  /// type, and no further ones where the axes are used.
  std::vector<Name> capitals(std::vector<Name> axes) {
    size_t first = axes.size(), last = 0, wrong = 0;
    std::string words, fix;
    for (size_t i = 0; i < axes.size(); ++i) {
      char &c = axes[i].text[0];
      if (beginsAsAxis(axes[i].text))
        continue;
      words += (words.empty() ? "'" : ", '") + axes[i].text + "'";
      if (c >= 'a' && c <= 'z')
        c = static_cast<char>(c - 'a' + 'A');
      else
        axes[i].text = "X" + axes[i].text;
      first = std::min(first, i);
      last = i;
      ++wrong;
    }
    if (!wrong)
      return axes;
    for (size_t i = first; i <= last; ++i)
      fix += (i > first ? ", " : "") + axes[i].text;
    diagnostics.report("axis-case",
                       {axes[first].span.begin, axes[last].span.end},
                       fmt::format("ax{} {} must start with a capital; the "
                                   "lower-case name is {} index",
                                   wrong > 1 ? "es" : "is", words,
                                   wrong > 1 ? "an axis's" : "its"),
                       fix);
    return axes;
  }

  std::optional<Type> type(const SyntaxType &syntaxType, bool result) {
    std::optional<DType> dtype =
        resolveDType(syntaxType.dtype.text, syntaxType.dtype.span, diagnostics);
    bool good = dtype.has_value();
    Type type;
    type.dtype = dtype.value_or(DType::F32);
    if (syntaxType.tensor && syntaxType.axes.empty()) {
      if (result)
        diagnostics.report("empty-axes", syntaxType.dtype.span, kResultAxes);
      else
        diagnostics.report("empty-axes", syntaxType.dtype.span,
                           "a tensor needs at least one axis; write the dtype "
                           "alone for a scalar",
                           syntaxType.dtype.text);
      good = false;
    }
    std::vector<Name> axes = capitals(syntaxType.axes);
    for (const Name &name : axes) {
      int id = addAxis(name);
      if (std::find(type.axes.begin(), type.axes.end(), id) != type.axes.end()) {
        diagnostics.report("axis-repeated", name.span,
                           fmt::format("axis '{}' appears twice in one tensor",
                                       name.text));
        good = false;
      } else {
        type.axes.push_back(id);
      }
    }
    return good ? std::optional<Type>(type) : std::nullopt;
  }

  void arguments() {
    for (const SyntaxParam &param : syntax.arguments) {
      std::optional<Type> t = type(param.type, /*result=*/false);
      if (t)
        argumentAxes.insert(t->axes.begin(), t->axes.end());
      if (std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                      [&](const Argument &a) { return a.name == param.name.text; })) {
        diagnostics.report("argument-repeated", param.name.span,
                           fmt::format("argument '{}' is declared twice",
                                       param.name.text));
        continue;
      }
      Argument argument;
      argument.name = param.name.text;
      argument.type = t.value_or(Type());
      argument.scalar = !param.type.tensor;
      argument.span = param.name.span;
      if (!t)
        broken.insert(param.name.text);
      if (t && argument.scalar &&
          (t->dtype == DType::F16 || t->dtype == DType::BF16)) {
        diagnostics.report("scalar-dtype", param.type.dtype.span,
                           "a scalar argument is f32, i32, i64 or i1", "f32");
        broken.insert(param.name.text);
      }
      kernel.arguments.push_back(std::move(argument));
    }
  }
  bool nestsRead = true; ///< Every clause such as Hq = G * Hkv.
  /// Names whose declaration failed, or may have been in what could not be read.
  std::set<std::string> broken;

  //===--------------------------------------------------------------------===//
  // where
  //===--------------------------------------------------------------------===//

  void whereClause(const SyntaxWhere &clause, std::set<std::string> &seen) {
    const Name &name = clause.axis;
    if (!seen.insert(name.text).second) {
      diagnostics.report("where-repeated", name.span,
                         fmt::format("axis '{}' is described twice", name.text));
      return;
    }
    const SyntaxExpr &value = clause.value;
    if (std::optional<std::string> text = notYet(value.text);
        text && value.kind != SyntaxExpr::Binary) {
      diagnostics.report("not-yet", value.span, *text);
      return;
    }
    bool known = kernel.findAxis(name.text) >= 0;
    if (!known && broken.count(name.text)) {
      forgetNest(value);
      return;
    }
    if (!known) {
      forgetNest(value);
      std::optional<std::string> fix = nearest(name.text, axisNames());
      diagnostics.report("where-unknown-axis", name.span,
                         fmt::format("no argument has an axis '{}'{}", name.text,
                                     fix ? "" : listAxes(kernel)),
                         fix);
      return;
    }
    int id = kernel.findAxis(name.text);
    if (value.kind == SyntaxExpr::Int) {
      if (value.integer < 1 || value.integer > kLongestAxis) {
        diagnostics.report("where-length", value.span,
                           "a length must lie between 1 and 2^30");
        return;
      }
      kernel.axes[id].extent = value.integer;
      return;
    }
    bool product = value.kind == SyntaxExpr::Binary && value.op == Op::Mul &&
                   value.children[0].kind == SyntaxExpr::NameRef &&
                   value.children[1].kind == SyntaxExpr::NameRef;
    if (!product) {
      forgetNest(value);
      diagnostics.report("where-form", value.span,
                         "a where clause binds a number (D = 128) or nests heads "
                         "(Hq = G * Hkv)");
      return;
    }
    if (!nest(id, value))
      forgetNest(value);
  }

  /// After a nest that is wrong: what it would have brought in is no error further on.
  void forgetNest(const SyntaxExpr &value) {
    nestsRead &= value.kind != SyntaxExpr::Binary;
    if (value.kind == SyntaxExpr::NameRef && kernel.findAxis(value.text) < 0) {
      broken.insert(value.text);
      broken.insert(lower(value.text));
    }
    for (const SyntaxExpr &part : value.children)
      forgetNest(part);
  }

  /// Neither part of a nest is an axis.
  void reportUnused(const SyntaxExpr &value) {
    const SyntaxExpr *meant = nullptr;
    std::optional<std::string> fix;
    for (const SyntaxExpr &part : value.children)
      if (std::optional<std::string> near = nearest(part.text, axisNames()); near) {
        meant = fix ? nullptr : &part; // Two may be meant: which is not known.
        fix = near;
      }
    diagnostics.report("nest-unused", meant ? meant->span : value.span,
                       fmt::format("neither '{}' nor '{}' is an axis of an "
                                   "argument{}",
                                   value.children[0].text, value.children[1].text,
                                   meant ? "" : listAxes(kernel)),
                       meant ? fix : std::nullopt);
  }

  std::vector<std::string> axisNames() const {
    std::vector<std::string> names;
    for (const Axis &axis : kernel.axes)
      names.push_back(axis.name);
    return names;
  }

  /// False after a report, its own or that of the declaration it needs.
  bool nest(int id, const SyntaxExpr &value) {
    Name left{value.children[0].text, value.children[0].span};
    Name right{value.children[1].text, value.children[1].span};
    if (left.text == right.text || left.text == kernel.axes[id].name ||
        right.text == kernel.axes[id].name) {
      diagnostics.report("nest-cycle", value.span,
                         "an axis cannot nest in itself");
      return false;
    }
    for (const Name &part : {left, right})
      if (!beginsAsAxis(part.text)) {
        diagnostics.report("axis-case", part.span,
                           fmt::format("axis '{}' must start with a capital; "
                                       "the lower-case name is its index",
                                       part.text));
        return false;
      }
    // The axis that tensors have is the inner one; the other is the group.
    bool leftUsed = kernel.findAxis(left.text) >= 0;
    bool rightUsed = kernel.findAxis(right.text) >= 0;
    if (leftUsed && !rightUsed)
      std::swap(left, right);
    if (!leftUsed && !rightUsed &&
        (broken.count(left.text) || broken.count(right.text)))
      return false;
    if (!leftUsed && !rightUsed) {
      reportUnused(value);
      return false;
    }
    int group = addAxis(left), inner = addAxis(right);
    for (int part : {group, inner})
      if (kernel.axes[part].group >= 0) {
        diagnostics.report("nest-depth", value.span,
                           fmt::format("axis '{}' nests already; only one level "
                                       "is supported",
                                       kernel.axes[part].name));
        return false;
      }
    for (const Axis &axis : kernel.axes)
      if (axis.group == id || axis.inner == id) {
        diagnostics.report("nest-depth", value.span,
                           fmt::format("axis '{}' nests already; only one level "
                                       "is supported",
                                       axis.name));
        return false;
      }
    kernel.axes[id].group = group;
    kernel.axes[id].inner = inner;
    return true;
  }

  void where() {
    std::set<std::string> seen;
    // Nests first: they introduce the group axis that a number may bind.
    for (bool nests : {true, false})
      for (const SyntaxWhere &clause : syntax.where)
        if ((clause.value.kind == SyntaxExpr::Binary) == nests)
          whereClause(clause, seen);
    for (auto &[name, length] : binds) {
      int id = kernel.findAxis(name);
      if (id < 0)
        continue;
      // What a where clause gives a length is never empty.
      int64_t least = kernel.axes[id].extent ? 1 : 0;
      if (length < least || length > kLongestAxis)
        diagnostics.report("bind-length", kernel.axes[id].span,
                           fmt::format("axis '{}' was bound to {}; a length "
                                       "lies between {} and 2^30",
                                       name, length, least));
      else
        kernel.axes[id].extent = length;
    }
    for (const Axis &axis : kernel.axes)
      if (axis.group >= 0)
        if (std::string why = unfittingNest(axis); !why.empty())
          diagnostics.report("nest-mismatch", axis.span, why);
  }

  /// Why no lengths fit axis = group * inner, of the lengths that are fixed; or "".
  std::string unfittingNest(const Axis &axis) const {
    const Axis &group = kernel.axes[axis.group], &inner = kernel.axes[axis.inner];
    std::string nest = fmt::format("{} = {} * {}", axis.name, group.name, inner.name);
    if (group.extent && inner.extent) {
      int64_t product = *group.extent * *inner.extent; // Of two up to 2^30.
      if (axis.extent && product != *axis.extent)
        return fmt::format("{} = {} but {} * {} = {}", axis.name, *axis.extent,
                           group.name, inner.name, product);
      if (product > kLongestAxis)
        return fmt::format("{} = {} is beyond 2^30, the longest axis", nest, product);
      return "";
    }
    for (const Axis *part : {&group, &inner})
      if (axis.extent && part->extent &&
          (*part->extent ? *axis.extent % *part->extent : *axis.extent))
        return fmt::format(
            "{} = {} is no multiple of {} = {}, so no length of {} makes {}", axis.name,
            *axis.extent, part->name, *part->extent,
            part == &group ? inner.name : group.name, nest);
    return "";
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  void results(const ExprChecker &scope) {
    if (syntax.results.empty() && !syntax.resultsUnread)
      diagnostics.report("no-results", syntax.name.span,
                         "a kernel needs at least one result");
    for (const SyntaxParam &param : syntax.results) {
      Result result;
      result.name = param.name.text;
      result.span = param.name.span;
      for (const Result &other : kernel.results)
        if (other.name == result.name)
          diagnostics.report("result-repeated", result.span,
                             fmt::format("result '{}' is declared twice",
                                         result.name));
      for (const Argument &argument : kernel.arguments)
        if (argument.name == result.name)
          diagnostics.report("result-is-argument", result.span,
                             fmt::format("'{}' is an argument; give the result "
                                         "another name",
                                         result.name));
      std::optional<Type> declared = resultTypes[&param];
      int local = scope.lookUpLocal(result.name);
      result.local = local;
      if (declared)
        result.type = *declared;
      if (!param.type.tensor && declared)
        diagnostics.report("result-scalar", param.type.dtype.span, kResultAxes);
      else if (local < 0 && !scope.isBroken(result.name))
        diagnostics.report("result-undefined", result.span,
                           fmt::format("the body never assigns '{}'; write {} = "
                                       "... in it",
                                       result.name, result.name),
                           nearest(result.name, scope.localNames()));
      else if (local >= 0 && declared)
        matchResult(param, result, kernel.locals[local].type);
      kernel.results.push_back(std::move(result));
    }
  }

  void matchResult(const SyntaxParam &param, const Result &result, const Type &value) {
    std::set<int> declared(result.type.axes.begin(), result.type.axes.end());
    std::set<int> held(value.axes.begin(), value.axes.end());
    // Where a nest could not be read, which axes a value has is not known.
    if (declared != held && nestsRead)
      diagnostics.report("result-axes", result.span,
                         fmt::format("'{}' is declared with axes {} but its "
                                     "value has {}",
                                     result.name,
                                     showAxes(kernel, result.type.axes),
                                     showAxes(kernel, value.axes)));
    DType to = result.type.dtype, from = value.dtype;
    bool fits = (isFloat(to) && isFloat(from)) ||
                (to == DType::I64 && isInteger(from)) || to == from;
    if (fits)
      return;
    std::string wrong = fmt::format("'{}' is declared {} but its value is {}; ",
                                    result.name, spelling(to), spelling(from));
    // What no cast makes: an integer of a float, a condition of a number.
    if (to == DType::I1 || (isInteger(to) && isFloat(from)))
      diagnostics.report("result-dtype", param.type.dtype.span,
                         wrong + fmt::format("no {} is made of a {}: declare it {}{}",
                                             to == DType::I1 ? "condition" : "integer",
                                             isFloat(from) ? "float" : "number",
                                             spelling(from),
                                             to == DType::I1 ? ", or compare it" : ""),
                         spelling(from));
    else
      diagnostics.report("result-dtype", result.span,
                         wrong + fmt::format("write {} = cast(..., {}) in the body, or "
                                             "declare it {}",
                                             result.name, spelling(to), spelling(from)));
  }
  std::map<const SyntaxParam *, std::optional<Type>> resultTypes;

  void run() {
    kernel.name = syntax.name.text;
    kernel.span = syntax.name.span;
    for (const std::string &word : syntax.unread) {
      broken.insert(word);
      broken.insert(lower(word)); // The index, if it is an axis.
    }
    arguments();
    for (const SyntaxParam &param : syntax.results)
      resultTypes[&param] = type(param.type, /*result=*/true);
    where();
    for (const Argument &argument : kernel.arguments)
      for (const Axis &axis : kernel.axes)
        if (argument.name == axis.index || argument.name == axis.name)
          diagnostics.report(
              "name-is-index", argument.span,
              fmt::format("'{}' is the {} of axis '{}'; give the argument another "
                          "name",
                          argument.name,
                          argument.name == axis.index ? "index" : "length",
                          axis.name));
    ExprChecker scope(kernel, diagnostics, broken, nestsRead);
    for (const SyntaxStatement &statement : syntax.body)
      scope.statement(statement);
    results(scope);
    std::vector<int> kept;
    for (const Result &result : kernel.results)
      kept.push_back(result.local);
    scope.warnings(kept);
  }
};
} // namespace

Kernel attn::spec::checkKernel(const SyntaxKernel &syntax, const Binds &binds,
                               Diagnostics &diagnostics) {
  KernelChecker checker{syntax, binds, diagnostics, {}, {}, true, {}, {}};
  checker.run();
  return std::move(checker.kernel);
}
