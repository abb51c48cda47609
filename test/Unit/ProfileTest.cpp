//===- ProfileTest.cpp - estimates, units, tables, traces -----------------===//

#include "lib/Profile/Compare.h"
#include "lib/Profile/CpuRoofs.h"
#include "lib/Profile/Cupti.h"
#include "lib/Profile/Diff.h"
#include "lib/Profile/Reason.h"
#include "lib/Profile/Report.h"
#include "lib/Profile/Reuse.h"
#include "lib/Profile/Table.h"
#include "lib/Profile/Units.h"
#include "lib/Profile/Waves.h"
#include "test/Unit/Triangle.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

using namespace attn;
using namespace attn::profile;

/// Round numbers: 1 kB/s, 100 FLOP/s of matmul, 10 of f32, 1 exponential/s.
static target::Roofs roundRoofs() {
  target::Roofs roofs;
  roofs.bandwidth = 1000;
  roofs.matmul["mma.f16"] = 100;
  roofs.scalar = 10;
  roofs.exponentials = 1;
  roofs.launchSeconds = 0.5;
  roofs.multiprocessors = 4;
  roofs.cacheBytes = 100;
  return roofs;
}

static bundle::Kernel kernel() {
  bundle::Kernel k;
  k.symbol = "flash_0";
  k.label = "flash";
  k.prediction.tensorUnit = "mma.f16";
  k.prediction.bytesRead = {{2, {"M", "D"}, false}, {2, {"N", "D"}, false}};
  k.prediction.bytesWritten = {{4, {"M"}, false}};
  k.prediction.tensorFlops = {{2, {"M", "N", "D"}, true}};
  k.prediction.exponentials = {{1, {"M", "N"}, true}};
  return k;
}
/// Queries and results of all ten rows, at 1 kB/s.
constexpr double kRowLoads = 0.08 + 0.04;
static const std::map<std::string, int64_t> kLengths{
    {"M", 10}, {"N", 20}, {"D", 4}};

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

