//===- Estimate.cpp - what a launch will cost, said beforehand ------------===//

#include "lib/Profile/Estimate.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::profile;

double attn::profile::evaluate(const std::vector<bundle::Term> &terms,
                               const std::map<std::string, int64_t> &lengths,
                               double live) {
  double sum = 0;
  for (const bundle::Term &term : terms) {
    double product = term.coefficient;
    for (const std::string &axis : term.axes)
      product *= double(lengths.at(axis));
    sum += term.live ? product * live : product;
  }
  return sum;
}

/// Share of the multiprocessors' time that a grid can use: all of it, unless
/// the last round of blocks leaves some of them idle.
static double fill(int64_t blocks, int multiprocessors) {
  double rounds = double(blocks) / multiprocessors;
  return rounds / std::ceil(rounds);
}

Estimate attn::profile::estimate(const bundle::Kernel &kernel,
                                 const std::map<std::string, int64_t> &lengths,
                                 double live, int64_t blocks,
                                 const target::Roofs &roofs) {
  Estimate e;
  if (blocks == 0) {
    e.bound = "launch";
    return e;
  }
  const bundle::Prediction &p = kernel.prediction;
  e.unit = p.tensorUnit;
  e.bytesRead = std::llround(evaluate(p.bytesRead, lengths, live));
  e.bytesWritten = std::llround(evaluate(p.bytesWritten, lengths, live));
  e.tensorFlops = evaluate(p.tensorFlops, lengths, live);
  e.scalarFlops = evaluate(p.scalarFlops, lengths, live);
  e.exponentials = evaluate(p.exponentials, lengths, live);

  double share = fill(blocks, roofs.multiprocessors);
  e.memorySeconds = double(e.bytes()) / roofs.bandwidth;
  auto peak = roofs.matmul.find(p.tensorUnit);
  double matmul = peak != roofs.matmul.end() ? peak->second : roofs.scalar;
  e.tensorSeconds = e.tensorFlops / (matmul * share);
  e.scalarSeconds = e.scalarFlops / (roofs.scalar * share);
  e.exponentialSeconds = e.exponentials / (roofs.exponentials * share);
  e.launchSeconds = roofs.launchSeconds;

  struct Roof {
    double seconds;
    const char *name;
  };
  Roof all[] = {{e.memorySeconds, "memory"},
                {e.tensorSeconds, "matmul"},
                {e.scalarSeconds, "f32"},
                {e.exponentialSeconds, "exponentials"},
                {e.launchSeconds, "launch"}};
  e.bound = std::max_element(std::begin(all), std::end(all),
                             [](const Roof &a, const Roof &b) {
                               return a.seconds < b.seconds;
                             })
                ->name;
  double compute =
      roofs.onePipe
          ? e.tensorSeconds + e.scalarSeconds + e.exponentialSeconds
          : std::max({e.tensorSeconds, e.scalarSeconds, e.exponentialSeconds});
  e.seconds = std::max(e.memorySeconds, compute) + e.launchSeconds;
  return e;
}
