//===- Compare.h - two runs side by side ----------------------------------===//
//
// What --json or --report wrote, of two levels, commits or devices: the change
// of every level and kernel, and whether it is more than the repeats' spread.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_COMPARE_H
#define ATTN_LIB_PROFILE_COMPARE_H

#include "lib/Profile/Timing.h"

#include <optional>
#include <string>
#include <vector>

namespace attn::profile {

/// b against a.
struct Shift {
  double change = 0;          ///< b / a - 1, of the medians.
  double least = 0, most = 0; ///< Its 95 % interval.
  bool significant() const { return least > 0 || most < 0; }
};

/// The medians' change. Each median's error comes from its quartiles as for a
/// normal spread; absent when a median is 0. With fewer than kLeastRepeats samples on
/// a side the interval is everything.
std::optional<Shift> changeOf(const Summary &a, const Summary &b);

struct ComparedKernel {
  std::string a, b; ///< Labels; empty on the side that has none.
  std::optional<Summary> timeA, timeB;
  std::optional<Shift> change;
};

struct ComparedLevel {
  std::string a, b; ///< Names; empty on the side that has none.
  std::string failureA, failureB;
  std::optional<Summary> timeA, timeB;
  std::optional<Shift> change;
  std::vector<ComparedKernel> kernels;
};

struct Comparison {
  std::string nameA, nameB;
  /// What else differs: {"device", "NVIDIA H200", "NVIDIA A100"}.
  struct Difference {
    std::string what, a, b;
  };
  std::vector<Difference> differences;
  std::vector<ComparedLevel> levels;
  /// Where a file holds runs at several sizes (--at): one for each size that both have,
  /// and nothing in the fields above but names.
  std::vector<Comparison> sizes;
  std::string size;                      ///< "B=1 M=64", of one of those.
  std::vector<std::string> onlyA, onlyB; ///< Sizes that one file has.
};

/// `textA` and `textB` are results as JSON, of one size or several. Sizes pair by their
/// binds, two files of one size in any case. Levels pair by name; `levelA` and `levelB`
/// pick one each, as do files that hold one level. Throws std::runtime_error with a
/// one-line reason.
Comparison compareRuns(const std::string &nameA, const std::string &textA,
                       const std::string &levelA, const std::string &nameB,
                       const std::string &textB, const std::string &levelB);

std::string comparisonTable(const Comparison &comparison);
std::string comparisonJson(const Comparison &comparison);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_COMPARE_H
