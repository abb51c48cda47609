//===- BenchMemoryTest.cpp - lengths that memory has no room for ----------===//

#include "tools/attn-bench/Memory.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::bench;

namespace {
/// o[B, M] of q[B, M, D] and k[B, N, D] in f32, with a temporary [B, M, N] at one of
/// two levels.
bundle::Program example() {
  bundle::Program p;
  p.name = "demo";
  p.axes = {{"B", {}, "", ""}, {"M", {}, "", ""}, {"N", {}, "", ""}, {"D", 16, "", ""}};
  p.tensors = {{"q", "f32", {"B", "M", "D"}, bundle::Role::Input, 1},
               {"k", "f32", {"B", "N", "D"}, bundle::Role::Input, 1},
               {"o", "f32", {"B", "M"}, bundle::Role::Output, 1}};
  bundle::Level naive, flash;
  naive.temporaries = {{"t", "f32", {"B", "M", "N"}, bundle::Role::Temporary, 1}};
  p.levels = {naive, flash};
  return p;
}

const double kGiB = 1 << 30;
const runtime::Lengths kLengths{{"B", 1}, {"M", 1 << 20}, {"N", 1 << 20}, {"D", 16}};

TEST(Memory, OfTheLevelThatNeedsLeast) {
  // q and k take 64 MiB each, o 4; the host has a copy of its own.
  MemoryNeed cpu = memoryNeed(example(), kLengths, false);
  EXPECT_DOUBLE_EQ(cpu.host, 2 * 132. * (1 << 20));
  EXPECT_DOUBLE_EQ(cpu.device, 0);
  bundle::Program unfused = example();
  unfused.levels.pop_back();
  MemoryNeed gpu = memoryNeed(unfused, kLengths, true);
  EXPECT_DOUBLE_EQ(gpu.host, 132. * (1 << 20));
  EXPECT_DOUBLE_EQ(gpu.device, 132. * (1 << 20) + 4096 * kGiB);
}

TEST(Memory, SaysWhatIsNeededAndASmallChange) {
  EXPECT_EQ(tooLarge(example(), kLengths, false, {kGiB, 0}), std::nullopt);
  EXPECT_EQ(tooLarge(example(), kLengths, false, {kGiB / 4, 0}),
            "a run at these lengths needs 0.26 GiB of host memory at the least, 0.25 GiB "
            "are free; --bind M=980000 would fit");
  bundle::Program unfused = example();
  unfused.levels.pop_back();
  EXPECT_EQ(tooLarge(unfused, kLengths, true, {kGiB, 8 * kGiB}),
            "a run at these lengths needs 4096.13 GiB of device memory at the least, 8.00 "
            "GiB are free; --bind M=2000 would fit");
}

TEST(Memory, LowersSeveralLengthsWhereOneIsNotEnough) {
  runtime::Lengths lengths = kLengths;
  lengths["B"] = 4;
  std::string why = tooLarge(example(), lengths, false, {kGiB / 16, 0}).value();
  EXPECT_NE(why.find("--bind B=1,"), std::string::npos) << why;
  // What cannot be lowered is not offered.
  bundle::Program fixed = example();
  for (bundle::Axis &axis : fixed.axes)
    axis.extent = 16;
  why = tooLarge(fixed, kLengths, false, {1, 0}).value();
  EXPECT_NE(why.find("no length of its axes would fit"), std::string::npos) << why;
}

TEST(Memory, LengthsBeyondAnyCountAreNoOverflow) {
  int64_t most = int64_t(1) << 30;
  EXPECT_TRUE(tooLarge(example(), {{"B", most}, {"M", most}, {"N", most}, {"D", most}},
                       true, {1e12, 1e12}));
}
} // namespace
