//===- ScheduleChooseTest.cpp - which schedule a problem gets -------------===//

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/MeasuredRows.h"

#include <gtest/gtest.h>

using namespace attn;

static Problem matmul(int64_t contracted, int64_t columns, int bytes = 2) {
  return {KernelKind::Matmul, contracted, columns, bytes, bytes == 4, 0};
}

static Problem flash(int64_t contracted, int64_t columns, int bytes = 2) {
  return {KernelKind::Flash, contracted, columns, bytes, bytes == 4, 0};
}

static ScheduleTarget cpu() { return {Unit::Cpu, 101376, false}; }
static ScheduleTarget gpu(bool pipelined = false, int64_t shared = 101376) {
  return {Unit::MmaSync, shared, pipelined};
}

static Schedule chosen(const Problem &problem, const ScheduleTarget &target) {
  auto result = choose(problem, target);
  if (auto *reason = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  return std::get<Schedule>(result);
}

static std::string refused(const Problem &problem, const ScheduleTarget &target) {
  auto result = choose(problem, target);
  auto *reason = std::get_if<std::string>(&result);
  return reason ? *reason : "";
}

/// What every chosen schedule must keep so that the passes can obey it.
static void expectWellFormed(const Problem &problem, const Schedule &s,
                             const ScheduleTarget &target) {
  EXPECT_GE(s.warps, 1);
  EXPECT_LE(s.warps, 32);
  EXPECT_GE(s.stages, 1);
  EXPECT_LE(s.stages, 8);
  if (problem.kind == KernelKind::Matmul || problem.kind == KernelKind::Flash) {
    EXPECT_EQ(s.columns % 16, 0);
    EXPECT_EQ(s.depth % 16, 0);
    EXPECT_EQ(s.outColumns % 16, 0);
    EXPECT_EQ(s.rows % 16, 0);
  }
  if (target.unit == Unit::Cpu)
    return;
  EXPECT_LE(sharedBytes(problem, s), target.sharedPerBlock);
  if (problem.kind == KernelKind::Matmul || problem.kind == KernelKind::Flash)
    EXPECT_EQ(s.rows % (16 * s.warps), 0);
  else
    EXPECT_EQ(s.columns % (32 * s.vector), 0);
}

TEST(Choose, PointwiseTakesWholeRowsOfLanes) {
  Problem problem;
  problem.kind = KernelKind::Pointwise;
  Schedule onGpu = chosen(problem, gpu()), onCpu = chosen(problem, cpu());
  EXPECT_EQ(onGpu.columns, 512);
  EXPECT_EQ(onGpu.rows, onGpu.warps);
  EXPECT_EQ(onCpu.columns, 512);
  EXPECT_EQ(onCpu.warps, 1);
  expectWellFormed(problem, onGpu, gpu());
}

TEST(Choose, SoftmaxRowsShrinkWhenTheScoresNeedRegisters) {
  Problem problem;
  problem.kind = KernelKind::Rows;
  problem.work = 12;
  EXPECT_EQ(chosen(problem, gpu()).columns, 2048);
  problem.work = 13;
  EXPECT_EQ(chosen(problem, gpu()).columns, 512);
  problem.work = 11;
  problem.uneven = true; // Bounds of live keys take some as well.
  EXPECT_EQ(chosen(problem, gpu()).columns, 512);
  EXPECT_EQ(chosen(problem, cpu()).columns, 1024);
}

TEST(Choose, ShortSummedAxisIsOneStep) {
  Schedule s = chosen(matmul(64, 0), gpu());
  EXPECT_EQ(s.depth, 64);
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.columns, 128);
  // Rounded up to what the instruction takes.
  EXPECT_EQ(chosen(matmul(40, 0), gpu()).depth, 48);
  EXPECT_EQ(chosen(matmul(128, 0), gpu()).depth, 128);
}

TEST(Choose, LongSummedAxisStreamsInStages) {
  for (int64_t contracted : {0, 129, 4096}) {
    Schedule s = chosen(matmul(contracted, 64), gpu());
    EXPECT_EQ(s.depth, 64) << contracted;
    EXPECT_EQ(s.stages, 3) << contracted;
    EXPECT_EQ(s.columns, 64) << contracted;
  }
}

