//===- ReferenceCompareTest.cpp - right results pass, faults do not -------===//
//
// C11: an honest f32 implementation, online or not, passes at every dtype; one
// with a planted fault fails. The implementation here shares no code with the
// interpreter.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Compare.h"
#include "lib/Reference/Inputs.h"
#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace attn;
using namespace attn::reference;
using spec::DType;

namespace {
enum class Fault {
  None,
  DropKey,          ///< One key of one row is left out.
  DropLastKey,      ///< Every row loses its last key.
  MaskOffByOne,     ///< n < m instead of n <= m.
  MaskOneLate,      ///< n <= m + 1.
  StaleMax,         ///< The accumulator is not rescaled when the maximum moves.
  StaleSum,         ///< The sum is not.
  ScaleInBfloat,    ///< The scale is rounded to bf16.
  ScoresInBfloat,   ///< Scores are rounded before the softmax.
  AccumulateNarrow, ///< The second matmul accumulates in the dtype.
  TailOfTile,       ///< Keys past the end count as score 0.
  SwapRows,         ///< Two neighbouring rows are exchanged.
};

/// Causal attention of one head with tiles of 64 keys and an online softmax.
struct Flash {
  DType dtype;
  int64_t rows, keys, width;
  Fault fault = Fault::None;
  float scale = 1;
  bool online = true; ///< Else probabilities are normalised, then rounded.

  float round(float x) const { return float(roundTo(dtype, x)); }

  void run(const HostTensor &q, const HostTensor &k, const HostTensor &v,
           HostTensor &o) const {
    std::vector<float> fq = floats(q), fk = floats(k), fv = floats(v);
    for (int64_t m = 0; m < rows; ++m) {
      int64_t to = m;
      if (fault == Fault::SwapRows && (m == 6 || m == 7))
        to = 13 - m;
      row(m, to, fq, fk, fv, o);
    }
  }

  static std::vector<float> floats(const HostTensor &t) {
    std::vector<float> values;
    for (int64_t i = 0; i < t.elements(); ++i)
      values.push_back(float(t.at(i)));
    return values;
  }

  void row(int64_t m, int64_t to, const std::vector<float> &q,
           const std::vector<float> &k, const std::vector<float> &v,
           HostTensor &o) const {
    int64_t limit = m;
    if (fault == Fault::MaskOffByOne)
      limit = m - 1;
    if (fault == Fault::MaskOneLate)
      limit = m + 1;
    const float none = -std::numeric_limits<float>::infinity();
    std::vector<float> acc(size_t(width), 0), s(64);
    float maximum = none, sum = 0;
    int64_t padded = fault == Fault::TailOfTile ? (keys + 63) / 64 * 64 : keys;
    float c = scale;
    if (fault == Fault::ScaleInBfloat)
      c = float(roundTo(DType::BF16, c));
    for (int64_t n0 = 0; n0 < padded; n0 += 64) {
      int64_t n1 = std::min(padded, n0 + 64);
      float above = maximum;
      for (int64_t n = n0; n < n1; ++n) {
        float score = 0;
        for (int64_t d = 0; d < width && n < keys; ++d)
          score += q[size_t(m * width + d)] * k[size_t(n * width + d)];
        score *= c;
        if (fault == Fault::ScoresInBfloat)
          score = float(roundTo(DType::BF16, score));
        if (n > limit)
          score = none;
        if (fault == Fault::DropKey && m == 200 && n == 77)
          score = none;
        if (fault == Fault::DropLastKey && n == std::min(limit, keys - 1) &&
            n > 0)
          score = none;
        s[size_t(n - n0)] = score;
        above = std::max(above, score);
      }
      if (above == none)
        continue;
      float factor = std::exp(maximum - above);
      if (fault != Fault::StaleSum)
        sum *= factor;
      for (float &a : acc)
        if (fault != Fault::StaleMax)
          a *= factor;
      for (int64_t n = n0; n < n1; ++n) {
        float p = std::exp(s[size_t(n - n0)] - above);
        sum += p;
        p = online ? round(p) : p;
        for (int64_t d = 0; d < width && n < keys; ++d) {
          float &a = acc[size_t(d)];
          a += p * v[size_t(n * width + d)];
          if (fault == Fault::AccumulateNarrow)
            a = round(a);
        }
      }
      maximum = above;
    }
    for (int64_t d = 0; d < width; ++d)
      o.set(to * width + d, sum > 0 ? acc[size_t(d)] / sum : 0);
  }
};

struct Trial {
  spec::ParseResult parsed;
  AxisLengths lengths;
  Inputs inputs;
  HostTensor output;
  Flash flash;

