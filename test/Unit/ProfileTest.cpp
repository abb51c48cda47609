//===- ProfileTest.cpp - estimates and what they are made of -------------===//

#include "lib/Profile/Estimate.h"
#include "lib/Profile/Reuse.h"
#include "lib/Profile/Waves.h"
#include "test/Unit/SampleResults.h"
#include "test/Unit/Triangle.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::profile;

/// Queries and results of all ten rows, at 1 kB/s.
constexpr double kRowLoads = 0.08 + 0.04;

namespace {
TEST(Estimate, SumsTermsAndNamesTheSlowestRoof) {
  bundle::Kernel rows = kernel();
  rows.grid = {{"M", 1}};
  target::Roofs roofs = roundRoofs();
  roofs.cacheBytes = 1000; // All keys stay.
  Estimate e = estimate(rows, kLengths, 0.5, 8, roofs);
  EXPECT_EQ(e.bytesRead, 240);
  EXPECT_EQ(e.bytesWritten, 40);
  EXPECT_DOUBLE_EQ(e.tensorFlops, 800);
  EXPECT_DOUBLE_EQ(e.exponentials, 100);
  EXPECT_DOUBLE_EQ(e.memorySeconds, 0.28);
  EXPECT_DOUBLE_EQ(e.tensorSeconds, 8);
  // Ten rows of 21.6 s each on four multiprocessors, no row of which is told:
  // three rounds of half their keys, and the launch.
  EXPECT_DOUBLE_EQ(e.seconds, 3 * (8 + 100) * 4 / 10. + 0.5);
  EXPECT_EQ(e.bound, "exponentials");
}

TEST(Estimate, OnePipeAddsWhatManyPipesOverlap) {
  target::Roofs roofs = roundRoofs();
  roofs.onePipe = true;
  EXPECT_DOUBLE_EQ(estimate(kernel(), kLengths, 0.5, 8, roofs).seconds, 108.5);
}

TEST(Estimate, IdleMultiprocessorsSlowTheArithmetic) {
  bundle::Kernel matmul = kernel();
  matmul.label = "matmul";
  matmul.prediction.exponentials.clear();
  // 5 blocks on 4 multiprocessors take two rounds: 5/8 of the rate.
  EXPECT_DOUBLE_EQ(estimate(matmul, kLengths, 1, 5, roundRoofs()).tensorSeconds,
                   16 / (5.0 / 8));
  EXPECT_DOUBLE_EQ(estimate(matmul, kLengths, 1, 1, roundRoofs()).tensorSeconds, 64);
}

TEST(Tile, IsReadFromTheSchedulesWords) {
  Tile tile = tileOf("tile 64x128, 4 warps, depth 64, 3 stages");
  EXPECT_EQ(tile.rows, 64);
  EXPECT_EQ(tile.columns, 128);
  EXPECT_EQ(tile.depth, 64);
  EXPECT_EQ(tile.stages, 3);
  EXPECT_EQ(tileOf("tile 64x64, 4 warps, 1 stage").stages, 1);
  EXPECT_EQ(tileOf("tile 4x512, 4 warps").stages, 0);
  EXPECT_EQ(tileOf("3 groups x 64x80, 3 stages, vote").rows, 192);
  EXPECT_EQ(tileOf("3 groups x 64x80, 3 stages, vote").columns, 80);
  EXPECT_EQ(tileOf("3 groups x 64x80, 3 stages, vote").stages, 3);
  EXPECT_TRUE(tileOf("3 groups x 64x80, 3 stages, vote").grouped);
  EXPECT_FALSE(tile.grouped || tile.dynamic || tile.queriesAhead);
  EXPECT_EQ(tileOf("rows by hand").columns, 0);
  EXPECT_EQ(tileOf("").rows, 0);
}

TEST(Waves, BlocksStartWhereOneEnds) {
  // 3 + 1 and 2 + 2 on two multiprocessors.
  EXPECT_DOUBLE_EQ(makespan({{3, 2, 2, 1}, 1}, 2, {1}), 4);
  // The long one last.
  EXPECT_DOUBLE_EQ(makespan({{1, 2, 2, 3}, 1}, 2, {1}), 5);
  // Two side by side share one: 1 is done at 2, and the rest of 3 at 4.
  EXPECT_DOUBLE_EQ(makespan({{1, 3}, 1}, 1, {1, 1}), 4);
  // Alone a block gets half of it only.
  EXPECT_DOUBLE_EQ(makespan({{1, 3}, 1}, 1, {0.5, 1}), 2 + 2 / 0.5);
  // Equal blocks end together: the last two get a multiprocessor each.
  EXPECT_DOUBLE_EQ(makespan({{1}, 6}, 2, {0.75, 1}), 2 + 1 / 0.75);
  EXPECT_DOUBLE_EQ(makespan({{1}, 0}, 2, {1}), 0);
  // More blocks than are simulated: two apiece, all alike.
  EXPECT_NEAR(makespan({{1}, 200000}, 100, {1}), 2000, 1e-6);
}

TEST(Waves, PersistentBlocksTakeTilesAGridApart) {
  // Workers do 4 + 2 and 3 + 1, whatever that costs.
  EXPECT_DOUBLE_EQ(strideSpan({{4, 3, 2, 1}, 1}, 2), 6);
  // Four tiles on three workers, three times over.
  EXPECT_DOUBLE_EQ(strideSpan({{4, 1, 1, 1}, 3}, 3), 7);
  // Memory's rate is shared: 4 and 4 until the second is done, then 2 alone, twice
  // as fast.
  EXPECT_DOUBLE_EQ(strideSpan({{4, 3, 2, 1}, 1}, 2, 2), 5);
}

TEST(Estimate, MasksLeaveBlocksOfDifferentLengths) {
  target::Roofs roofs = roundRoofs();
  roofs.multiprocessors = 2;
  bundle::Kernel k = kernel();
  k.schedule = "tile 16x8, 4 warps, 2 stages";
  k.grid = {{"M", 16}};
  // 8, 6, 4 and 2 tiles of 128 pairs: on two multiprocessors ten tiles each. A pair
  // takes 2 * 4 / 100 + 1 s of the device.
  double tile = 2 * 128 * (0.08 + 1);
  EXPECT_NEAR(estimate(k, kSquare, triangle(), 4, roofs).seconds,
              10 * tile + 2 * 10 * 128 * 0.08 * 100 / 4 / 8 / 10 + 0.5, 1e-6);
  // A persistent block takes tiles a grid apart: 8 + 4.
  k.persistent = 1;
  EXPECT_GT(estimate(k, kSquare, triangle(), 2, roofs).seconds, 12 * tile);
  // Both multiprocessors share each of a cluster's: ten tiles each again.
  double apart = estimate(k, kSquare, triangle(), 2, roofs).seconds;
  k.cluster = 2;
  EXPECT_NEAR(estimate(k, kSquare, triangle(), 2, roofs).seconds, apart - 2 * tile,
              0.05 * tile);
}

TEST(Estimate, FlashAddsItsPipesAndSlowsItsClock) {
  target::Roofs roofs = roundRoofs();
  roofs.multiprocessors = 1;
  bundle::Kernel k = kernel();
  k.grid = {{"M", 1}};
  // All pairs alive: 1600 matmul operations at 100/s and 200 exponentials at
  // 1/s take turns.
  EXPECT_NEAR(estimate(k, kLengths, 1, 8, roofs).seconds, 216.5, 1e-9);
  // wgmma runs them side by side, but for each row's first block (here a pair), whose
  // softmax has no product beside it: ten times 0.08 s.
  roofs.habits.overlapped["mma.f16"] = true;
  EXPECT_NEAR(estimate(k, kLengths, 1, 8, roofs).seconds, 200.8 + 0.5 + kRowLoads, 1e-9);
  k.schedule = "tile 1x2, 4 warps, 1 stage"; // Two pairs.
  EXPECT_NEAR(estimate(k, kLengths, 1, 8, roofs).seconds, 201.6 + 0.5 + kRowLoads, 1e-9);
}

TEST(Estimate, ASoftmaxBesideWgmmaCostsWhatItsStepsSay) {
  target::Roofs roofs = roundRoofs();
  roofs.multiprocessors = 1;
  roofs.habits.overlapped["mma.f16"] = true;
  bundle::Kernel k = kernel();
  k.grid = {{"M", 16}};
  k.schedule = "tile 16x8, 4 warps, 2 stages";
  // 8 + 6 + 4 + 2 tiles of 16 x 8; of each block of rows one is its first, one more
  // has dead pairs. A live pair takes 3 slots at 10/s and an exponential at 1/s, a
  // masked one 5 slots; a product, 8 operations at 100/s, is hidden but for the first.
  k.prediction.steps = {{"live", {3, 1}}, {"masked", {5, 1}}};
  double loads = 64 * 4 * 2 / 1000. + 64 * 4 / 1000.;
  double live = 128 * 1.3, masked = 128 * 1.5, first = 128 * (1.5 + 0.08);
  EXPECT_NEAR(estimate(k, kSquare, triangle(), 4, roofs).seconds,
              4 * first + 4 * masked + 12 * live + loads + 0.5, 1e-6);
  // Without masked blocks in the manifest live ones stand for them.
  k.prediction.steps.erase("masked");
  EXPECT_NEAR(estimate(k, kSquare, triangle(), 4, roofs).seconds,
              4 * (live + 128 * 0.08) + 16 * live + loads + 0.5, 1e-6);
  // The tensor pipe is busy for 8 of 130, and takes half as much from the clock.
  roofs.habits.tensorSlowdown = 0.5;
  EXPECT_GT(estimate(k, kSquare, triangle(), 4, roofs).seconds,
            20 * live / (1 - 0.5 * 0.08 / 1.3));
}

TEST(Estimate, TilesOfASectionStartLongestFirst) {
  target::Roofs roofs = roundRoofs();
  roofs.multiprocessors = 4;
  roofs.habits.overlapped["mma.f16"] = true;
  bundle::Kernel k = kernel();
  k.schedule = "1 group x 64x8, 2 stages, dynamic tiles";
  k.persistent = 2;
  k.grid = {{"M", 16}, {"H", 1}};
  k.prediction.bytesRead = {{2, {"H", "M", "D"}, false}, {2, {"H", "N", "D"}, false}};
  k.prediction.tensorFlops = {{2, {"H", "M", "N", "D"}, true}};
  k.prediction.exponentials = {{1, {"H", "M", "N"}, true}};
  std::map<std::string, int64_t> lengths = kSquare;
  lengths["H"] = 3;
  EXPECT_EQ(headsInTurn(k, lengths, triangle()), 3);
  // 8 8 8 6 6 6 4 4 4 2 2 2 on four workers; head after head the last 8 starts late.
  double inTurn = makespan(inTurns({8, 6, 4, 2}, 1, 3, 3), 4, {1});
  double after = makespan(inTurns({8, 6, 4, 2}, 1, 3, 0), 4, {1});
  EXPECT_LT(inTurn, after);
  // A warp group's 64 rows by 8 keys, an exponential a second on four multiprocessors.
  double tile = 4 * 64 * 8;
  double seconds = estimate(k, lengths, triangle(), 12, roofs).seconds;
  EXPECT_GT(seconds, inTurn * tile);
  EXPECT_LT(seconds, after * tile);
  EXPECT_EQ(headsInTurn(k, lengths, 1), 0); // Nothing is masked.
  k.schedule = "tile 16x8, 4 warps";
  EXPECT_EQ(headsInTurn(k, lengths, triangle()), 0); // Blocks in the grid's order.
}

TEST(Waves, HeadsOfASectionTakeTurns) {
  EXPECT_EQ(inTurns({3, 1}, 1, 2, 2).costs, (std::vector<double>{3, 3, 1, 1}));
  // Two sections, and one of a single head behind them.
  Blocks blocks = inTurns({3, 1}, 1, 4, 2);
  EXPECT_EQ(blocks.costs.size(), 4u);
  EXPECT_EQ(blocks.repeats, 2);
  EXPECT_EQ(inTurns({3, 1}, 1, 3, 2).costs, (std::vector<double>{3, 3, 1, 1, 3, 1}));
  // No section: neighbours share their rows.
  EXPECT_EQ(inTurns({3, 1}, 2, 5, 0).costs, (std::vector<double>{3, 3, 1, 1}));
  EXPECT_EQ(inTurns({3, 1}, 2, 5, 0).repeats, 5);
}

TEST(LiveKeys, TheCoreIsWhatAllRowsSee) {
  LiveKeys band(0.5);
  band.rowAxis = "M", band.keyAxis = "N";
  band.rows = {{0, 0, 1}, {8, 4, 9}, {15, 11, 16}};
  EXPECT_EQ(band.core(8, 9).first, 4);
  EXPECT_EQ(band.core(8, 9).behind, 9);
  LiveRow none = band.core(0, 16);
  EXPECT_EQ(none.behind, none.first);
  EXPECT_EQ(band.hull(0, 16).behind, 16);
}

TEST(Estimate, KernelsGoByTheChipsHabits) {
  target::Roofs roofs = roundRoofs();
  roofs.habits.fillSeconds = 0.25;
  roofs.habits.blockSeconds = 10;
  bundle::Kernel copy;
  copy.prediction.bytesRead = {{2, {"M"}, false}};
  // Eight blocks take 80 seconds to start, whatever they do.
  Estimate e = estimate(copy, kLengths, 1, 8, roofs);
  EXPECT_DOUBLE_EQ(e.seconds, 80.75);
  EXPECT_EQ(e.bound, "launch");
  // Two roofs alike crowd each other.
  roofs.habits = {};
  roofs.habits.crowding = 1;
  copy.prediction.scalarFlops = {{0.02, {"M"}, false}};
  copy.prediction.bytesRead = {{2, {"M"}, false}};
  EXPECT_DOUBLE_EQ(estimate(copy, kLengths, 1, 8, roofs).seconds,
                   0.02 + 0.02 + 0.5);
}

TEST(Estimate, AMatmulAsksTheCacheForLines) {
  target::Roofs roofs = roundRoofs();
  bundle::Kernel value = kernel();
  value.label = "matmul";
  value.schedule = "tile 5x4, 4 warps, depth 4, 1 stage";
  value.grid = {{"M", 5}, {"D", 4}};
  value.prediction.exponentials.clear();
  value.prediction.tensorFlops.clear();
  value.prediction.tensorFlops = {{0.001, {"M", "N"}, false}};
  double free = estimate(value, kLengths, 1, 2, roofs).seconds;
  roofs.habits.cacheRate = 10;
  Estimate e = estimate(value, kLengths, 1, 2, roofs);
  // Two blocks: five rows of queries and all keys, and ten sums. Two of the four
  // multiprocessors have none, and their share of the rate stays unused.
  EXPECT_DOUBLE_EQ(e.cacheSeconds,
                   2 * (2 * (5 * 4 * 2 + 20 * 4 * 2) + 10 * 4) / 10.0);
  EXPECT_EQ(e.bound, "cache");
  EXPECT_DOUBLE_EQ(e.seconds, e.cacheSeconds + 0.5);
  EXPECT_LT(free, e.seconds);
}

TEST(Estimate, EmptyGridCostsNothing) {
  Estimate e = estimate(kernel(), kLengths, 1, 0, roundRoofs());
  EXPECT_EQ(e.bytes(), 0);
  EXPECT_EQ(e.seconds, 0);
}
} // namespace
