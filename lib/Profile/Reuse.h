//===- Reuse.h - operands that blocks of different lengths share ----------===//
//
// Blocks that read the same keys find them in the cache only if the one before
// them came by not long ago. Where masks make blocks of different lengths they
// start apart from each other, and how far follows from who runs where and when.
// That is simulated, a step of keys at a time, with the bytes that pass in between.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_REUSE_H
#define ATTN_LIB_PROFILE_REUSE_H

#include "lib/Bundle/Manifest.h"
#include "lib/Profile/Traffic.h"

namespace attn::profile {

/// Who walks over which keys, and what that moves.
struct KeyWalks {
  struct Walk {
    int64_t first = 0, behind = 0; ///< Steps of keys.
  };
  std::vector<Walk> rows; ///< A block of rows each, ascending.
  int64_t heads = 1;      ///< That walk over keys of their own.
  int64_t section = 1;    ///< Heads whose blocks take turns (placeTiles).
  int64_t workers = 1;    ///< Blocks side by side.
  bool stride = false;    ///< Worker w does tiles w, w + workers, ...; otherwise
                          ///< whoever is done takes the next one.
  double sharedBytes = 0; ///< A step of a head's keys: what its blocks share.
  double ownBytes = 0;    ///< A step of a block: what it alone reads.
  double tileBytes = 0;   ///< A block besides: its rows, its results.
};

/// Share of the shared bytes that come from memory more than once: 0.5 means that
/// half as much again is read. Rows start with the last block of a section.
double readAgain(const KeyWalks &walks, int64_t cacheBytes);

/// Heads whose tiles take turns (ProgramBuilder::placeTiles); 0 for a kernel whose
/// blocks stand in the grid's order.
int64_t headsInTurn(const bundle::Kernel &kernel, const Lengths &lengths,
                    const LiveKeys &live);

/// The walks of a kernel whose tiles a section's heads take in turns; no rows for
/// others. Blocks that stand in the grid's order start next to their neighbours
/// of the same head, and each finds what the one before it has read.
KeyWalks keyWalks(const bundle::Kernel &kernel, const Lengths &lengths,
                  const LiveKeys &live, int64_t resident);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_REUSE_H
