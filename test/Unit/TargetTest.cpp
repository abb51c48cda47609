//===- TargetTest.cpp - occupancy, chips, targets -------------------------===//

#include "lib/Target/Chip.h"
#include "lib/Target/Occupancy.h"
#include "lib/Target/Targets.h"

#include <gtest/gtest.h>

using namespace attn::target;

namespace {
struct Case {
  int capability, threads, registers;
  int64_t shared;
  int blocks;
  const char *limiter;
};

// By the rules of the CUDA Programming Guide, worked out by hand.
TEST(Occupancy, MatchesHandComputedCases) {
  const Case cases[] = {
      {90, 256, 32, 0, 8, "warps"}, // 64 warps of 1024 registers fill both
      {90, 256, 240, 65536, 1, "registers"}, // 8 warps of 7680 of 65536
      {90, 128, 168, 0, 3, "registers"},     // 12 warps of 5376
      {90, 128, 168, 98304, 2, "shared memory"},
      {90, 1024, 16, 0, 2, "warps"},
      {90, 32, 16, 0, 32, "blocks"},
      {80, 128, 255, 0, 2, "registers"}, // 8 warps of 8160 -> 8192
      {80, 128, 64, 81920, 2, "shared memory"},
      {86, 1024, 32, 0, 1, "warps"}, // 48 warps hold one block of 32
  };
  for (const Case &c : cases) {
    Occupancy o =
        occupancy(architecture(c.capability), c.threads, c.registers, c.shared);
    EXPECT_EQ(o.blocks, c.blocks) << c.capability << " " << c.threads << " "
                                  << c.registers << " " << c.shared;
    EXPECT_EQ(o.limiter, c.limiter) << c.threads << " " << c.registers;
  }
}

TEST(Occupancy, BlockThatFitsNowhereNamesTheResource) {
  Occupancy o = occupancy(architecture(80), 128, 32, 164 * 1024);
  EXPECT_EQ(o.blocks, 0);
  EXPECT_EQ(o.limiter, "shared memory");
  o = occupancy(architecture(80), 1024, 128, 0);
  EXPECT_EQ(o.blocks, 0);
  EXPECT_EQ(o.limiter, "registers");
}

TEST(Chip, KnownNameTakesItsRowAndUnknownNameTakesTheFacts) {
  Chip h200 = chipFor({"NVIDIA H200", 90, 132, 1.98, 4.9e12, 60 << 20});
  EXPECT_DOUBLE_EQ(h200.bandwidth, 4.8e12);
  EXPECT_DOUBLE_EQ(h200.clockGHz, 1.98);
  // A slice of the same chip is not the whole chip.
  Chip slice = chipFor({"NVIDIA H200 MIG", 90, 60, 1.9, 2e12, 1 << 20});
  EXPECT_EQ(slice.multiprocessors, 60);
  EXPECT_DOUBLE_EQ(slice.bandwidth, 2e12);
  Chip future = chipFor({"NVIDIA X1", 120, 200, 2.5, 8e12, 1 << 26});
  EXPECT_EQ(architecture(future.capability).capability, 90);
}

TEST(Chip, RoofsFollowFromTheRow) {
  Roofs a100 = roofsOf(
      chipFor({"NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 2e12, 40 << 20}));
  EXPECT_NEAR(a100.matmul.at("mma.f16") / 312e12, 1, 0.01);
  EXPECT_NEAR(a100.matmul.at("fma.f32") / 19.5e12, 1, 0.01);
  EXPECT_EQ(a100.matmul.count("wgmma.f16"), 0u);
  Roofs h200 =
      roofsOf(chipFor({"NVIDIA H200", 90, 132, 1.98, 4.8e12, 60 << 20}));
  EXPECT_NEAR(h200.matmul.at("mma.f16") / 647e12, 1, 0.01);
  // The data sheet's 989 TFLOP/s are at 1.83 GHz.
  EXPECT_NEAR(h200.matmul.at("wgmma.f16") / 989e12, 1.98 / 1.83, 0.01);
}

TEST(Targets, RunsOnLaterCapabilitiesOnly) {
  std::string why;
  EXPECT_TRUE(runsOn("sm_80", 90, why));
  EXPECT_TRUE(runsOn("sm_80", 80, why));
  EXPECT_FALSE(runsOn("sm_80", 75, why));
  EXPECT_NE(why.find("needs compute capability 8.0"), std::string::npos) << why;
  EXPECT_FALSE(runsOn("sm_80", 0, why));
  EXPECT_FALSE(runsOn("cpu", 90, why));
  EXPECT_TRUE(runsOn("cpu", 0, why));
  EXPECT_FALSE(runsOn("sm_9", 90, why));
  EXPECT_NE(why.find("'sm_9' is unknown"), std::string::npos) << why;
}

TEST(Targets, AnArchitectureToAssembleForIsOneOrToldWhyNot) {
  for (const char *arch : {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_120f"})
    EXPECT_EQ(checkArch(arch), "") << arch;
  for (const char *arch : {"sm_banana", "banana", "", "sm_", "sm_9", "sm_90x", "sm_1234",
                           "90", "SM_90", "sm_90 ", "compute_90"})
    EXPECT_NE(checkArch(arch).find("is no GPU; write sm_"), std::string::npos) << arch;
  for (const std::string &arch : archNames())
    EXPECT_EQ(checkArch(arch), "") << arch;
  EXPECT_EQ(checkArch("sm_75"), "sm_75 is too old, the oldest target is sm_80");
}
} // namespace
