//===- ScheduleSearchTest.cpp - measured rows and their neighbours --------===//

#include "lib/Schedule/MeasuredRows.h"
#include "lib/Schedule/Search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace attn;

static Problem flash(int64_t depth, int64_t width, bool uneven = false) {
  Problem p;
  p.kind = KernelKind::Flash;
  p.contracted = depth;
  p.columns = width;
  p.boxes = true;
  p.softmax = true;
  p.uneven = uneven;
  return p;
}

static ScheduleTarget hopper(bool pipelined = false) {
  return {Unit::Wgmma, 227 * 1024, pipelined};
}
static ScheduleTarget mma(bool pipelined) {
  return {Unit::MmaSync, 99 * 1024, pipelined};
}
static ScheduleTarget cpu() { return {Unit::Cpu, 0, false}; }

static Schedule chosen(const Problem &p, const ScheduleTarget &t) {
  auto result = choose(p, t);
  EXPECT_TRUE(std::holds_alternative<Schedule>(result));
  return std::get<Schedule>(result);
}

TEST(MeasuredRows, EveryRowIsObeyed) {
  for (const MeasuredRow &row : kMeasuredRows) {
    Problem p = flash(row.depth, row.out, row.uneven);
    Schedule s = chosen(p, hopper(row.pipelined));
    EXPECT_EQ(spellOverrides(s, row.unit), row.schedule);
    EXPECT_EQ(checkGroups(p, s, 227 * 1024), "") << row.schedule;
    // A row says when it was measured, or that it was not.
    EXPECT_EQ(std::string(row.date).empty(),
              std::string(row.figure).rfind("not measured", 0) == 0);
  }
}

TEST(MeasuredRows, NoRowHidesAnother) {
  const size_t count = std::size(kMeasuredRows);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j) {
      const MeasuredRow &a = kMeasuredRows[i], &b = kMeasuredRows[j];
      bool same = a.unit == b.unit && a.pipelined == b.pipelined &&
                  a.bytes == b.bytes && a.uneven == b.uneven;
      EXPECT_FALSE(same && b.depth <= a.depth && b.out <= a.out) << i << " " << j;
    }
}

TEST(MeasuredRows, TheFirstThatCoversWinsAndRulesStayForTheRest) {
  std::vector<MeasuredRow> rows = {
      {Unit::Cpu, false, 2, 64, 64, true, "rows=16,columns=128", "2026-12-02", "a", "b"},
      {Unit::Cpu, false, 2, 128, 128, true, "rows=32,columns=32", "2026-12-02", "a", "b"},
      {Unit::MmaSync, true, 4, 64, 64, true, "columns=32,stages=3", "2026-12-02", "a", "b"}};
  auto made = [&](Problem p, const ScheduleTarget &t) {
    return std::get<Schedule>(choose(p, t, rows));
  };
  EXPECT_EQ(spellOverrides(made(flash(40, 64, true), cpu()), Unit::Cpu),
            "rows=16,columns=128");
  EXPECT_EQ(made(flash(65, 64, true), cpu()).rows, 32);
  // Not covered: wider, without a mask, another element.
  EXPECT_TRUE(made(flash(129, 64, true), cpu()) == chosen(flash(129, 64, true), cpu()));
  EXPECT_TRUE(made(flash(64, 64), cpu()) == chosen(flash(64, 64), cpu()));
  Problem p = flash(64, 64, true);
  EXPECT_EQ(made(p, mma(true)).columns, 64);
  p.bytes = 4;
  EXPECT_EQ(made(p, mma(true)).stages, 3);
  EXPECT_EQ(made(p, mma(false)).stages, 1);
  // Without a row there is no schedule of warp groups with a producer.
  EXPECT_TRUE(std::holds_alternative<std::string>(choose(flash(64, 64), hopper(), rows)));
}

TEST(Overrides, OfWarpGroupsAreRefusedWhereThereAreNone) {
  Problem p = flash(64, 64);
  Schedule before = chosen(p, mma(false)), s = before;
  EXPECT_EQ(applyOverrides("rows=128,warps=8", s), "");
  EXPECT_EQ(checkOverrides(p, before, s, 99 * 1024), "");
  for (const char *text : {"groups=2", "turns=1", "vote=1", "persistent=2", "rotate=0",
                           "sums=1"}) {
    s = before;
    EXPECT_EQ(applyOverrides(text, s), "");
    EXPECT_NE(checkOverrides(p, before, s, 99 * 1024).find("are for warp groups"),
              std::string::npos)
        << text;
  }
}

/// Neighbours can be written, differ from the choice and each other, and fit.
static std::vector<std::string> expectNeighbours(const Problem &p,
                                                 const ScheduleTarget &t) {
  Schedule base = chosen(p, t);
  std::vector<std::string> list = neighbours(p, t, base);
  EXPECT_GE(list.size(), 3u);
  EXPECT_LE(list.size(), 60u);
  EXPECT_EQ(std::set<std::string>(list.begin(), list.end()).size(), list.size());
  for (const std::string &text : list) {
    Schedule s = base;
    EXPECT_EQ(applyOverrides(text, s), "") << text;
    EXPECT_FALSE(s == base) << text;
    EXPECT_EQ(checkOverrides(p, base, s, t.sharedPerBlock), "") << text;
    if (t.unit != Unit::Cpu) {
      EXPECT_LE(sharedBytes(p, s), t.sharedPerBlock) << text;
    }
    EXPECT_EQ(text.rfind(spellOverrides(s, t.unit), 0), 0u) << text;
  }
  return list;
}

