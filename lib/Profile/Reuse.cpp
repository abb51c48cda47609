//===- Reuse.cpp - operands that blocks of different lengths share --------===//

#include "lib/Profile/Reuse.h"

#include "lib/Schedule/HeadSections.h"

#include <algorithm>

using namespace attn;
using namespace attn::profile;

/// Steps of keys that are simulated. Of more the first sections stand for all, and
/// where one head has more, steps are taken together.
static constexpr int64_t kSimulated = int64_t(1) << 22;

namespace {
class Simulation {
public:
  Simulation(const KeyWalks &walks, int64_t heads, int64_t cacheBytes)
      : walks(walks), heads(heads), cacheBytes(cacheBytes) {
    for (const KeyWalks::Walk &walk : walks.rows)
      steps = std::max(steps, walk.behind);
    seen.assign(size_t(heads * steps), -1);
    tiles = heads * int64_t(walks.rows.size());
  }

  double run() {
    std::vector<Worker> workers(size_t(std::min(walks.workers, tiles)));
    next = int64_t(workers.size());
    for (size_t w = 0; w < workers.size(); ++w)
      begin(workers[w], int64_t(w));
    for (bool busy = true; busy;) {
      busy = false;
      for (Worker &worker : workers) {
        while (worker.tile < tiles && worker.step >= worker.behind)
          begin(worker, walks.stride ? worker.tile + int64_t(workers.size())
                                     : next++);
        if (worker.tile >= tiles)
          continue;
        busy = true;
        visit(worker.head, worker.step++);
      }
    }
    return once > 0 ? again / once : 0;
  }

private:
  struct Worker {
    int64_t tile = 0, head = 0, step = 0, behind = 0;
  };

  void begin(Worker &worker, int64_t tile) {
    worker.tile = tile;
    if (tile >= tiles)
      return;
    int64_t rows = int64_t(walks.rows.size());
    int64_t section = tile / (walks.section * rows);
    int64_t first = section * walks.section;
    int64_t here = std::min(walks.section, heads - first);
    int64_t rest = tile - first * rows;
    const KeyWalks::Walk &walk = walks.rows[size_t(rows - 1 - rest / here)];
    worker.head = first + rest % here;
    worker.step = walk.first;
    worker.behind = walk.behind;
    passed += walks.tileBytes;
  }

  void visit(int64_t head, int64_t step) {
    double &before = seen[size_t(head * steps + step)];
    double gone = 1;
    if (before < 0) {
      once += 1;
    } else {
      gone = goneShare(passed - before, cacheBytes);
      again += gone;
    }
    passed += walks.ownBytes + gone * walks.sharedBytes;
    before = passed;
  }

  const KeyWalks &walks;
  int64_t heads, cacheBytes;
  int64_t steps = 0, tiles = 0, next = 0;
  std::vector<double> seen; ///< Bytes that had passed when these keys were read.
  double passed = 0, once = 0, again = 0;
};
} // namespace

static int64_t stepsOfHead(const KeyWalks &walks) {
  int64_t steps = 0;
  for (const KeyWalks::Walk &walk : walks.rows)
    steps += std::max<int64_t>(walk.behind - walk.first, 0);
  return steps;
}

double attn::profile::readAgain(const KeyWalks &exact, int64_t cacheBytes) {
  int64_t perHead = stepsOfHead(exact);
  if (perHead == 0 || exact.heads < 1 || cacheBytes <= 0)
    return 0;
  KeyWalks walks = exact;
  if (int64_t together = perHead / kSimulated + 1; together > 1) {
    for (KeyWalks::Walk &walk : walks.rows)
      walk = {walk.first / together, (walk.behind + together - 1) / together};
    walks.sharedBytes *= double(together);
    walks.ownBytes *= double(together);
    perHead = stepsOfHead(walks);
  }
  // Sections follow each other and share nothing.
  int64_t sections = kSimulated / perHead / walks.section;
  int64_t heads =
      std::min(walks.heads, std::max<int64_t>(sections, 1) * walks.section);
  return Simulation(walks, heads, cacheBytes).run();
}

int64_t attn::profile::headsInTurn(const bundle::Kernel &kernel,
                                   const Lengths &lengths, const LiveKeys &live) {
  const bundle::Prediction &p = kernel.prediction;
  if (!tileOf(kernel.schedule).grouped || !countsLive(p.tensorFlops) || !live.told())
    return 0;
  RowBlocks blocks = rowBlocks(kernel, lengths, live.rowAxis);
  int64_t heads = blocks.within * blocks.repeats;
  double keys = 0; // Bytes of a head's.
  for (const bundle::Term &term : p.bytesRead)
    if (hasAxis(term, live.keyAxis) && !hasAxis(term, live.rowAxis))
      keys += blockBytes(term, kernel, lengths);
  if (blocks.count() == 0 || heads < 1)
    return 0;
  double fit = keys > 0 ? double(kSectionBytes) / keys : double(heads);
  return int64_t(std::clamp(fit, 1.0, double(heads)));
}

KeyWalks attn::profile::keyWalks(const bundle::Kernel &kernel,
                                 const Lengths &lengths, const LiveKeys &live,
                                 int64_t resident) {
  KeyWalks walks;
  const bundle::Prediction &p = kernel.prediction;
  int64_t section = headsInTurn(kernel, lengths, live);
  if (section == 0)
    return walks;
  RowBlocks blocks = rowBlocks(kernel, lengths, live.rowAxis);
  int64_t keys = lengths.at(live.keyAxis);
  walks.heads = blocks.within * blocks.repeats;
  if (blocks.count() == 0 || keys == 0 || walks.heads == 0)
    return walks;
  double shared = 0, own = 0, besides = evaluate(p.bytesWritten, lengths, live.pairs);
  for (const bundle::Term &term : p.bytesRead) {
    double bytes = evaluate({{term.coefficient, term.axes, false}}, lengths, 1);
    bool key = hasAxis(term, live.keyAxis), row = hasAxis(term, live.rowAxis);
    (key && !row ? shared : key ? own : besides) += bytes;
    // Heads that share keys with each other are another matter.
    for (const bundle::GridAxis &axis : kernel.grid)
      if (key && !row && !axis.axis.empty() && axis.axis != live.rowAxis &&
          !hasAxis(term, axis.axis))
        return walks;
  }
  if (shared <= 0)
    return walks;

  Tile tile = tileOf(kernel.schedule);
  int64_t step = std::max<int64_t>(tile.depth > 0 ? tile.depth : tile.columns, 1);
  double count = double(walks.heads) * double(keys) / double(step);
  walks.sharedBytes = shared / count;
  walks.ownBytes = own / count / double(blocks.count());
  walks.tileBytes = besides / double(walks.heads * blocks.count());
  walks.section = section;
  walks.workers = resident;
  walks.stride = kernel.persistent > 0 && !tile.dynamic;
  for (int64_t begin = 0; begin < blocks.length; begin += blocks.rows) {
    LiveRow hull = live.hull(begin, std::min(begin + blocks.rows, blocks.length));
    KeyWalks::Walk walk{hull.first / step, (hull.behind + step - 1) / step};
    if (hull.behind <= hull.first)
      walk = {};
    walks.rows.push_back(walk);
  }
  return walks;
}
