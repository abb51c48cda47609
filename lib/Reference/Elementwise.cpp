//===- Elementwise.cpp - the language's elementwise forms -----------------===//

#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Noise.h"

#include <limits>

using namespace attn;
using namespace attn::reference;
using spec::DType;
using spec::Op;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The three views of one float.
struct Element {
  double x;
  float m;
  double v;
};
} // namespace

static Element at(const Value &value, int64_t i) {
  return {value.exact[size_t(i)], value.modelAt(i), value.varianceAt(i)};
}

static Value likeShape(const Value &value, bool real) {
  Value result;
  result.axes = value.axes;
  result.shape = value.shape;
  result.real = real;
  return result;
}

/// A float value of the same shape, element by element.
template <typename F> static ValuePtr fill(const Value &shape, F element) {
  Value result = likeShape(shape, true);
  size_t count = size_t(result.size());
  result.exact.resize(count);
  result.model.resize(count);
  result.variance.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Element e = element(int64_t(i));
    result.exact[i] = e.x;
    result.model[i] = e.m;
    result.variance[i] = e.v;
  }
  return std::make_shared<Value>(std::move(result));
}

/// An integer value of the same shape; an element is unsure where an operand
/// is.
template <typename F>
static ValuePtr fillWhole(const Value &x, F element, const Value *y = nullptr) {
  Value result = likeShape(x, false);
  size_t count = size_t(result.size());
  result.whole.resize(count);
  for (size_t i = 0; i < count; ++i)
    result.whole[i] = element(i);
  result.unsure = x.unsure;
  if (y && !y->unsure.empty()) {
    result.unsure.resize(count);
    for (size_t i = 0; i < count; ++i)
      result.unsure[i] |= y->unsure[i];
  }
  return std::make_shared<Value>(std::move(result));
}

