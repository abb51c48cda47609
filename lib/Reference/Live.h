//===- Live.h - how much of the score matrix masks leave ------------------===//
#ifndef ATTN_LIB_REFERENCE_LIVE_H
#define ATTN_LIB_REFERENCE_LIVE_H

#include "lib/Reference/Evaluate.h"

namespace attn::reference {

/// The fraction of (row, key) pairs that every mask leaves alive, from at most
/// about 1e5 pairs; 1 without masks. A mask that depends on computed values
/// counts as alive everywhere.
double liveFraction(const spec::Kernel &kernel, const AxisLengths &lengths,
                    const Inputs &inputs, uint64_t seed = 1);

/// The fraction of tiles of `tileM` rows and `tileN` keys with any live pair.
/// Sampled when there are many.
double liveTileFraction(const spec::Kernel &kernel, const AxisLengths &lengths,
                        const Inputs &inputs, int64_t tileM, int64_t tileN,
                        uint64_t seed = 1);

/// A row of the scores and the keys that masks leave it: from `first` up to, and
/// without, `behind`. Masked keys between them are not told.
struct LiveRow {
  int64_t row = 0, first = 0, behind = 0;
};

/// Some rows of the first batch entry, ascending, the first and the last among them;
/// none without masks.
struct LiveRows {
  std::string rowAxis, keyAxis;
  std::vector<LiveRow> rows;
};
LiveRows liveRows(const spec::Kernel &kernel,
                              const AxisLengths &lengths, const Inputs &inputs);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_LIVE_H
