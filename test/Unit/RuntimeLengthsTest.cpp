//===- RuntimeLengthsTest.cpp - lengths, strides, grids -------------------===//

#include "lib/Runtime/Half.h"
#include "lib/Runtime/Launch.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::runtime;

static bundle::Program program() {
  bundle::Program p;
  p.name = "p";
  p.axes = {{"B", {}, "", ""},   {"Hq", {}, "G", "Hkv"}, {"G", {}, "", ""},
            {"Hkv", {}, "", ""}, {"M", {}, "", ""},      {"D", 64, "", ""}};
  return p;
}

static std::string errorOf(const Lengths &lengths) {
  try {
    resolveLengths(program(), lengths);
  } catch (const LaunchError &error) {
    return error.what();
  }
  return "no error";
}

namespace {
TEST(Lengths, NestsGiveTheThirdLengthFromTwo) {
  EXPECT_EQ(resolveLengths(program(),
                           {{"B", 1}, {"M", 5}, {"Hq", 8}, {"Hkv", 2}})["G"],
            4);
  EXPECT_EQ(resolveLengths(program(),
                           {{"B", 1}, {"M", 5}, {"G", 3}, {"Hkv", 2}})["Hq"],
            6);
  EXPECT_EQ(resolveLengths(program(),
                           {{"B", 1}, {"M", 0}, {"G", 3}, {"Hq", 6}})["Hkv"],
            2);
  Lengths none =
      resolveLengths(program(), {{"B", 1}, {"M", 0}, {"Hq", 0}, {"Hkv", 0}});
  EXPECT_EQ(none["G"], 1);
  EXPECT_EQ(none["D"], 64);
}

TEST(Lengths, C12EveryBadLengthHasItsReason) {
  EXPECT_EQ(errorOf({{"B", 1}, {"Hq", 8}, {"Hkv", 2}}),
            "axis M has no length; give one with --bind M=...");
  EXPECT_EQ(errorOf({{"X", 1}}),
            "program p has no axis X; its axes are B, Hq, G, Hkv, M, D");
  EXPECT_EQ(errorOf({{"B", -1}}),
            "axis B has length -1; a length is 0 or more");
  EXPECT_EQ(
      errorOf({{"M", (int64_t(1) << 30) + 1}}),
      "axis M has length 1073741825, the most is 2^30 = 1073741824; split "
      "the axis over several launches");
  EXPECT_EQ(errorOf({{"D", 128}}),
            "axis D has length 128, but this bundle is compiled for D = 64; "
            "compile the spec again with --bind D=128");
  EXPECT_EQ(errorOf({{"B", 1}, {"M", 1}, {"Hq", 7}, {"Hkv", 2}, {"G", 3}}),
            "Hq = G * Hkv does not hold: 7 is not 3 * 2; bind two of the three "
            "and the third follows");
  EXPECT_EQ(errorOf({{"B", 1}, {"M", 1}, {"Hq", 7}, {"Hkv", 2}}),
            "Hq = G * Hkv does not hold: Hq = 7 is not a multiple of Hkv = 2; "
            "change one of them");
  EXPECT_EQ(errorOf({{"B", 1}, {"M", 1}, {"Hq", 7}}),
            "Hq = G * Hkv: bind two of Hq, G and Hkv, for example --bind "
            "Hq=8,Hkv=2");
  // The product leaves the range of a length.
  EXPECT_NE(errorOf({{"B", 1}, {"M", 1}, {"G", 1 << 20}, {"Hkv", 1 << 20}})
                .find("the most is 2^30"),
            std::string::npos);
}

TEST(Tensors, DenseStridesPadTheInnermostAxis) {
  bundle::Tensor t{"t", "f32", {"B", "M"}, bundle::Role::Temporary, 8};
  Lengths lengths{{"B", 3}, {"M", 13}};
  EXPECT_EQ(denseStrides(t, lengths), (std::vector<int64_t>{16, 1}));
  EXPECT_EQ(denseBytes(t, lengths), 3 * 16 * 4);
  EXPECT_EQ(denseBytes(t, {{"B", 0}, {"M", 13}}), 0);
  bundle::Tensor row{"r", "bf16", {"M"}, bundle::Role::Temporary, 8};
  EXPECT_EQ(denseBytes(row, lengths), 32);
  bundle::Tensor scalar{"s", "i64", {}, bundle::Role::Input, 1};
  EXPECT_EQ(denseBytes(scalar, lengths), 8);
}

TEST(Tensors, SizesBeyondTheAddressSpaceAreErrors) {
  bundle::Tensor t{"t", "f32", {"B", "M"}, bundle::Role::Temporary, 1};
  EXPECT_THROW(denseBytes(t, {{"B", 1 << 30}, {"M", 1 << 30}}), LaunchError);
}

TEST(Grid, BlocksAreRoundedUpAndBounded) {
  bundle::Kernel k;
  k.symbol = "k";
  k.grid = {{"M", 64}, {"B", 1}, {"", 1}};
  EXPECT_EQ(gridBlocks(k, {{"M", 65}, {"B", 3}}), 6);
  EXPECT_EQ(gridBlocks(k, {{"M", 0}, {"B", 3}}), 0);
  EXPECT_EQ(gridBlocks(k, {{"M", 1}, {"B", (int64_t(1) << 30)}}), 1 << 30);
  try {
    gridBlocks(k, {{"M", 1024}, {"B", 1 << 30}});
    FAIL();
  } catch (const LaunchError &error) {
    EXPECT_EQ(std::string(error.what()),
              "kernel k needs a grid of 1.72e+10 blocks, the most is 2^31 - 1; "
              "bind smaller lengths or split the batch over several launches");
  }
  // Each of these is a cluster's tile.
  k.cluster = 2;
  EXPECT_EQ(gridBlocks(k, {{"M", 65}, {"B", 3}}), 6);
  EXPECT_THROW(gridBlocks(k, {{"M", 1}, {"B", (int64_t(1) << 30)}}), TooLargeError);
  k.cluster = 1;
  // An overflowing product followed by an empty axis is an empty grid.
  k.grid = {{"M", 1}, {"B", 1}, {"M", 1}, {"D", 1}};
  EXPECT_EQ(gridBlocks(k, {{"M", 1 << 30}, {"B", 1 << 30}, {"D", 0}}), 0);
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(halfBits(1.0f), 0x3c00);
  EXPECT_EQ(halfBits(-2.0f), 0xc000);
  EXPECT_EQ(halfBits(65504.0f), 0x7bff);
  EXPECT_EQ(halfBits(65520.0f), 0x7c00); // Halfway rounds up to infinity.
  EXPECT_EQ(halfBits(65519.0f), 0x7bff);
  EXPECT_EQ(halfBits(5.9604645e-8f), 0x0001);
  EXPECT_EQ(halfBits(2.9802322e-8f), 0x0000); // Halfway to even.
  EXPECT_EQ(halfBits(1.0f + 1.0f / 2048), 0x3c00);
  EXPECT_EQ(halfBits(1.0f + 3.0f / 2048), 0x3c02);
  EXPECT_EQ(halfBits(6.1035156e-5f), 0x0400);
  EXPECT_EQ(bfloatBits(1.0f), 0x3f80);
  EXPECT_EQ(bfloatBits(1.0f + 1.0f / 256), 0x3f80);
  EXPECT_EQ(bfloatBits(1.0f + 3.0f / 256), 0x3f82);
}
} // namespace
