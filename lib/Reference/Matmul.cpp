//===- Matmul.cpp - contractions in float64, as modelled, with noise ------===//

#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Noise.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::reference;
using spec::DType;

/// Levels that keep probabilities unnormalised round a multiple of them, which lies
/// elsewhere between its powers of two; the spacing is relatively up to twice as
/// wide there. Where probabilities differ this evens out over a row. Where they are
/// all alike it does not, so a row's noise is no less than what it would be if that
/// place were as likely anywhere: 0.54 of the widest spacing's, in the square.
/// `widest` is that spacing, relative to the value.
static void evenOut(const double *exact, double *noise, int64_t length,
                    double widest) {
  double here = 0, typical = 0;
  for (int64_t i = 0; i < length; ++i) {
    here += noise[i];
    if (noise[i] > 0)
      typical += 0.54 / 12 * square(exact[i] * widest);
  }
  for (int64_t i = 0; typical > here && i < length; ++i)
    noise[i] *= typical / here;
}

template <typename Round, typename Unit>
static ValuePtr rounded(const ValuePtr &x, Round round, Unit unit) {
  Value result = *x;
  size_t count = x->exact.size();
  result.model.resize(count);
  result.variance.resize(count);
  for (size_t i = 0; i < count; ++i) {
    double exact = x->exact[i], variance = x->varianceAt(int64_t(i));
    result.model[i] = round(x->modelAt(int64_t(i)));
    result.variance[i] =
        quantisationNoise(exact, round(float(exact)), unit(exact), variance);
  }
  int64_t length = x->shape.empty() ? int64_t(count) : x->shape.back();
  for (size_t i = 0; i < count; i += size_t(length))
    evenOut(&x->exact[i], &result.variance[i], length, unit(1));
  for (size_t i = 0; i < count; ++i)
    result.variance[i] += x->varianceAt(int64_t(i));
  return std::make_shared<Value>(std::move(result));
}

ValuePtr attn::reference::roundOperand(DType to, const ValuePtr &x) {
  return rounded(
      x, [to](float v) { return float(roundTo(to, v)); },
      [to](double v) { return spacing(to, v); });
}

ValuePtr attn::reference::roundOperandToTf32(const ValuePtr &x) {
  return rounded(x, roundToTf32,
                 [](double v) { return spacing(DType::F32, v) * 0x1p13; });
}

static std::vector<float> modelOf(const Value &value) {
  if (!value.model.empty())
    return value.model;
  return {value.exact.begin(), value.exact.end()};
}

namespace {
/// One batch entry: raw rows of the operands and of the result.
struct Product {
  int64_t rows, depth, columns;
  const double *a, *b;    ///< [rows, depth], [depth, columns]
  const float *am, *bm;   ///< The same, modelled.
  const double *aw;       ///< [rows, depth]: weights of b^2 in the variance.
  const double *bv;       ///< [depth, columns] or null.
  double *out, *variance; ///< [rows, columns], zero at first.
  double *walk, *drift;   ///< The same: see walkOn and driftOn; or null.
  float *model;

  void run() const {
    // A tile of b stays in the cache while all rows pass over it.
    constexpr int64_t kColumns = 256, kDepth = 64;
    for (int64_t n0 = 0; n0 < columns; n0 += kColumns)
      for (int64_t k0 = 0; k0 < depth; k0 += kDepth)
        for (int64_t r = 0; r < rows; ++r)
          tile(r, n0, std::min(columns, n0 + kColumns), k0,
               std::min(depth, k0 + kDepth));
  }

  void tile(int64_t r, int64_t n0, int64_t n1, int64_t k0, int64_t k1) const {
    double *__restrict x = out + r * columns, *__restrict v =
                                                  variance + r * columns;
    float *__restrict m = model + r * columns;
    for (int64_t k = k0; k < k1; ++k) {
      double ax = a[r * depth + k], w = aw[r * depth + k];
      float af = am[r * depth + k];
      const double *bx = b + k * columns;
      const float *bf = bm + k * columns;
      for (int64_t n = n0; n < n1; ++n)
        x[n] += ax * bx[n];
      for (int64_t n = n0; n < n1; ++n)
        m[n] += af * bf[n];
      // Nothing is known of the factor: nothing is of the sum either, a product
      // with 0 included.
      if (std::isinf(w))
        std::fill(v + n0, v + n1, w);
      else
        for (int64_t n = n0; n < n1; ++n)
          v[n] += w * bx[n] * bx[n];
      if (walk)
        walkOn(x, ax, bx, walk + r * columns, n0, n1);
      if (drift && k > 0 && ax != 0 && ax == a[r * depth + k - 1])
        driftOn(x, bx - columns, bx, drift + r * columns, n0, n1);
      if (!bv || ax == 0)
        continue;
      for (int64_t n = n0; n < n1; ++n)
        v[n] += ax * ax * bv[k * columns + n];
    }
  }

  /// One term's rounding of a sum kept in f32: a part of what the sum has
  /// reached by then, never more than the term.
  static void walkOn(const double *x, double ax, const double *bx, double *w,
                     int64_t n0, int64_t n1) {
    for (int64_t n = n0; n < n1; ++n) {
      double ofSum = kRounding * x[n] * x[n], term = ax * bx[n];
      w[n] += std::min(ofSum, term * term);
    }
  }

  /// A term equal to the one before: between two powers of two all such steps round
  /// the same way, so their errors add up. The standard deviation, not the variance.
  static void driftOn(const double *x, const double *before, const double *bx,
                      double *d, int64_t n0, int64_t n1) {
    static const double step = std::sqrt(kRounding);
    for (int64_t n = n0; n < n1; ++n)
      if (bx[n] == before[n] && bx[n] != 0)
        d[n] += step * std::fabs(x[n]);
  }
};
} // namespace

ValuePtr attn::reference::contract(const Value &a, const Value &b,
                                   int64_t batch, int64_t rows, int64_t depth,
                                   int64_t columns, bool cutsOff,
                                   Value result) {
  AccumulationNoise noise(depth, cutsOff);
  std::vector<float> am = modelOf(a), bm = modelOf(b);
  // The accumulation's share is of terms in any order. Where large terms come
  // first the partial sums of their own order, followed below, are larger.
  std::vector<double> weights(a.exact.size());
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] =
        a.varianceAt(int64_t(i)) + noise.ofSquares * square(a.exact[i]);
  size_t count = size_t(batch * rows * columns);
  result.exact.assign(count, 0);
  result.variance.assign(count, 0);
  result.model.assign(count, 0);
  std::vector<double> walk(cutsOff ? 0 : count, 0), drift = walk;
  for (int64_t i = 0; i < batch; ++i) {
    int64_t atA = i * rows * depth, atB = i * depth * columns,
            atOut = i * rows * columns;
    Product{rows,
            depth,
            columns,
            a.exact.data() + atA,
            b.exact.data() + atB,
            am.data() + atA,
            bm.data() + atB,
            weights.data() + atA,
            b.variance.empty() ? nullptr : b.variance.data() + atB,
            result.exact.data() + atOut,
            result.variance.data() + atOut,
            cutsOff ? nullptr : walk.data() + atOut,
            cutsOff ? nullptr : drift.data() + atOut,
            result.model.data() + atOut}
        .run();
  }
  for (size_t i = 0; i < count; ++i) {
    double ofSum = std::max(noise.ofSum * square(result.exact[i]),
                            cutsOff ? 0 : walk[i] + square(drift[i]));
    result.variance[i] =
        finite(result.variance[i] + ofSum, result.exact[i]);
  }
  return std::make_shared<Value>(std::move(result));
}