TEST(Summary, QuartilesInterpolate) {
  Summary s = summarize({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.least, 1);
  EXPECT_DOUBLE_EQ(s.most, 4);
  EXPECT_DOUBLE_EQ(s.lowerQuartile, 1.75);
  EXPECT_EQ(s.count, 4);
  EXPECT_DOUBLE_EQ(summarize({7}).median, 7);
}

TEST(Units, ThreeDigitsWithTheUnitThatFits) {
  EXPECT_EQ(humanTime(0.0123), "12.3 us");
  EXPECT_EQ(humanTime(10.06), "10.1 ms");
  EXPECT_EQ(humanTime(0.9999), "1.00 ms");
  EXPECT_EQ(humanTime(1234), "1.23 s");
  EXPECT_EQ(humanTime(0), "0");
  EXPECT_EQ(humanBytes(999), "999 B");
  EXPECT_EQ(humanBytes(67108864), "67.1 MB");
  EXPECT_EQ(humanBytes(99.96e6), "100 MB");
  EXPECT_EQ(humanFlops(5.42e13), "54.2 TF/s");
  EXPECT_EQ(humanMiss(0.034), "+3 %");
  EXPECT_EQ(humanMiss(-0.12), "-12 %");
  EXPECT_EQ(humanMiss(0.004), "0 %");
  EXPECT_EQ(humanMiss(41), "x42.0");
}

TEST(Table, ColumnsAlign) {
  EXPECT_EQ(alignColumns({{"a", "b", "c"}, {"long", "22", "x y"}, {"z"}}, 1),
            "a      b  c\nlong  22  x y\nz\n");
}

static Results results() {
  Results r;
  r.spec = "causal.attn";
  r.program = "causal";
  r.target = "sm_80";
  r.device = "NVIDIA H200";
  r.binds = {{"B", "4"}, {"slope", "0.5"}};
  r.live = 0.5;
  r.gpu = true;
  r.roofs = roundRoofs();
  LevelResult level;
  level.name = "flash";
  level.launches = 1;
  level.hostMicroseconds = 2.5;
  level.check = Check::Passed;
  level.error = 1e-3;
  KernelResult k;
  k.symbol = "causal_flash";
  k.label = "flash";
  k.schedule = "tile 128x64";
  k.blocks = 8;
  k.predicted = estimate(kernel(), kLengths, 0.5, 8, r.roofs);
  k.measured = summarize({134500});
  k.registers = 240;
  k.sharedBytes = 65536;
  k.occupancy = target::Occupancy{1, 8, 0.125, "registers"};
  k.reason = likeliestReason(k, r.roofs);
  level.predictedMs = k.predicted.seconds * 1e3;
  level.measured = k.measured;
  level.kernels = {k};
  LevelResult failed;
  failed.name = "fused";
  failed.check = Check::Failed;
  failed.failure = "o[0, 3] is 2, the reference is 1";
  r.levels = {level, failed};
  return r;
}

TEST(Table, ShowsLevelsKernelsFailuresMissesAndTheOccupancyNote) {
  std::string text = table(results(), true);
  auto has = [&](const char *piece) {
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  };
  has("causal: sm_80 code on NVIDIA H200");
  has("masks leave 50.0 % of the pairs alive");
  has("+24 % !");
  has("ok 1.0e-03");
  has("FAILED");
  has("fused: o[0, 3] is 2, the reference is 1");
  has("misses over 10 %, worst first");
  has("the exponentials pipe is 74 % busy");
  has("12 % occupancy (registers) is right here");
  has("65.5 kB");
  has("tile 128x64");
  // A level that failed has no figures.
  EXPECT_EQ(table(results(), false).find("tile 128x64"), std::string::npos);
}

TEST(Json, HoldsTheContractFields) {
  nlohmann::json j = nlohmann::json::parse(resultsJson(results()));
  EXPECT_EQ(j["spec"], "causal.attn");
  EXPECT_EQ(j["target"], "sm_80");
  EXPECT_EQ(j["device"], "NVIDIA H200");
  EXPECT_EQ(j["binds"]["B"], 4);
  EXPECT_EQ(j["binds"]["slope"], 0.5);
  const auto &level = j["levels"][0];
  EXPECT_EQ(level["name"], "flash");
  EXPECT_EQ(level["launches"], 1);
  EXPECT_DOUBLE_EQ(level["measured"], 134500);
  EXPECT_DOUBLE_EQ(level["predicted"], 108500);
  EXPECT_DOUBLE_EQ(level["error"], 1e-3);
  EXPECT_TRUE(level["bytes"].is_number_integer());
  EXPECT_EQ(level["bytes"], 280);
  EXPECT_EQ(level["kernels"][0]["registers"], 240);
  EXPECT_EQ(level["kernels"][0]["occupancy"]["limiter"], "registers");
  EXPECT_TRUE(j["levels"][1]["measured"].is_null());
  EXPECT_EQ(j["levels"][1]["check"], "failed");
}

static Summary spreadOf(double median, double share, int count) {
  Summary s;
  s.median = median;
  s.lowerQuartile = median * (1 - share);
  s.upperQuartile = median * (1 + share);
  s.count = count;
  return s;
}

TEST(Compare, AChangeWithinTheSpreadIsNotSignificant) {
  auto near = changeOf(spreadOf(10, 0.05, 20), spreadOf(10.2, 0.05, 20));
  EXPECT_NEAR(near->change, 0.02, 1e-12);
  EXPECT_FALSE(near->significant());
  // The same change with a tenth of the spread is.
  auto far = changeOf(spreadOf(10, 0.005, 20), spreadOf(10.2, 0.005, 20));
  EXPECT_TRUE(far->significant());
  EXPECT_LT(far->least, 0.02);
  EXPECT_GT(far->most, 0.02);
  // Both directions are alike.
  auto back = changeOf(spreadOf(10.2, 0.005, 20), spreadOf(10, 0.005, 20));
  EXPECT_NEAR((1 + back->least) * (1 + far->most), 1, 1e-12);
  // Two samples tell nothing, none of 0 either.
  EXPECT_FALSE(changeOf(spreadOf(1, 0, 2), spreadOf(9, 0, 2))->significant());
  EXPECT_FALSE(changeOf(spreadOf(0, 0, 9), spreadOf(9, 0, 9)));
  // No spread at all: any change counts.
  EXPECT_TRUE(changeOf(spreadOf(1, 0, 9), spreadOf(1.01, 0, 9))->significant());
}

TEST(Compare, PairsLevelsByNameAndKernelsByLabel) {
  std::string text = resultsJson(results());
  Comparison same = compareRuns("a", text, "", "b", text, "");
  EXPECT_TRUE(same.differences.empty());
  ASSERT_EQ(same.levels.size(), 2u);
  EXPECT_EQ(same.levels[0].change->change, 0);
  EXPECT_FALSE(same.levels[1].change);
  EXPECT_EQ(same.levels[1].failureA, "o[0, 3] is 2, the reference is 1");
  Results other = results();
  other.device = "CPU";
  other.levels.erase(other.levels.begin());
  Comparison less = compareRuns("a", text, "", "b", resultsJson(other), "");
  ASSERT_EQ(less.differences.size(), 1u);
  EXPECT_EQ(less.differences[0].what, "device");
  EXPECT_EQ(less.levels[0].b, "");
  // One level of each pairs whatever the names are.
  Comparison levels = compareRuns("a", text, "flash", "a", text, "fused");
  ASSERT_EQ(levels.levels.size(), 1u);
  EXPECT_EQ(levels.levels[0].kernels[0].b, "");
  EXPECT_NE(comparisonTable(levels).find("flash -> fused"), std::string::npos);
  EXPECT_THROW(compareRuns("a", text, "slow", "b", text, ""),
               std::runtime_error);
  EXPECT_THROW(compareRuns("a", text.substr(0, 90), "", "b", text, ""),
               std::runtime_error);
  EXPECT_THROW(compareRuns("a", "[1]", "", "b", text, ""), std::runtime_error);
  EXPECT_THROW(
      compareRuns("a", R"({"levels":[{"name":3}]})", "", "b", text, ""),
      std::runtime_error);
}

TEST(Diff, HunksCarryContextAndPlaces) {
  EXPECT_EQ(unifiedDiff("a\nb\nc\n", "a\nb\nc\n", 3), "");
  EXPECT_EQ(unifiedDiff("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n", 1),
            "@@ -2,3 +2,3 @@\n b\n-c\n+X\n d\n");
  EXPECT_EQ(unifiedDiff("", "n\n", 3), "@@ -1,0 +1,1 @@\n+n\n");
  // Two far changes make two hunks, near ones make one.
  std::string lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  EXPECT_EQ(unifiedDiff(lines, "0\n" + lines + "10\n", 1),
            "@@ -1,1 +1,2 @@\n+0\n 1\n@@ -9,1 +10,2 @@\n 9\n+10\n");
  EXPECT_EQ(unifiedDiff("1\n2\n3\n", "0\n1\n2\n3\n4\n", 2),
            "@@ -1,3 +1,5 @@\n+0\n 1\n 2\n 3\n+4\n");
}

static LevelResult levelOf(const std::vector<std::string> &labels) {
  LevelResult level;
  for (const std::string &label : labels) {
    KernelResult kernel;
    kernel.label = label;
    level.kernels.push_back(kernel);
  }
  return level;
}

TEST(Report, StepsNameTheKernelsThatWentOrMerged) {
  LevelResult naive =
      levelOf({"matmul", "scale", "copy", "mask", "softmax", "matmul"});
  LevelResult inplace =
      levelOf({"matmul", "scale", "mask", "softmax", "matmul"});
  std::vector<Regroup> gone = regrouped(naive, inplace);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].before, "copy");
  EXPECT_EQ(gone[0].after, "");
  std::vector<Regroup> merged = regrouped(inplace, levelOf({"flash"}));
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].before, "matmul, scale, mask, softmax, matmul");
  EXPECT_EQ(merged[0].after, "flash");
  EXPECT_TRUE(regrouped(naive, naive).empty());
}

