//===- ProfileTuneTest.cpp - schedules of one level side by side ----------===//

#include "lib/Profile/Tune.h"
#include "lib/Schedule/MeasuredRows.h"
#include "lib/Schedule/Search.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <thread>

using namespace attn;
using namespace attn::profile;

/// `median` with a spread of `share` of it to both sides.
static Summary around(double median, double share) {
  Summary s;
  s.median = median;
  s.lowerQuartile = s.least = median * (1 - share);
  s.upperQuartile = s.most = median * (1 + share);
  s.count = 21;
  return s;
}

/// A schedule that takes `times` beside a default of 1 ms.
static TunedSchedule schedule(const std::string &overrides,
                              std::map<std::string, int64_t> numbers,
                              std::vector<double> times, double share = 0.002) {
  TunedSchedule s;
  s.overrides = overrides;
  s.description = "what it is";
  s.choice.problem = {{"contracted", 128}, {"columns", 128}, {"bytes", 2}, {"uneven", 1}};
  s.choice.schedule = std::move(numbers);
  s.registers = 168;
  for (double t : times)
    s.times.push_back({around(t, share), 1 / t, changeOf(around(1, share), around(t, share))});
  return s;
}

static TuneResults example() {
  TuneResults r;
  r.program = "causal";
  r.target = "sm_90a";
  r.device = "NVIDIA H200";
  r.date = "2026-12-02";
  r.sizes = {"M=1024 N=1024", "M=4096 N=4096"};
  std::map<std::string, int64_t> base = {{"rows", 64}, {"warps", 4}, {"groups", 3},
                                         {"columns", 64}, {"stages", 4}, {"vote", 1},
                                         {"persistent", 2}, {"out", 128}};
  std::map<std::string, int64_t> wide = base;
  wide["columns"] = 80;
  wide["stages"] = 3;
  wide["turns"] = 2;
  r.levels = {{"specialized",
               {schedule("", base, {1, 1}), schedule("columns=80", wide, {0.96, 0.95}),
                schedule("vote=0", base, {0.86, 1.02}), schedule("turns=1", base, {0.9, 0.9})}}};
  r.levels[0].schedules[3].times.clear();
  r.levels[0].schedules[3].failure = "differs from the reference";
  return r;
}

TEST(Tune, TheFastestIsFasterSomewhereAndSlowerNowhere) {
  TuneResults r = example();
  // 0.86 and 1.02 have the better mean, but one size loses.
  EXPECT_GT(meanSpeed(r.levels[0].schedules[2]), meanSpeed(r.levels[0].schedules[1]));
  EXPECT_EQ(fastest(r.levels[0]), 1u);
  // Within the rounds' spread nothing is faster.
  TunedLevel level{"flash", {schedule("", {}, {1}, 0.1), schedule("columns=80", {}, {0.98}, 0.1)}};
  EXPECT_EQ(fastest(level), 0u);
  EXPECT_EQ(meanSpeed(r.levels[0].schedules[3]), 0);
}

TEST(Tune, TheRowIsOneOfTheTable) {
  TuneResults r = example();
  std::string row = measuredRow(r, r.levels[0], 1);
  EXPECT_EQ(row,
            "{Unit::Wgmma, false, 2, 128, 128, true,\n"
            " \"groups=3,columns=80,stages=3,vote=1,turns=2,persistent=2\",\n"
            " \"2026-12-02\", \"NVIDIA H200\",\n"
            " \"1.042, 1.053 of groups=3,columns=64,stages=4,vote=1,turns=0,persistent=2; "
            "causal; --tune at M=1024 N=1024, M=4096 N=4096\"},");
  // Put into a table, the choice is what was timed.
  MeasuredRow made{Unit::Wgmma, false, 2, 128, 128, true,
                   "groups=3,columns=80,stages=3,vote=1,turns=2,persistent=2",
                   "2026-12-02", "NVIDIA H200", ""};
  Problem p = problemFrom(r.levels[0].schedules[1].choice.problem);
  p.boxes = true;
  auto chosen = choose(p, {Unit::Wgmma, 227 * 1024, false}, {made});
  ASSERT_TRUE(std::holds_alternative<Schedule>(chosen));
  EXPECT_TRUE(std::get<Schedule>(chosen) ==
              scheduleFrom(r.levels[0].schedules[1].choice.schedule));
  EXPECT_NE(measuredRow(r, r.levels[0], 0).find("none of 3 others is faster"),
            std::string::npos);
  r.target = "cpu";
  r.levels[0].schedules[1].choice.schedule = {{"rows", 16}, {"columns", 128}};
  EXPECT_EQ(measuredRow(r, r.levels[0], 1).rfind("{Unit::Cpu, false, 2, 128, 128, true,\n "
                                                 "\"rows=16,columns=128\"", 0), 0u);
}

TEST(Tune, TableAndJsonSayWhatFailed) {
  TuneResults r = example();
  std::string table = tuneTable(r);
  EXPECT_NE(table.find("turns=1: differs from the reference\n"), std::string::npos);
  EXPECT_NE(table.find("fastest: columns=80"), std::string::npos);
  EXPECT_NE(table.find("1.042 +"), std::string::npos);
  EXPECT_NE(table.find("0.980 -"), std::string::npos);
  auto json = nlohmann::json::parse(tuneJson(r));
  EXPECT_EQ(json["levels"][0]["fastest"], 1);
  EXPECT_EQ(json["levels"][0]["schedules"][1]["times"][0]["change"]["significant"], true);
  EXPECT_EQ(json["levels"][0]["schedules"][3]["times"].size(), 0u);
  EXPECT_EQ(json["date"], "2026-12-02");
  // A default that fails leaves nothing to compare with.
  r.levels[0].schedules[0].times.clear();
  r.levels[0].schedules[0].failure = "no memory";
  EXPECT_NE(tuneTable(r).find("default: no memory"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(tuneJson(r))["levels"][0].contains("row"));
}

TEST(Rounds, EveryWayRunsOnceARoundInChangingOrder) {
  auto device = runtime::openCpu(1);
  std::vector<int> order;
  auto way = [&](int number, int microseconds) {
    return [&order, number, microseconds] {
      order.push_back(number);
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    };
  };
  TimingOptions options;
  options.warmup = 0;
  options.repeats = 9;
  RoundsTiming timing =
      timeRounds(*device, {way(0, 200), way(1, 2000), way(2, 200)}, options, 7);
  ASSERT_EQ(timing.times.size(), 3u);
  EXPECT_EQ(timing.times[1].count, 9);
  EXPECT_EQ(timing.ratios[0], 1);
  EXPECT_GT(timing.ratios[1], 1.5);
  ASSERT_EQ(order.size(), 3u * 10); // One round to see how long it takes.
  std::set<std::vector<int>> orders;
  for (size_t i = 3; i < order.size(); i += 3) {
    std::vector<int> round(order.begin() + i, order.begin() + i + 3);
    orders.insert(round);
    std::sort(round.begin(), round.end());
    EXPECT_EQ(round, (std::vector<int>{0, 1, 2}));
  }
  EXPECT_GT(orders.size(), 1u);
}
