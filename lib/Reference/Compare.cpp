//===- Compare.cpp - is a result right (contract C11) ---------------------===//

#include "lib/Reference/Compare.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::reference;

namespace {
/// Mean squares of a group of elements, for errors that no single element
/// shows. With t = s^2 + ulp^2 / 12 the mean square of the naive level's error
/// (its noise and the rounding of the result), C11 allows 2 t^0.5 and a part of
/// an ulp such that one whole ulp is left where the noise is zero: a level may
/// round a probability of exactly 1 that its arithmetic made 1.002.
class MeanSquare {
public:
  void add(double error, double model, double variance, double unit) {
    double usual = std::sqrt(variance + unit * unit / 12);
    double allowed = 2 * usual + 0.43 * unit;
    scaled += (error / allowed) * (error / allowed);
    scaledModel += (model / allowed) * (model / allowed);
    errors += error * error;
    models += model * model;
    variances += variance;
    units += unit * unit;
    ++count;
  }
  int64_t size() const { return count; }

  /// Of many rows: every element counts by its own allowance, so that rows of
  /// small values weigh as much as others.
  double ofMany() const {
    double limit = std::max(1.0, 2 * std::sqrt(scaledModel / double(count)));
    return std::sqrt(scaled / double(count)) / limit;
  }
  /// Of one row, whose elements may share an error (that of a score moves all
  /// of them): six standard deviations for that part.
  double ofRow() const {
    double noise = 6 * std::sqrt(variances) + 1.01 * std::sqrt(units);
    return std::sqrt(errors) / std::max(noise, 2 * std::sqrt(models));
  }

private:
  double scaled = 0, scaledModel = 0, errors = 0, models = 0, variances = 0,
         units = 0;
  int64_t count = 0;
};

/// Below this an f32 computation may flush to zero.
constexpr double kSmallestNormal = 0x1p-126;
/// Fewer elements than this are judged one by one only.
constexpr int64_t kSmallestRow = 8, kSmallestWhole = 256, kFewestRows = 16;
} // namespace

static std::string showIndex(const std::vector<int64_t> &index) {
  std::string text;
  for (int64_t i : index)
    text += (text.empty() ? "" : ", ") + std::to_string(i);
  return text;
}

Comparison attn::reference::compare(const HostTensor &actual,
                                    const ResultSamples &expected) {
  Comparison result;
  if (actual.shape != expected.shape || actual.dtype != expected.dtype) {
    result.pass = false;
    result.why = expected.name + " has another shape or dtype than expected";
    return result;
  }
  bool isFloat = spec::isFloat(expected.dtype);
  MeanSquare whole;
  double worstRow = 0;
  int64_t rows = 0;
  auto fail = [&](const std::vector<int64_t> &index, double got, double exact,
                  double tolerance) {
    ++result.failed;
    if (result.pass)
      result.why =
          fmt::format("{}[{}] is {:.9g}, exactly {:.9g} (+- {:.3g})",
                      expected.name, showIndex(index), got, exact, tolerance);
    result.pass = false;
  };
  for (const Slice &slice : expected.slices) {
    size_t rank = slice.coordinates.size();
    std::vector<size_t> at(rank, 0);
    std::vector<int64_t> index(rank, 0);
    MeanSquare row;
    for (size_t i = 0; i < slice.exact.size(); ++i) {
      // Position of element i in the product of coordinate lists.
      size_t rest = i;
      int64_t element = 0, stride = 1;
      for (size_t d = rank; d-- > 0;) {
        at[d] = rest % slice.coordinates[d].size();
        rest /= slice.coordinates[d].size();
        index[d] = slice.coordinates[d][at[d]];
        element += index[d] * stride;
        stride *= expected.shape[d];
      }
      double got = actual.at(element), exact = slice.exact[i];
      double variance = slice.variance[i];
      if (std::isinf(variance)) {
        ++result.skipped;
        continue;
      }
      ++result.checked;
      if (std::isnan(variance) && std::isfinite(exact)) {
        // The interpreter's own fault; judging by it would hide others.
        fail(index, got, exact, variance);
        continue;
      }
      if (!isFloat) {
        if (got != exact)
          fail(index, got, exact, 0);
        continue;
      }
      // Where the exact result does not fit the dtype, rounding decides.
      double fitted = roundTo(expected.dtype, exact);
      if (!std::isfinite(fitted)) {
        bool same = std::isnan(fitted) ? std::isnan(got) : got == fitted;
        // Near the end of the format the model may stay finite.
        bool border = std::isfinite(exact) && std::isfinite(slice.model[i]) &&
                      std::isfinite(got);
        if (!same && !border)
          fail(index, got, exact, 0);
        continue;
      }
      double modelError = std::fabs(slice.model[i] - exact);
      if (!std::isfinite(modelError)) {
        // The contract itself overflows here (an f32 exponential, say).
        bool same = std::isnan(slice.model[i]) ? std::isnan(got)
                                               : got == slice.model[i];
        if (same)
          continue;
        modelError = 0;
      }
      double naive = std::max(modelError, 3 * std::sqrt(variance));
      double unit = spacing(expected.dtype, exact);
      double tolerance = 2 * naive + unit + kSmallestNormal;
      double error = std::fabs(got - exact);
      if (!(error <= tolerance)) {
        fail(index, got, exact, tolerance);
        if (!std::isfinite(error))
          continue;
      }
      result.maxAbs = std::max(result.maxAbs, error);
      if (exact != 0)
        result.maxRel = std::max(result.maxRel, error / std::fabs(exact));
      result.modelMaxAbs = std::max(result.modelMaxAbs, modelError);
      if (error / tolerance > result.worstRatio) {
        result.worstRatio = error / tolerance;
        result.worstIndex = index;
        result.worstTolerance = tolerance;
      }
      whole.add(error, modelError, variance, unit + kSmallestNormal);
      row.add(error, modelError, variance, unit + kSmallestNormal);
      if ((i + 1) % size_t(expected.rowLength) == 0) {
        ++rows;
        if (row.size() >= kSmallestRow)
          worstRow = std::max(worstRow, row.ofRow());
        row = MeanSquare();
      }
    }
  }
  bool many = whole.size() >= kSmallestWhole && rows >= kFewestRows;
  result.rmsRatio = std::max(many ? whole.ofMany() : 0.0, worstRow);
  if (result.pass && result.rmsRatio > 1) {
    result.pass = false;
    result.why = fmt::format("{}: the root mean square error is {:.2f} times "
                             "what rounding explains",
                             expected.name, result.rmsRatio);
  }
  return result;
}
