//===- Exp2PackedTest.cpp - every sum of a score and its offset -----------===//

#include "lib/Codegen/Gpu/Exp2Packed.h"
#include "test/Unit/FloatBits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace attn::test;
using namespace attn::gpu;

namespace {
float wide(uint32_t half) { return fromBits(half << 16); }

/// The nearest bf16, ties to even; `x` is exact.
uint32_t narrow(double x) {
  if (x == 0)
    return 0;
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  double kept = std::nearbyint(std::ldexp(mantissa, 8));
  return bitsOf(float(std::ldexp(kept, exponent - 8))) >> 16;
}

/// Does what the GPU's instructions do, on bits.
struct DoArithmetic {
  uint32_t bits(uint32_t value) { return value; }
  uint32_t bitsOf(uint32_t x) { return x; }
  uint32_t maxInt(uint32_t x, uint32_t y) {
    return std::max(int32_t(x), int32_t(y));
  }
  uint32_t addAndCut(uint32_t x, uint32_t y, uint32_t most) {
    return std::max(std::min(int32_t(x + y), int32_t(most)), 0);
  }
  uint32_t join(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
  uint32_t maskOr(uint32_t x, uint32_t y, uint32_t z) { return (x & y) | z; }
  uint32_t add(uint32_t x, uint32_t y) { return x + y; }
  uint32_t fmaPair(uint32_t x, uint32_t y, uint32_t z) {
    auto one = [&](int shift) {
      auto half = [&](uint32_t pair) { return double(wide(pair >> shift & 0xffff)); };
      return narrow(half(x) * half(y) + half(z));
    };
    return one(0) | one(16) << 16;
  }
};

/// Bits of both results from the bits of two sums.
uint32_t pair(uint32_t low, uint32_t high, bool checked) {
  DoArithmetic code;
  auto halves = Exp2Packed::from(code, low, high, checked);
  return Exp2Packed::together(code, halves.power, halves.bend);
}
float approximate(float x, bool checked = false) {
  uint32_t sum = bitsOf(x + Exp2Packed::kOffset);
  uint32_t both = pair(sum, sum, checked);
  EXPECT_EQ(both >> 16, both & 0xffff) << x;
  return wide(both & 0xffff);
}

const float kHuge = std::numeric_limits<float>::infinity();
} // namespace

// Between -127 and 128 sums are 2^-7 apart: all of them, and x between them.
TEST(Exp2Packed, IsCloseEverywhere) {
  double squares = 0, sum = 0, worst = 0;
  int count = 0;
  for (int n = -126; n < 128; ++n)
    for (int f = 0; f < 128 * 8; ++f) {
      double x = n + (f - 3.5) / (128 * 8);
      double error = approximate(float(x)) / std::exp2(x) - 1;
      squares += error * error;
      sum += error;
      worst = std::max(worst, std::fabs(error));
      ++count;
    }
  EXPECT_LT(std::sqrt(squares / count), 2.3e-3);
  EXPECT_LT(std::fabs(sum / count), 1e-4);
  EXPECT_LT(worst, 8e-3);
}

TEST(Exp2Packed, WholePowersAreExact) {
  for (int n = -126; n < 128; ++n)
    EXPECT_EQ(approximate(float(n)), std::ldexp(1.0f, n));
}

// Of all floats that a sum can be, NaN and infinities with them.
TEST(Exp2Packed, EverySumIsInRange) {
  const uint32_t lowest = bitsOf(98305.0f), highest = bitsOf(98560.0f);
  for (uint64_t i = 0; i <= 0xffffffff; i += 1021) {
    uint32_t bits = static_cast<uint32_t>(i);
    float sum = fromBits(bits);
    bool nan = std::isnan(sum);
    if (nan && bits >> 31)
      continue; // No result of an addition: NaN is 0x7fffffff.
    uint32_t exact = pair(bits, bits, false) & 0xffff;
    uint32_t checked = pair(bits, bits, true) & 0xffff;
    if (nan || (!(bits >> 31) && bits >= highest)) {
      ASSERT_EQ(exact, 0x7f80u) << sum;
    } else if (bits >> 31 || bits <= lowest) {
      ASSERT_EQ(exact, 0u) << sum;
    }
    bool wraps = sum < 0 && sum > -98306;
    ASSERT_TRUE(checked == exact || (wraps && checked == 0x7f80)) << sum;
  }
}

TEST(Exp2Packed, FarBelowIsZeroAndBeyondIsInfinite) {
  for (float x : {-127.0f, -128.0f, -1e3f, -65504.0f, -1e5f, -144269.5f, -98432.0f,
                  -196736.0f, -1e6f, -1e30f, -kHuge})
    EXPECT_EQ(bitsOf(approximate(x)), 0u) << x;
  for (float x : {-127.0f, -128.0f, -1e3f, -65504.0f, -196800.0f, -1e30f, -kHuge})
    EXPECT_EQ(bitsOf(approximate(x, true)), 0u) << x;
  for (float x : {128.0f, 1e3f, 1e30f, kHuge, std::nanf("")})
    for (bool checked : {false, true})
      EXPECT_EQ(approximate(x, checked), kHuge) << x;
}

// The halves of a pair do not reach into each other.
TEST(Exp2Packed, NeighboursAreIndependent) {
  const uint32_t lowest = bitsOf(98304.0f), highest = bitsOf(98562.0f);
  for (uint32_t a = lowest; a < highest; ++a)
    for (uint32_t b : {lowest, lowest + 129, lowest + 191, lowest + 0x4000, highest}) {
      uint32_t low = pair(a, a, false) & 0xffff, high = pair(b, b, false) & 0xffff;
      ASSERT_EQ(pair(a, b, false), low | high << 16);
      ASSERT_EQ(pair(b, a, false), high | low << 16);
    }
}
