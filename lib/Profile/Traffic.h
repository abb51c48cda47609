//===- Traffic.h - which bytes come from device memory, and how often -----===//
//
// The manifest's terms move each operand once. A launch that reads one again
// after more than the last-level cache holds has passed moves it again.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_TRAFFIC_H
#define ATTN_LIB_PROFILE_TRAFFIC_H

#include "lib/Bundle/Manifest.h"
#include "lib/Profile/LiveKeys.h"

#include <algorithm>

namespace attn::profile {

/// A schedule as the manifest words it: "tile 64x128, 4 warps, depth 64, 3
/// stages", "3 groups x 64x80, 3 stages". 0 where it says nothing.
struct Tile {
  int64_t rows = 0, columns = 0, depth = 0;
  int stages = 0;
  bool grouped = false;      ///< By warp groups, on wgmma.
  bool dynamic = false;      ///< Persistent blocks take the next tile from a counter.
  bool queriesAhead = false; ///< A producer loads the next tile's queries early.
};
Tile tileOf(const std::string &schedule);

using Lengths = std::map<std::string, int64_t>;

/// Sum of the terms; `live` is the fraction of (row, key) pairs left by masks.
double evaluate(const std::vector<bundle::Term> &terms, const Lengths &lengths,
                double live);

inline bool hasAxis(const bundle::Term &term, const std::string &axis) {
  return std::find(term.axes.begin(), term.axes.end(), axis) != term.axes.end();
}

/// Whether some of the terms are counted for live pairs alone.
inline bool countsLive(const std::vector<bundle::Term> &terms) {
  return std::any_of(terms.begin(), terms.end(),
                     [](const bundle::Term &term) { return term.live; });
}

/// The axis that a block of a row kernel walks through itself, in the terms of
/// its writes but not in its grid; empty when there is none.
std::string walkedAxis(const bundle::Kernel &kernel);

/// Blocks of rows: a kernel's tiles of the masks' row axis, as they stand in its
/// grid.
struct RowBlocks {
  int64_t rows = 0;   ///< Of a block; 0: the grid has no such axis.
  int64_t length = 0; ///< Of the axis.
  int64_t within = 1; ///< Blocks that share their rows and run next to each other.
  int64_t repeats = 1; ///< Times that all blocks of rows occur.

  int64_t count() const { return rows > 0 ? (length + rows - 1) / rows : 0; }
};
RowBlocks rowBlocks(const bundle::Kernel &kernel, const Lengths &lengths,
                    const std::string &rowAxis);

/// Keys that a block of rows touches, in whole steps of `step` from a multiple of
/// it; all `keys` without masks.
int64_t keysTouched(const LiveKeys &live, int64_t begin, int64_t end,
                    int64_t step, int64_t keys);

/// Keys that a row kernel's loads of a live row span: from the start of the tile of
/// `columns` that its first key lies in, up to whole pieces of 64 bytes of f32.
int64_t keysLoaded(const LiveRow &row, int64_t columns);

/// The share of (row, key) pairs that a kernel which passes over dead keys still
/// touches: a block of rows touches what one of them sees, in whole steps.
double touchedShare(const bundle::Kernel &kernel, const Lengths &lengths,
                    const LiveKeys &live);

/// Bytes of a term that blocks touch while the grid's axes from `step` on stand still;
/// 0: that one block can touch.
double blockBytes(const bundle::Term &term, const bundle::Kernel &kernel,
                  const Lengths &lengths, size_t step = 0);

/// Share of an operand that is gone from a cache of `cacheBytes` after
/// `distance` bytes have passed.
double goneShare(double distance, int64_t cacheBytes);

/// Bytes that a launch's `blocks` ask the L2 cache for, in whole lines, and give it.
/// A piece of `depth` elements of a longer row spans a line more where the row's
/// start does not lie at the start of one.
double cacheBytesMoved(const bundle::Kernel &kernel, const Lengths &lengths,
                       const LiveKeys &live, int64_t blocks);

/// Bytes of the L2 cache's lines that pieces of results touch, a tile's columns of a
/// row each: where rows do not begin with a line, two tiles write a part of one.
double bytesOfWrittenLines(const bundle::Kernel &kernel, const Lengths &lengths);

/// Bytes read from device memory by a launch that finds nothing in the cache.
/// `blocks` run in all, `resident` of them at a time.
double bytesRead(const bundle::Kernel &kernel, const Lengths &lengths,
                 const LiveKeys &live, int64_t blocks, int64_t resident,
                 int64_t cacheBytes);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TRAFFIC_H
