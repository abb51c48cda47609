//===- Estimate.h - what a launch will cost, said beforehand --------------===//
#ifndef ATTN_LIB_PROFILE_ESTIMATE_H
#define ATTN_LIB_PROFILE_ESTIMATE_H

#include "lib/Profile/Traffic.h"
#include "lib/Target/Chip.h"

namespace attn::profile {

/// The manifest's terms at given lengths, and the time a roofline makes of
/// them.
struct Estimate {
  int64_t bytesRead = 0; ///< Device memory.
  int64_t bytesWritten = 0;
  double tensorFlops = 0;
  double scalarFlops = 0;
  double exponentials = 0;

  // Seconds each roof would take alone.
  double memorySeconds = 0;
  double cacheSeconds = 0; ///< The L2 cache's lines, where that is told (matmuls).
  double tensorSeconds = 0;
  double scalarSeconds = 0;
  double exponentialSeconds = 0;
  double launchSeconds = 0;
  double roofSeconds = 0; ///< The slowest roof at its full rate, no launch.
  double fillSeconds = 0; ///< First loads, last stores, starts of blocks.
  double seconds = 0;     ///< All together, as kernels of this kind go.
  std::string unit;       ///< That does the matmuls: "mma.f16"; empty: none.
  std::string bound; ///< "memory", "cache", "matmul", "f32", "exponentials", "launch".

  int64_t bytes() const { return bytesRead + bytesWritten; }
  double flops() const { return tensorFlops + scalarFlops; }
};

/// The estimate of one launch of `blocks` blocks, from the manifest and the
/// table of chips alone. An empty grid costs nothing.
///
/// Memory and arithmetic overlap, the slower one counts. In a flash kernel on
/// mma.sync matmuls and softmax take turns. On wgmma they run side by side, a softmax
/// costs what its form, masks and slopes make of it (bundle::Step) and the clock falls
/// with the tensor pipe's load. Masks leave each block of rows the key
/// tiles that one of its rows sees; how blocks of different lengths fill the
/// multiprocessors is simulated (Waves.h). Row kernels spend several instructions
/// an operation, also on the columns of a tile that the row lacks. Matmul units,
/// stores of accumulators and latency at few warps go by target::Habits.
Estimate estimate(const bundle::Kernel &kernel,
                  const std::map<std::string, int64_t> &lengths,
                  const LiveKeys &live, int64_t blocks,
                  const target::Roofs &roofs);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_ESTIMATE_H
