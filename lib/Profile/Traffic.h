//===- Traffic.h - which bytes come from device memory, and how often -----===//
//
// The manifest's terms move each operand once. A launch that reads one again
// after more than the last-level cache holds has passed moves it again.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_TRAFFIC_H
#define ATTN_LIB_PROFILE_TRAFFIC_H

#include "lib/Bundle/Manifest.h"

namespace attn::profile {

/// A schedule as the manifest words it: "tile 64x128, 4 warps, depth 64, 3
/// stages", "3 groups x 64x80, 3 stages". 0 where it says nothing.
struct Tile {
  int64_t rows = 0, columns = 0;
  int stages = 0;
};
Tile tileOf(const std::string &schedule);

using Lengths = std::map<std::string, int64_t>;

/// Sum of the terms; `live` is the fraction of (row, key) pairs left by masks.
double evaluate(const std::vector<bundle::Term> &terms, const Lengths &lengths,
                double live);

/// The axis that a block of a row kernel walks through itself, in the terms of
/// its writes but not in its grid; empty when there is none.
std::string walkedAxis(const bundle::Kernel &kernel);

/// Share of an operand that is gone from a cache of `cacheBytes` after
/// `distance` bytes have passed.
double goneShare(double distance, int64_t cacheBytes);

/// Bytes read from device memory. `blocks` run in all, `resident` of them at a
/// time.
double bytesRead(const bundle::Kernel &kernel, const Lengths &lengths,
                 double live, int64_t blocks, int64_t resident,
                 int64_t cacheBytes);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TRAFFIC_H
