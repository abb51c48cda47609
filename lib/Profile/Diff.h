//===- Diff.h - what changed between two sequences ------------------------===//
#ifndef ATTN_LIB_PROFILE_DIFF_H
#define ATTN_LIB_PROFILE_DIFF_H

#include <string>
#include <vector>

namespace attn::profile {

/// A stretch that both sides share, or one that differs.
struct Change {
  bool same = false;
  std::vector<std::string> before, after; ///< Equal when `same`.
};

/// The shortest way from `before` to `after`, stretch by stretch.
std::vector<Change> changes(const std::vector<std::string> &before,
                            const std::vector<std::string> &after);

/// Lines of text as a unified difference with `context` lines around each
/// change and no file names; empty when the texts are equal.
std::string unifiedDiff(const std::string &before, const std::string &after,
                        int context);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_DIFF_H
