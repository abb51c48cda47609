//===- ReferenceStepsTest.cpp - what a rounding step allows ---------------===//
//
// A spec may round its scores and multiply what is left by hundreds. Where a
// score lies within f32 error of a step no f32 level can follow the float64
// oracle, and the allowance must hold the whole step; everywhere else it must
// hold nothing of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Compare.h"
#include "lib/Reference/Inputs.h"
#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace attn;
using namespace attn::reference;
using spec::DType;

namespace {
/// Scores 256 + k, rounded to bf16 (neighbours are 2 apart) and multiplied by
/// 100. Key 0 of every other row is 256 + near: just above 257 it wins its row
/// by e^200, just below it is one of many.
struct Rounded {
  static constexpr int64_t kRows = 32, kKeys = 96, kWidth = 16;
  spec::ParseResult parsed;
  AxisLengths lengths;
  Inputs inputs;

  explicit Rounded(double near, double other = 0.25) {
    // A sum of a matmul and a read: the matmul is 256 in every row.
    parsed = spec::parse("t.attn", R"(
kernel c(q: f32[M, E], k: f32[N, E], b: f32[M, N], v: f32[N, D])
    -> (o: f32[M, D], lse: f32[M])
where D = 16, E = 1 {
    s = matmul(q, k, over=E) + b[m, n]
    s = cast(s, bf16) * 100
    p, lse = softmax(s, over=N)
    o = matmul(p, v, over=N)
})");
    EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
    lengths = axisLengths(kernel(), {{"M", kRows}, {"N", kKeys}});
    inputs = makeInputs(kernel(), lengths);
    for (int64_t m = 0; m < kRows; ++m)
      inputs.tensors["q"].set(m, 16);
    for (int64_t n = 0; n < kKeys; ++n)
      inputs.tensors["k"].set(n, 16);
    for (int64_t m = 0; m < kRows; ++m)
      for (int64_t n = 0; n < kKeys; ++n)
        inputs.tensors["b"].set(m * kKeys + n,
                                n == 0 && m % 2 == 0 ? near : other);
  }
  const spec::Kernel &kernel() const { return parsed.module.kernels.front(); }

  /// An f32 level of its own, with `round` for the cast and `live` for keys.
  Comparison judge(std::function<float(float)> round,
                   std::function<bool(int64_t, int64_t)> live,
                   Comparison *ofLse = nullptr) {
    HostTensor o(DType::F32, {kRows, kWidth}), lse(DType::F32, {kRows});
    for (int64_t m = 0; m < kRows; ++m) {
      std::vector<float> s, acc(size_t(kWidth), 0);
      for (int64_t n = 0; n < kKeys; ++n) {
        float score = 256 + float(inputs.tensors["b"].at(m * kKeys + n));
        s.push_back(live(m, n) ? round(score) * 100 : -INFINITY);
      }
      float maximum = *std::max_element(s.begin(), s.end()), sum = 0;
      for (int64_t n = 0; n < kKeys; ++n) {
        float p = std::exp(s[size_t(n)] - maximum);
        sum += p;
        for (int64_t d = 0; d < kWidth; ++d)
          acc[size_t(d)] += p * float(inputs.tensors["v"].at(n * kWidth + d));
      }
      for (int64_t d = 0; d < kWidth; ++d)
        o.set(m * kWidth + d, acc[size_t(d)] / sum);
      lse.set(m, maximum + std::log(sum));
    }
    Evaluation e = evaluate(kernel(), lengths, inputs);
    if (ofLse)
      *ofLse = compare(lse, e.results[1]);
    return compare(o, e.results[0]);
  }
};
} // namespace

static float toBfloat(float x) { return float(roundTo(DType::BF16, x)); }
static float cutOff(float x) {
  float r = toBfloat(x);
  return r > x ? r - float(spacing(DType::BF16, x)) : r;
}
static float unrounded(float x) { return x; }
static bool all(int64_t, int64_t) { return true; }

/// The next f32 above 257: rounds up, and one unit of error makes it the tie at
/// 257, which goes down.
static constexpr double kAbove = 1 + 0x1p-15;

/// Another honest level: its sum came out one unit lower.
static float oneUnitLower(float x) {
  return toBfloat(x == float(256 + kAbove) ? 257 : x);
}