TEST(Choose, FloatMatmulRunsOnOrdinaryCores) {
  Schedule s = chosen(matmul(0, 0, 4), gpu());
  EXPECT_EQ(s.rows, 128);
  EXPECT_EQ(s.warps, 8);
  EXPECT_EQ(s.depth, 32);
  EXPECT_EQ(s.columns, 64);
  EXPECT_EQ(s.stages, 2);
}

TEST(Choose, MatmulOnTheCpuNeedsNoStages) {
  Schedule s = chosen(matmul(4096, 256), cpu());
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.columns, 64);
  EXPECT_EQ(s.depth, 64);
}

TEST(Choose, FlashStagesFollowTheLevel) {
  EXPECT_EQ(chosen(flash(64, 64), gpu()).stages, 1);
  EXPECT_EQ(chosen(flash(64, 64), gpu(true)).stages, 2);
  EXPECT_EQ(chosen(flash(64, 64), cpu()).stages, 1);
}

TEST(Choose, FlashOutputTileCoversTheValues) {
  EXPECT_EQ(chosen(flash(64, 64), gpu()).outColumns, 64);
  EXPECT_EQ(chosen(flash(64, 40), gpu()).outColumns, 48);
  EXPECT_EQ(chosen(flash(192, 128), gpu()).outColumns, 128);
  // Beyond 256 columns the output is made in several blocks.
  EXPECT_EQ(chosen(flash(64, 512), gpu()).outColumns, 128);
}

TEST(Choose, WideHeadsGetFewerKeys) {
  EXPECT_EQ(chosen(flash(128, 128), gpu()).columns, 64);
  EXPECT_EQ(chosen(flash(144, 128), gpu()).columns, 32);
  EXPECT_EQ(chosen(flash(64, 256), gpu()).columns, 32);
  EXPECT_EQ(chosen(flash(64, 64, 4), gpu()).columns, 16);
}

TEST(Choose, SharedBytesCountEveryOperand) {
  Schedule s = chosen(flash(64, 64), gpu(true));
  // Queries once, keys and values in each of two stages.
  EXPECT_EQ(sharedBytes(flash(64, 64), s), (64 * 64 + 2 * 64 * 128) * 2);
  s = chosen(matmul(4096, 64), gpu());
  EXPECT_EQ(sharedBytes(matmul(4096, 64), s), 3 * (64 + 64) * 64 * 2);
  EXPECT_EQ(sharedBytes({KernelKind::Rows}, s), 0);
  EXPECT_EQ(sharedBytes({KernelKind::Pointwise}, s), 0);
}

// Stages beyond two go first, then a matmul's depth, keys, the second stage,
// and rows last.
TEST(Choose, GivesUpInOrder) {
  Problem m = matmul(4096, 128); // 3 stages of (64 + 128) x 64 of 2 bytes
  int64_t stage = (64 + 128) * 64 * 2;
  EXPECT_EQ(chosen(m, gpu(false, 3 * stage)).stages, 3);
  Schedule s = chosen(m, gpu(false, 3 * stage - 1));
  EXPECT_EQ(s.stages, 2);
  EXPECT_EQ(s.depth, 64);
  s = chosen(m, gpu(false, 2 * stage - 1));
  EXPECT_EQ(s.stages, 2);
  EXPECT_EQ(s.depth, 32);
  EXPECT_EQ(s.columns, 128);

  Problem f = flash(64, 64); // 64 queries, 2 stages of 64 x 128 of 2 bytes
  int64_t query = 64 * 64 * 2, step = 128 * 2;
  s = chosen(f, gpu(true, query + 2 * 64 * step));
  EXPECT_EQ(s.columns, 64);
  s = chosen(f, gpu(true, query + 2 * 64 * step - 1));
  EXPECT_EQ(s.columns, 32);
  EXPECT_EQ(s.stages, 2);
  s = chosen(f, gpu(true, query + 2 * 16 * step - 1));
  EXPECT_EQ(s.columns, 16);
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.rows, 64);
  s = chosen(f, gpu(true, query + 16 * step - 1));
  EXPECT_EQ(s.rows, 32);
  EXPECT_EQ(s.warps, 2);
}