TEST(Report, PageHoldsItsDataWithoutEndingTheScript) {
  Results r = results();
  r.levels[1].failure = "</script><!-- \"q\", @DATA@";
  LevelTrace trace{&r.levels[0], {{1, 3, 5, 9}}};
  Step step;
  step.to = 1;
  step.stage = "fused";
  step.diff = "-a\n+b\n";
  std::string json = reportJson({r, {trace}, {step}});
  nlohmann::json j = nlohmann::json::parse(json);
  EXPECT_EQ(j["timeline"][0]["level"], 0);
  EXPECT_EQ(j["timeline"][0]["spans"][0]["device"][1], 9);
  EXPECT_EQ(j["steps"][0]["from"], "flash");
  EXPECT_EQ(j["steps"][0]["diff"], "-a\n+b\n");
  EXPECT_EQ(j["roofs"]["matmul"]["mma.f16"], 100);
  std::string page = reportPage(json);
  size_t begin = page.find("id=\"data\">"), end = page.find("</script>");
  ASSERT_NE(begin, std::string::npos);
  begin += std::string("id=\"data\">").size();
  ASSERT_LT(begin, end);
  EXPECT_EQ(nlohmann::json::parse(page.substr(begin, end - begin)), j);
}

TEST(Report, CsvQuotesWhatNeedsIt) {
  Results r = results();
  r.levels[1].failure = "o[0, 3] is \"2\"";
  std::string levels = levelsCsv(r), kernels = kernelsCsv(r);
  EXPECT_NE(levels.find(",\"o[0, 3] is \"\"2\"\"\"\r\n"), std::string::npos)
      << levels;
  EXPECT_NE(kernels.find("flash,flash,causal_flash,8,1,108500,134500,"),
            std::string::npos)
      << kernels;
}