  Trial(DType dtype, int64_t rows, int64_t keys, int64_t width, double scale,
        Fault fault = Fault::None, uint64_t seed = 1, double amplitude = 1) {
    std::string t = spec::spelling(dtype);
    std::string d = std::to_string(width);
    std::string text = "kernel c(q: " + t + "[M, D], k: " + t +
                       "[N, D], v: " + t + "[N, D]) -> (o: " + t +
                       "[M, D])\nwhere D = " + d + R"( {
    s = mask(scale(matmul(q, k, over=D), )" +
                       std::to_string(scale) + R"(), n <= m)
    p = softmax(s, over=N)
    o = matmul(p, v, over=N)
})";
    parsed = spec::parse("t.attn", text);
    EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
    const spec::Kernel &kernel = parsed.module.kernels.front();
    lengths = axisLengths(kernel, {{"M", rows}, {"N", keys}});
    InputOptions options;
    options.seed = seed;
    options.amplitude = amplitude;
    inputs = makeInputs(kernel, lengths, options);
    output = HostTensor(dtype, {rows, width});
    flash = {dtype, rows,  keys,
             width, fault, float(std::stod(std::to_string(scale)))};
  }
  Comparison judge() {
    const spec::Kernel &kernel = parsed.module.kernels.front();
    flash.run(inputs.tensors["q"], inputs.tensors["k"], inputs.tensors["v"],
              output);
    return compare(output, evaluate(kernel, lengths, inputs).results.front());
  }
};
} // namespace

static const DType kDTypes[] = {DType::F16, DType::BF16, DType::F32};

TEST(Compare, C11HonestImplementationsPass) {
  for (DType dtype : kDTypes)
    for (auto [rows, keys] :
         {std::pair(1, 1), std::pair(3, 2), std::pair(63, 65),
          std::pair(129, 257), std::pair(300, 300)})
      for (double scale : {0.125, -2.0, 0.0, 1e-3, 30.0})
        for (uint64_t seed : {1, 2, 3}) {
          Trial trial(dtype, rows, keys, 40, scale, Fault::None, seed);
          for (bool online : {true, false}) {
            trial.flash.online = online;
            Comparison c = trial.judge();
            EXPECT_TRUE(c.pass)
                << spec::spelling(dtype) << " " << rows << "x" << keys
                << " scale " << scale << " seed " << seed << ": " << c.why;
            EXPECT_EQ(c.checked, rows * 40);
            EXPECT_EQ(c.skipped, 0);
          }
        }
}

TEST(Compare, C11LongRowsPass) {
  for (DType dtype : kDTypes) {
    Trial trial(dtype, 40, 4096, 8, 0.3);
    Comparison c = trial.judge();
    EXPECT_TRUE(c.pass) << c.why;
    EXPECT_LT(c.rmsRatio, 0.8);
  }
}

static void expectFound(Fault fault, std::initializer_list<DType> dtypes,
                        int64_t rows, int64_t keys, double scale = 0.125) {
  for (DType dtype : dtypes)
    for (uint64_t seed : {1, 2, 3}) {
      Trial trial(dtype, rows, keys, 64, scale, fault, seed);
      Comparison c = trial.judge();
      EXPECT_FALSE(c.pass) << spec::spelling(dtype)
                           << ": a fault went unseen, worst " << c.worstRatio
                           << " rms " << c.rmsRatio;
      EXPECT_FALSE(c.why.empty());
    }
}
static void expectFound(Fault fault, int64_t rows, int64_t keys) {
  expectFound(fault, {DType::F16, DType::BF16, DType::F32}, rows, keys);
}

