//===- HeadSections.h - how many heads take turns -------------------------===//
//
// Tiles of a section of heads go longest first; another section follows when they are
// all under way (ProgramBuilder::placeTiles). What that moves is simulated from the
// manifest alone (lib/Profile/Reuse.h), so both know the size.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_HEADSECTIONS_H
#define ATTN_LIB_SCHEDULE_HEADSECTIONS_H

#include <cstdint>

namespace attn {

/// Bytes of keys and values that the heads of a section have together, at most, unless
/// one has more: half of an H200's L2 cache, and a little more (shared/design/hopper.md).
inline constexpr int64_t kSectionBytes = int64_t(32) << 20;

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_HEADSECTIONS_H
