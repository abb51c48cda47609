//===- ProfileTrafficTest.cpp - which bytes come from memory, how often ---===//

#include "lib/Profile/Reuse.h"
#include "lib/Profile/SecondReading.h"
#include "test/Unit/Triangle.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::profile;

namespace {
TEST(Traffic, AnOperandThatTheCacheForgetsIsReadAgain) {
  bundle::Kernel mask;
  mask.grid = {{"N", 4}, {"M", 2}, {"B", 1}};
  mask.prediction.bytesRead = {{4, {"B", "M", "N"}, false},
                               {4, {"M", "N"}, false}};
  mask.prediction.bytesWritten = {{4, {"B", "M", "N"}, false}};
  std::map<std::string, int64_t> lengths{{"B", 8}, {"M", 10}, {"N", 20}};
  // One step of B touches 2400 bytes: a large cache keeps the mask, a small one
  // reads it for every batch.
  EXPECT_DOUBLE_EQ(bytesRead(mask, lengths, 1, 400, 8, 100000), 6400 + 800);
  EXPECT_DOUBLE_EQ(bytesRead(mask, lengths, 1, 400, 8, 1000), 6400 + 8 * 800);
}

TEST(Traffic, ARowIsReadTwice) {
  bundle::Kernel softmax;
  softmax.schedule = "tile 1x8, 1 warps";
  softmax.grid = {{"M", 1}};
  softmax.prediction.bytesRead = {{4, {"M", "N"}, false}};
  softmax.prediction.bytesWritten = {{4, {"M", "N"}, false}};
  softmax.prediction.exponentials = {{2, {"M", "N"}, false}};
  EXPECT_EQ(walkedAxis(softmax), "N");
  std::map<std::string, int64_t> shortRow{{"M", 100}, {"N", 8}};
  std::map<std::string, int64_t> longRow{{"M", 100}, {"N", 16}};
  // Also one that fits its tile: registers do not keep it.
  EXPECT_DOUBLE_EQ(bytesRead(softmax, shortRow, 1, 100, 10, 1), 2 * 3200);
  EXPECT_DOUBLE_EQ(bytesRead(softmax, longRow, 1, 100, 10, 1), 2 * 6400);
  EXPECT_DOUBLE_EQ(bytesRead(softmax, longRow, 1, 100, 10, 1 << 20), 6400);
  // In between, a share of it is gone.
  EXPECT_EQ(goneShare(31, 100), 0);
  EXPECT_NEAR(goneShare(58.5, 100), 0.5, 1e-9);
  EXPECT_EQ(goneShare(86, 100), 1);
}

TEST(LiveKeys, AHullIsWhatOneOfTheRowsSees) {
  LiveKeys live = triangle();
  EXPECT_EQ(live.hull(8, 16).first, 0);
  EXPECT_EQ(live.hull(8, 16).behind, 16); // Row 15, between told ones.
  EXPECT_EQ(live.hull(16, 48).behind, 48);
  // A window: the first row's first key, the last row's last.
  live.rows = {{0, 0, 1}, {63, 56, 64}};
  EXPECT_EQ(live.hull(0, 64).first, 0);
  EXPECT_EQ(live.hull(60, 64).behind, 64);
  // Rows that see nothing add nothing.
  live.rows = {{0, 0, 0}, {63, 10, 20}};
  EXPECT_EQ(live.hull(0, 64).first, 10);
}

TEST(Traffic, ABlockReadsTheKeyStepsThatOneOfItsRowsSees) {
  bundle::Kernel value;
  value.schedule = "tile 16x4, 4 warps, depth 8, 1 stage";
  value.grid = {{"D", 4}, {"M", 16}};
  value.prediction.bytesRead = {{1, {"M", "N"}, true}};
  value.prediction.tensorFlops = {{2, {"M", "N", "D"}, true}};
  EXPECT_EQ(keysTouched(triangle(), 16, 32, 8, 64), 32);
  EXPECT_EQ(keysTouched(triangle(), 0, 3, 8, 64), 8);
  EXPECT_EQ(keysTouched(LiveKeys(1), 0, 3, 8, 60), 64); // A whole last step.
  // 16, 32, 48 and 64 keys of 64.
  EXPECT_DOUBLE_EQ(touchedShare(value, kSquare, triangle()), 160.0 / 256);
  EXPECT_DOUBLE_EQ(bytesRead(value, kSquare, triangle(), 4, 4, 1 << 20), 2560);
  // Without rows, what the fraction says.
  EXPECT_DOUBLE_EQ(touchedShare(value, kSquare, 0.5), 0.5);
}

TEST(Traffic, ARowKernelLoadsFromTheStartOfATile) {
  // A window of 16 keys: the tile that holds its first key is loaded from its start.
  EXPECT_EQ(keysLoaded({40, 25, 41}, 32), 48); // 0 .. 47
  EXPECT_EQ(keysLoaded({50, 35, 51}, 32), 32); // 32 .. 63
  EXPECT_EQ(keysLoaded({50, 35, 51}, 0), 29);  // No tiles: 35 .. 63.
  EXPECT_EQ(keysLoaded({0, 9, 9}, 32), 0);
  bundle::Kernel softmax;
  softmax.schedule = "tile 1x32, 1 warps";
  softmax.grid = {{"M", 1}};
  softmax.prediction.bytesRead = {{1, {"M", "N"}, true}};
  softmax.prediction.bytesWritten = {{1, {"M", "N"}, false}};
  softmax.prediction.exponentials = {{2, {"M", "N"}, true}};
  LiveKeys live(0.25);
  live.rowAxis = "M";
  live.keyAxis = "N";
  for (int64_t m = 0; m < 64; ++m)
    live.rows.push_back({m, std::max<int64_t>(0, m - 15), m + 1});
  // Rows 0-15 load 16, 16-31 32, 32-46 48 (from key 0), 47 16 and 48-63 32 keys.
  double once = 16 * 16 + 16 * 32 + 15 * 48 + 16 + 16 * 32;
  EXPECT_DOUBLE_EQ(touchedShare(softmax, kSquare, live), once / (64 * 64));
  // And read twice where the cache is too small.
  EXPECT_DOUBLE_EQ(bytesRead(softmax, kSquare, live, 64, 64, 1), 2 * once);
}

TEST(Reuse, KeysAreReadAgainWhenTooMuchPassedInBetween) {
  KeyWalks walks;
  walks.rows = {{0, 4}, {0, 4}};
  walks.workers = 2;
  walks.sharedBytes = 10;
  walks.ownBytes = 100;
  // Two workers side by side: the second one comes by at once.
  EXPECT_DOUBLE_EQ(readAgain(walks, 100), 0);
  // One after the other: a whole block's bytes pass.
  walks.workers = 1;
  EXPECT_DOUBLE_EQ(readAgain(walks, 300), 1);
  EXPECT_DOUBLE_EQ(readAgain(walks, 10000), 0);
  // Rows that see other keys share nothing.
  walks.rows = {{0, 4}, {4, 8}};
  EXPECT_DOUBLE_EQ(readAgain(walks, 1), 0);
  EXPECT_DOUBLE_EQ(readAgain({}, 1), 0);
}

TEST(Reuse, ASectionsHeadsTakeTurns) {
  KeyWalks walks;
  walks.rows = {{0, 1}, {0, 1}};
  walks.heads = 4;
  walks.sharedBytes = 100;
  // Head by head nothing passes in between; in turns of four heads three do.
  EXPECT_DOUBLE_EQ(readAgain(walks, 100), 0);
  walks.section = 4;
  EXPECT_DOUBLE_EQ(readAgain(walks, 300), 1);
  EXPECT_DOUBLE_EQ(readAgain(walks, 1000), 0);
  // Each head does each block of rows: keys that only one of them sees come once.
  walks.rows = {{0, 1}, {1, 2}};
  EXPECT_DOUBLE_EQ(readAgain(walks, 1), 0);
  // Two workers a stride apart are at the same keys only if they start together.
  walks.section = 1;
  walks.workers = 2;
  walks.stride = true;
  walks.ownBytes = 100;
  walks.rows = {{0, 2}, {0, 4}};
  double apart = readAgain(walks, 240);
  walks.rows = {{0, 4}, {0, 4}};
  EXPECT_GT(apart, readAgain(walks, 240));
}

TEST(Reuse, LongLengthsAreToldByTheFirstSections) {
  KeyWalks walks;
  for (int64_t row = 1; row <= 256; ++row)
    walks.rows.push_back({0, row});
  walks.heads = int64_t(1) << 40;
  walks.section = 8;
  walks.workers = 132;
  walks.sharedBytes = 1;
  EXPECT_DOUBLE_EQ(readAgain(walks, int64_t(1) << 40), 0);
  // And by larger steps: two blocks of all keys, each far more than the cache holds.
  walks.rows.assign(2, {0, int64_t(1) << 40});
  walks.workers = 1;
  EXPECT_DOUBLE_EQ(readAgain(walks, 1 << 20), 1);
}

TEST(Reuse, OnlyMaskedTilesOfWarpGroupsTakeTurns) {
  bundle::Kernel flash;
  flash.schedule = "2 groups x 8x16, 2 stages, persistent";
  flash.persistent = 1;
  flash.grid = {{"M", 16}, {"H", 1}};
  flash.prediction.bytesRead = {{2, {"H", "M", "D"}, false},
                                {2, {"H", "N", "D"}, false},
                                {2, {"H", "N", "D"}, false}};
  flash.prediction.bytesWritten = {{2, {"H", "M", "D"}, false}};
  flash.prediction.tensorFlops = {{2, {"H", "M", "N", "D"}, true}};
  std::map<std::string, int64_t> lengths = kSquare;
  lengths["H"] = 3;
  KeyWalks walks = keyWalks(flash, lengths, triangle(), 132);
  ASSERT_EQ(walks.rows.size(), 4u);
  EXPECT_EQ(walks.rows[0].behind, 1);
  EXPECT_EQ(walks.rows[3].behind, 4);
  EXPECT_EQ(walks.heads, 3);
  EXPECT_EQ(walks.section, 3); // All fit.
  EXPECT_TRUE(walks.stride);
  EXPECT_DOUBLE_EQ(walks.sharedBytes, 16 * 4 * 2 * 2);
  EXPECT_DOUBLE_EQ(walks.ownBytes, 0);
  EXPECT_DOUBLE_EQ(walks.tileBytes, 16 * 4 * 2 * 2);
  // Q once; K and V, 512 bytes a head, as often as the walks say.
  double once = 3 * 3 * 512, kv = 2 * 3 * 512;
  EXPECT_DOUBLE_EQ(bytesRead(flash, lengths, triangle(), 12, 1, 1 << 20), once);
  KeyWalks alone = keyWalks(flash, lengths, triangle(), 1);
  EXPECT_GT(readAgain(alone, 1000), 0);
  EXPECT_DOUBLE_EQ(bytesRead(flash, lengths, triangle(), 12, 1, 1000),
                   once + kv * readAgain(alone, 1000));
  flash.schedule += ", dynamic tiles";
  EXPECT_FALSE(keyWalks(flash, lengths, triangle(), 132).stride);
  EXPECT_TRUE(keyWalks(flash, lengths, 0.5, 132).rows.empty());
  flash.schedule = "tile 16x16, 4 warps, 2 stages";
  EXPECT_TRUE(keyWalks(flash, lengths, triangle(), 132).rows.empty());
  // Heads that share keys are left to the other rule.
  flash.schedule = "2 groups x 8x16, 2 stages";
  flash.prediction.bytesRead[1].axes = {"N", "D"};
  EXPECT_TRUE(keyWalks(flash, lengths, triangle(), 132).rows.empty());
}

TEST(SecondReading, WhatIsReadAgainTakesAPlaceToo) {
  EXPECT_EQ(goneSecondTime(17, 17, 100), 0);
  EXPECT_NEAR(goneSecondTime(0, 56, 100), 0.235, 1e-9); // A counted point.
  EXPECT_EQ(goneSecondTime(0, 150, 100), 1);
  EXPECT_EQ(goneSecondTime(1, 1, 0), 1); // No cache.
  // The share agrees with itself: results do not come back, rows do.
  EXPECT_NEAR(goneSecondTime(0, 85, 100), 0.60, 1e-9);
  // Full attention at L 5000, f32 scores and 16-bit results: 0.55 were counted.
  EXPECT_NEAR(goneSecondTime(41.7, 20.8, 100), 0.55, 0.10);
  double rows = goneSecondTime(80, 0, 100);
  EXPECT_GT(rows, 0.99);
  double few = goneSecondTime(38, 0, 100);
  EXPECT_GT(few, goneSecondTime(0, 38, 100));
  EXPECT_NEAR(few, goneSecondTime(0, 38 * (1 + few), 100), 1e-4);
  for (double bytes = 0; bytes < 200; bytes += 1)
    EXPECT_LE(goneSecondTime(bytes, bytes / 2, 100),
              goneSecondTime(bytes + 1, bytes / 2, 100));
}

TEST(SecondReading, ALongRowOutlivesItsShorterNeighbours) {
  bundle::Kernel softmax;
  softmax.schedule = "tile 1x1, 1 warps";
  softmax.grid = {{"M", 1}};
  softmax.prediction.bytesRead = {{4, {"M", "N"}, true}};
  softmax.prediction.bytesWritten = {{2, {"M", "N"}, false}};
  softmax.prediction.exponentials = {{2, {"M", "N"}, true}};
  std::map<std::string, int64_t> lengths{{"M", 64}, {"N", 64}};
  LiveKeys live = triangle();
  // Rows of half the keys: 8192 bytes pass, a third of the cache, which keeps all.
  constexpr int64_t kCache = 25000;
  EXPECT_EQ(readAgainInRows(softmax, lengths, live.pairs, 64, 64, kCache), 0);
  // The longest row's second reading comes after twice as much.
  double mixed = readAgainInRows(softmax, lengths, live, 64, 64, kCache);
  EXPECT_GT(mixed, 0.05 * 4 * 64 * 64 / 2);
  EXPECT_LT(mixed, 0.40 * 4 * 64 * 64 / 2);
  // Few rows under way are as long as each other.
  EXPECT_EQ(readAgainInRows(softmax, lengths, live, 64, 4, kCache / 8), 0);
  // All is read twice where nothing is kept.
  EXPECT_NEAR(readAgainInRows(softmax, lengths, live, 64, 64, 1),
              readAgainInRows(softmax, lengths, live, 64, 64, 0), 1e-6);
}

TEST(Traffic, RowsThatBeginWithinLinesTakeMoreOfThem) {
  bundle::Kernel value;
  value.schedule = "tile 16x64, 4 warps, depth 64, 3 stages";
  value.grid = {{"D", 64}, {"M", 16}};
  value.prediction.bytesRead = {{2, {"M", "N"}, false}, {2, {"N", "D"}, false}};
  value.prediction.bytesWritten = {{2, {"M", "D"}, false}};
  value.prediction.tensorFlops = {{2, {"M", "N", "D"}, false}};
  auto moved = [&](int64_t keys) {
    std::map<std::string, int64_t> lengths{{"M", 32}, {"N", keys}, {"D", 64}};
    return cacheBytesMoved(value, lengths, 1, 2);
  };
  // Two blocks: each its rows of probabilities, all values; results once.
  double results = 32 * 64 * 2, values = 2 * 64 * 2;
  EXPECT_DOUBLE_EQ(moved(128), 128 * (32 * 2 + values) + results);
  // Rows 272 bytes apart start at every multiple of 16: seven of eight pieces of 128
  // bytes span two lines.
  EXPECT_DOUBLE_EQ(moved(136), 136 * (32 * 2 * (1 + 7 / 8.0) + values) + results);
  // At every multiple of 64: every other one.
  EXPECT_DOUBLE_EQ(moved(160), 160 * (32 * 2 * 1.5 + values) + results);
  // A row that one step takes whole lies side by side with the next.
  EXPECT_DOUBLE_EQ(moved(40), 40 * (32 * 2 + values) + results);
}

TEST(Traffic, PiecesOfResultsMayShareALine) {
  bundle::Kernel scores;
  scores.schedule = "2 groups x 64x32, depth 64, 4 stages, persistent";
  scores.grid = {{"M", 128}, {"N", 32}};
  scores.prediction.bytesWritten = {{4, {"M", "N"}, false}};
  auto lines = [&](int64_t keys) {
    return bytesOfWrittenLines(scores, {{"M", 128}, {"N", keys}}) /
           (4.0 * 128 * double(keys));
  };
  // Pieces of 128 bytes: whole lines, from the middle of one to that of the next every
  // other row, and at each 32 bytes.
  EXPECT_DOUBLE_EQ(lines(64), 1);
  EXPECT_DOUBLE_EQ(lines(48), 1.5);
  EXPECT_DOUBLE_EQ(lines(40), 1.75);
  EXPECT_DOUBLE_EQ(lines(24), 1); // No second piece.
}

TEST(Traffic, TheCopyEngineFetchesBesideRows) {
  bundle::Kernel value;
  value.schedule = "4 groups x 64x64, depth 64, 5 stages, persistent";
  value.grid = {{"M", 256}, {"D", 64}};
  value.prediction.tensorFlops = {{2, {"M", "N", "D"}, false}};
  value.prediction.bytesRead = {{2, {"M", "N"}, false}};
  value.prediction.bytesWritten = {{2, {"M", "D"}, false}};
  auto read = [&](int64_t keys) {
    std::map<std::string, int64_t> lengths{{"M", 256}, {"N", keys}, {"D", 64}};
    return bytesRead(value, lengths, 1, 1, 8, 1 << 30) / (2.0 * 256 * double(keys));
  };
  EXPECT_DOUBLE_EQ(read(256), 1);
  EXPECT_DOUBLE_EQ(read(40), 1); // One step: rows lie side by side.
  // Rows 10000 bytes apart begin at all multiples of 16 of 256 bytes, 640 apart at 0
  // and 128.
  EXPECT_NEAR(read(5000), 1 + 240 / 10000.0, 1e-9);
  EXPECT_NEAR(read(320), 1 + 128 / 640.0, 1e-9);
  // Rows of 512 bytes of which masks leave 64 keys from the 64th on: half of what is
  // fetched, twice.
  LiveKeys live(0.25);
  live.rowAxis = "M";
  live.keyAxis = "N";
  live.rows = {{0, 64, 128}, {255, 64, 128}};
  value.prediction.tensorFlops[0].live = value.prediction.bytesRead[0].live = true;
  std::map<std::string, int64_t> lengths{{"M", 256}, {"N", 256}, {"D", 64}};
  EXPECT_DOUBLE_EQ(bytesRead(value, lengths, live, 1, 8, 1 << 30), 256 * 256);
  value.schedule = "tile 64x64, 4 warps, depth 64, 3 stages"; // Loads of its own.
  value.prediction.tensorFlops[0].live = value.prediction.bytesRead[0].live = false;
  EXPECT_DOUBLE_EQ(read(5000), 1);
}

TEST(Traffic, TheCacheGivesWhatRowsThatSeeKeysTouch) {
  bundle::Kernel value;
  value.schedule = "tile 16x4, 4 warps, depth 8, 1 stage";
  value.grid = {{"D", 4}, {"M", 16}};
  value.prediction.bytesRead = {{1, {"M", "N"}, true}};
  value.prediction.tensorFlops = {{2, {"M", "N", "D"}, true}};
  // 160 of 256 steps; no piece of 8 bytes of these rows spans two lines.
  EXPECT_DOUBLE_EQ(cacheBytesMoved(value, kSquare, triangle(), 4), 64 * 64 * 160 / 256.0);
}
} // namespace