TEST(Choose, EveryHeadLengthFitsOrSaysWhy) {
  for (int bytes : {2, 4})
    for (bool pipelined : {false, true})
      for (int64_t contracted = 1; contracted <= 1100; contracted += 7)
        for (int64_t columns : {1, 8, 64, 100, 256, 300, 1024}) {
          Problem problem = flash(contracted, columns, bytes);
          auto result = choose(problem, gpu(pipelined));
          if (auto *s = std::get_if<Schedule>(&result))
            expectWellFormed(problem, *s, gpu(pipelined));
          else
            EXPECT_GT(contracted, 256);
          expectWellFormed(problem, chosen(problem, cpu()), cpu());
          problem.kind = KernelKind::Matmul;
          expectWellFormed(problem, chosen(problem, gpu(pipelined)),
                           gpu(pipelined));
        }
}

TEST(Choose, UnknownLengthsOfFlashNameTheFix) {
  EXPECT_EQ(refused(flash(0, 64), gpu()),
            "the axis summed by the first matmul must have a known length; add "
            "it to the where clause or pass --bind AXIS=LENGTH");
  EXPECT_EQ(refused(flash(64, 0), cpu()),
            "the last axis of the value tensor must have a known length; add "
            "it to the where clause or pass --bind AXIS=LENGTH");
}

TEST(Choose, WhatCannotFitNamesAChangeThatFits) {
  std::string reason = refused(flash(2048, 64), gpu());
  EXPECT_EQ(reason, "needs 133120 bytes of shared memory, the target allows "
                    "101376; the smallest change that fits is a head dimension "
                    "of at most 1552");
  chosen(flash(1552, 64), gpu());
  EXPECT_NE(refused(flash(1568, 64), gpu()), "");
}

TEST(Overrides, ReplaceWhatTheyName) {
  Schedule s;
  s.outColumns = 96;
  EXPECT_EQ(applyOverrides("rows=128,columns=32,warps=8,stages=3,depth=16,vector=2", s),
            "");
  Schedule wanted;
  wanted.rows = 128;
  wanted.columns = 32;
  wanted.warps = 8;
  wanted.stages = 3;
  wanted.depth = 16;
  wanted.vector = 2;
  wanted.outColumns = 96;
  EXPECT_TRUE(s == wanted);
  EXPECT_EQ(applyOverrides("", s), "");
  EXPECT_TRUE(s == wanted);
}

TEST(Overrides, WrongItemsAreQuoted) {
  for (const char *text : {"row=64", "rows", "rows=", "rows=x", "rows=0",
                           "rows=-16", "rows=16k", "=4", "rows 64"}) {
    Schedule s;
    EXPECT_EQ(applyOverrides(text, s),
              "schedule override '" + std::string(text) +
                  "' is not understood; write some of rows=N, columns=N, depth=N, "
                  "warps=N, vector=N, stages=N, groups=N, vote=N, turns=N, "
                  "persistent=N, rotate=N, queries=N, held=N, cluster=N, polynomial=N, "
                  "packed=N, sums=N, tanh=N with commas between them (numbers up to 4096)");
  }
}

//===----------------------------------------------------------------------===//
// Warp groups
//===----------------------------------------------------------------------===//

/// A flash problem that the copy engine can fetch.
static Problem boxed(int64_t depth, int64_t width, bool uneven) {
  Problem p;
  p.kind = KernelKind::Flash;
  p.contracted = depth;
  p.columns = width;
  p.boxes = true;
  p.uneven = uneven;
  return p;
}

static const ScheduleTarget kHopper{Unit::Wgmma, 227 * 1024, /*pipelined=*/false};

static std::variant<Schedule, std::string> chooseHopper(const Problem &p) {
  return choose(p, kHopper);
}

/// The same over a table of one row.
static Schedule chooseHopper(const Problem &p, const MeasuredRow &row) {
  return std::get<Schedule>(choose(p, kHopper, {row}));
}

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

