//===- LiveKeys.h - which keys masks leave to blocks of rows --------------===//
#ifndef ATTN_LIB_PROFILE_LIVEKEYS_H
#define ATTN_LIB_PROFILE_LIVEKEYS_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::profile {

/// Keys of a row: from `first` up to, and without, `behind`.
struct LiveRow {
  int64_t row = 0, first = 0, behind = 0;
};

/// What masks leave of the scores.
struct LiveKeys {
  LiveKeys(double pairs = 1) : pairs(pairs) {}

  double pairs; ///< Fraction of (row, key) pairs.
  std::string rowAxis, keyAxis; ///< Empty: no rows are told.
  std::vector<LiveRow> rows;    ///< Ascending, the first and the last among them.

  bool masked() const { return pairs < 1; }
  bool told() const { return masked() && !rows.empty() && !rowAxis.empty(); }

  /// The keys that some row of [begin, end) sees; between told rows limits are
  /// taken to change evenly.
  LiveRow hull(int64_t begin, int64_t end) const;

  /// The keys that all rows of [begin, end) see; empty when there are none. Masked
  /// keys between a row's first and last are not told, and are taken to be alive.
  LiveRow core(int64_t begin, int64_t end) const;
};

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_LIVEKEYS_H
