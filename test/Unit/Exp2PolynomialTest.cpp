//===- Exp2PolynomialTest.cpp - its error over the whole domain -----------===//

#include "lib/Codegen/Gpu/Exp2Polynomial.h"
#include "test/Unit/FloatBits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace attn::test;
using namespace attn::gpu;

namespace {

/// Does what the GPU's instructions do.
struct DoArithmetic {
  float real(float value) { return value; }
  /// A result that is no number is the canonical one.
  float fma(float x, float y, float z) {
    float result = std::fma(x, y, z);
    return std::isnan(result) ? fromBits(0x7fffffff) : result;
  }
  float max(float x, float y) {
    return std::isnan(x) || std::isnan(y) ? fromBits(0x7fffffff) : std::fmax(x, y);
  }
  float min(float x, float y) {
    return std::isnan(x) || std::isnan(y) ? fromBits(0x7fffffff) : std::fmin(x, y);
  }
  float maskBits(float x, uint32_t mask) { return fromBits(bitsOf(x) & mask); }
  float addBits(float x, float y, int shift) {
    return fromBits(bitsOf(x) + (bitsOf(y) << shift));
  }
};

float approximate(float x, bool unbounded = false) {
  DoArithmetic code;
  return Exp2Polynomial::from(code, x + Exp2Polynomial::kOffset, unbounded);
}

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();
} // namespace

// x + 768 has 2^14 values between two integers: all of them, at every exponent.
TEST(Exp2Polynomial, IsCloseEverywhere) {
  double worst = 0, sum = 0;
  for (int n = -126; n < 128; ++n)
    for (int f = 0; f < 1 << 14; ++f) {
      double x = n + std::ldexp(f, -14);
      double error = approximate(float(x)) / std::exp2(x) - 1;
      worst = std::max(worst, std::fabs(error));
      sum += error;
    }
  EXPECT_LT(worst, 8.7e-5);
  // Not on one side: sums of many probabilities keep their mean.
  EXPECT_LT(std::fabs(sum / (254 << 14)), 1e-5);
}

// Between those values x is rounded, by 2^-15 at most.
TEST(Exp2Polynomial, RoundsItsArgument) {
  uint32_t least = bitsOf(0x1p-30f), most = bitsOf(126.9f);
  for (uint32_t bits = least; bits < most; bits += 1009)
    for (float x : {fromBits(bits), -fromBits(bits)}) {
      if (x < -126)
        continue;
      double exact = std::exp2(double(x));
      ASSERT_LT(std::fabs(approximate(x) / exact - 1), 1.1e-4) << x;
    }
}

TEST(Exp2Polynomial, WholePowersAreExact) {
  for (int n = -126; n < 128; ++n)
    EXPECT_EQ(approximate(float(n)), std::ldexp(1.0f, n));
}

TEST(Exp2Polynomial, FarBelowIsZero) {
  for (float x : {-127.0f, -127.5f, -255.0f, -256.0f, -257.0f, -511.0f, -767.9f,
                  -768.0f, -769.0f, -1e4f, -3e38f, -kInfinity})
    EXPECT_EQ(bitsOf(approximate(x)), 0u) << x;
  for (int f = 0; f < 1 << 14; ++f) { // The last step down to zero.
    float y = approximate(-127 + std::ldexp(float(f), -14));
    EXPECT_TRUE(y >= 0 && y < 0x1p-126f) << f;
  }
}

TEST(Exp2Polynomial, NanStaysNan) {
  EXPECT_TRUE(std::isnan(approximate(kNan)));
  EXPECT_TRUE(std::isnan(approximate(-kNan)));
  EXPECT_TRUE(std::isnan(approximate(kNan, true)));
}

TEST(Exp2Polynomial, UnboundedOverflowsToInfinity) {
  for (float x : {128.0f, 128.5f, 200.0f, 255.0f, 256.0f, 300.0f, 1e6f, 3e38f,
                  kInfinity})
    EXPECT_EQ(approximate(x, true), kInfinity) << x;
  EXPECT_EQ(approximate(127.0f, true), 0x1p127f);
  EXPECT_EQ(approximate(-kInfinity, true), 0.0f);
}