/// A function of slope `d` at the operand: first-order error plus its own. At
/// an infinite operand (a masked score) the result is a limit, and exact.
static Element function(double x, float m, double d, const Element &e,
                        double own) {
  if (!std::isfinite(e.x) || !std::isfinite(x))
    return {x, m, 0};
  return {x, m, finite(square(d) * e.v, d * e.v) + own};
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static Element floorOf(const Element &e) {
  double sigma = 6 * std::sqrt(e.v);
  double jump = std::floor(e.x + sigma) - std::floor(e.x - sigma);
  return {std::floor(e.x), std::floor(e.m), jump > 0 ? square(jump) : 0};
}

static Element exponential(double x, float m, double base, const Element &e) {
  // The argument is scaled and rounded before the instruction sees it.
  double own = square(x) * (kFunction + argumentNoise(e.x * base));
  return function(x, m, x * base, e, own);
}

static Element unaryReal(Op op, const Element &e, bool narrow) {
  double x;
  switch (op) {
  case Op::Neg:
    return {-e.x, -e.m, e.v};
  case Op::Abs:
    return {std::fabs(e.x), std::fabs(e.m), e.v};
  case Op::Floor:
    return floorOf(e);
  case Op::Exp:
    return exponential(std::exp(e.x), std::exp(e.m), 1, e);
  case Op::Exp2:
    return exponential(std::exp2(e.x), std::exp2(e.m), std::log(2.0), e);
  case Op::Log:
    x = std::log(e.x);
    // Near 1 the short form's error is absolute.
    return function(x, std::log(e.m), 1 / e.x, e, kFunction * (1 + square(x)));
  case Op::Sqrt:
    x = std::sqrt(e.x);
    return function(x, std::sqrt(e.m), 0.5 / x, e, kFunction * square(x));
  case Op::Rsqrt:
    x = 1 / std::sqrt(e.x);
    return function(x, 1 / std::sqrt(e.m), 0.5 * x / e.x, e,
                    kFunction * square(x));
  case Op::Tanh:
    x = std::tanh(e.x);
    return function(x, std::tanh(e.m), 1 - x * x, e,
                    (narrow ? kTanh16 : kTanh32) * square(x));
  case Op::Sigmoid:
    x = 1 / (1 + std::exp(-e.x));
    return function(x, 1 / (1 + std::exp(-e.m)), x * (1 - x), e,
                    square(x) * 4 * kFunction +
                        square(x * (1 - x)) * argumentNoise(e.x));
  default:
    return {NAN, NAN, 0};
  }
}

static int64_t wrap(uint64_t bits) { return int64_t(bits); }

ValuePtr attn::reference::applyUnary(Op op, const ValuePtr &x, bool narrow) {
  if (op == Op::Not)
    return fillWhole(*x, [&](size_t i) { return int64_t(!x->whole[i]); });
  bool keepsIntegers = op == Op::Neg || op == Op::Abs || op == Op::Floor;
  if (!x->real && keepsIntegers)
    return fillWhole(*x, [&](size_t i) {
      int64_t v = x->whole[i];
      bool negate = op == Op::Neg || (op == Op::Abs && v < 0);
      return negate ? wrap(0 - uint64_t(v)) : v;
    });
  ValuePtr real = toReal(x);
  return fill(*real,
              [&](int64_t i) { return unaryReal(op, at(*real, i), narrow); });
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  if (y == -1)
    return wrap(0 - uint64_t(x)); // The one quotient that overflows.
  int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t binaryWhole(Op op, int64_t x, int64_t y) {
  switch (op) {
  case Op::Add:
    return wrap(uint64_t(x) + uint64_t(y));
  case Op::Sub:
    return wrap(uint64_t(x) - uint64_t(y));
  case Op::Mul:
    return wrap(uint64_t(x) * uint64_t(y));
  case Op::Div:
    return floorDivide(x, y);
  case Op::Min:
    return std::min(x, y);
  case Op::Max:
    return std::max(x, y);
  case Op::Eq:
    return x == y;
  case Op::Ne:
    return x != y;
  case Op::Lt:
    return x < y;
  case Op::Le:
    return x <= y;
  case Op::Gt:
    return x > y;
  case Op::Ge:
    return x >= y;
  default:
    return 0;
  }
}

template <typename T> static bool compareReal(Op op, T x, T y) {
  switch (op) {
  case Op::Eq:
    return x == y;
  case Op::Ne:
    return x != y;
  case Op::Lt:
    return x < y;
  case Op::Le:
    return x <= y;
  case Op::Gt:
    return x > y;
  default:
    return x >= y;
  }
}

static Element choose(const Element &a, const Element &b, bool first,
                      double exact, float model) {
  bool tie = std::fabs(a.x - b.x) <= 6 * std::sqrt(a.v + b.v);
  return {exact, model, tie ? std::max(a.v, b.v) : first ? a.v : b.v};
}

/// Added by a division. Correctly rounded it is exact where the operands are
/// and the format holds the quotient: floor(14 / 7.0) has no doubt.
static double quotientNoise(const Element &a, const Element &b, double x,
                            bool exactQuotient) {
  if (!exactQuotient)
    return kFunction * square(x);
  bool exact = a.v == 0 && b.v == 0 && double(float(x)) == x;
  return exact ? 0 : roundingNoise(x);
}

static Element binaryReal(Op op, const Element &a, const Element &b,
                          bool exactQuotient) {
  double x;
  switch (op) {
  case Op::Add:
    x = a.x + b.x;
    return {x, a.m + b.m, finite(a.v + b.v, x) + roundingNoise(x)};
  case Op::Sub:
    x = a.x - b.x;
    return {x, a.m - b.m, finite(a.v + b.v, x) + roundingNoise(x)};
  case Op::Mul:
    x = a.x * b.x;
    return {x, a.m * b.m,
            finite(square(a.x) * b.v + square(b.x) * a.v, x) +
                roundingNoise(x)};
  case Op::Div:
    x = a.x / b.x;
    return {
        x, a.m / b.m,
        finite((a.v + square(x) * b.v) / square(b.x) +
                   quotientNoise(a, b, x, exactQuotient),
               x)};
  case Op::Min:
    return choose(a, b, a.x < b.x, std::fmin(a.x, b.x), std::fmin(a.m, b.m));
  case Op::Max:
    return choose(a, b, a.x > b.x, std::fmax(a.x, b.x), std::fmax(a.m, b.m));
  default:
    return {NAN, NAN, 0};
  }
}

static ValuePtr logical(Op op, const Value &x, const Value &y) {
  Value result = likeShape(x, false);
  size_t count = x.whole.size();
  result.whole.resize(count);
  bool anyUnsure = !x.unsure.empty() || !y.unsure.empty();
  if (anyUnsure)
    result.unsure.resize(count);
  bool deciding = op == Op::Or; // The operand that settles the result alone.
  for (size_t i = 0; i < count; ++i) {
    bool p = x.whole[i], q = y.whole[i];
    result.whole[i] = op == Op::And ? p && q : p || q;
    if (!anyUnsure)
      continue;
    bool settled =
        (!x.unsureAt(i) && p == deciding) || (!y.unsureAt(i) && q == deciding);
    result.unsure[i] = !settled && (x.unsureAt(i) || y.unsureAt(i));
  }
  return std::make_shared<Value>(std::move(result));
}

static ValuePtr compareReals(Op op, const Value &x, const Value &y) {
  Value result = likeShape(x, false);
  size_t count = x.exact.size();
  result.whole.resize(count);
  result.unsure.assign(count, 0);
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    Element a = at(x, i), b = at(y, i);
    bool holds = compareReal(op, a.x, b.x);
    result.whole[i] = holds;
    double sigma = std::sqrt(a.v + b.v);
    result.unsure[i] = holds != compareReal(op, a.m, b.m) ||
                       (sigma > 0 && std::fabs(a.x - b.x) <= 6 * sigma);
    any |= result.unsure[i];
  }
  if (!any)
    result.unsure.clear();
  return std::make_shared<Value>(std::move(result));
}

ValuePtr attn::reference::takenApart(const ValuePtr &product, const ValuePtr &slope) {
  return fill(*product, [&](int64_t i) {
    Element e = at(*product, i);
    e.v += finite(kSlope16 * square(slope->exact[size_t(i)]), e.x);
    return e;
  });
}

ValuePtr attn::reference::applyBinary(Op op, const ValuePtr &x,
                                      const ValuePtr &y, bool exactQuotient) {
  if (op == Op::And || op == Op::Or)
    return logical(op, *x, *y);
  if (!x->real && !y->real)
    return fillWhole(
        *x, [&](size_t i) { return binaryWhole(op, x->whole[i], y->whole[i]); },
        y.get());
  ValuePtr a = toReal(x), b = toReal(y);
  if (op >= Op::Eq && op <= Op::Ge)
    return compareReals(op, *a, *b);
  return fill(*a, [&](int64_t i) {
    return binaryReal(op, at(*a, i), at(*b, i), exactQuotient);
  });
}

//===----------------------------------------------------------------------===//
// Select, cast, mask
//===----------------------------------------------------------------------===//

ValuePtr attn::reference::applySelect(const ValuePtr &condition,
                                      const ValuePtr &yes, const ValuePtr &no) {
  const Value &c = *condition;
  if (!yes->real && !no->real) {
    Value result = likeShape(c, false);
    size_t count = c.whole.size();
    result.whole.resize(count);
    bool anyUnsure =
        !c.unsure.empty() || !yes->unsure.empty() || !no->unsure.empty();
    if (anyUnsure)
      result.unsure.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const Value &chosen = c.whole[i] ? *yes : *no;
      result.whole[i] = chosen.whole[i];
      if (anyUnsure)
        result.unsure[i] = chosen.unsureAt(i) ||
                           (c.unsureAt(i) && yes->whole[i] != no->whole[i]);
    }
    return std::make_shared<Value>(std::move(result));
  }
  ValuePtr a = toReal(yes), b = toReal(no);
  return fill(c, [&](int64_t i) {
    Element p = at(*a, i), q = at(*b, i);
    Element chosen = c.whole[size_t(i)] ? p : q;
    if (c.unsureAt(i) && p.x != q.x)
      chosen.v = kInfinity;
    return chosen;
  });
}

