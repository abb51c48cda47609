//===- ScheduleGroupsTest.cpp - which schedule of warp groups a problem gets ===//

#include "test/Unit/ScheduleProblems.h"

using namespace attn;

TEST(Groups, EveryWidthHasAScheduleThatFits) {
  for (int64_t depth : {8, 40, 64, 72, 96, 128, 192, 256})
    for (int64_t width : {8, 64, 72, 128, 192, 256})
      for (bool uneven : {false, true}) {
        Problem p = boxed(depth, width, uneven);
        auto chosen = chooseHopper(p);
        ASSERT_TRUE(std::holds_alternative<Schedule>(chosen)) << depth << "/" << width;
        Schedule s = std::get<Schedule>(chosen);
        EXPECT_EQ(checkGroups(p, s, 227 * 1024), "") << depth << "/" << width;
        EXPECT_GE(s.outColumns, width);
        EXPECT_GE(s.vote, 1);
        EXPECT_GE(s.persistent, 1);
      }
}

TEST(Groups, TheMaximumIsNotFrozenWhereScoresDependOnTheKeysPlace) {
  const MeasuredRow row = {Unit::Wgmma, false, 2, 64, 64, false,
                           "groups=4,columns=64,stages=4,vote=2,turns=0,persistent=1",
                           "2026-12-02", "a", "b", "groups=3,vote=1"};
  Problem p = boxed(64, 64, /*uneven=*/false);
  EXPECT_EQ(chooseHopper(p, row).vote, 2);
  p.drifts = true;
  Schedule s = chooseHopper(p, row);
  EXPECT_EQ(s.vote, 1);
  EXPECT_EQ(s.groups, 3);
  // The same of the table itself: a row that freezes says what else to do.
  for (const MeasuredRow &known : kMeasuredRows) {
    Problem own = boxed(known.depth, known.out, known.uneven);
    own.drifts = true;
    EXPECT_LE(std::get<Schedule>(chooseHopper(own)).vote, 1) << known.schedule;
  }
}

TEST(Groups, AWindowAndASlopeFreezeTheMaximumOnTheTilesOfTheVote) {
  const MeasuredRow row = {Unit::Wgmma, false, 2, 128, 128, true,
                           "groups=2,columns=128,stages=2,vote=2,persistent=1",
                           "2026-12-02", "a", "b", "groups=3,columns=64,stages=3,vote=1"};
  for (bool Problem::*kind : {&Problem::window, &Problem::grows}) {
    Problem p = boxed(128, 128, /*uneven=*/true);
    p.*kind = true;
    Schedule s = chooseHopper(p, row);
    EXPECT_EQ(s.vote, 2);
    EXPECT_EQ(s.groups, 3);
    p.drifts = true; // By something else as well.
    EXPECT_EQ(chooseHopper(p, row).vote, 1);
  }
}

TEST(Groups, CapturedTilesComeInWholeSlabsAndFit) {
  for (int64_t captured : {2, 4, 6})
    for (int64_t width : {64, 128, 256}) {
      Problem p = boxed(width, width, /*uneven=*/false);
      p.captured = captured;
      auto result = chooseHopper(p);
      ASSERT_TRUE(std::holds_alternative<Schedule>(result)) << width;
      Schedule s = std::get<Schedule>(result);
      EXPECT_EQ(s.columns % 64, 0) << width;
      EXPECT_LE(s.groups, 3) << width;
      EXPECT_LE(sharedBytes(p, s), 227 * 1024) << width << " " << captured;
      Problem without = p;
      without.captured = 0;
      // Each stage also holds a block's rows of the captured tile.
      EXPECT_EQ(sharedBytes(p, s) - sharedBytes(without, s),
                s.stages * 64 * s.groups * s.columns * captured);
    }
}

TEST(Groups, CapturedTilesTakeTurns) {
  Problem p = boxed(64, 64, false);
  p.captured = 2;
  EXPECT_EQ(std::get<Schedule>(chooseHopper(p)).turns, 2);
}

TEST(Groups, WindowsFetchFurtherAhead) {
  Problem p = boxed(64, 64, true);
  EXPECT_EQ(std::get<Schedule>(chooseHopper(p)).queries, 1);
  p.window = true;
  Schedule s = std::get<Schedule>(chooseHopper(p));
  EXPECT_EQ(s.queries, 2);
  EXPECT_EQ(s.stages, 8);
  EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  p.contracted = p.columns = 128;
  EXPECT_EQ(std::get<Schedule>(chooseHopper(p)).queries, 1);
}

