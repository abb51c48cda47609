//===- Estimate.cpp - what a launch will cost, said beforehand ------------===//

#include "lib/Profile/Estimate.h"

#include "lib/Target/Occupancy.h"

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::profile;

/// Share of the multiprocessors' time that a grid can use: all of it, unless
/// the last round of blocks leaves some of them idle.
static double evenShare(int64_t blocks, int multiprocessors) {
  double rounds = double(blocks) / multiprocessors;
  return rounds / std::ceil(rounds);
}

static double shareOf(const std::map<std::string, double> &shares,
                      const std::string &unit) {
  auto found = shares.find(unit);
  return found == shares.end() ? 1 : found->second;
}

namespace {
enum class Kind { Pointwise, Row, Matmul, Flash };

class Estimator {
public:
  Estimator(const bundle::Kernel &kernel, const Lengths &lengths, double live,
            int64_t blocks, const target::Roofs &roofs)
      : kernel(kernel), p(kernel.prediction), lengths(lengths), live(live),
        blocks(blocks), roofs(roofs), tile(tileOf(kernel.schedule)),
        row(walkedAxis(kernel)) {
    bool matmul = !p.tensorFlops.empty(), exponential = !p.exponentials.empty();
    kind = matmul && (exponential || kernel.label == "flash") ? Kind::Flash
           : matmul                                           ? Kind::Matmul
           : exponential && !row.empty()                      ? Kind::Row
                                                              : Kind::Pointwise;
  }

  Estimate run() {
    count();
    if (roofs.onePipe)
      addUp();
    else
      overlap();
    return e;
  }

private:
  /// Blocks that fit one multiprocessor side by side; 1 when the manifest does
  /// not tell.
  int64_t residentBlocks() const {
    if (roofs.capability == 0 || !kernel.resources)
      return 1;
    target::Occupancy fit =
        target::occupancy(target::architecture(roofs.capability),
                          kernel.threads, kernel.resources->registers,
                          kernel.resources->sharedBytes + kernel.dynamicShared);
    return std::max(fit.blocks, 1);
  }

  /// Live tiles over all tiles: masks cut tiles, and a cut tile is done whole.
  double liveTiles() const {
    if (live >= 1 || roofs.onePipe)
      return live;
    int64_t keys = keyLength();
    double edge = double(std::max(tile.rows, tile.columns)) / 2;
    return std::min(1.0, live + (keys > 0 ? edge / double(keys) : 0));
  }

  /// Length of the longest axis that scores have and the grid lacks.
  int64_t keyLength() const {
    int64_t longest = 0;
    for (const bundle::Term &term : p.exponentials)
      for (const std::string &axis : term.axes)
        if (std::none_of(
                kernel.grid.begin(), kernel.grid.end(),
                [&](const bundle::GridAxis &g) { return g.axis == axis; }))
          longest = std::max(longest, lengths.at(axis));
    return longest;
  }

  void count() {
    e.unit = p.tensorUnit;
    double alive = kind == Kind::Flash ? liveTiles() : live;
    int64_t resident = residentBlocks() * roofs.multiprocessors;
    e.bytesRead =
        std::llround(roofs.onePipe ? evaluate(p.bytesRead, lengths, live)
                                   : bytesRead(kernel, lengths, live, blocks,
                                               resident, roofs.cacheBytes));
    e.bytesWritten = std::llround(evaluate(p.bytesWritten, lengths, live));
    e.tensorFlops = evaluate(p.tensorFlops, lengths, live);
    e.scalarFlops = evaluate(p.scalarFlops, lengths, live);
    e.exponentials = evaluate(p.exponentials, lengths, live);

    double share = kind == Kind::Flash && live < 1 && !roofs.onePipe
                       ? 1 // Blocks of many lengths: the tail is told apart.
                       : evenShare(blocks, roofs.multiprocessors);
    e.memorySeconds = double(e.bytes()) / roofs.bandwidth;
    auto peak = roofs.matmul.find(p.tensorUnit);
    double matmul = peak != roofs.matmul.end() ? peak->second : roofs.scalar;
    double tensor = e.tensorFlops / matmul,
           scalar = e.scalarFlops / roofs.scalar,
           special = e.exponentials / roofs.exponentials;
    e.roofSeconds = std::max(
        e.memorySeconds, roofs.onePipe ? tensor + scalar + special
                                       : std::max({tensor, scalar, special}));
    tensorWork = evaluate(p.tensorFlops, lengths, alive);
    e.tensorSeconds = tensorWork / (matmul * share);
    e.scalarSeconds =
        evaluate(p.scalarFlops, lengths, alive) / (roofs.scalar * share);
    e.exponentialSeconds =
        evaluate(p.exponentials, lengths, alive) / (roofs.exponentials * share);
    e.launchSeconds = roofs.launchSeconds;
  }

  void bind(std::initializer_list<std::pair<double, const char *>> roofs) {
    e.bound = std::max_element(roofs.begin(), roofs.end(),
                               [](const auto &a, const auto &b) {
                                 return a.first < b.first;
                               })
                  ->second;
  }

