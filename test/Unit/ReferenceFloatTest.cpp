//===- ReferenceFloatTest.cpp - storage formats ---------------------------===//

#include "lib/Reference/Float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace attn;
using namespace attn::reference;
using spec::DType;

TEST(Float, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = fromHalfBits(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromHalfBits(toHalfBits(value))));
    else
      EXPECT_EQ(toHalfBits(value), bits);
  }
}

TEST(Float, EveryBfloatSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = fromBfloatBits(uint16_t(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(fromBfloatBits(toBfloatBits(value))));
    else
      EXPECT_EQ(toBfloatBits(value), bits);
  }
}

TEST(Float, RoundsToNearestEvenFromFloat64) {
  // Halfway between neighbours goes to the even one.
  EXPECT_EQ(roundTo(DType::BF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(roundTo(DType::BF16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(roundTo(DType::F16, 1 + 0x1p-11), 1);
  EXPECT_EQ(roundTo(DType::F16, 1 + 3 * 0x1p-11), 1 + 0x1p-9);
  // A trace above halfway goes up, although f32 would lose the trace.
  EXPECT_EQ(roundTo(DType::BF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(DType::F16, -(1 + 0x1p-11 + 0x1p-40)), -(1 + 0x1p-10));
  EXPECT_EQ(roundTo(DType::F16, 0x1p-25 + 0x1p-60), 0x1p-24);
  EXPECT_EQ(roundTo(DType::F16, 0x1p-25), 0);
}

TEST(Float, OverflowsWhereTheFormatEnds) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTo(DType::F16, 65519.99), 65504);
  EXPECT_EQ(roundTo(DType::F16, 65520), infinity);
  EXPECT_EQ(roundTo(DType::F16, -1e300), -infinity);
  EXPECT_EQ(roundTo(DType::BF16, 1e39), infinity);
  EXPECT_EQ(roundTo(DType::F32, 1e39), infinity);
}

TEST(Float, SpacingIsTheDistanceToTheNextNumber) {
  EXPECT_EQ(spacing(DType::BF16, 1), 0x1p-7);
  EXPECT_EQ(spacing(DType::BF16, -1.99), 0x1p-7);
  EXPECT_EQ(spacing(DType::F16, 1024), 1);
  EXPECT_EQ(spacing(DType::F16, 1e-9), 0x1p-24);
  EXPECT_EQ(spacing(DType::F16, 0), 0x1p-24);
  EXPECT_EQ(spacing(DType::F32, 0.75), 0x1p-24);
  EXPECT_EQ(spacing(DType::I32, 7), 0);
}

TEST(Float, Tf32KeepsTenBits) {
  EXPECT_EQ(roundToTf32(1 + 0x1p-10f), 1 + 0x1p-10f);
  EXPECT_EQ(roundToTf32(1 + 0x1p-11f), 1 + 0x1p-10f); // Ties away from zero.
  EXPECT_EQ(roundToTf32(1 + 0x1p-12f), 1);
  EXPECT_TRUE(std::isinf(roundToTf32(std::numeric_limits<float>::infinity())));
}

TEST(Float, StoresIntegersAndConditions) {
  std::byte memory[8];
  store(DType::I32, memory, -5);
  EXPECT_EQ(load(DType::I32, memory), -5);
  store(DType::I64, memory, 1e12);
  EXPECT_EQ(load(DType::I64, memory), 1e12);
  store(DType::I1, memory, 3);
  EXPECT_EQ(load(DType::I1, memory), 1);
}
