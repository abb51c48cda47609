//===- Estimate.cpp - what a launch will cost, said beforehand ------------===//

#include "lib/Profile/Estimate.h"

#include "lib/Profile/Reuse.h"
#include "lib/Profile/Waves.h"
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
  Estimator(const bundle::Kernel &kernel, const Lengths &lengths,
            const LiveKeys &live, int64_t blocks, const target::Roofs &roofs)
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

  /// The longest axis that scores have and the grid lacks, unless masks name it.
  std::string keyAxis() const {
    if (live.told())
      return live.keyAxis;
    std::string longest;
    for (const bundle::Term &term : p.exponentials)
      for (const std::string &axis : term.axes) {
        bool inGrid = std::any_of(
            kernel.grid.begin(), kernel.grid.end(),
            [&](const bundle::GridAxis &g) { return g.axis == axis; });
        if (!inGrid && (longest.empty() || lengths.at(axis) > lengths.at(longest)))
          longest = axis;
      }
    return longest;
  }

  int64_t keyLength() const {
    std::string axis = keyAxis();
    return axis.empty() ? 0 : lengths.at(axis);
  }

  bool persistent() const { return kernel.persistent > 0; }

  /// The row axis of blocks: the masks', else the first of the grid.
  std::string rowAxis() const {
    return live.told() ? live.rowAxis
           : kernel.grid.empty() ? "" : kernel.grid.front().axis;
  }

  /// A piece of rows, and the tiles of keys that it touches.
  struct Piece {
    double touched = 0, live = 0; ///< In all; those in which every pair is alive.
  };

  Piece keyTiles(int64_t begin, int64_t end, int64_t columns) const {
    int64_t keys = std::max<int64_t>(keyLength(), 0);
    Piece piece;
    piece.touched = double(keysTouched(live, begin, end, columns, keys) / columns);
    if (live.told()) {
      LiveRow core = live.core(begin, end);
      int64_t first = (core.first + columns - 1) / columns;
      piece.live = double(std::max<int64_t>(core.behind / columns - first, 0));
    } else {
      piece.live = piece.touched;
      double dead = live.masked() ? live.pairs : 1; // Blocks are passed over.
      piece.touched *= dead;
      piece.live *= dead;
    }
    return piece;
  }

  /// What each block of rows costs, the sum over pieces of `rows` rows of it, in the
  /// order in which blocks start (the last rows first).
  template <typename Cost>
  Blocks rowCosts(int64_t rows, int64_t columns, Cost cost) const {
    RowBlocks grid = rowBlocks(kernel, lengths, rowAxis());
    std::vector<double> costs;
    for (int64_t block = grid.count() - 1; block >= 0; --block) {
      int64_t begin = block * grid.rows,
              end = std::min(begin + grid.rows, grid.length);
      double sum = 0;
      for (int64_t piece = begin; piece < end; piece += rows)
        sum += cost(keyTiles(piece, std::min(piece + rows, end), columns));
      costs.push_back(sum);
    }
    return inTurns(costs, grid.within, grid.repeats,
                   headsInTurn(kernel, lengths, live));
  }

  /// The tiles that all of them touch.
  double touchedTiles(int64_t rows, int64_t columns) const {
    return rowCosts(rows, columns, [](const Piece &piece) { return piece.touched; })
        .total();
  }

  int64_t blockRows() const {
    return std::max<int64_t>(rowBlocks(kernel, lengths, rowAxis()).rows, 1);
  }

  void count() {
    e.unit = p.tensorUnit;
    int64_t resident = residentBlocks() * roofs.multiprocessors / kernel.cluster;
    e.bytesRead = std::llround(
        roofs.onePipe ? evaluate(p.bytesRead, lengths, live.pairs)
                      : bytesRead(kernel, lengths, live, blocks, resident,
                                  roofs.cacheBytes));
    e.bytesWritten = std::llround(evaluate(p.bytesWritten, lengths, live.pairs));
    e.tensorFlops = evaluate(p.tensorFlops, lengths, live.pairs);
    e.scalarFlops = evaluate(p.scalarFlops, lengths, live.pairs);
    e.exponentials = evaluate(p.exponentials, lengths, live.pairs);

    double share = (kind == Kind::Flash || kind == Kind::Matmul) && !roofs.onePipe
                       ? 1 // Who runs where is told apart.
                       : evenShare(blocks, roofs.multiprocessors);
    e.memorySeconds = double(e.bytes()) / roofs.bandwidth;
    auto peak = roofs.matmul.find(p.tensorUnit);
    matmulRate = peak != roofs.matmul.end() ? peak->second : roofs.scalar;
    e.tensorSeconds = e.tensorFlops / matmulRate;
    e.scalarSeconds = e.scalarFlops / roofs.scalar;
    e.exponentialSeconds = e.exponentials / roofs.exponentials;
    e.roofSeconds = std::max(
        e.memorySeconds,
        roofs.onePipe ? e.tensorSeconds + e.scalarSeconds + e.exponentialSeconds
                      : std::max({e.tensorSeconds, e.scalarSeconds,
                                  e.exponentialSeconds}));
    e.tensorSeconds /= share;
    e.scalarSeconds /= share;
    e.exponentialSeconds /= share;
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
      double slots = slotShare() / (live.pairs > 0 ? livePart() : 1);
      if (row.empty() || lengths.at(row) > tile.columns)
        slots *= 2;
      e.scalarSeconds *= slots;
      e.exponentialSeconds *= slots;
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
    double exponent = habits.crowding;
    e.fillSeconds = habits.fillSeconds;
    if (e.bytesRead == 0) // A mask as a tensor: nothing to wait for.
      e.fillSeconds -= habits.loadSeconds;
    if (kind == Kind::Matmul)
      matmul();
    if (kind == Kind::Row) {
      double slots = slotShare() / livePart();
      e.scalarSeconds *= habits.rowOperation * slots;
      e.exponentialSeconds *= slots;
      exponent = habits.rowCrowding;
    }
    double compute = kind == Kind::Flash
                         ? flash()
                         : std::max({e.tensorSeconds, e.scalarSeconds,
                                     e.exponentialSeconds});
    double starts = double(blocks) * habits.blockSeconds;
    double body = std::max(
        together({e.memorySeconds, e.cacheSeconds, compute}, exponent), starts);
    bind({{e.memorySeconds, "memory"},
          {e.cacheSeconds, "cache"},
          {e.tensorSeconds, "matmul"},
          {e.scalarSeconds, "f32"},
          {e.exponentialSeconds, "exponentials"},
          {std::max(starts, e.launchSeconds + e.fillSeconds), "launch"}});
    e.seconds = body + e.fillSeconds + e.launchSeconds;
  }

  /// Several roofs at once: the highest counts, and more where others are near it.
  static double together(std::initializer_list<double> roofs, double exponent) {
    double highest = std::max(roofs);
    if (exponent <= 0 || highest <= 0)
      return highest;
    double sum = 0;
    for (double roof : roofs)
      sum += std::pow(roof / highest, exponent);
    return highest * std::pow(sum, 1 / exponent);
  }

  /// Of a row kernel's arithmetic, the part that live pairs are counted for.
  double livePart() const {
    return countsLive(p.exponentials) && live.pairs > 0 ? live.pairs : 1;
  }

  /// Column slots that a row kernel works on over (row, key) pairs: whole tiles,
  /// from the one that holds the first key that a row sees. A dead tile is passed over.
  double slotShare() const {
    int64_t length = row.empty() ? 0 : lengths.at(row);
    if (tile.columns <= 0 || length <= 0)
      return livePart();
    auto slots = [&](int64_t keys) {
      return double((keys + tile.columns - 1) / tile.columns * tile.columns) /
             double(length);
    };
    if (livePart() == 1 || !live.told())
      return slots(int64_t(std::llround(livePart() * double(length))));
    double sum = 0;
    for (const LiveRow &told : live.rows)
      sum += slots(told.behind > told.first
                       ? told.behind - told.first / tile.columns * tile.columns
                       : 0);
    return sum / double(live.rows.size());
  }

  void matmul() {
    const target::Habits &habits = roofs.habits;
    // Scores leave as f32 straight from the accumulators, or by the copy engine, which
    // writes a part of a line as slowly as a whole one.
    double stores = tile.grouped
                        ? bytesOfWrittenLines(kernel, lengths) / habits.boxStores
                        : double(e.bytesWritten) / habits.fragmentStores;
    e.memorySeconds = (double(e.bytesRead) + stores) / roofs.bandwidth;
    if (habits.cacheRate > 0)
      e.cacheSeconds = cacheBytesMoved(kernel, lengths, live, blocks) / habits.cacheRate;
    e.tensorSeconds /= shareOf(habits.matmulShare, p.tensorUnit);
    Blocks tiles = {{1}, blocks};
    if (countsLive(p.tensorFlops) && live.told() && live.pairs > 0) {
      e.tensorSeconds *= touchedShare(kernel, lengths, live) / live.pairs;
      // Blocks of rows with few keys are done early.
      if (int64_t rows = rowBlocks(kernel, lengths, live.rowAxis).rows)
        tiles = rowCosts(rows, std::max<int64_t>(tile.depth, 1),
                         [](const Piece &piece) { return piece.touched; });
    }
    double even = tiles.total() / roofs.multiprocessors;
    if (even <= 0)
      return;
    double span = 0;
    if (persistent() && !tile.dynamic) {
      span = strideSpan(tiles, roofs.multiprocessors, kFewShare);
    } else {
      // One of few blocks draws up to twice its even share of a multiprocessor's.
      std::vector<double> throughput;
      int64_t resident = residentBlocks();
      for (int64_t n = 1; n <= resident; ++n)
        throughput.push_back(
            1 - std::pow(1 - double(n) / double(resident), kAloneShare));
      span = makespan(tiles, roofs.multiprocessors, throughput);
    }
    e.memorySeconds *= span / even;
    e.cacheSeconds *= span / even;
    e.tensorSeconds *= span / even;
  }

  /// What a multiprocessor needs for a pair of a score tile, by pipe.
  struct PairSeconds {
    double pairs = 0; ///< In all, dead ones too.
    double tensor = 0, scalar = 0, special = 0;
  };
  PairSeconds perPair() const {
    double pairs = 0;
    for (const std::vector<bundle::Term> *list : {&p.exponentials, &p.scalarFlops})
      for (const bundle::Term &term : *list)
        pairs = std::max(pairs, evaluate({{1, term.axes, false}}, lengths, 1));
    PairSeconds seconds;
    seconds.pairs = pairs;
    if (pairs <= 0)
      return seconds;
    double all = roofs.multiprocessors / pairs;
    seconds.tensor = evaluate(p.tensorFlops, lengths, 1) / matmulRate * all;
    seconds.scalar = evaluate(p.scalarFlops, lengths, 1) / roofs.scalar * all;
    seconds.special = evaluate(p.exponentials, lengths, 1) / roofs.exponentials * all;
    return seconds;
  }

  double flash() {
    auto found = roofs.habits.overlapped.find(p.tensorUnit);
    bool overlapped = found != roofs.habits.overlapped.end() && found->second;
    return overlapped ? besideProducts() : takingTurns();
  }

  /// The softmax of a pair between two products on wgmma: a warp's exponentials wait
  /// for its maxima and multiply-adds, so the pipes' times add up.
  PairSeconds softmaxOf(const PairSeconds &pair, const char *blocks) const {
    PairSeconds seconds = pair;
    auto step = p.steps.find(blocks);
    if (step == p.steps.end()) // The other kind is all there is.
      step = p.steps.begin();
    if (step == p.steps.end()) // A manifest that tells no steps.
      return seconds;
    seconds.scalar = step->second.slots / roofs.scalar * roofs.multiprocessors;
    seconds.special = step->second.special / roofs.exponentials * roofs.multiprocessors;
    return seconds;
  }

  /// Seconds that a multiprocessor's share of memory's rate takes for a tile's own rows
  /// in these tensors: queries, without which no product starts, and results.
  double rowSeconds(const std::vector<bundle::Term> &terms) const {
    double bytes = 0;
    for (const bundle::Term &term : terms)
      if (hasAxis(term, rowAxis()) && !hasAxis(term, keyAxis()))
        bytes += blockBytes(term, kernel, lengths);
    return bytes / roofs.bandwidth * roofs.multiprocessors;
  }

  /// Products on wgmma, the softmax of other warp groups beside them.
  double besideProducts() {
    const target::Habits &habits = roofs.habits;
    int64_t columns = std::max<int64_t>(tile.columns, 1);
    // Warp groups have key limits of their own.
    int64_t rows = tile.grouped ? kGroupRows : blockRows();
    double area = double(rows * columns);
    PairSeconds pair = perPair();
    pair.tensor /= shareOf(habits.flashShare, p.tensorUnit);
    PairSeconds full = softmaxOf(pair, "live"), masked = softmaxOf(pair, "masked");
    // The card's power is what is limited: the tensor pipe's load lowers the clock.
    auto slowed = [&](double time) {
      return time > 0 ? time / (1 - habits.tensorSlowdown * pair.tensor / time) : 0;
    };
    auto beside = [&](const PairSeconds &s) {
      return slowed(together({pair.tensor, s.scalar + s.special}, habits.pipeCrowding));
    };
    double liveStep = area * beside(full), maskedStep = area * beside(masked);
    // A tile's first scores have no product beside their softmax.
    double firstStep = area * slowed(pair.tensor + masked.scalar + masked.special);
    Blocks costs = rowCosts(rows, columns, [&](const Piece &piece) {
      double first = std::min(piece.touched, 1.0);
      double live = std::min(piece.live, piece.touched - first);
      return first * firstStep + live * liveStep +
             (piece.touched - first - live) * maskedStep;
    });
    double touched = touchedTiles(rows, columns) * area / roofs.multiprocessors;
    if (costs.costs.empty()) { // A grid that tells no rows: all even.
      touched = pair.pairs * live.pairs / roofs.multiprocessors;
      costs = {{touched / area * liveStep}, roofs.multiprocessors};
    }
    e.tensorSeconds = touched * pair.tensor;
    e.scalarSeconds = touched * full.scalar;
    e.exponentialSeconds = touched * full.special;
    e.fillSeconds = std::max(habits.mapFillSeconds, habits.fillSeconds);
    // A producer loads keys ahead, and does not wait for stores.
    double queries = rowSeconds(p.bytesRead), results = rowSeconds(p.bytesWritten);
    int64_t resident = persistent() ? 1 : residentBlocks();
    double fill = persistent()
                      ? habits.persistentFill * double(kernel.cluster) +
                            (tile.queriesAhead ? 0 : queries)
                      : (habits.tileFill + queries + results) / double(resident);
    for (double &cost : costs.costs)
      cost += fill;
    return span(costs, std::vector<double>(size_t(resident), 1));
  }

  /// Products on mma.sync, which the same warps do by turns with the softmax.
  double takingTurns() {
    const target::Habits &habits = roofs.habits;
    int64_t columns = std::max<int64_t>(tile.columns, 1);
    int64_t rows = blockRows();
    PairSeconds pair = perPair();
    // Each key tile rescales the sums: a multiplication for each of them.
    if (tile.columns > 0)
      pair.scalar += pair.tensor * matmulRate / 4 / double(columns) / roofs.scalar;
    pair.tensor /= shareOf(habits.flashShare, p.tensorUnit);
    pair.scalar *= habits.flashOperation;
    double step = pair.tensor + pair.scalar + pair.special;
    std::vector<double> throughput(size_t(persistent() ? 1 : residentBlocks()), 1);
    for (size_t n = 0; n < throughput.size(); ++n) {
      double warps = double(n + 1) * kernel.threads / 32 / 4; // A scheduler's.
      throughput[n] = 1 / (1 + habits.latency / std::pow(std::max(warps, 1.0), 3));
      if (tile.stages == 1)
        throughput[n] /= 1 + habits.exposedLoads / std::pow(std::max(warps, 1.0), 2);
    }
    double area = double(rows * columns);
    Blocks costs = rowCosts(rows, columns,
                            [](const Piece &piece) { return piece.touched; });
    if (costs.costs.empty()) // A grid that tells no rows: all even.
      costs = {{pair.pairs * live.pairs / area / roofs.multiprocessors},
               roofs.multiprocessors};
    double tiles = costs.total() * area / roofs.multiprocessors;
    e.tensorSeconds = tiles * pair.tensor;
    e.scalarSeconds = tiles * pair.scalar;
    e.exponentialSeconds = tiles * pair.special;
    for (double &cost : costs.costs)
      cost = cost * area * step + habits.blockFill;
    return span(costs, throughput);
  }

  /// Costs are those of one multiprocessor; a cluster's blocks share them.
  double span(Blocks costs, const std::vector<double> &throughput) const {
    for (double &cost : costs.costs)
      cost /= double(kernel.cluster);
    int workers = std::max(1, roofs.multiprocessors / int(kernel.cluster));
    return persistent() && !tile.dynamic ? strideSpan(costs, workers)
                                         : makespan(costs, workers, throughput);
  }

  static constexpr int64_t kGroupRows = 64; ///< Of a warp group.
  static constexpr double kAloneShare = 2;  ///< Of a block's even share of bandwidth.
  /// Of a multiprocessor's even share, when others are done. Fitted to the value
  /// products of level fused, causal and full at L 512 to 4096 (H200, 2026-12-02):
  /// 2, as for blocks, would tell 4 to 12 % less than was measured.
  static constexpr double kFewShare = 1.25;

  const bundle::Kernel &kernel;
  const bundle::Prediction &p;
  const Lengths &lengths;
  const LiveKeys &live;
  int64_t blocks;
  const target::Roofs &roofs;
  Tile tile;
  std::string row;
  Kind kind;
  double matmulRate = 1; ///< FLOP per second of the unit.
  Estimate e;
};
} // namespace

Estimate attn::profile::estimate(const bundle::Kernel &kernel,
                                 const Lengths &lengths, const LiveKeys &live,
                                 int64_t blocks, const target::Roofs &roofs) {
  if (blocks == 0) {
    Estimate nothing;
    nothing.bound = "launch";
    return nothing;
  }
  return Estimator(kernel, lengths, live, blocks, roofs).run();
}
