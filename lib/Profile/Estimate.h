//===- Estimate.h - what a launch will cost, said beforehand --------------===//
#ifndef ATTN_LIB_PROFILE_ESTIMATE_H
#define ATTN_LIB_PROFILE_ESTIMATE_H

#include "lib/Bundle/Manifest.h"
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
  double tensorSeconds = 0;
  double scalarSeconds = 0;
  double exponentialSeconds = 0;
  double launchSeconds = 0;
  double seconds = 0; ///< The slowest roof (their sum on one pipe), and launch.
  std::string unit;   ///< That does the matmuls: "mma.f16"; empty: none.
  std::string bound;  ///< "memory", "matmul", "f32", "exponentials", "launch".

  int64_t bytes() const { return bytesRead + bytesWritten; }
  double flops() const { return tensorFlops + scalarFlops; }
};

/// Sum of the terms; `live` is the fraction of (row, key) pairs left by masks.
double evaluate(const std::vector<bundle::Term> &terms,
                const std::map<std::string, int64_t> &lengths, double live);

/// The estimate of one launch of `blocks` blocks. An empty grid costs nothing.
Estimate estimate(const bundle::Kernel &kernel,
                  const std::map<std::string, int64_t> &lengths, double live,
                  int64_t blocks, const target::Roofs &roofs);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_ESTIMATE_H