TEST(Groups, AFrozenMaximumNeedsPersistentTiles) {
  Problem p = boxed(64, 64, /*uneven=*/false);
  Schedule s = std::get<Schedule>(chooseHopper(p));
  s.vote = 2;
  for (int64_t persistent : {1, 2}) {
    s.persistent = persistent;
    EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  }
  s.persistent = 0;
  EXPECT_NE(checkGroups(p, s, 227 * 1024).find("needs persistent=1 or 2"),
            std::string::npos);
  s.vote = 3;
  EXPECT_NE(checkGroups(p, s, 227 * 1024), "");
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

TEST(Groups, QueriesHaveOneStageOrTwo) {
  Problem p = boxed(64, 64, true);
  Schedule one = std::get<Schedule>(chooseHopper(p)), two = one;
  EXPECT_EQ(applyOverrides("queries=2", two), "");
  EXPECT_EQ(checkGroups(p, two, 227 * 1024), "");
  EXPECT_EQ(sharedBytes(p, two) - sharedBytes(p, one), 64 * one.groups * 64 * 2);
  EXPECT_EQ(applyOverrides("queries=3", two), "");
  EXPECT_EQ(checkGroups(p, two, 227 * 1024),
            "turns, persistent and vote are 0 to 2, rotate, held, sums and tanh 0 or 1, "
            "queries 1 or 2");
  Schedule pipelined =
      chosen(p, ScheduleTarget{Unit::Wgmma, 227 * 1024, /*pipelined=*/true});
  pipelined.queries = 2; // Its tiles do not follow each other.
  EXPECT_NE(checkGroups(p, pipelined, 227 * 1024), "");
}

TEST(Groups, ClustersOfTwoTakeTilesAGridApart) {
  Problem p = boxed(128, 128, /*uneven=*/false);
  Schedule s = std::get<Schedule>(chooseHopper(p));
  EXPECT_EQ(s.cluster, 1);
  EXPECT_EQ(applyOverrides("cluster=2,persistent=1", s), "");
  EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  for (int64_t persistent : {0, 2}) {
    s.persistent = persistent;
    s.vote = 1;
    EXPECT_NE(checkGroups(p, s, 227 * 1024).find("cluster=2 needs persistent=1"),
              std::string::npos);
  }
  s.persistent = 1;
  EXPECT_EQ(applyOverrides("cluster=3", s), "");
  EXPECT_EQ(checkGroups(p, s, 227 * 1024),
            "cluster=3; a cluster has 2 blocks, 1 is none");
  EXPECT_NE(applyOverrides("cluster=0", s), "");
  // Each block still holds whole tiles of keys and values.
  Schedule alone = s;
  s.cluster = 2;
  alone.cluster = 1;
  EXPECT_EQ(sharedBytes(p, s), sharedBytes(p, alone));
  // Without a producer there is nobody to share with, and no tile after the other.
  Schedule own = chosen(p, {Unit::Wgmma, 227 * 1024, /*pipelined=*/true});
  own.cluster = 2;
  EXPECT_NE(checkGroups(p, own, 227 * 1024).find("level specialized"), std::string::npos);
  // Kernels without warp groups have none.
  ScheduleTarget mma{Unit::MmaSync, 99 * 1024, false};
  Schedule plain = chosen(p, mma), two = plain;
  EXPECT_EQ(applyOverrides("cluster=2", two), "");
  EXPECT_NE(checkOverrides(p, plain, two, 99 * 1024).find("are for warp groups"),
            std::string::npos);
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

TEST(Groups, FieldsThatOneLevelDoesNotHave) {
  Problem p = boxed(64, 64, false);
  Schedule roles = std::get<Schedule>(chooseHopper(p));
  EXPECT_EQ(applyOverrides("rotate=0", roles), "");
  EXPECT_EQ(checkGroups(p, roles, 227 * 1024),
            "level specialized always rotates its loop; use level pipelined for "
            "rotate=0");
  Schedule own = chosen(p, {Unit::Wgmma, 227 * 1024, true});
  EXPECT_EQ(applyOverrides("rotate=0", own), "");
  EXPECT_EQ(checkGroups(p, own, 227 * 1024), "");
  for (const char *text : {"turns=1", "persistent=1", "stages=1"}) {
    Schedule s = own;
    EXPECT_EQ(applyOverrides(text, s), "");
    EXPECT_NE(checkGroups(p, s, 227 * 1024).find("use level specialized"),
              std::string::npos)
        << text;
  }
}

TEST(Groups, PolynomialIsAShareOfEight) {
  Problem p = boxed(64, 64, false);
  Schedule s = std::get<Schedule>(chooseHopper(p));
  EXPECT_EQ(applyOverrides("polynomial=8", s), "");
  EXPECT_EQ(s.polynomial, 8);
  EXPECT_NE(checkGroups(p, s, 227 * 1024).find("leaves the polynomials' range"),
            std::string::npos);
  s.vote = 1;
  EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  EXPECT_EQ(applyOverrides("polynomial=9", s), "");
  EXPECT_EQ(checkGroups(p, s, 227 * 1024),
            "polynomial is how many of 8 pairs of probabilities, 0 to 8");
  Schedule older, asked;
  EXPECT_EQ(applyOverrides("polynomial=4", asked), "");
  EXPECT_NE(checkOverrides(p, older, asked, 227 * 1024), "");
}

/// A field of warp groups that is 0 or 1: another schedule with it than without, and
/// refused beyond 1 and where there are no groups. Gives the schedule with it.
static Schedule expectFlagOfGroups(const Problem &p, const std::string &name) {
  Schedule s = std::get<Schedule>(chooseHopper(p)), own = s, older, asked;
  EXPECT_EQ(applyOverrides(name + "=0", own), "");
  EXPECT_EQ(applyOverrides(name + "=1", s), "");
  EXPECT_FALSE(s == own);
  EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  Schedule wrong = s;
  EXPECT_EQ(applyOverrides(name + "=2", wrong), "");
  EXPECT_NE(checkGroups(p, wrong, 227 * 1024).find("rotate, held, sums and tanh 0 or 1"),
            std::string::npos);
  EXPECT_EQ(applyOverrides(name + "=1", asked), "");
  EXPECT_NE(checkOverrides(p, older, asked, 227 * 1024).find("are for warp groups"),
            std::string::npos);
  return s;
}

TEST(Groups, HeldQueriesAreAFlagOfWarpGroups) {
  Problem p = boxed(128, 128, false);
  Schedule own = std::get<Schedule>(chooseHopper(p));
  EXPECT_EQ(own.held, 0);
  EXPECT_EQ(sharedBytes(p, expectFlagOfGroups(p, "held")), sharedBytes(p, own));
}

TEST(Groups, SumsByTheProductAreAFlagOfASoftmax) {
  Problem p = boxed(64, 64, false);
  p.softmax = true;
  Schedule s = expectFlagOfGroups(p, "sums"), own = s;
  EXPECT_EQ(applyOverrides("sums=0", own), "");
  EXPECT_EQ(sharedBytes(p, s) - sharedBytes(p, own), 16 * 64 * 2);
  p.softmax = false;
  EXPECT_EQ(checkGroups(p, own, 227 * 1024), "");
  EXPECT_NE(checkGroups(p, s, 227 * 1024).find("this kernel has no softmax"),
            std::string::npos);
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

TEST(Groups, TanhIsAFlagOfWarpGroups) {
  Problem p = boxed(64, 64, false);
  Schedule s = std::get<Schedule>(chooseHopper(p)), older, asked;
  EXPECT_EQ(applyOverrides("tanh=1", s), "");
  EXPECT_EQ(checkGroups(p, s, 227 * 1024), "");
  EXPECT_EQ(applyOverrides("tanh=2", s), "");
  EXPECT_NE(checkGroups(p, s, 227 * 1024).find("rotate, held, sums and tanh 0 or 1"),
            std::string::npos);
  EXPECT_EQ(applyOverrides("tanh=1", asked), "");
  EXPECT_NE(checkOverrides(p, older, asked, 227 * 1024), "");
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

TEST(Groups, SharedMemoryErrorNamesWhatFits) {
  Problem p = boxed(128, 128, false);
  Schedule s = std::get<Schedule>(chooseHopper(p));
  s.groups = 3;
  s.columns = 80;
  s.stages = 8;
  // Queries 192 x 128, eight stages of keys and values 80 x 128, 2 bytes each,
  // and 1 KiB for signals.
  EXPECT_EQ(sharedBytes(p, s), (192 * 128 + 8 * 80 * 256) * 2 + 1024);
  EXPECT_EQ(checkGroups(p, s, 227 * 1024),
            "needs 377856 bytes of shared memory, a block has 232448; "
            "stages=4,columns=80 would fit");
}

TEST(Overrides, MustDivide) {
  auto error = [](const char *text) {
    Schedule s; // 64 x 64, 4 warps
    return applyOverrides(text, s);
  };
  EXPECT_EQ(error("rows=48"),
            "schedule rows=48,columns=64,warps=4 does not divide: rows must be a "
            "multiple of 16 x warps, columns of 16");
  EXPECT_NE(error("columns=24"), "");
  EXPECT_NE(error("warps=3"), "");
  EXPECT_NE(error("rows=1024,warps=64"), "");
  EXPECT_EQ(error("rows=32,warps=2"), "");
}
