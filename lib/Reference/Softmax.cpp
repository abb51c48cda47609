//===- Softmax.cpp - softmax of rows with its log-sum-exp -----------------===//

#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Noise.h"

#include <limits>

using namespace attn::reference;

/// One view of a row: maximum, sum and probabilities. A row with no live score
/// has probability 0 and log-sum-exp minus infinity (C3); a sink is one more
/// score whose probability nobody reads.
template <typename T>
static T softmaxRow(const T *scores, int64_t length, const T *sink, T *p) {
  T maximum = -std::numeric_limits<T>::infinity();
  for (int64_t n = 0; n < length; ++n)
    maximum = std::fmax(maximum, scores[n]);
  if (sink)
    maximum = std::fmax(maximum, *sink);
  bool dead = maximum == -std::numeric_limits<T>::infinity();
  for (int64_t n = 0; dead && n < length; ++n)
    dead = !std::isnan(scores[n]);
  if (dead) {
    std::fill(p, p + length, T(0));
    return maximum;
  }
  T sum = sink ? std::exp(*sink - maximum) : T(0);
  for (int64_t n = 0; n < length; ++n) {
    p[n] = std::exp(scores[n] - maximum);
    sum += p[n];
  }
  for (int64_t n = 0; n < length; ++n)
    p[n] /= sum;
  return maximum + std::log(sum);
}

/// Variances of a row's probabilities, and of its log-sum-exp as the return.
/// With t the error of a score plus that of its exponential, p_i moves by
/// p_i ((1 - p_i) t_i - sum of p_j t_j over the others).
static double rowVariance(const Value &s, const Value &p, int64_t first,
                          int64_t length, const Value *sink, int64_t row,
                          double lse, double *out) {
  auto own = [&](double score, double q) {
    // The exponential's argument is a rounded difference; at the maximum it is
    // 0 and the exponential exact.
    double distance = score - lse;
    return (argumentNoise(distance) + kFunction) * (q < 1 ? 1 : 0);
  };
  double total = 0, scoresOnly = 0, squares = 0;
  for (int64_t n = first; n < first + length; ++n) {
    double q = p.exact[size_t(n)];
    double variance = q > 0 ? s.varianceAt(n) : 0;
    double t = q > 0 ? variance + own(s.exact[size_t(n)], q) : 0;
    out[n - first] = t;
    total += square(q) * t;
    scoresOnly += square(q) * variance;
    squares += square(q);
  }
  // A mask within error of its threshold leaves the whole row unknown.
  for (int64_t n = first; n < first + length; ++n)
    if (s.varianceAt(n) == std::numeric_limits<double>::infinity())
      total = std::numeric_limits<double>::infinity();
  if (sink) {
    double q = std::exp(sink->exact[size_t(row)] - lse);
    if (q > 0) {
      total += square(q) *
               (sink->varianceAt(row) + own(sink->exact[size_t(row)], q));
      scoresOnly += square(q) * sink->varianceAt(row);
      squares += square(q);
    }
  }
  // The sum is of about 1 / squares terms of like size.
  double terms = squares > 0 ? std::max(0.0, 1 / squares - 1) : 0;
  double ofSum = square(0x1p-24) * std::min(terms, double(length)) / 9;
  // A reciprocal and a product; exact where the sum is 1.
  double ofDivision = terms > 0 ? square(0x1p-23) : 0;
  for (int64_t i = 0; i < length; ++i) {
    double q = p.exact[size_t(first + i)];
    double t = out[i];
    out[i] = q > 0 || std::isinf(total)
                 ? square(q) * (square(1 - q) * t +
                                std::max(0.0, total - square(q) * t) + ofSum +
                                ofDivision)
                 : 0;
    if (std::isinf(total))
      out[i] = total;
  }
  if (!std::isfinite(lse))
    return std::isinf(total) ? total : 0;
  double multiple = 1 - std::min(1.0, squares); // 0 with one live key.
  return (std::isinf(total) ? total : scoresOnly) + ofSum +
         kFunction * multiple + 8 * kRounding * square(lse);
}

ValuePtr attn::reference::softmaxRows(const ValuePtr &scores, const Value *sink,
                                      Value *logSumExp) {
  const Value &s = *scores;
  int64_t length = s.shape.back();
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < s.shape.size(); ++i)
    rows *= s.shape[i];
  Value p;
  p.axes = s.axes;
  p.shape = s.shape;
  size_t count = size_t(s.size());
  p.exact.resize(count);
  p.model.resize(count);
  p.variance.resize(count);
  std::vector<float> row(static_cast<size_t>(length));
  if (logSumExp) {
    logSumExp->exact.resize(size_t(rows));
    logSumExp->model.resize(size_t(rows));
    logSumExp->variance.resize(size_t(rows));
  }
  for (int64_t r = 0; r < rows; ++r) {
    int64_t first = r * length;
    for (int64_t n = 0; n < length; ++n)
      row[size_t(n)] = s.modelAt(first + n);
    float sinkModel = sink ? sink->modelAt(r) : 0;
    double lse = softmaxRow<double>(s.exact.data() + first, length,
                                    sink ? &sink->exact[size_t(r)] : nullptr,
                                    p.exact.data() + first);
    float lseModel =
        softmaxRow<float>(row.data(), length, sink ? &sinkModel : nullptr,
                          p.model.data() + first);
    double variance = rowVariance(s, p, first, length, sink, r, lse,
                                  p.variance.data() + first);
    if (logSumExp) {
      logSumExp->exact[size_t(r)] = lse;
      logSumExp->model[size_t(r)] = lseModel;
      logSumExp->variance[size_t(r)] = variance;
    }
  }
  return std::make_shared<Value>(std::move(p));
}
