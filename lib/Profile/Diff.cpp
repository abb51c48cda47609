//===- Diff.cpp - what changed between two sequences ----------------------===//

#include "lib/Profile/Diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

using namespace attn::profile;
using Lines = std::vector<std::string>;

namespace {
struct Edit {
  enum { Keep, Remove, Add } kind;
  size_t before, after; ///< Places on both sides.
};
} // namespace

/// Above this many cells the table of common lengths would be too large; the
/// middle is then told as one change.
static constexpr size_t kMostCells = size_t(1) << 24;

/// One edit a line, by the longest common subsequence.
static std::vector<Edit> edits(const Lines &a, const Lines &b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  size_t rows = a.size() - head - tail, columns = b.size() - head - tail;

  std::vector<Edit> list;
  for (size_t i = 0; i < head; ++i)
    list.push_back({Edit::Keep, i, i});
  size_t i = 0, j = 0;
  if (rows * columns <= kMostCells) {
    // common[i][j]: lines that a[i..] and b[j..] of the middle share.
    std::vector<std::vector<uint32_t>> common(
        rows + 1, std::vector<uint32_t>(columns + 1, 0));
    for (size_t r = rows; r-- > 0;)
      for (size_t c = columns; c-- > 0;)
        common[r][c] = a[head + r] == b[head + c]
                           ? common[r + 1][c + 1] + 1
                           : std::max(common[r + 1][c], common[r][c + 1]);
    while (i < rows && j < columns) {
      if (a[head + i] == b[head + j]) {
        list.push_back({Edit::Keep, head + i, head + j});
        ++i, ++j;
      } else if (common[i + 1][j] >= common[i][j + 1]) {
        list.push_back({Edit::Remove, head + i++, head + j});
      } else {
        list.push_back({Edit::Add, head + i, head + j++});
      }
    }
  }
  for (; i < rows; ++i)
    list.push_back({Edit::Remove, head + i, head + j});
  for (; j < columns; ++j)
    list.push_back({Edit::Add, head + i, head + j});
  for (size_t t = 0; t < tail; ++t)
    list.push_back({Edit::Keep, head + rows + t, head + columns + t});
  return list;
}

std::vector<Change> attn::profile::changes(const Lines &before,
                                           const Lines &after) {
  std::vector<Change> list;
  for (const Edit &edit : edits(before, after)) {
    bool same = edit.kind == Edit::Keep;
    if (list.empty() || list.back().same != same)
      list.push_back({same, {}, {}});
    if (edit.kind != Edit::Add)
      list.back().before.push_back(before[edit.before]);
    if (edit.kind != Edit::Remove)
      list.back().after.push_back(after[edit.after]);
  }
  return list;
}

static Lines split(const std::string &text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string attn::profile::unifiedDiff(const std::string &before,
                                       const std::string &after, int context) {
  Lines a = split(before), b = split(after);
  std::vector<Edit> list = edits(a, b);
  std::string text;
  size_t around = size_t(context);
  for (size_t at = 0; at < list.size();) {
    if (list[at].kind == Edit::Keep) {
      ++at;
      continue;
    }
    // A hunk ends where the next change is more than two contexts away.
    size_t first = at - std::min(at, around), last = at;
    for (size_t next = at; next < list.size() && next <= last + 2 * around + 1;
         ++next)
      if (list[next].kind != Edit::Keep)
        last = next;
    size_t end = std::min(list.size(), last + around + 1);
    size_t removed = 0, added = 0;
    std::string body;
    for (size_t i = first; i < end; ++i) {
      const Edit &edit = list[i];
      removed += edit.kind != Edit::Add;
      added += edit.kind != Edit::Remove;
      body += edit.kind == Edit::Keep     ? " " + a[edit.before]
              : edit.kind == Edit::Remove ? "-" + a[edit.before]
                                          : "+" + b[edit.after];
      body += "\n";
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n", list[first].before + 1,
                        removed, list[first].after + 1, added) +
            body;
    at = end;
  }
  return text;
}
