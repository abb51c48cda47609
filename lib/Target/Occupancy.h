//===- Occupancy.h - how many blocks fit a multiprocessor, and why --------===//
#ifndef ATTN_LIB_TARGET_OCCUPANCY_H
#define ATTN_LIB_TARGET_OCCUPANCY_H

#include "lib/Target/Chip.h"

namespace attn::target {

struct Occupancy {
  int blocks = 0;      ///< Resident per SM.
  int warps = 0;       ///< Resident per SM.
  double share = 0;    ///< warps over the architecture's maximum.
  std::string limiter; ///< "registers", "shared memory", "warps", "blocks".
};

/// `threads` and `shared` (bytes, static and dynamic together) are per block,
/// `registers` per thread. A block that fits nowhere gives 0 blocks and the
/// resource that stands in the way.
Occupancy occupancy(const Architecture &arch, int threads, int registers,
                    int64_t shared);

} // namespace attn::target

#endif // ATTN_LIB_TARGET_OCCUPANCY_H