TEST(Search, NeighboursCanAllBeWritten) {
  for (int64_t width : {64, 96, 128, 256})
    for (bool uneven : {false, true}) {
      expectNeighbours(flash(width, width, uneven), hopper());
      expectNeighbours(flash(width, width, uneven), hopper(true));
      expectNeighbours(flash(width, width, uneven), cpu());
    }
  for (bool pipelined : {false, true})
    for (int64_t width : {64, 128})
      expectNeighbours(flash(width, width), mma(pipelined));
}

TEST(Search, FindsWhatTheTableHolds) {
  // A row changed in one field is a neighbour away from the row.
  for (const MeasuredRow &row : kMeasuredRows) {
    Problem p = flash(row.depth, row.out, row.uneven);
    Schedule best = chosen(p, hopper()), away = best;
    away.persistent = (best.persistent + 1) % 3;
    std::vector<std::string> list = neighbours(p, hopper(), away);
    EXPECT_NE(std::find(list.begin(), list.end(), row.schedule), list.end())
        << row.schedule;
  }
}

TEST(Search, CapturedTensorsKeepWholeSlabs) {
  Problem p = flash(64, 64);
  p.captured = 2;
  for (const std::string &text : expectNeighbours(p, hopper())) {
    Schedule s = chosen(p, hopper());
    ASSERT_EQ(applyOverrides(text, s), "");
    EXPECT_EQ(s.columns % 64, 0) << text;
  }
}

TEST(Search, ClustersAreANeighbourOfTwoGroups) {
  auto withClusters = [](const Problem &p, const char *overrides) {
    Schedule s = chosen(p, hopper());
    EXPECT_EQ(applyOverrides(overrides, s), "");
    std::vector<std::string> list = neighbours(p, hopper(), s);
    return std::count_if(list.begin(), list.end(), [](const std::string &text) {
      return text.find("cluster=2") != std::string::npos;
    });
  };
  EXPECT_EQ(withClusters(flash(128, 128), "groups=2,persistent=2"), 1);
  EXPECT_EQ(withClusters(flash(256, 256), "groups=2"), 1);
  EXPECT_EQ(withClusters(flash(128, 128), "groups=3,columns=64"), 0);
  // From a cluster on: what takes tiles from a counter has none.
  Schedule s = chosen(flash(256, 256), hopper());
  s.cluster = 2;
  for (const std::string &text : neighbours(flash(256, 256), hopper(), s))
    EXPECT_TRUE(text.find("cluster=2") == std::string::npos ||
                text.find("persistent=1") != std::string::npos)
        << text;
}

TEST(Search, QueriesAreHeldWhereRegistersAllow) {
  auto tried = [](const Problem &p) {
    std::vector<std::string> list = expectNeighbours(p, hopper());
    return std::any_of(list.begin(), list.end(), [](const std::string &text) {
      return text.find(",held=1") != std::string::npos;
    });
  };
  EXPECT_TRUE(tried(flash(128, 128)));  // 2 x 128 keys
  EXPECT_FALSE(tried(flash(256, 256))); // 64 more for the queries alone
  EXPECT_FALSE(tried(flash(64, 64)));   // 4 groups have 112 each
}

TEST(Search, SumsByTheProductAreTriedWhereTheyReplaceOthers) {
  auto tried = [](const Problem &p) {
    std::vector<std::string> list = expectNeighbours(p, hopper());
    return std::any_of(list.begin(), list.end(), [](const std::string &text) {
      return text.find(",sums=1") != std::string::npos;
    });
  };
  Problem p = flash(96, 96);
  EXPECT_TRUE(tried(p));
  p.lse = true;
  EXPECT_FALSE(tried(p));
  p.wide = true; // Then they replace the sums of rounded probabilities.
  EXPECT_TRUE(tried(p));
  p.lse = false; // Now they are the choice.
  std::vector<std::string> list = neighbours(p, hopper(), chosen(p, hopper()));
  EXPECT_TRUE(std::any_of(list.begin(), list.end(), [](const std::string &text) {
    return text.find(",sums=0") != std::string::npos;
  }));
  p.wide = p.softmax = false;
  EXPECT_FALSE(tried(p));
}

TEST(MeasuredRows, SumsByTheProductNeedASoftmaxWithoutExponents) {
  const std::vector<MeasuredRow> table = {
      {Unit::Wgmma, false, 2, 64, 64, true, "groups=4,columns=64,sums=1", "", "", ""}};
  Problem p = flash(64, 64, true);
  auto sumsOf = [&] {
    return std::get<Schedule>(choose(p, hopper(), table)).sums;
  };
  EXPECT_EQ(sumsOf(), 1);
  p.lse = true;
  EXPECT_EQ(sumsOf(), 0);
  p.lse = p.softmax = false;
  EXPECT_EQ(sumsOf(), 0);
}

TEST(Search, NumbersOfAManifestComeBack) {
  Schedule s = chosen(flash(128, 128), hopper());
  std::map<std::string, int64_t> numbers;
  for (const ScheduleField &field : scheduleFields())
    numbers[field.name] = s.*field.member;
  EXPECT_TRUE(scheduleFrom(numbers) == s);
  Problem p = problemFrom({{"contracted", 96}, {"columns", 64}, {"bytes", 4},
                           {"f32", 1}, {"uneven", 1}, {"captured", 2}, {"special", 1}, {"bounded", 1},
                           {"softmax", 1}, {"lse", 1}, {"wide", 1}});
  EXPECT_EQ(p.contracted, 96);
  EXPECT_EQ(p.columns, 64);
  EXPECT_EQ(p.bytes, 4);
  EXPECT_TRUE(p.f32 && p.uneven && p.bounded && p.softmax && p.lse && p.wide && !p.boxes);
  EXPECT_EQ(p.captured, 2);
  EXPECT_EQ(p.special, 1);
}