TEST(Trace, LanesNestAndArrowsMatch) {
  Results r = results();
  LevelTrace trace{&r.levels[0], {{1, 3, 5, 9}}};
  LevelTrace later{&r.levels[0], {{1, 3, 5, 9}}};
  nlohmann::json j = nlohmann::json::parse(traceJson(r, {trace, later}));
  std::map<int, double> lastEnd;
  std::map<int, int> starts, finishes;
  double previous = -1;
  int slices = 0;
  for (const auto &event : j["traceEvents"]) {
    std::string phase = event["ph"];
    if (phase == "s")
      ++starts[event["id"]];
    if (phase == "f")
      ++finishes[event["id"]];
    if (phase != "X")
      continue;
    ++slices;
    EXPECT_GT(event["dur"], 0);
    if (event["tid"] == 2 && event["name"] == "flash" &&
        event["args"].contains("predicted_ms")) {
      EXPECT_GT(event["ts"], previous); // Levels follow one another.
      previous = double(event["ts"]) + double(event["dur"]);
    }
  }
  EXPECT_EQ(slices, 6);
  EXPECT_EQ(starts, finishes);
  EXPECT_EQ(starts.size(), 2u);
}

TEST(Cupti, KnowsEveryCounterOnHopper) {
  std::string why;
  std::set<std::string> metrics = countableMetrics("GH100", why);
  if (metrics.empty())
    GTEST_SKIP() << why;
  EXPECT_TRUE(metrics.count("dram__bytes_read.sum"));
  EXPECT_TRUE(metrics.count("smsp__warps_issue_stalled_gmma.sum"));
  EXPECT_EQ(metrics.size(), 24u);
}

TEST(Reason, CountersSayWhatAKernelWaitsFor) {
  Results r = results();
  KernelResult &k = r.levels[0].kernels[0];
  k.counted = Counters{};
  k.counted->stalls = {{"barrier", 0.4}};
  EXPECT_NE(likeliestReason(k, r.roofs).find("warps wait for barrier 40 %"),
            std::string::npos);
  k.predicted.bound = "memory";
  k.counted->bytesRead = 400;
  k.counted->bytesWritten = 40;
  k.counted->l2Hits = 0.25;
  EXPECT_NE(likeliestReason(k, r.roofs).find("440 B were counted, +57 % of"),
            std::string::npos)
      << likeliestReason(k, r.roofs);
}

TEST(Reason, TheCacheIsNamedWhereItIsShort) {
  Results r = results();
  KernelResult &k = r.levels[0].kernels[0];
  k.predicted.bound = "cache";
  k.predicted.cacheSeconds = k.measured->median * 1e-3 / 2;
  EXPECT_EQ(likeliestReason(k, r.roofs).find("lines of the L2 cache pass at 50 % of"), 0u)
      << likeliestReason(k, r.roofs);
  k.predicted.bound = "memory";
  k.predicted.memorySeconds = k.predicted.cacheSeconds;
  k.predicted.tensorSeconds = k.predicted.scalarSeconds = k.predicted.exponentialSeconds = 0;
  EXPECT_NE(likeliestReason(k, r.roofs).find("are not hidden behind memory"),
            std::string::npos)
      << likeliestReason(k, r.roofs);
}

