//===- Waves.cpp - blocks of different lengths on the multiprocessors -----===//

#include "lib/Profile/Waves.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

using namespace attn;
using namespace attn::profile;

double Blocks::total() const {
  return double(repeats) * std::accumulate(costs.begin(), costs.end(), 0.0);
}

Blocks attn::profile::inTurns(const std::vector<double> &costs, int64_t within,
                              int64_t repeats, int64_t section) {
  Blocks blocks;
  int64_t heads = within * repeats;
  if (section <= 0)
    section = within;
  auto add = [&](int64_t here) {
    for (double cost : costs)
      blocks.costs.insert(blocks.costs.end(), size_t(here), cost);
  };
  int64_t sections = section > 0 ? heads / section : 0;
  if (sections * section == heads) {
    blocks.repeats = sections;
    add(section);
    return blocks;
  }
  for (int64_t first = 0; first < heads; first += section)
    add(std::min(section, heads - first));
  return blocks;
}

/// Blocks that are simulated one by one. Of more the first ones go by the sum: only
/// the last can leave a multiprocessor idle.
static constexpr int64_t kSimulated = 40000;
/// Sums of the same costs differ by less than this factor.
static constexpr double kSameTime = 1 + 1e-9;

namespace {
/// A multiprocessor. All its blocks get equal shares, so one number says how far
/// all of them came, and each ends at a fixed value of it.
struct Multiprocessor {
  double now = 0;      ///< When `progress` was true.
  double progress = 0; ///< Work that each block that runs has got.
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
};

struct Ending {
  double time;
  size_t where;
  bool operator>(const Ending &other) const { return time > other.time; }
};
} // namespace

double attn::profile::makespan(const Blocks &all, int multiprocessors,
                               const std::vector<double> &throughput) {
  if (all.count() == 0 || multiprocessors < 1 || throughput.empty())
    return 0;
  Blocks blocks = all;
  double before = 0;
  if (blocks.count() > kSimulated) {
    blocks.repeats = std::max<int64_t>(1, kSimulated / int64_t(all.costs.size()));
    before = (all.total() - blocks.total()) / multiprocessors / throughput.back();
  }
  std::vector<Multiprocessor> sms(static_cast<size_t>(multiprocessors));
  auto rate = [&](const Multiprocessor &sm) {
    size_t n = sm.ends.size();
    return throughput[n - 1] / double(n);
  };
  int64_t next = 0;
  auto start = [&](Multiprocessor &sm) {
    double cost = blocks.costs[size_t(next++ % int64_t(blocks.costs.size()))];
    sm.ends.push(sm.progress + cost);
  };
  for (size_t resident = 0; resident < throughput.size(); ++resident)
    for (Multiprocessor &sm : sms)
      if (next < blocks.count())
        start(sm);
  // One ending of each multiprocessor is queued, its next one: a block starts only
  // where one ends.
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  auto await = [&](size_t where) {
    const Multiprocessor &sm = sms[where];
    if (!sm.ends.empty())
      endings.push({sm.now + (sm.ends.top() - sm.progress) / rate(sm), where});
  };
  for (size_t where = 0; where < sms.size(); ++where)
    await(where);
  double time = 0;
  std::vector<size_t> freed;
  while (!endings.empty()) {
    // All that end now, before any place is given away: equal blocks end together,
    // and the next ones go to the multiprocessors that have the fewest left.
    time = endings.top().time;
    freed.clear();
    while (!endings.empty() && endings.top().time <= time * kSameTime) {
      size_t where = endings.top().where;
      endings.pop();
      freed.push_back(where);
      Multiprocessor &sm = sms[where];
      sm.progress = sm.ends.top();
      sm.now = time;
      while (!sm.ends.empty() && sm.ends.top() <= sm.progress * kSameTime)
        sm.ends.pop();
    }
    for (size_t running = 0; running < throughput.size(); ++running)
      for (size_t where : freed)
        if (sms[where].ends.size() == running && next < blocks.count())
          start(sms[where]);
    for (size_t where : freed)
      await(where);
  }
  return before + time;
}

double attn::profile::strideSpan(const Blocks &tiles, int64_t workers,
                                 double alone) {
  if (tiles.count() == 0 || workers < 1)
    return 0;
  int64_t length = int64_t(tiles.costs.size());
  // From one round of all heads to the next everything repeats.
  int64_t period = std::lcm(length, workers);
  int64_t whole = tiles.count() / period, rest = tiles.count() % period;
  std::vector<double> sums(size_t(std::min(workers, tiles.count())));
  for (int64_t i = 0; i < (whole > 0 ? period : rest); ++i) {
    double cost = tiles.costs[size_t(i % length)];
    sums[size_t(i % workers)] += cost * double(whole + (i < rest ? 1 : 0));
  }
  // The least loaded is done first; the others share its part.
  std::sort(sums.begin(), sums.end());
  double time = 0, done = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    double rate = std::min(alone, double(sums.size()) / double(sums.size() - i));
    time += (sums[i] - done) / rate;
    done = sums[i];
  }
  return time;
}
