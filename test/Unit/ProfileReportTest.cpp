//===- ProfileReportTest.cpp - units, tables, JSON, pages, traces --------===//

#include "lib/Profile/CpuRoofs.h"
#include "lib/Profile/Cupti.h"
#include "lib/Profile/Diff.h"
#include "lib/Profile/Report.h"
#include "lib/Profile/Table.h"
#include "lib/Profile/Units.h"
#include "test/Unit/SampleResults.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

using namespace attn;
using namespace attn::profile;

namespace {
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

TEST(CpuRoofs, AreOfThisWorld) {
  target::Roofs roofs = measureCpuRoofs(2, 32 << 20);
  EXPECT_GT(roofs.bandwidth, 1e8);
  EXPECT_LT(roofs.bandwidth, 5e12);
  EXPECT_GT(roofs.matmul.at("fma.f32"), 1e9);
  EXPECT_LT(roofs.matmul.at("fma.f32"), 1e13);
  EXPECT_LT(roofs.launchSeconds, 0.01);
}
} // namespace