TEST(Reason, ALaterLaunchTellsThatTheDeviceWasCold) {
  Results r = results();
  KernelResult &k = r.levels[0].kernels[0];
  double predicted = k.predicted.seconds * 1e3;
  ASSERT_GT(k.measured->median, 1.1 * predicted);
  k.activity = Activity{};
  k.activity->milliseconds = 1.02 * predicted;
  EXPECT_NE(likeliestReason(k, r.roofs).find("had not warmed up"), std::string::npos);
  // A later one that is as slow says nothing of that.
  k.activity->milliseconds = k.measured->median;
  EXPECT_EQ(likeliestReason(k, r.roofs).find("warmed"), std::string::npos);
}

TEST(Reason, AFusedKernelThatIsFastBlamesNoSingleRate) {
  Results r = results();
  KernelResult &k = r.levels[0].kernels[0];
  k.measured = summarize({k.predicted.seconds * 0.7e3});
  EXPECT_EQ(likeliestReason(k, r.roofs),
            "matmuls and softmax overlap better than the table says");
}

/// Results of one kernel on a CPU.
static Results cpuResults(const std::string &bound, double roofSeconds,
                          double measuredMs) {
  Results r;
  r.roofs.onePipe = true;
  r.roofs.multiprocessors = 2;
  r.roofs.cacheBytes = 1000;
  KernelResult k;
  k.label = "copy";
  k.blocks = 8;
  k.predicted.bound = bound;
  k.predicted.bytesRead = 800;
  k.predicted.roofSeconds = k.predicted.seconds = roofSeconds;
  k.predicted.memorySeconds = bound == "memory" ? roofSeconds : roofSeconds / 2;
  k.predicted.launchSeconds = bound == "launch" ? roofSeconds / 2 : 0;
  k.measured = summarize({measuredMs});
  k.reason = likeliestReason(k, r.roofs);
  LevelResult level;
  level.name = "naive";
  level.kernels = {k};
  r.levels = {level};
  return r;
}

TEST(Reason, OnACpuNoneIsAGpus) {
  for (const char *bound : {"memory", "matmul", "f32", "exponentials", "launch"})
    for (double measuredMs : {500., 2000.}) {
      std::string reason =
          cpuResults(bound, 1, measuredMs).levels[0].kernels[0].reason;
      EXPECT_NE(reason, "") << bound;
      for (const char *word : {"overlap", "pipe", "matmul unit", "warp", "table",
                               "first loads", "multiprocessor"})
        EXPECT_EQ(reason.find(word), std::string::npos) << bound << ": " << reason;
    }
}

TEST(Reason, AShareOfTheRooflineOverAHundredPerCentIsExplained) {
  EXPECT_EQ(aboveRoofNote(cpuResults("memory", 1, 1500)), "");
  // 800 bytes fit the cache of 1000, whose rate is not the roof's.
  Results cached = cpuResults("memory", 1, 500);
  EXPECT_EQ(aboveRoofNote(cached), "in cache: naive copy: the operands stay in the cache "
                                   "(1.00 kB), the roof is that of memory\n");
  EXPECT_NE(table(cached, true).find("in cache  "), std::string::npos);
  EXPECT_EQ(table(cached, true).find("200 %"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(reportJson({cached, {}, {}}))["above_roof"],
            aboveRoofNote(cached));
  // Beyond the cache, or bound by arithmetic, it is the roof that was too low.
  Results large = cached;
  large.roofs.cacheBytes = 700;
  for (const Results &r : {large, cpuResults("matmul", 1, 500)}) {
    EXPECT_EQ(aboveRoofNote(r).find("over 100 % of the roofline: naive copy: the rates "
                                    "were measured just before"),
              0u)
        << aboveRoofNote(r);
    EXPECT_NE(table(r, true).find("200 %"), std::string::npos);
  }
}

TEST(CpuRoofs, AreOfThisWorld) {
  target::Roofs roofs = measureCpuRoofs(2, 32 << 20);
  EXPECT_GT(roofs.bandwidth, 1e8);
  EXPECT_LT(roofs.bandwidth, 5e12);
  EXPECT_GT(roofs.matmul.at("fma.f32"), 1e9);
  EXPECT_LT(roofs.matmul.at("fma.f32"), 1e13);
  EXPECT_LT(roofs.launchSeconds, 0.01);
}
} // namespace