TEST(Steps, ATippedRoundingPasses) {
  Rounded trial(kAbove);
  ASSERT_EQ(toBfloat(float(256 + kAbove)), 258);
  ASSERT_EQ(oneUnitLower(float(256 + kAbove)), 256);
  for (auto round : {toBfloat, oneUnitLower}) {
    Comparison lse;
    Comparison o = trial.judge(round, all, &lse);
    EXPECT_TRUE(o.pass) << o.why;
    EXPECT_TRUE(lse.pass) << lse.why;
    EXPECT_EQ(o.skipped, 0);
  }
}

TEST(Steps, AFewStepsAreAllowedAndNoMore) {
  // A step counts as one deviation, and C11 allows twice three of them: here
  // 1200. A score that is 2200 off is none.
  Rounded trial(kAbove, 0.25);
  Comparison lse;
  trial.judge(
      [](float x) { return x > 257 ? 280.0f : toBfloat(x); }, all, &lse);
  EXPECT_FALSE(lse.pass) << lse.worstRatio;
}

TEST(Steps, AwayFromAStepNothingIsAllowed) {
  Rounded trial(1.01); // A hundredth above the step: f32 follows.
  EXPECT_TRUE(trial.judge(toBfloat, all).pass);
  EXPECT_FALSE(trial.judge(cutOff, all).pass);
  Comparison lse;
  trial.judge(unrounded, all, &lse);
  EXPECT_FALSE(lse.pass) << lse.worstRatio;
}

TEST(Steps, OtherRowsAreJudgedAsSharplyAsEver) {
  Rounded trial(kAbove);
  // Odd rows hold no key near a step.
  Comparison o = trial.judge(
      toBfloat, [](int64_t m, int64_t n) { return m != 7 || n != 30; });
  EXPECT_FALSE(o.pass) << o.worstRatio;
  EXPECT_NE(o.why.find("[7, "), std::string::npos) << o.why;
}

TEST(Steps, AKeyThatCannotWinLeavesItsRowSharp) {
  // Key 0 lies at the step of 255, where a step is 1: it may be 254 or 256 in
  // a row of 258s, and e^-200 of anything is nothing.
  Rounded trial(-1.5 + 0x1p-20, 2);
  EXPECT_TRUE(trial.judge(toBfloat, all).pass);
  Comparison o = trial.judge(
      toBfloat, [](int64_t m, int64_t n) { return m != 8 || n != 30; });
  EXPECT_FALSE(o.pass) << o.worstRatio;
}

/// Values of one f32 expression of m, with a planted change at one element.
static Comparison judgeFloor(const char *form, std::function<double(double)> f,
                             int64_t wrongAt, double change) {
  std::string text = std::string("kernel c(x: f32[M]) -> (o: f32[M]) {\n"
                                 "    o = ") +
                     form + " + x * 0\n}";
  spec::ParseResult parsed = spec::parse("t.attn", text);
  EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
  const spec::Kernel &kernel = parsed.module.kernels.front();
  AxisLengths lengths = axisLengths(kernel, {{"M", 600}});
  Inputs inputs = makeInputs(kernel, lengths);
  HostTensor o(DType::F32, {600});
  for (int64_t m = 0; m < 600; ++m)
    o.set(m, f(double(m)) + (m == wrongAt ? change : 0));
  return compare(o, evaluate(kernel, lengths, inputs).results[0]);
}

TEST(Steps, AnExactQuotientHasNoDoubt) {
  auto floorOfSevenths = [](double m) { return std::floor(-m / 7); };
  EXPECT_TRUE(judgeFloor("floor((0 - m) / 7.0)", floorOfSevenths, -1, 0).pass);
  // -117 * 7 / 7.0 by a reciprocal is a little below -117.
  EXPECT_FALSE(
      judgeFloor("floor((0 - m) / 7.0)", floorOfSevenths, 77 * 7, -1).pass);
  EXPECT_FALSE(judgeFloor("cast(m / 8.0 >= 3, f32)",
                          [](double m) { return double(m >= 24); }, 24, -1)
                   .pass);
}

TEST(Steps, ARoundedQuotientBeforeAStepHasDoubt) {
  // m * 0.1 is not a number of the format, 10 times it may fall short.
  Comparison c = judgeFloor("floor(m * 0.1)",
                            [](double m) { return std::floor(m / 10); }, 20, -1);
  EXPECT_TRUE(c.pass) << c.why;
}