TEST(Groups, PipelinedBringsItsOwnTilesOrKeepsTheOldForm) {
  ScheduleTarget target{Unit::Wgmma, 227 * 1024, /*pipelined=*/true};
  for (int64_t depth : {8, 40, 64, 96, 128, 192, 256})
    for (int64_t width : {8, 64, 128, 192, 256}) {
      Problem p = boxed(depth, width, true);
      Schedule s = chosen(p, target);
      EXPECT_EQ(checkGroups(p, s, 227 * 1024), "") << depth << "/" << width;
      EXPECT_EQ(s.producer, 0);
      EXPECT_GE(s.stages, 2);
      p.boxes = false;
      EXPECT_EQ(chosen(p, target).groups, 0);
    }
}

TEST(Groups, MatmulsOfUnfusedLevels) {
  ScheduleTarget target{Unit::Wgmma, 227 * 1024, false};
  Problem scores;
  scores.kind = KernelKind::Matmul;
  scores.boxes = scores.resultRows = true;
  scores.resultBytes = 4;
  for (int64_t depth : {8, 40, 64, 96, 128, 256}) {
    scores.contracted = depth;
    Schedule s = chosen(scores, target);
    EXPECT_EQ(s.groups, 2) << depth;
    EXPECT_EQ(s.staged, 1);
    EXPECT_GE(s.stages, 2) << depth; // The next tile arrives under this one.
    expectWellFormed(scores, s, target);
  }
  Problem values;
  values.kind = KernelKind::Matmul;
  values.boxes = values.resultRows = true;
  for (int64_t width : {8, 40, 64, 96, 128, 192, 256, 512}) {
    values.columns = width;
    Schedule s = chosen(values, target);
    // 64 x 256 sums do not fit the registers of four groups.
    EXPECT_EQ(s.groups, s.columns <= 128 ? 4 : 2) << width;
    EXPECT_LE(s.columns, 256);
    EXPECT_GE(s.stages, 3) << width;
    expectWellFormed(values, s, target);
  }
  values.boxes = false; // Rows that no tensor map covers.
  EXPECT_EQ(chosen(values, target).groups, 0);
}

TEST(Groups, SumsAreTheProductsWhereThatGained) {
  for (bool pipelined : {false, true})
    for (int64_t width : {64, 128, 256})
      for (bool bounded : {false, true})
        for (bool lse : {false, true})
          for (bool wide : {false, true}) {
            Problem p = boxed(width, width, true);
            p.softmax = true;
            p.bounded = bounded;
            p.special = bounded;
            p.lse = lse;
            p.wide = wide;
            ScheduleTarget target{Unit::Wgmma, 227 * 1024, pipelined};
            bool gains = width == 64 && !lse && bounded == !pipelined;
            EXPECT_EQ(chosen(p, target).sums, wide || gains);
            EXPECT_EQ(chosen(p, {Unit::MmaSync, 101376, true}).sums, 0);
            Problem captured = p, plain = p;
            captured.captured = 2; // No registers.
            EXPECT_EQ(chosen(captured, target).sums, 0);
            plain.softmax = false; // No sums.
            EXPECT_EQ(chosen(plain, target).sums, 0);
          }
}

TEST(Groups, BoundedScoresThatUseTheSpecialUnitSpareIt) {
  for (int64_t width : {64, 128, 256})
    for (bool bounded : {false, true})
      for (int64_t special : {0, 1}) {
        Problem p = boxed(width, width, true);
        p.bounded = bounded;
        p.special = special;
        int64_t wanted = bounded && special;
        EXPECT_EQ(std::get<Schedule>(chooseHopper(p)).tanh, wanted);
        EXPECT_EQ(chosen(p, {Unit::Wgmma, 227 * 1024, true}).polynomial, 4 * wanted);
        EXPECT_EQ(chosen(p, {Unit::MmaSync, 101376, true}).tanh, 0);
      }
}

TEST(Groups, WhatHasNoScheduleSaysWhyAndWhatElse) {
  Problem p = boxed(64, 64, false);
  p.f32 = true;
  EXPECT_EQ(std::get<std::string>(chooseHopper(p)).rfind("wgmma takes 16-bit", 0), 0u);
  p = boxed(64, 64, false);
  p.boxes = false;
  EXPECT_NE(std::get<std::string>(chooseHopper(p)).find("use --target=sm_80"),
            std::string::npos);
  EXPECT_EQ(std::get<std::string>(chooseHopper(boxed(264, 64, false))),
            "head dimensions 264 and 64 are beyond 256; use --target=sm_80");
}