  void addUp() {
    if (kind == Kind::Row) {
      e.scalarSeconds *= rowWork();
      e.exponentialSeconds *= rowWork();
    }
    bind({{e.memorySeconds, "memory"},
          {e.tensorSeconds, "matmul"},
          {e.scalarSeconds, "f32"},
          {e.exponentialSeconds, "exponentials"},
          {e.launchSeconds, "launch"}});
    e.seconds = std::max(e.memorySeconds, e.tensorSeconds + e.scalarSeconds +
                                              e.exponentialSeconds) +
                e.launchSeconds;
  }

  void overlap() {
    const target::Habits &habits = roofs.habits;
    if (kind == Kind::Matmul) {
      // Scores leave as f32 straight from the accumulators.
      e.memorySeconds = (double(e.bytesRead) +
                         double(e.bytesWritten) / habits.fragmentStores) /
                        roofs.bandwidth;
      e.tensorSeconds /= shareOf(habits.matmulShare, p.tensorUnit);
    }
    if (kind == Kind::Row)
      e.scalarSeconds *= habits.rowOperation * rowWork();
    double compute = kind == Kind::Flash
                         ? flash()
                         : std::max({e.tensorSeconds, e.scalarSeconds,
                                     e.exponentialSeconds});
    double starts = double(blocks) * habits.blockSeconds;
    e.fillSeconds = habits.fillSeconds;
    double body = std::max(together(e.memorySeconds, compute), starts);
    bind({{e.memorySeconds, "memory"},
          {e.tensorSeconds, "matmul"},
          {e.scalarSeconds, "f32"},
          {e.exponentialSeconds, "exponentials"},
          {std::max(starts, e.launchSeconds + e.fillSeconds), "launch"}});
    e.seconds = body + e.fillSeconds + e.launchSeconds;
  }

  /// Two roofs at once: the higher one counts, and more where they are alike.
  double together(double a, double b) const {
    double higher = std::max(a, b), lower = std::min(a, b);
    double exponent = roofs.habits.crowding;
    if (exponent <= 0 || higher <= 0)
      return higher;
    return higher *
           std::pow(1 + std::pow(lower / higher, exponent), 1 / exponent);
  }

  /// Column slots that a row kernel works on over the elements it has: whole
  /// tiles, and twice where a row takes several.
  double rowWork() const {
    if (tile.columns <= 0)
      return 1;
    int64_t length = lengths.at(row);
    if (length <= 0)
      return 1; // No keys.
    double slots = std::ceil(double(length) / double(tile.columns)) *
                   double(tile.columns) / double(length);
    if (length <= tile.columns)
      return slots;
    // Tiles that a fused mask leaves dead are passed over; its operations count
    // live pairs, but a tile that the mask cuts is done whole.
    bool masked = live > 0 && live < 1 &&
                  std::any_of(p.exponentials.begin(), p.exponentials.end(),
                              [](const bundle::Term &term) { return term.live; });
    double alive =
        masked ? std::min(1.0, live + double(tile.columns) / 2 / double(length)) / live
               : 1;
    return 2 * slots * alive;
  }

  double flash() {
    const target::Habits &habits = roofs.habits;
    int64_t resident = residentBlocks();
    // Each key tile rescales the sums: a multiplication for each of them.
    if (tile.columns > 0 && e.exponentials > 0)
      e.scalarSeconds += tensorWork / 4 / double(tile.columns) / roofs.scalar;
    e.tensorSeconds /= shareOf(habits.flashShare, p.tensorUnit);
    double softmax = e.scalarSeconds + e.exponentialSeconds;
    auto found = habits.overlapped.find(p.tensorUnit);
    bool overlapped = found != habits.overlapped.end() && found->second;
    double compute = overlapped ? std::max(e.tensorSeconds, softmax)
                                : e.tensorSeconds + softmax;
    if (!overlapped) {
      int64_t side = std::min(resident, (blocks + roofs.multiprocessors - 1) /
                                            roofs.multiprocessors);
      double warps = double(side) * kernel.threads / 32 / 4; // A scheduler's.
      compute *= 1 + habits.latency / std::pow(std::max(warps, 1.0), 3);
    }
    if (tile.stages == 1)
      compute *= habits.exposedLoads;
    if (live < 1) {
      // The last blocks may be the longest: half of such a one, which shares
      // its multiprocessor, is not hidden behind others.
      double rows = double(blocks) * liveTiles() / roofs.multiprocessors;
      compute *= 1 + 0.5 * double(resident) / std::max(rows, 0.5);
    }
    return compute;
  }

  const bundle::Kernel &kernel;
  const bundle::Prediction &p;
  const Lengths &lengths;
  double live;
  int64_t blocks;
  const target::Roofs &roofs;
  Tile tile;
  std::string row;
  Kind kind;
  double tensorWork = 0; ///< With the dead pairs of live tiles.
  Estimate e;
};
} // namespace

Estimate attn::profile::estimate(const bundle::Kernel &kernel,
                                 const Lengths &lengths, double live,
                                 int64_t blocks, const target::Roofs &roofs) {
  if (blocks == 0) {
    Estimate nothing;
    nothing.bound = "launch";
    return nothing;
  }
  return Estimator(kernel, lengths, live, blocks, roofs).run();
}
