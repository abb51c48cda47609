//===- BenchBindsTest.cpp - lengths and scalars that attn-bench runs with -===//

#include "lib/Spec/Parse.h"
#include "tools/attn-bench/Binds.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace attn;
using namespace attn::bench;
namespace fs = std::filesystem;

static bundle::Program program() {
  bundle::Program p;
  p.name = "p";
  p.axes = {{"B", {}, "", ""},   {"Hq", {}, "G", "Hkv"}, {"G", {}, "", ""},
            {"Hkv", {}, "", ""}, {"M", {}, "", ""},      {"D", 64, "", ""}};
  p.scalars = {{"window", "i32"}};
  return p;
}

static runtime::Lengths lengths(const Binds &given,
                                const Binds &defaults = {}) {
  Binds all = given;
  all.emplace("window", "3");
  return resolveBinds(program(), all, defaults).lengths;
}

static std::string errorOf(const Binds &given, const Binds &defaults = {}) {
  try {
    resolveBinds(program(), given, defaults);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "no error";
}

namespace {
TEST(BenchBinds, UsualSizesSuitAnyProgram) {
  EXPECT_EQ(
      lengths({}),
      (runtime::Lengths{
          {"B", 1}, {"Hq", 8}, {"G", 4}, {"Hkv", 2}, {"M", 1024}, {"D", 64}}));
}

TEST(BenchBinds, OneLengthOfANestIsCompleted) {
  EXPECT_EQ(lengths({{"Hq", "6"}}).at("Hkv"), 6);
  EXPECT_EQ(lengths({{"Hq", "32"}}).at("Hkv"), 8);
  EXPECT_EQ(lengths({{"Hkv", "3"}}).at("Hq"), 12);
  EXPECT_EQ(lengths({{"G", "5"}}).at("Hq"), 10);
}

TEST(BenchBinds, DefaultsYieldToWhatIsGiven) {
  Binds readme{{"B", "2"}, {"Hq", "8"}, {"G", "4"}, {"Hkv", "2"}, {"M", "512"}};
  EXPECT_EQ(lengths({}, readme).at("M"), 512);
  EXPECT_EQ(lengths({{"M", "7"}}, readme).at("M"), 7);
  runtime::Lengths l = lengths({{"Hq", "32"}, {"Hkv", "8"}}, readme);
  EXPECT_EQ(l.at("G"), 4);
  l = lengths({{"Hq", "32"}}, readme);
  EXPECT_EQ(l.at("Hq"), l.at("G") * l.at("Hkv"));
  EXPECT_EQ(l.at("Hq"), 32);
}

TEST(BenchBinds, ScalarsComeFromTheCallerOrTheDefaults) {
  RunBinds binds = resolveBinds(program(), {{"window", "-2"}}, {});
  EXPECT_EQ(std::get<int64_t>(binds.scalars.at("window")), -2);
  EXPECT_EQ(binds.shown.at("window"), "-2");
  binds = resolveBinds(program(), {}, {{"window", "64"}});
  EXPECT_EQ(std::get<int64_t>(binds.scalars.at("window")), 64);
}

TEST(BenchBinds, WrongNamesAndValuesAreExplained) {
  EXPECT_EQ(errorOf({}), "scalar window has no value; give one with --bind "
                         "window=...");
  EXPECT_EQ(errorOf({{"N", "4"}}), "--bind: program p has no axis or scalar "
                                   "'N'; it has B, D, G, Hkv, Hq, M, window");
  EXPECT_EQ(errorOf({{"window", "many"}}),
            "scalar window has value 'many'; give a number");
  EXPECT_EQ(errorOf({{"window", "0.5"}}),
            "scalar window is i32, its value 0.5 is not whole; give an integer");
  EXPECT_EQ(errorOf({{"M", "1e3"}}), "axis M has length '1e3'; a length is a "
                                     "whole number of at most 2^30");
  EXPECT_NE(errorOf({{"Hq", "7"}, {"Hkv", "2"}, {"window", "1"}})
                .find("is not a multiple"),
            std::string::npos);
}

TEST(BenchBinds, EveryLibrarySpecHasDefaultSizes) {
  int specs = 0;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(ATTN_TEST_KERNELS))
    if (entry.path().extension() == ".attn") {
      ++specs;
      EXPECT_FALSE(
          defaultBinds(entry.path().string(), entry.path().stem().string())
              .empty())
          << entry.path();
    }
  EXPECT_GE(specs, 18);
  Binds window = defaultBinds(ATTN_TEST_KERNELS "/x.attn", "sliding_window");
  EXPECT_EQ(window.at("window"), "256");
  EXPECT_TRUE(defaultBinds(ATTN_TEST_KERNELS "/x.attn", "spec").empty());
  EXPECT_TRUE(defaultBinds("/nowhere/x.attn", "causal").empty());
}

static std::vector<std::string> compiled(const std::string &text,
                                         const Binds &given) {
  spec::ParseResult parsed = spec::parse("x.attn", text);
  EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
  return compileBinds(parsed.module, given, {});
}

TEST(BenchBinds, TheCompilerLearnsOnlyTheLengthsItNeeds) {
  const char *body = R"( {
    s = scale(matmul(q, k, over=C), 0.5)
    p = softmax(s, over=N)
    o = matmul(p, v, over=N)
})";
  std::string head = "kernel x(q: f32[B, M, C], k: f32[B, N, C], "
                     "v: f32[B, N, E]) -> (o: f32[B, M, E])";
  Binds all{{"B", "2"}, {"M", "5"}, {"N", "6"}, {"C", "16"}, {"E", "32"}};
  EXPECT_EQ(compiled(head + body, all),
            (std::vector<std::string>{"C=16", "E=32"}));
  EXPECT_EQ(compiled(head + " where C = 16, E = 32, B = 1" + body, all),
            (std::vector<std::string>{"B=2", "C=16", "E=32"}));
  EXPECT_TRUE(compiled(head + " where C = 16, E = 32" + body, {}).empty());
}
} // namespace
