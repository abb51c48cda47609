//===- Softmax.cpp - softmax of rows with its log-sum-exp -----------------===//

#include "lib/Reference/Interpreter.h"
#include "lib/Reference/Noise.h"

#include <cmath>
#include <limits>
#include <vector>

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

/// Deviations of a score above this are followed exactly, not to first order.
static constexpr double kSmallDeviation = 0.125;

/// The logarithm of less than any f32: a probability that cannot rise above it
/// is 0 whatever its score's error.
static constexpr double kLogSmallest = -104;

static double logAdd(double a, double b) {
  double high = std::fmax(a, b);
  if (high == -std::numeric_limits<double>::infinity())
    return high;
  return high + std::log1p(std::exp(std::fmin(a, b) - high));
}

namespace {
/// What scores of large error do to their row. Where a score was rounded to few
/// bits (a cast, a floor) an error that tips the rounding costs a whole step,
/// and the step may then be multiplied: the row's last key becomes its first.
/// To first order a probability of 0 or 1 would not move at all.
///
/// Let r = 1 - p_j be the share of the others. When score j moves by d, p_j
/// becomes p_j e^d / (r + p_j e^d), and every other probability is divided by
/// r + p_j e^d. So the others change by the relative f_j = |1 / (r + p_j e^d) -
/// 1|, p_j by r f_j and the log-sum-exp by log(r + p_j e^d). Both signs are
/// tried with d the score's deviation, which for a tipped rounding is the whole
/// step; for small d this is the first order again. All in logarithms: scores
/// hundreds apart leave probabilities that no float64 holds.
class LargeErrors {
public:
  void add(int64_t key, double score, double deviation) {
    keys.push_back(key);
    scores.push_back(score);
    deviations.push_back(deviation);
  }
  bool empty() const { return keys.empty(); }

  /// Adds to the variances `out` of the row's probabilities; returns what the
  /// log-sum-exp's grows by. `sink` is null or the sink's score.
  double apply(const double *row, int64_t length, const double *sink, double lse,
               double *out) const {
    const double none = -std::numeric_limits<double>::infinity();
    size_t count = keys.size();
    std::vector<double> logF(count), logRest(count), before(count + 1, none),
        after(count + 1, none);
    double ofLse = 0;
    for (size_t j = 0; j < count; ++j) {
      double logP = scores[j] - lse, d = deviations[j];
      logRest[j] = rest(row, length, sink, lse, j);
      double up = logAdd(logRest[j], logP + d);
      double down = logAdd(logRest[j], logP - d);
      double step = logP + std::log1p(-std::exp(-d)); // Of p (1 - e^-d).
      logF[j] = std::fmax(step + d - up, step - down);
      ofLse += square(std::fmax(std::fabs(up), std::fabs(down)));
      before[j + 1] = logAdd(before[j], 2 * logF[j]);
    }
    for (size_t j = count; j-- > 0;)
      after[j] = logAdd(after[j + 1], 2 * logF[j]);
    size_t j = 0;
    for (int64_t n = 0; n < length; ++n) {
      bool own = j < count && keys[j] == n;
      double others = own ? logAdd(before[j], after[j + 1]) : after[0];
      double change = std::exp(2 * (row[n] - lse) + others);
      if (own) {
        change += std::exp(2 * (logRest[j] + logF[j]));
        ++j;
      }
      if (std::isfinite(row[n])) // No probability moves by more than 1.
        out[n] += std::fmin(change, 1);
    }
    return ofLse;
  }

private:
  /// log(1 - p_j), and where p_j is nearly 1 still to many digits.
  double rest(const double *row, int64_t length, const double *sink, double lse,
              size_t j) const {
    double p = std::exp(scores[j] - lse);
    if (p < 0.5)
      return std::log1p(-p);
    double sum = sink ? *sink - lse : -std::numeric_limits<double>::infinity();
    for (int64_t n = 0; n < length; ++n)
      if (n != keys[j])
        sum = logAdd(sum, row[n] - lse);
    return sum;
  }

  std::vector<int64_t> keys; ///< Ascending.
  std::vector<double> scores, deviations;
};
} // namespace

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
  LargeErrors large;
  double total = 0, scoresOnly = 0, squares = 0;
  // A sum rounds at every term, by a part of what it has reached by then, and
  // never by more than the term. In the order of the keys, as `naive` adds.
  double reached = sink ? std::exp(sink->exact[size_t(row)] - lse) : 0;
  double walk = 0;
  for (int64_t n = first; n < first + length; ++n) {
    double q = p.exact[size_t(n)];
    double variance = s.varianceAt(n);
    if (variance > square(kSmallDeviation) && std::isfinite(variance) &&
        std::isfinite(s.exact[size_t(n)]) && std::isfinite(lse)) {
      double deviation = std::sqrt(variance);
      if (s.exact[size_t(n)] + deviation - lse > kLogSmallest)
        large.add(n - first, s.exact[size_t(n)], deviation);
      variance = 0;
    }
    variance = q > 0 ? variance : 0;
    double t = q > 0 ? variance + own(s.exact[size_t(n)], q) : 0;
    out[n - first] = t;
    total += square(q) * t;
    scoresOnly += square(q) * variance;
    squares += square(q);
    if (reached > 0)
      walk += std::min(kRounding * square(reached + q), square(q));
    reached += q;
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
  // The sum is of about 1 / squares terms of like size, in any order; where
  // large ones come first, the walk above is longer.
  double terms = squares > 0 ? std::max(0.0, 1 / squares - 1) : 0;
  double ofSum =
      std::max(square(0x1p-24) * std::min(terms, double(length)) / 9, walk);
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
  if (!large.empty() && std::isfinite(total))
    scoresOnly += large.apply(s.exact.data() + first, length,
                              sink ? &sink->exact[size_t(row)] : nullptr, lse,
                              out);
  double multiple = 1 - std::min(1.0, squares); // 0 with one live key.
  return (std::isinf(total) ? total : scoresOnly) + ofSum +
         kFunction * multiple + 8 * kRounding * square(lse) + kReference;
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
