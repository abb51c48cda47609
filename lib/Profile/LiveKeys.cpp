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

LiveRow LiveKeys::core(int64_t begin, int64_t end) const {
  LiveRow found = between(rows, begin);
  auto meet = [&](const LiveRow &row) {
    found.first = std::max(found.first, row.first);
    found.behind = std::min(found.behind, row.behind);
  };
  meet(between(rows, end - 1));
  for (const LiveRow &row : rows)
    if (row.row > begin && row.row < end - 1)
      meet(row);
  found.row = begin;
  found.behind = std::max(found.behind, found.first);
  return found;
}

LiveRow LiveKeys::hull(int64_t begin, int64_t end) const {
  LiveRow found = between(rows, begin);
  auto add = [&](const LiveRow &row) {
    if (row.behind <= row.first)
      return;
    if (found.behind <= found.first) {
      found = row;
      return;
    }
    found.first = std::min(found.first, row.first);
    found.behind = std::max(found.behind, row.behind);
  };
  add(between(rows, end - 1));
  for (const LiveRow &row : rows)
    if (row.row > begin && row.row < end - 1)
      add(row);
  found.row = begin;
  return found;
}