/// An explicit rounding: part of what the source means, so the exact view
/// rounds too. Where error may tip it the other way the result is that far off.
static Element roundElement(DType to, const Element &e) {
  double x = roundTo(to, e.x);
  double sigma = 6 * std::sqrt(e.v);
  double span = roundTo(to, e.x + sigma) - roundTo(to, e.x - sigma);
  return {x, float(roundTo(to, e.m)), span > 0 ? square(span) : 0};
}

ValuePtr attn::reference::applyCast(DType to, const ValuePtr &x) {
  if (to == DType::I1 || to == DType::I64)
    return x;
  if (to == DType::I32)
    return fillWhole(*x,
                     [&](size_t i) { return int64_t(int32_t(x->whole[i])); });
  ValuePtr real = toReal(x);
  if (to == DType::F32)
    return real;
  return fill(*real, [&](int64_t i) { return roundElement(to, at(*real, i)); });
}

ValuePtr attn::reference::applyMask(const ValuePtr &scores,
                                    const ValuePtr &predicate) {
  ValuePtr s = toReal(scores);
  const Value &p = *predicate;
  return fill(*s, [&](int64_t i) {
    Element e = at(*s, i);
    if (!p.whole[size_t(i)])
      e = {-kInfinity, -std::numeric_limits<float>::infinity(), 0};
    if (p.unsureAt(i))
      e.v = kInfinity;
    return e;
  });
}
