//===- Compare.cpp - is a result right (contract C11) ---------------------===//

#include "lib/Reference/Compare.h"

#include <fmt/format.h>

#include <cmath>

using namespace attn;
using namespace attn::reference;

namespace {
/// Sums for a judgement by root mean square.
struct MeanSquare {
  double error = 0, allowed = 0;
  int64_t count = 0;
  void add(double e, double tolerance) {
    error += e * e;
    allowed += tolerance * tolerance;
    ++count;
  }
  double ratio() const {
    if (error == 0)
      return 0;
    return allowed > 0 ? std::sqrt(error / allowed)
                       : std::numeric_limits<double>::infinity();
  }
};
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
  auto fail = [&](const std::vector<int64_t> &index, double got, double exact,
                  double tolerance) {
    ++result.failed;
    if (result.pass)
      result.why = fmt::format("{}[{}] is {:.9g}, exactly {:.9g} (+- {:.3g})",
                               expected.name, showIndex(index), got, exact,
                               tolerance);
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
      double naive = std::max(std::isfinite(modelError) ? modelError : 0.0,
                              3 * std::sqrt(variance));
      double unit = spacing(expected.dtype, exact);
      double tolerance = 2 * naive + unit;
      double error = std::fabs(got - exact);
      if (!(error <= tolerance)) {
        fail(index, got, exact, tolerance);
        if (!std::isfinite(error))
          continue;
      }
      result.maxAbs = std::max(result.maxAbs, error);
      if (exact != 0)
        result.maxRel = std::max(result.maxRel, error / std::fabs(exact));
      if (std::isfinite(modelError))
        result.modelMaxAbs = std::max(result.modelMaxAbs, modelError);
      if (tolerance > 0 && error / tolerance > result.worstRatio) {
        result.worstRatio = error / tolerance;
        result.worstIndex = index;
        result.worstTolerance = tolerance;
      }
      // On average an error is a standard deviation and a rounding, not the
      // most that either may be. Twice that, as for single elements.
      double usual = std::max(std::isfinite(modelError) ? modelError : 0.0,
                              std::sqrt(variance)) +
                     unit * 0.5;
      row.add(error, 2 * usual);
      whole.add(error, 2 * usual);
      if (expected.rowLength > 1 &&
          (i + 1) % size_t(expected.rowLength) == 0) {
        if (row.count >= 16)
          worstRow = std::max(worstRow, row.ratio());
        row = MeanSquare();
      }
    }
  }
  result.rmsRatio = std::max(whole.count >= 16 ? whole.ratio() : 0.0, worstRow);
  if (result.pass && result.rmsRatio > 1) {
    result.pass = false;
    result.why = fmt::format("{}: the root mean square error is {:.2f} times "
                             "what rounding explains",
                             expected.name, result.rmsRatio);
  }
  return result;
}