TEST(Compare, FindsOneDroppedKey) { expectFound(Fault::DropKey, 257, 257); }
TEST(Compare, FindsADroppedLastKey) {
  expectFound(Fault::DropLastKey, 1000, 1000);
}
TEST(Compare, FindsAMaskThatIsOneShort) {
  expectFound(Fault::MaskOffByOne, 300, 300);
}
TEST(Compare, FindsAMaskThatIsOneLong) {
  expectFound(Fault::MaskOneLate, 300, 300);
}
TEST(Compare, FindsAStaleMaximum) { expectFound(Fault::StaleMax, 200, 200); }
TEST(Compare, FindsAStaleSum) { expectFound(Fault::StaleSum, 200, 200); }
TEST(Compare, FindsATailThatCounts) { expectFound(Fault::TailOfTile, 200, 65); }
TEST(Compare, FindsSwappedRows) { expectFound(Fault::SwapRows, 300, 300); }
TEST(Compare, FindsRoundedScores) {
  expectFound(Fault::ScoresInBfloat, {DType::BF16, DType::F16, DType::F32}, 300,
              300, 0.5);
}
TEST(Compare, FindsARoundedScale) {
  expectFound(Fault::ScaleInBfloat, {DType::F16, DType::F32}, 300, 300, 0.3);
}
TEST(Compare, FindsANarrowAccumulator) {
  expectFound(Fault::AccumulateNarrow, {DType::F16, DType::BF16}, 300, 300);
}

TEST(Compare, ARowWithOneLiveKeyAllowsLastPlacesOnly) {
  for (auto [dtype, units] :
       {std::pair(DType::BF16, 2.01), std::pair(DType::F16, 2.01),
        std::pair(DType::F32, 8.0)}) {
    Trial trial(dtype, 1, 1, 16, 0.25);
    EXPECT_TRUE(trial.judge().pass);
    double v = trial.output.at(3);
    trial.output.set(3, v + units * spacing(dtype, v));
    EXPECT_FALSE(
        compare(trial.output, evaluate(trial.parsed.module.kernels.front(),
                                       trial.lengths, trial.inputs)
                                  .results[0])
            .pass)
        << spec::spelling(dtype);
  }
}

TEST(Compare, NaNAndInfinityNeverPass) {
  for (double wrong : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    Trial trial(DType::BF16, 70, 70, 16, 0.25);
    EXPECT_TRUE(trial.judge().pass);
    trial.output.set(69 * 16 + 5, wrong);
    Comparison c =
        compare(trial.output, evaluate(trial.parsed.module.kernels.front(),
                                       trial.lengths, trial.inputs)
                                  .results[0]);
    EXPECT_FALSE(c.pass);
    EXPECT_NE(c.why.find("o[69, 5] is"), std::string::npos) << c.why;
  }
}

TEST(Compare, LogitsNearMinusSixtyThousand) {
  // Scores near -6e4 whose f32 rounding alone moves probabilities by 0.4 %.
  for (DType dtype : kDTypes) {
    Trial trial(dtype, 129, 129, 16, 1);
    HostTensor &q = trial.inputs.tensors["q"], &k = trial.inputs.tensors["k"];
    for (int64_t i = 0; i < 129; ++i) {
      q.set(i * 16, 245);
      k.set(i * 16, -245);
    }
    Comparison c = trial.judge();
    EXPECT_TRUE(c.pass) << c.why;
    trial.flash.fault = Fault::MaskOneLate;
    EXPECT_FALSE(trial.judge().pass) << c.worstRatio;
  }
}

TEST(Compare, ShapeAndDTypeMustAgree) {
  Trial trial(DType::F32, 3, 3, 8, 1);
  EXPECT_TRUE(trial.judge().pass);
  Evaluation e = evaluate(trial.parsed.module.kernels.front(), trial.lengths,
                          trial.inputs);
  EXPECT_FALSE(compare(HostTensor(DType::F32, {3, 4}), e.results[0]).pass);
  EXPECT_FALSE(compare(HostTensor(DType::F16, {3, 8}), e.results[0]).pass);
}

/// The noise that the interpreter predicts against the error that its own model
/// of `naive` makes: within a factor, whatever the expression.
/// Root mean square error of the model over the noise that was predicted for it.
static double errorOverNoise(const Evaluation &e) {
  double errors = 0, variances = 0;
  for (const Slice &slice : e.results[0].slices)
    for (size_t i = 0; i < slice.exact.size(); ++i) {
      errors += std::pow(slice.model[i] - slice.exact[i], 2);
      variances += slice.variance[i];
    }
  return std::sqrt(errors / variances);
}

