//===- Compare.h - is a result right (contract C11) -----------------------===//
#ifndef ATTN_LIB_REFERENCE_COMPARE_H
#define ATTN_LIB_REFERENCE_COMPARE_H

#include "lib/Reference/Evaluate.h"

namespace attn::reference {

struct Comparison {
  bool pass = true;
  /// Empty when it passes: "o[0, 3, 64, 5] is 0.5, exactly 0.25 (+- 0.001)".
  std::string why;
  int64_t checked = 0;
  int64_t skipped = 0; ///< Hinge on a comparison within rounding error.
  int64_t failed = 0;
  double maxAbs = 0;      ///< Largest |actual - exact|.
  double maxRel = 0;      ///< Largest |actual - exact| / |exact|, exact not 0.
  double modelMaxAbs = 0; ///< The same of the naive model.
  /// Largest |actual - exact| over its tolerance; more than 1 fails.
  double worstRatio = 0;
  std::vector<int64_t> worstIndex;
  double worstTolerance = 0;
  /// Root mean square error over what rounding explains; more than 1 fails.
  double rmsRatio = 0;
};

/// Compares a whole result with the samples of it. An element passes when
///   |actual - exact| <= 2 E + 1 ulp(exact)
/// with E the naive level's error there: the larger of the modelled level's
/// actual error and three standard deviations of it. Rows and the whole are
/// judged by their root mean square as well, which finds errors too small for
/// any single element. NaN and infinity must be where the exact result has
/// them.
Comparison compare(const HostTensor &actual, const ResultSamples &expected);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_COMPARE_H
