//===- ProfileTimelineTest.cpp - recorded buffers, decoded ----------------===//

#include "lib/Bundle/Timeline.h"
#include "lib/Profile/Json.h"
#include "lib/Profile/Table.h"
#include "lib/Profile/Timeline.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <map>

using namespace attn;
using namespace attn::profile;
using bundle::LaneHeader;

namespace {
/// Three lanes with room for four stamps, as a kernel would write them. Phases: 0 setup,
/// 1 load_wait, 2 score.
class Recording {
public:
  Recording() {
    stamps.lanes = 3;
    stamps.steps = 4;
    stamps.phases = {"setup", "load_wait", "score"};
    stamps.roles = {"producer", "consumer 1"};
    bytes.resize(size_t(bundle::timelineBytes(stamps.lanes, stamps.steps)));
  }
  /// A lane at 2 clocks a nanosecond; `made` are phase and clock.
  void lane(size_t lane, uint64_t openNs, uint64_t openClock,
            const std::vector<std::pair<uint32_t, uint64_t>> &made) {
    LaneHeader header{};
    header.openNs = openNs;
    header.openClock = openClock;
    header.closeClock = made.back().second;
    header.closeNs = openNs + (header.closeClock - openClock) / 2;
    header.multiprocessor = 7;
    header.stamps = uint32_t(made.size());
    write(lane, header);
    for (size_t step = 0; step < made.size() && step < size_t(stamps.steps); ++step)
      write(lane, step, uint32_t(made[step].second << bundle::kPhaseBits) |
                            made[step].first);
  }
  void write(size_t lane, const LaneHeader &header) {
    std::memcpy(&bytes[lane * sizeof header], &header, sizeof header);
  }
  void write(size_t lane, size_t step, uint32_t stamp) {
    std::memcpy(&bytes[size_t(stamps.lanes) * sizeof(LaneHeader) +
                       4 * (step * size_t(stamps.lanes) + lane)],
                &stamp, sizeof stamp);
  }
  Timeline decode(int64_t drawn = 8) const {
    return decodeTimeline(stamps, bytes.data(), bytes.size(), drawn);
  }
  std::string errorOfDecoding() const {
    try {
      decode();
    } catch (const std::runtime_error &error) {
      return error.what();
    }
    return "no error";
  }