TEST(Noise, PredictsTheModelsError) {
  struct Kind {
    const char *scores;
    double most, least;
  };
  const Kind kinds[] = {
      {"scale(s, rsqrt(D))", 1.3, 0.2},
      {"scale(s, 5)", 1.3, 0.1},
      {"30 * tanh(s / 30)", 1.3, 0.0}, // Allows for the short instruction.
      {"s + 0.01 * (n - m)", 1.3, 0.2},
      {"exp(s / 8) - log(abs(s) + 1)", 1.3, 0.1},
      {"sqrt(abs(s)) * sigmoid(s)", 1.3, 0.1},
  };
  for (DType dtype : {DType::BF16, DType::F32})
    for (const Kind &kind : kinds) {
      std::string t = spec::spelling(dtype);
      std::string text =
          "kernel c(q: " + t + "[M, D], k: " + t + "[N, D], v: " + t +
          "[N, D]) -> (o: f32[M, D])\nwhere D = 32 {\n" +
          "    s = matmul(q, k, over=D)\n    s = " + kind.scores +
          "\n    p = softmax(s, over=N)\n"
          "    o = matmul(p, v, over=N)\n}";
      spec::ParseResult parsed = spec::parse("t.attn", text);
      ASSERT_TRUE(parsed.ok()) << spec::render(parsed);
      const spec::Kernel &kernel = parsed.module.kernels.front();
      AxisLengths lengths = axisLengths(kernel, {{"M", 100}, {"N", 200}});
      Inputs inputs = makeInputs(kernel, lengths);
      Evaluation e = evaluate(kernel, lengths, inputs);
      double ratio = errorOverNoise(e);
      EXPECT_LT(ratio, kind.most) << kind.scores << " " << t;
      EXPECT_GT(ratio, kind.least) << kind.scores << " " << t;
    }
}

/// The error over the noise of sums of `keys` f32 products p v, whose factors `arrange`
/// has set.
static double
errorOfSums(int64_t rows, int64_t keys,
            const std::function<void(HostTensor &p, HostTensor &v)> &arrange) {
  spec::ParseResult parsed = spec::parse(
      "t.attn", "kernel c(p: f32[M, N], v: f32[N, D]) -> (o: f32[M, D])\n"
                "where D = 64 {\n    o = matmul(p, v, over=N)\n}");
  EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
  const spec::Kernel &kernel = parsed.module.kernels.front();
  AxisLengths lengths = axisLengths(kernel, {{"M", rows}, {"N", keys}});
  Inputs inputs = makeInputs(kernel, lengths);
  arrange(inputs.tensors["p"], inputs.tensors["v"]);
  return errorOverNoise(evaluate(kernel, lengths, inputs));
}

/// A sum that reaches its size at once rounds at each of the thousands of terms
/// that follow: more than the same terms in random order would.
TEST(Noise, KnowsSumsWhoseLargeTermsComeFirst) {
  const int64_t rows = 40, keys = 3000;
  double ratio = errorOfSums(rows, keys, [&](HostTensor &p, HostTensor &v) {
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < keys; ++n)
        p.set(m * keys + n, n ? 1e-3 * p.at(m * keys + n) : 1);
    for (int64_t d = 0; d < 64; ++d)
      v.set(d, 1 + 0.01 * d);
  });
  EXPECT_LT(ratio, 1.2);
  EXPECT_GT(ratio, 0.6);
}

/// Equal terms round the same way at each step between two powers of two. Random
/// values in random order would err a twentieth as much.
TEST(Noise, KnowsSumsOfEqualTerms) {
  const int64_t rows = 40;
  for (int64_t keys : {257, 1025, 4096}) {
    double ratio = errorOfSums(rows, keys, [&](HostTensor &p, HostTensor &v) {
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < keys; ++n)
          p.set(m * keys + n, p.at(m * keys));
      for (int64_t n = 0; n < keys; ++n)
        for (int64_t d = 0; d < 64; ++d)
          v.set(n * 64 + d, v.at(d));
    });
    EXPECT_LT(ratio, 1.2) << keys;
    EXPECT_GT(ratio, 0.3) << keys;
  }
}

