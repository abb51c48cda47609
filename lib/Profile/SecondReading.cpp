//===- SecondReading.cpp - rows that a kernel reads twice -----------------===//

#include "lib/Profile/SecondReading.h"

#include <algorithm>
#include <iterator>

using namespace attn;
using namespace attn::profile;

/// What the L2 cache of an H200 has lost of lines that as many bytes, in parts of its
/// size, came after. Counted: of softmax rows of full attention (f32 scores; bf16 and
/// f32 results) at L 3000 and 4096 the second to fourth, at L 8000 the last; the fifth and
/// sixth between those of full attention at L 5000 (0.55 and 0.80) and what causal rows
/// lose at L 5000 and 8000, which is more. (2026-12-02 and 03.)
static constexpr struct {
  double filled, gone;
} kLost[] = {{0.34, 0},    {0.39, 0.06}, {0.56, 0.235}, {0.66, 0.38},
             {0.85, 0.60}, {1.17, 0.86}, {1.50, 1}};

static double lost(double filled) {
  if (filled <= kLost[0].filled)
    return 0;
  for (size_t i = 1; i < std::size(kLost); ++i)
    if (filled < kLost[i].filled)
      return kLost[i - 1].gone + (kLost[i].gone - kLost[i - 1].gone) *
                                     (filled - kLost[i - 1].filled) /
                                     (kLost[i].filled - kLost[i - 1].filled);
  return 1;
}

double attn::profile::goneSecondTime(double reads, double writes, int64_t cacheBytes) {
  if (cacheBytes <= 0)
    return 1;
  double gone = 0;
  for (int i = 0; i < 200; ++i) { // Rises to the least fixed point.
    double next = lost(((1 + gone) * reads + writes) / double(cacheBytes));
    if (next - gone < 1e-6)
      break;
    gone = next;
  }
  return gone;
}

double attn::profile::readAgainInRows(const bundle::Kernel &kernel,
                                      const Lengths &lengths, const LiveKeys &live,
                                      int64_t blocks, int64_t resident,
                                      int64_t cacheBytes) {
  const bundle::Prediction &p = kernel.prediction;
  Tile tile = tileOf(kernel.schedule);
  std::string row = walkedAxis(kernel);
  bool twice = p.tensorFlops.empty() && !p.exponentials.empty() && tile.columns > 0 &&
               !row.empty() && lengths.at(row) > tile.columns;
  if (!twice || blocks <= 0)
    return 0;
  // Between its two readings a block, and each of those beside it, does half of
  // what it does for its rows in all.
  double beside = double(std::min(blocks, resident)) / 2;
  double writes = beside * evaluate(p.bytesWritten, lengths, 1) / double(blocks);
  double keys = double(lengths.at(row)), total = 0;
  for (const bundle::Term &term : p.bytesRead) {
    if (!hasAxis(term, row))
      continue;
    double whole = evaluate({{term.coefficient, term.axes, false}}, lengths, 1);
    auto again = [&](double share) { // Of the row's keys.
      return share * keys > double(tile.columns)
                 ? share * goneSecondTime(beside * share * whole / double(blocks),
                                          writes, cacheBytes)
                 : 0;
    };
    if (!term.live || !live.told()) {
      total += whole * again(term.live ? live.pairs : 1);
      continue;
    }
    double sum = 0;
    for (const LiveRow &told : live.rows)
      sum += again(double(keysLoaded(told, tile.columns)) / keys);
    total += whole * sum / double(live.rows.size());
  }
  return total;
}
