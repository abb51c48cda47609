//===- GpuLayoutTest.cpp - layouts hold every element once, no conflicts --===//

#include "lib/Codegen/Gpu/Layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

using namespace attn::gpu;

namespace {
/// How many threads hold each element of a tile.
std::vector<int> holders(const ThreadLayout &layout, int64_t rows,
                         int64_t columns) {
  std::vector<int> count(rows * columns);
  for (int64_t thread = 0; thread < layout.threads(); ++thread)
    for (int64_t i = 0; i < layout.rowSlots(rows); ++i)
      for (int64_t k = 0; k < layout.columnSlots(columns); ++k) {
        int64_t row = layout.rowBase(thread) + layout.rowDelta(i);
        int64_t column = layout.columnBase(thread) + layout.columnDelta(k);
        EXPECT_TRUE(row < rows && column < columns)
            << "thread " << thread << " holds " << row << ", " << column;
        if (row < rows && column < columns)
          ++count[row * columns + column];
      }
  return count;
}

std::vector<ThreadLayout> layouts() {
  std::vector<ThreadLayout> list;
  for (int64_t warps : {1, 2, 3, 4, 8, 32}) {
    for (int64_t fragments : {1, 2, 8})
      list.push_back({true, warps, fragments, 4});
    for (int64_t vector : {1, 2, 4, 8})
      list.push_back({false, warps, 1, vector});
  }
  return list;
}
} // namespace

TEST(ThreadLayout, HoldsEveryElementOnce) {
  for (const ThreadLayout &layout : layouts()) {
    int64_t rows = layout.accumulator ? 16 * layout.fragments * layout.warps
                                      : 3 * layout.warps;
    int64_t columns = layout.accumulator ? 24 : 64 * layout.vector;
    ASSERT_TRUE(layout.fitsRows(rows) && layout.fitsColumns(columns));
    for (int count : holders(layout, rows, columns))
      ASSERT_EQ(count, 1) << layout.accumulator << " " << layout.warps << " "
                          << layout.fragments << " " << layout.vector;
  }
}

TEST(ThreadLayout, SlotsOfARunLieSideBySide) {
  for (const ThreadLayout &layout : layouts())
    for (int64_t k = 0; k < 4 * layout.run(); ++k)
      if (k % layout.run())
        EXPECT_EQ(layout.columnDelta(k), layout.columnDelta(k - 1) + 1);
}

TEST(ThreadLayout, OneRowOrColumnAlwaysFits) {
  for (const ThreadLayout &layout : layouts()) {
    EXPECT_TRUE(layout.fitsRows(1) && layout.fitsColumns(1));
    EXPECT_EQ(layout.rowSlots(1), 1);
    EXPECT_EQ(layout.columnSlots(1), 1);
  }
}

TEST(ThreadLayout, RefusesTilesThatDoNotDivide) {
  ThreadLayout fragments{true, 4, 1, 4};
  EXPECT_FALSE(fragments.fitsRows(128)); // Two fragments a warp.
  EXPECT_FALSE(fragments.fitsRows(32));
  EXPECT_FALSE(fragments.fitsColumns(20));
  ThreadLayout rows{false, 4, 1, 4};
  EXPECT_FALSE(rows.fitsRows(6));
  EXPECT_FALSE(rows.fitsColumns(64));
}

// The fragment that the PTX manual draws for mma.m16n8k16's accumulators.
TEST(ThreadLayout, AccumulatorIsTheInstructionsFragment) {
  ThreadLayout layout{true, 1, 1, 4};
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, inGroup = lane % 4;
    for (int64_t c = 0; c < 4; ++c) { // c0 .. c3
      int64_t row = layout.rowBase(lane) + layout.rowDelta(c / 2);
      int64_t column = layout.columnBase(lane) + layout.columnDelta(c % 2);
      EXPECT_EQ(row, group + (c < 2 ? 0 : 8));
      EXPECT_EQ(column, 2 * inGroup + c % 2);
    }
  }
}

static std::vector<StageLayout> stages() {
  std::vector<StageLayout> list;
  for (int64_t bytes : {2, 4})
    for (int64_t columns = 16; columns <= 320; columns += 16)
      list.push_back({32, columns, bytes});
  return list;
}