  bundle::Stamps stamps;
  std::vector<std::byte> bytes;
};

constexpr uint32_t kEnd = bundle::kLaneEnd;

TEST(Timeline, StampsBecomePhasesAndShares) {
  Recording r;
  // 28 bits of the clock wrap within the lane.
  uint64_t clock = (uint64_t(5) << bundle::kClockBits) - 1000;
  r.lane(0, 5000, clock,
         {{0, clock}, {1, clock + 400}, {2, clock + 1400}, {kEnd, clock + 2000}});
  // Another multiprocessor, whose clock has nothing in common; 500 ns later.
  r.lane(1, 5500, 77, {{0, 77}, {2, 1077}, {kEnd, 2077}});
  Timeline t = r.decode();
  EXPECT_DOUBLE_EQ(t.gigahertz, 2);
  EXPECT_EQ(t.blocks, 1);
  EXPECT_EQ(t.stamps, 7);
  EXPECT_EQ(t.dropped, 0);
  ASSERT_EQ(t.lanes.size(), 2u);
  EXPECT_EQ(t.lanes[0].multiprocessor, 7u);
  ASSERT_EQ(t.lanes[0].slices.size(), 3u);
  EXPECT_NEAR(t.lanes[0].slices[1].start, 0.2, 1e-9);
  EXPECT_NEAR(t.lanes[0].slices[1].end, 0.7, 1e-9);
  EXPECT_NEAR(t.lanes[0].slices[2].end, 1.0, 1e-9);
  EXPECT_NEAR(t.lanes[1].slices[0].start, 0.5, 1e-9);
  EXPECT_NEAR(t.lanes[1].slices[1].end, 1.5, 1e-9);
  ASSERT_EQ(t.roles.size(), 2u);
  EXPECT_EQ(t.roles[0].role, "producer");
  EXPECT_NEAR(t.roles[0].shares[0], 0.2, 1e-9);
  EXPECT_NEAR(t.roles[0].shares[1], 0.5, 1e-9);
  EXPECT_NEAR(t.roles[0].waiting, 0.5, 1e-9);
  EXPECT_NEAR(t.roles[0].microseconds, 1.0, 1e-9);
  EXPECT_NEAR(t.roles[1].waiting, 0, 1e-9);
}

TEST(Timeline, AFullLaneKeepsItsBeginningAndCountsTheRest) {
  Recording r;
  r.lane(0, 5000, 0,
         {{0, 0}, {1, 100}, {2, 200}, {1, 300}, {2, 400}, {kEnd, 600}});
  Timeline t = r.decode();
  EXPECT_EQ(t.stamps, 6);
  EXPECT_EQ(t.dropped, 2);
  // The last stamp that found room has no known end.
  ASSERT_EQ(t.lanes[0].slices.size(), 3u);
  EXPECT_NEAR(t.lanes[0].slices[2].end, 0.15, 1e-9);
  EXPECT_NEAR(t.roles[0].shares[1], 1.0 / 3, 1e-9);
  EXPECT_NE(timelineTable("flash", t).find("2 of 6 stamps found no room"),
            std::string::npos);
}

TEST(Timeline, DrawsTheFirstBlocksAndCountsAll) {
  Recording r;
  r.lane(0, 5000, 0, {{0, 0}, {kEnd, 100}});
  r.lane(2, 5000, 0, {{0, 0}, {kEnd, 300}}); // Block 1.
  Timeline t = r.decode(1);
  EXPECT_EQ(t.blocks, 2);
  ASSERT_EQ(t.lanes.size(), 1u);
  EXPECT_EQ(t.lanes[0].block, 0);
  EXPECT_EQ(t.roles[0].lanes, 2);
  EXPECT_NEAR(t.roles[0].microseconds, 0.1, 1e-9);
}

TEST(Timeline, ACoarseTimerIsAveragedOverALanesEnds) {
  Recording r;
  // True opening 5000 ns; the timer's steps made it 100 early and the end late.
  r.lane(0, 5000, 0, {{0, 0}, {kEnd, 2000}});
  r.lane(1, 4900, 0, {{0, 0}, {kEnd, 2000}});
  LaneHeader header;
  std::memcpy(&header, &r.bytes[sizeof header], sizeof header);
  header.closeNs = 6100;
  r.write(1, header);
  Timeline t = r.decode();
  EXPECT_NEAR(t.lanes[0].slices[0].start, t.lanes[1].slices[0].start, 0.12);
  EXPECT_NEAR(t.gigahertz, 4000.0 / 2200, 1e-9);
}

TEST(Timeline, WhatIsNoRecordingIsRefused) {
  Recording r;
  EXPECT_EQ(r.errorOfDecoding(), "the kernel recorded nothing");
  r.lane(0, 5000, 0, {{0, 0}, {3, 50}, {kEnd, 100}});
  EXPECT_EQ(r.errorOfDecoding(),
            "stamp 1 of lane 0 names phase 3, there are 3");
  r.lane(0, 5000, 0, {{0, 0}, {kEnd, 0}});
  EXPECT_NE(r.errorOfDecoding().find("the GPU's timer stood still"),
            std::string::npos);
  r.bytes.pop_back();
  EXPECT_EQ(r.errorOfDecoding(),
            "the buffer of stamps has 359 bytes, 360 are expected");
}

static Results resultsWith(Timeline timeline) {
  Results results;
  results.program = "causal";
  LevelResult level;
  level.name = "flash";
  KernelResult kernel;
  kernel.label = "flash";
  kernel.blocks = 1;
  timeline.launched = 2;
  timeline.cost.first.median = 1;
  timeline.cost.first.count = 9;
  timeline.cost.second.median = 1.03;
  timeline.cost.ratio = 1.03;
  kernel.timeline = std::move(timeline);
  level.kernels = {kernel};
  results.levels = {level};
  return results;
}

TEST(Timeline, TableSaysSharesWaitingAndCost) {
  Recording r;
  r.lane(0, 5000, 0, {{0, 0}, {1, 200}, {2, 700}, {kEnd, 1000}});
  std::string text = table(resultsWith(r.decode()), false);
  for (const char *piece :
       {"phases of flash flash, 1 of 2 blocks recorded", "load wait", "producer",
        "50.0 %", "stamps cost +3.0 %", "plain 1.00 ms", "9 rounds"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
}

TEST(Timeline, JsonHasIt) {
  Recording r;
  r.lane(0, 5000, 0, {{0, 0}, {1, 200}, {2, 700}, {kEnd, 1000}});
  nlohmann::json j = nlohmann::json::parse(resultsJson(resultsWith(r.decode())));
  const auto &t = j["levels"][0]["kernels"][0]["timeline"];
  EXPECT_NEAR(t["overhead"], 0.03, 1e-9);
  EXPECT_EQ(t["blocks"], 1);
  EXPECT_EQ(t["roles"][0]["role"], "producer");
  EXPECT_NEAR(t["roles"][0]["shares"]["load_wait"], 0.5, 1e-9);
  EXPECT_NEAR(t["roles"][0]["waiting"], 0.5, 1e-9);
}

TEST(Timeline, TraceHasALaneForEachWarpGroup) {
  Recording r;
  r.lane(0, 5000, 0, {{0, 0}, {1, 200}, {2, 700}, {kEnd, 1000}});
  r.lane(1, 5000, 0, {{0, 0}, {2, 700}, {kEnd, 90000}});
  Results results = resultsWith(r.decode());
  LevelTrace one{&results.levels[0], {{1, 3, 5, 9}}};
  std::string text = traceJson(results, {one, one});
  // For test/Report/trace_rules.py.
  if (const char *path = std::getenv("ATTN_TEST_TRACE"))
    bundle::writeFileAtomically(path, text);
  nlohmann::json j = nlohmann::json::parse(text);
  std::map<std::pair<int, int>, std::string> lanes;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> slices;
  double nextLevel = 0;
  for (const auto &event : j["traceEvents"]) {
    std::pair<int, int> lane{event["pid"], event.value("tid", 0)};
    if (event["name"] == "thread_name")
      lanes[lane] = event["args"]["name"];
    if (event["ph"] == "X" && event["name"] == "launch flash")
      nextLevel = event["ts"];
    if (event["ph"] == "X" && lane.first > 1)
      slices[lane].push_back({event["ts"], event["dur"]});
  }
  EXPECT_EQ((lanes[{2, 1}]), "block 0 on SM 7, producer");
  EXPECT_EQ((lanes[{2, 2}]), "block 0 on SM 7, consumer 1");
  ASSERT_EQ((slices[{2, 1}].size()), 3u);
  EXPECT_NEAR((slices[{2, 1}][0].first), 5, 1e-9); // With the kernel.
  EXPECT_NEAR((slices[{2, 1}][1].second), 0.25, 1e-9);
  // A level waits for the lanes of the one before it.
  EXPECT_GT(nextLevel, 5 + 45);
  EXPECT_EQ((slices[{3, 1}].size()), 3u);
}
} // namespace
