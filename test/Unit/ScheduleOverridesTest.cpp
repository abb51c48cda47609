//===- ScheduleOverridesTest.cpp - schedules that a user writes ----------===//

#include "test/Unit/ScheduleProblems.h"

using namespace attn;

TEST(Overrides, ReplaceWhatTheyName) {
  Schedule s;
  s.outColumns = 96;
  EXPECT_EQ(applyOverrides("rows=128,columns=32,warps=8,stages=3", s), "");
  Schedule wanted;
  wanted.rows = 128;
  wanted.columns = 32;
  wanted.warps = 8;
  wanted.stages = 3;
  wanted.outColumns = 96;
  EXPECT_TRUE(s == wanted);
  EXPECT_EQ(applyOverrides("", s), "");
  EXPECT_TRUE(s == wanted);
}

TEST(Overrides, WrongItemsAreQuoted) {
  // The last three are fields, which other kernels have or which follow from others.
  for (const char *text : {"row=64", "rows", "rows=", "rows=x", "rows=0",
                           "rows=-16", "rows=16k", "=4", "rows 64", "depth=32",
                           "vector=8", "out=64"}) {
    Schedule s;
    EXPECT_EQ(applyOverrides(text, s),
              "schedule override '" + std::string(text) +
                  "' is not understood; write some of rows=N, columns=N, "
                  "warps=N, stages=N, groups=N, vote=N, turns=N, persistent=N, rotate=N, "
                  "queries=N, held=N, cluster=N, polynomial=N, packed=N, sums=N, tanh=N with commas between them (numbers up to 4096)");
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
  EXPECT_EQ(checkGroups(p, pipelined, 227 * 1024).find("queries=2: a block of level pipelined "
                                                       "computes one tile"),
            0u);
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
  for (std::string text : {"turns=1", "persistent=1", "stages=1", "queries=2"}) {
    Schedule s = own;
    EXPECT_EQ(applyOverrides(text, s), "");
    std::string why = checkGroups(p, s, 227 * 1024);
    EXPECT_EQ(why.find(text + ": "), 0u) << why;
    EXPECT_NE(why.find("or use level specialized"), std::string::npos) << why;
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

TEST(Overrides, WhatTheCodeWillNotShowIsTold) {
  auto idle = [](const Problem &p, const ScheduleTarget &t, const char *text) {
    Schedule base = chosen(p, t), s = base;
    EXPECT_EQ(applyOverrides(text, s), "");
    std::string all;
    for (const std::string &one : idleOverrides(p, t.unit, base, s))
      all += one.substr(0, one.find(':')) + "; ";
    return all;
  };
  Problem p = flash(64, 64);
  EXPECT_EQ(idle(p, cpu(), "rows=32,columns=32,warps=2,stages=3"),
            "warps=2 has no effect on target cpu, where one thread computes a tile and "
            "nothing is copied ahead; stages=3 has no effect on target cpu, where one thread "
            "computes a tile and nothing is copied ahead; ");
  EXPECT_EQ(idle(p, gpu(), "rows=32,columns=32,warps=2,stages=3"), "");
  Problem softmax = boxed(64, 64, false);
  softmax.softmax = true;
  EXPECT_EQ(idle(softmax, kHopper, "vote=0,polynomial=2,turns=0,persistent=0,stages=2"), "");
  EXPECT_EQ(idle(softmax, kHopper, "tanh=1"), "tanh=1 has no effect; ");
  Problem cap = softmax;
  cap.tanh = cap.bounded = true;
  cap.special = 1;
  EXPECT_EQ(idle(cap, kHopper, "tanh=0"), "");
  int64_t other = 1 - chosen(cap, kHopper).vote;
  EXPECT_EQ(idle(cap, kHopper, ("vote=" + std::to_string(other)).c_str()),
            "vote=" + std::to_string(other) + " has no effect; ");
  Problem sigmoid = boxed(64, 64, false);
  EXPECT_EQ(idle(sigmoid, kHopper, "vote=1,polynomial=3"),
            "polynomial=3 has no effect; vote=1 has no effect; ");
}
