//===- Waves.h - blocks of different lengths on the multiprocessors -------===//
//
// Masks make blocks of different lengths, and few blocks do not divide evenly: how
// long a launch takes then follows from who runs where and when. That is
// simulated, not put into a factor.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_WAVES_H
#define ATTN_LIB_PROFILE_WAVES_H

#include <cstdint>
#include <vector>

namespace attn::profile {

/// Blocks in the order in which they start: `costs`, over and over, `repeats`
/// times. A cost is what the block takes of a multiprocessor at full throughput.
struct Blocks {
  std::vector<double> costs;
  int64_t repeats = 1;

  int64_t count() const { return int64_t(costs.size()) * repeats; }
  double total() const;
};

/// The tiles of `within * repeats` heads, each with these costs in their order. Heads
/// of a section of `section` take turns, one tile of each, before the next tile of
/// any; 0: `within` neighbours do, and heads follow each other otherwise.
Blocks inTurns(const std::vector<double> &costs, int64_t within, int64_t repeats,
               int64_t section);

/// When the last block is done. The first ones are dealt out one a multiprocessor,
/// until `throughput.size()` run on each; a new one starts where one ends. The n
/// blocks of a multiprocessor share `throughput[n - 1]` of it equally.
double makespan(const Blocks &blocks, int multiprocessors,
                const std::vector<double> &throughput);

/// The same where `workers` blocks stay and take tiles that far apart: worker w
/// does tiles w, w + workers, ... whatever they cost. One that works while others
/// are done goes up to `alone` times as fast: memory's rate is shared by all, a
/// multiprocessor's own is not.
double strideSpan(const Blocks &tiles, int64_t workers, double alone = 1);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_WAVES_H
