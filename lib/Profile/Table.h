//===- Table.h - results as text ------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_TABLE_H
#define ATTN_LIB_PROFILE_TABLE_H

#include "lib/Profile/Results.h"

namespace attn::profile {

/// The table that attn-bench prints: a row a level, with `kernels` also a row a
/// kernel; below it failures, misses over 10 % with their reason, and notes.
std::string table(const Results &results, bool kernels);

/// Columns padded to their widest cell; the first two are flush left. Cells are
/// UTF-8 free. Rows may be shorter than the header.
std::string alignColumns(const std::vector<std::vector<std::string>> &rows,
                         size_t leftColumns);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TABLE_H
