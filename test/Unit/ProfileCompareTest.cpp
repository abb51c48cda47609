//===- ProfileCompareTest.cpp - two runs side by side --------------------===//

#include "lib/Profile/Compare.h"
#include "lib/Profile/Report.h"
#include "test/Unit/SampleResults.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::profile;

namespace {
static Summary spreadOf(double median, double share, int count) {
  Summary s;
  s.median = median;
  s.lowerQuartile = median * (1 - share);
  s.upperQuartile = median * (1 + share);
  s.count = count;
  return s;
}

TEST(Compare, AChangeWithinTheSpreadIsNotSignificant) {
  auto near = changeOf(spreadOf(10, 0.05, 20), spreadOf(10.2, 0.05, 20));
  EXPECT_NEAR(near->change, 0.02, 1e-12);
  EXPECT_FALSE(near->significant());
  // The same change with a tenth of the spread is.
  auto far = changeOf(spreadOf(10, 0.005, 20), spreadOf(10.2, 0.005, 20));
  EXPECT_TRUE(far->significant());
  EXPECT_LT(far->least, 0.02);
  EXPECT_GT(far->most, 0.02);
  // Both directions are alike.
  auto back = changeOf(spreadOf(10.2, 0.005, 20), spreadOf(10, 0.005, 20));
  EXPECT_NEAR((1 + back->least) * (1 + far->most), 1, 1e-12);
  // Fewer than six samples of a side tell nothing, none of 0 either.
  EXPECT_FALSE(changeOf(spreadOf(1, 0, 5), spreadOf(9, 0, 50))->significant());
  EXPECT_TRUE(changeOf(spreadOf(1, 0, 6), spreadOf(9, 0, 50))->significant());
  EXPECT_FALSE(changeOf(spreadOf(0, 0, 9), spreadOf(9, 0, 9)));
  // No spread at all: any change counts.
  EXPECT_TRUE(changeOf(spreadOf(1, 0, 9), spreadOf(1.01, 0, 9))->significant());
}

TEST(Compare, PairsLevelsByNameAndKernelsByLabel) {
  std::string text = resultsJson(results());
  Comparison same = compareRuns("a", text, "", "b", text, "");
  EXPECT_TRUE(same.differences.empty());
  ASSERT_EQ(same.levels.size(), 2u);
  EXPECT_EQ(same.levels[0].change->change, 0);
  EXPECT_FALSE(same.levels[1].change);
  EXPECT_EQ(same.levels[1].failureA, "o[0, 3] is 2, the reference is 1");
  Results other = results();
  other.device = "CPU";
  other.levels.erase(other.levels.begin());
  Comparison less = compareRuns("a", text, "", "b", resultsJson(other), "");
  ASSERT_EQ(less.differences.size(), 1u);
  EXPECT_EQ(less.differences[0].what, "device");
  EXPECT_EQ(less.levels[0].b, "");
  // One level of each pairs whatever the names are.
  Comparison levels = compareRuns("a", text, "flash", "a", text, "fused");
  ASSERT_EQ(levels.levels.size(), 1u);
  EXPECT_EQ(levels.levels[0].kernels[0].b, "");
  EXPECT_NE(comparisonTable(levels).find("flash -> fused"), std::string::npos);
  EXPECT_THROW(compareRuns("a", text, "slow", "b", text, ""),
               std::runtime_error);
  EXPECT_THROW(compareRuns("a", text.substr(0, 90), "", "b", text, ""),
               std::runtime_error);
  EXPECT_THROW(compareRuns("a", "[1]", "", "b", text, ""), std::runtime_error);
  EXPECT_THROW(
      compareRuns("a", R"({"levels":[{"name":3}]})", "", "b", text, ""),
      std::runtime_error);
}

TEST(Compare, FewRepeatsHaveNoIntervalAndAWideOneIsNoLongNumber) {
  Results a = results(), b = results();
  auto row = [&] {
    a.levels[0].kernels.clear();
    b.levels[0].kernels.clear();
    std::string text = comparisonTable(
        compareRuns("a", resultsJson(a), "flash", "b", resultsJson(b), "flash"));
    size_t begin = text.find("\nflash") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  a.levels[0].measured = spreadOf(10, 0.5, 3);
  b.levels[0].measured = spreadOf(20, 0.5, 30);
  EXPECT_EQ(row(), "flash  10.0 ms  20.0 ms     +100.0 %              -  too few repeats to "
                   "tell (6 needed)");
  a.levels[0].measured = spreadOf(10, 3, 6);
  EXPECT_NE(row().find(".. >+1000 %  within the spread"), std::string::npos) << row();
}

TEST(Compare, PairsTheSizesOfSeveral) {
  auto run = [](const char *length, double milliseconds) {
    Results r = results();
    r.binds["M"] = length;
    r.levels[0].measured = spreadOf(milliseconds, 0.01, 20);
    return resultsJson(r);
  };
  auto file = [](std::vector<std::string> runs) {
    std::string text;
    for (const std::string &one : runs)
      text += (text.empty() ? "" : ",") + one;
    return "{\"runs\": [" + text + "]}";
  };
  std::string a = file({run("64", 1), run("128", 2), run("256", 3)});
  std::string b = file({run("512", 9), run("256", 6), run("64", 1)});
  Comparison both = compareRuns("a", a, "flash", "b", b, "flash");
  ASSERT_EQ(both.sizes.size(), 2u);
  EXPECT_EQ(both.sizes[0].size, "B=4 M=64 slope=0.5");
  EXPECT_EQ(both.sizes[0].levels.at(0).change->change, 0);
  EXPECT_EQ(both.sizes[1].levels.at(0).change->change, 1);
  EXPECT_EQ(both.onlyA, std::vector<std::string>{"B=4 M=128 slope=0.5"});
  EXPECT_EQ(both.onlyB, std::vector<std::string>{"B=4 M=512 slope=0.5"});
  std::string table = comparisonTable(both);
  for (const char *words : {"\nB=4 M=64 slope=0.5\n", "\nB=4 M=256 slope=0.5\n",
                            "M=128 slope=0.5: only A has it", "M=512 slope=0.5: only B"})
    EXPECT_NE(table.find(words), std::string::npos) << table;
  nlohmann::json j = nlohmann::json::parse(comparisonJson(both));
  EXPECT_EQ(j["sizes"].size(), 2u);
  EXPECT_EQ(j["sizes"][1]["levels"][0]["change"]["change"], 1);
  EXPECT_EQ(j["only_b"][0], "B=4 M=512 slope=0.5");
  // A run of one size finds its own among several.
  EXPECT_EQ(compareRuns("a", run("256", 3), "", "b", b, "").sizes.size(), 1u);
  // None in common; what is no run.
  EXPECT_THROW(compareRuns("a", run("128", 3), "", "b", b, ""), std::runtime_error);
  EXPECT_THROW(compareRuns("a", file({}), "", "b", b, ""), std::runtime_error);
  EXPECT_THROW(compareRuns("a", file({"3"}), "", "b", b, ""), std::runtime_error);
}
} // namespace
