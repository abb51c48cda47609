//===- LiveKeys.cpp - which keys masks leave to blocks of rows ------------===//

#include "lib/Profile/LiveKeys.h"

#include <algorithm>
#include <cmath>

using namespace attn::profile;

/// The limits of a row, from the two told ones around it.
static LiveRow between(const std::vector<LiveRow> &rows, int64_t row) {
  auto above = std::lower_bound(
      rows.begin(), rows.end(), row,
      [](const LiveRow &told, int64_t wanted) { return told.row < wanted; });
  if (above == rows.end())
    return rows.back();
  if (above->row == row || above == rows.begin())
    return *above;
  const LiveRow &below = *std::prev(above);
  double part = double(row - below.row) / double(above->row - below.row);
  auto at = [part](int64_t a, int64_t b) {
    return a + int64_t(std::llround(part * double(b - a)));
  };
  return {row, at(below.first, above->first), at(below.behind, above->behind)};
}

/// The first row of [begin, end), to which `add` joins its last and the told ones
/// between them.
template <typename Add>
static LiveRow joined(const std::vector<LiveRow> &rows, int64_t begin, int64_t end,
                      Add add) {
  LiveRow found = between(rows, begin);
  add(found, between(rows, end - 1));
  for (const LiveRow &row : rows)
    if (row.row > begin && row.row < end - 1)
      add(found, row);
  found.row = begin;
  return found;
}

LiveRow LiveKeys::core(int64_t begin, int64_t end) const {
  LiveRow found = joined(rows, begin, end, [](LiveRow &found, const LiveRow &row) {
    found.first = std::max(found.first, row.first);
    found.behind = std::min(found.behind, row.behind);
  });
  found.behind = std::max(found.behind, found.first);
  return found;
}

LiveRow LiveKeys::hull(int64_t begin, int64_t end) const {
  return joined(rows, begin, end, [](LiveRow &found, const LiveRow &row) {
    if (row.behind <= row.first)
      return;
    if (found.behind <= found.first) {
      found = row;
      return;
    }
    found.first = std::min(found.first, row.first);
    found.behind = std::max(found.behind, row.behind);
  });
}