TEST(StageLayout, PlacesEveryElementOnce) {
  for (const StageLayout &stage : stages()) {
    std::set<int64_t> seen;
    for (int64_t row = 0; row < stage.rows; ++row)
      for (int64_t column = 0; column < stage.columns; ++column) {
        int64_t offset = stage.offset(row, column);
        EXPECT_TRUE(offset >= 0 && offset + stage.elementBytes <= stage.bytes());
        EXPECT_EQ(offset % stage.elementBytes, 0);
        EXPECT_TRUE(seen.insert(offset).second);
      }
  }
}

TEST(StageLayout, ChunksStayWhole) {
  for (const StageLayout &stage : stages())
    for (int64_t row = 0; row < 8; ++row)
      for (int64_t column = 0; column < stage.columns; ++column) {
        int64_t first = column / stage.perChunk() * stage.perChunk();
        EXPECT_EQ(stage.offset(row, column) - stage.offset(row, first),
                  (column - first) * stage.elementBytes);
        EXPECT_EQ(stage.offset(row, first) % 16, 0);
      }
}

static std::set<int64_t> bankGroups(const std::vector<int64_t> &offsets) {
  std::set<int64_t> groups;
  for (int64_t offset : offsets)
    groups.insert(offset / 16 % 8);
  return groups;
}

// The claim at the top of Layout.h.
TEST(StageLayout, MatrixLoadsHaveNoConflict) {
  for (const StageLayout &stage : stages())
    for (int64_t block = 0; block < stage.rows; block += 8)
      for (int64_t chunk = 0; chunk < stage.chunks(); ++chunk) {
        std::vector<int64_t> offsets;
        for (int64_t row = block; row < block + 8; ++row)
          offsets.push_back(stage.offset(row, chunk * stage.perChunk()));
        EXPECT_EQ(bankGroups(offsets).size(), 8u)
            << stage.columns << " columns of " << stage.elementBytes;
      }
}

TEST(StageLayout, CopiesOfWholeLinesHaveNoConflict) {
  for (const StageLayout &stage : stages())
    for (int64_t row = 0; row < stage.rows; ++row)
      for (int64_t chunk = 0; chunk + 8 <= stage.chunks(); chunk += 8) {
        std::vector<int64_t> offsets;
        for (int64_t c = chunk; c < chunk + 8; ++c)
          offsets.push_back(stage.offset(row, c * stage.perChunk()));
        EXPECT_EQ(bankGroups(offsets).size(), 8u);
      }
}

TEST(MatrixOrder, NamesEachRowOfFourMatricesOnce) {
  for (MatrixOrder order : {MatrixOrder::RowsFirst, MatrixOrder::ChunksFirst}) {
    std::set<std::pair<int64_t, int64_t>> seen;
    for (int64_t lane = 0; lane < 32; ++lane) {
      int64_t row = matrixRow(order, lane), chunk = matrixChunk(order, lane);
      EXPECT_TRUE(row < 16 && chunk < 2);
      EXPECT_TRUE(seen.insert({row, chunk}).second);
      // A matrix is eight consecutive rows of one chunk, a lane each.
      EXPECT_EQ(row % 8, lane % 8);
    }
  }
  EXPECT_EQ(matrixRow(MatrixOrder::RowsFirst, 8), 8);
  EXPECT_EQ(matrixChunk(MatrixOrder::RowsFirst, 8), 0);
  EXPECT_EQ(matrixRow(MatrixOrder::ChunksFirst, 8), 0);
  EXPECT_EQ(matrixChunk(MatrixOrder::ChunksFirst, 8), 1);
}

TEST(CopyPlan, CopiesEveryChunkOnce) {
  for (int64_t threads : {32, 96, 128, 256})
    for (StageLayout stage : stages())
      for (int64_t rows : {1, 16, 64, 100}) {
        stage.rows = rows;
        CopyPlan plan(stage, threads);
        EXPECT_LE(plan.threads, threads);
        std::map<std::pair<int64_t, int64_t>, int> seen;
        for (int64_t thread = 0; thread < plan.threads; ++thread)
          for (int64_t i = 0; i < plan.rowSteps; ++i)
            for (int64_t k = 0; k < plan.chunkSteps; ++k) {
              int64_t row = plan.row(stage, thread) + i * plan.rowStep;
              int64_t chunk = plan.chunk(stage, thread) + k * plan.chunkStep;
              if (row < stage.rows && chunk < stage.chunks())
                ++seen[{row, chunk}];
            }
        EXPECT_EQ(seen.size(), size_t(stage.rows * stage.chunks()));
        for (auto &[place, count] : seen)
          ASSERT_EQ(count, 1) << place.first << ", " << place.second;
      }
}