/// Kernels of 16-bit inputs take slope * (n - m) apart, so a term that is exactly 0 may
/// come out as the rounding of two that cancel. Those of f32 inputs do not.
TEST(Noise, KnowsSlopesThatAreTakenApart) {
  for (DType dtype : {DType::BF16, DType::F32}) {
    std::string t = spec::spelling(dtype);
    spec::ParseResult parsed = spec::parse(
        "t.attn", "kernel c(x: " + t + "[M, N], slope: f32[M]) -> (o: f32[M, N]) {\n"
                  "    o = x * 0.0 + slope * (n - m)\n}");
    ASSERT_TRUE(parsed.ok()) << spec::render(parsed);
    const spec::Kernel &kernel = parsed.module.kernels.front();
    AxisLengths lengths = axisLengths(kernel, {{"M", 5}, {"N", 9}});
    Inputs inputs = makeInputs(kernel, lengths);
    Evaluation e = evaluate(kernel, lengths, inputs);
    HostTensor o(DType::F32, {5, 9});
    for (double off : {0.0, 1e-5}) {
      for (int64_t m = 0; m < 5; ++m)
        for (int64_t n = 0; n < 9; ++n) {
          double slope = inputs.tensors["slope"].at(m);
          float far = float(slope * 120);
          o.set(m * 9 + n, float(slope * double(n - m + 120)) - far + off);
        }
      EXPECT_EQ(compare(o, e.results[0]).pass, dtype == DType::BF16 && off < 1e-5)
          << t << " " << off;
    }
  }
}

TEST(Noise, IsKnownBehindMaskedScores) {
  const char *forms[] = {"sigmoid(s)",
                         "exp(s)",
                         "exp2(s)",
                         "tanh(s)",
                         "max(s, 0)",
                         "min(s, 0) * 0 + 1",
                         "1 / (1 + exp(-s))",
                         "abs(s)",
                         "floor(s)",
                         "log(exp(s) + 1)",
                         "sqrt(exp(s))",
                         "rsqrt(1 + exp(s))",
                         "select(n <= m, s, 2)",
                         "cast(exp(s), bf16)"};
  for (const char *form : forms) {
    std::string text =
        std::string("kernel c(q: bf16[M, D], k: bf16[N, D]) -> "
                    "(o: f32[M, N])\nwhere D = 4 {\n"
                    "    s = mask(matmul(q, k, over=D), n <= m)\n"
                    "    o = ") +
        form + "\n}";
    spec::ParseResult parsed = spec::parse("t.attn", text);
    ASSERT_TRUE(parsed.ok()) << spec::render(parsed);
    const spec::Kernel &kernel = parsed.module.kernels.front();
    AxisLengths lengths = axisLengths(kernel, {{"M", 9}, {"N", 9}});
    Evaluation e = evaluate(kernel, lengths, makeInputs(kernel, lengths));
    for (const Slice &slice : e.results[0].slices)
      for (size_t i = 0; i < slice.exact.size(); ++i)
        EXPECT_TRUE(!std::isfinite(slice.exact[i]) ||
                    std::isfinite(slice.variance[i]))
            << form << " at " << i << " of " << slice.exact[i];
  }
}

TEST(Noise, AThresholdWithinErrorIsSkippedNotGuessed) {
  const char *text = R"(
kernel c(q: f32[M, D], k: f32[N, D]) -> (o: f32[M, N])
where D = 3 {
    s = matmul(q, k, over=D)
    o = select(s > 0.3, 1, 0) * s
})";
  spec::ParseResult parsed = spec::parse("t.attn", text);
  ASSERT_TRUE(parsed.ok()) << spec::render(parsed);
  const spec::Kernel &kernel = parsed.module.kernels.front();
  AxisLengths lengths = axisLengths(kernel, {{"M", 1}, {"N", 2}});
  Inputs inputs = makeInputs(kernel, lengths);
  for (int d = 0; d < 3; ++d) {
    inputs.tensors["q"].set(d, 1);
    inputs.tensors["k"].set(d, 0.1f);
    inputs.tensors["k"].set(3 + d, 0.2f);
  }
  HostTensor o(DType::F32, {1, 2});
  o.set(1, 0.6f);
  Comparison c = compare(o, evaluate(kernel, lengths, inputs).results[0]);
  EXPECT_TRUE(c.pass) << c.why;
  EXPECT_EQ(c.skipped, 1);
  EXPECT_EQ(c.checked, 1);
}
