//===- ProfileReasonTest.cpp - what a miss is put down to ----------------===//

#include "lib/Profile/Reason.h"
#include "lib/Profile/Report.h"
#include "lib/Profile/Table.h"
#include "test/Unit/SampleResults.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::profile;

namespace {
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
} // namespace
