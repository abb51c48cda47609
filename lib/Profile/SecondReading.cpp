//===- SecondReading.cpp - rows that a kernel reads twice -----------------===//

#include "lib/Profile/SecondReading.h"

#include <algorithm>
#include <iterator>
#include <vector>

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

/// Rows under way beside each other, as many as `beside` of those told, from the one
/// half as many before `at` on; behind the last the next head's first comes.
namespace {
class Neighbours {
public:
  Neighbours(const std::vector<double> &values, size_t beside)
      : count(values.size()), beside(beside), sums(2 * count + 1) {
    for (size_t i = 0; i < 2 * count; ++i)
      sums[i + 1] = sums[i] + values[i % count];
  }
  double mean(size_t at) const {
    size_t from = (at + count - beside / 2) % count;
    return (sums[from + beside] - sums[from]) / double(beside);
  }

private:
  size_t count, beside;
  std::vector<double> sums;
};
} // namespace

/// The share of all (row, key) pairs that masked rows read again. `reads` and `writes`
/// bytes would pass while a row that sees every key is between its two readings, were
/// all rows under way, `rows` of them, such ones.
///
/// A row is under way as long as it has live keys: what it stores of dead ones waits
/// for nothing. So while a row of twice its neighbours' keys is read again, they are
/// begun and ended twice, with all they read and write.
static double againInMaskedRows(const LiveKeys &live, const std::vector<double> &shares,
                                double reads, double writes, double rows,
                                int64_t cacheBytes) {
  const size_t count = shares.size();
  double told = double(live.rows.back().row - live.rows.front().row + 1);
  auto beside =
      static_cast<size_t>(std::clamp(rows / told * double(count), 1.0, double(count)));
  const Neighbours keys(shares, beside);
  std::vector<double> again(count, 0); // Of all keys.
  for (double change = 1; change > 1e-6;) { // Rises to the least fixed point.
    const Neighbours more(again, beside);
    change = 0;
    for (size_t i = 0; i < count; ++i) {
      double mean = keys.mean(i);
      if (mean <= 0)
        continue;
      double passed = shares[i] / mean * (reads * (mean + more.mean(i)) + writes);
      double next = shares[i] * lost(passed / double(cacheBytes));
      change = std::max(change, next - again[i]);
      again[i] = std::max(again[i], next);
    }
  }
  double sum = 0;
  for (double one : again)
    sum += one;
  return sum / double(count);
}

double attn::profile::readAgainInRows(const bundle::Kernel &kernel,
                                      const Lengths &lengths, const LiveKeys &live,
                                      int64_t blocks, int64_t resident,
                                      int64_t cacheBytes) {
  const bundle::Prediction &p = kernel.prediction;
  Tile tile = tileOf(kernel.schedule);
  std::string row = walkedAxis(kernel);
  bool twice = p.tensorFlops.empty() && !p.exponentials.empty() && tile.columns > 0 &&
               !row.empty();
  if (!twice || blocks <= 0)
    return 0;
  // Between its two readings a block, and each of those beside it, does half of
  // what it does for its rows in all.
  const double beside = double(std::min(blocks, resident));
  double writes = beside / 2 * evaluate(p.bytesWritten, lengths, 1) / double(blocks);
  double keys = double(lengths.at(row)), total = 0;
  std::vector<double> shares;
  for (const LiveRow &told : live.rows)
    shares.push_back(double(keysLoaded(told, tile.columns)) / keys);
  for (const bundle::Term &term : p.bytesRead) {
    if (!hasAxis(term, row))
      continue;
    double whole = evaluate({{term.coefficient, term.axes, false}}, lengths, 1);
    double reads = beside / 2 * whole / double(blocks);
    if (term.live && live.told()) {
      total += whole * againInMaskedRows(live, shares, reads, writes,
                                         beside * double(tile.rows), cacheBytes);
      continue;
    }
    double share = term.live ? live.pairs : 1;
    total += whole * share * goneSecondTime(reads * share, writes, cacheBytes);
  }
  return total;
}
