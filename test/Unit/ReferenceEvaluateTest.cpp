//===- ReferenceEvaluateTest.cpp - what kernels mean ----------------------===//
//
// Small kernels against sums written out by hand.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Compare.h"
#include "lib/Reference/Inputs.h"
#include "lib/Reference/Live.h"
#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::reference;
using spec::DType;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
struct Case {
  spec::ParseResult parsed;
  AxisLengths lengths;
  Inputs inputs;

  Case(const std::string &text, const std::map<std::string, int64_t> &binds)
      : parsed(spec::parse("test.attn", text)) {
    EXPECT_TRUE(parsed.ok()) << spec::render(parsed);
    lengths = axisLengths(kernel(), binds);
    inputs = makeInputs(kernel(), lengths);
  }
  const spec::Kernel &kernel() const { return parsed.module.kernels.front(); }

  void set(const std::string &name, const std::vector<double> &values) {
    HostTensor &tensor = inputs.tensors.at(name);
    ASSERT_EQ(size_t(tensor.elements()), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      tensor.set(int64_t(i), values[i]);
  }

  /// All of a result, in memory order.
  std::vector<double> result(size_t which = 0) {
    Evaluation evaluation = evaluate(kernel(), lengths, inputs);
    const ResultSamples &samples = evaluation.results.at(which);
    int64_t count = 1;
    for (int64_t length : samples.shape)
      count *= length;
    std::vector<double> all(size_t(count), NAN);
    for (const Slice &slice : samples.slices)
      for (size_t i = 0; i < slice.exact.size(); ++i) {
        size_t rest = i;
        int64_t element = 0, stride = 1;
        for (size_t d = samples.shape.size(); d-- > 0;) {
          const auto &list = slice.coordinates[d];
          element += list[rest % list.size()] * stride;
          rest /= list.size();
          stride *= samples.shape[d];
        }
        all[size_t(element)] = slice.exact[i];
      }
    return all;
  }
};
} // namespace

static void expectNear(const std::vector<double> &got,
                       const std::vector<double> &wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (std::isinf(wanted[i]))
      EXPECT_EQ(got[i], wanted[i]) << "element " << i;
    else
      EXPECT_NEAR(got[i], wanted[i], 1e-12 * (1 + std::fabs(wanted[i])))
          << "element " << i;
}

static const char *kCausal = R"(
kernel c(q: f32[B, H, M, D], k: f32[B, H, N, D], v: f32[B, H, N, D])
    -> (o: f32[B, H, M, D], lse: f32[B, H, M])
where D = 2 {
    s = scale(matmul(q, k, over=D), rsqrt(D))
    s = mask(s, n <= m)
    p, lse = softmax(s, over=N)
    o = matmul(p, v, over=N)
})";

TEST(Evaluate, CausalAttentionByHand) {
  Case c(kCausal, {{"B", 1}, {"H", 1}, {"M", 2}, {"N", 3}});
  c.set("q", {1, 2, 3, -1});
  c.set("k", {1, 0, 0, 1, 5, 5});
  c.set("v", {1, 2, 3, 4, 100, 100});
  // Row 1 sees keys 0 and 1, with scores 3 / sqrt 2 and -1 / sqrt 2.
  double a = std::exp(3 / std::sqrt(2.0)), b = std::exp(-1 / std::sqrt(2.0));
  expectNear(c.result(0),
             {1, 2, (a + 3 * b) / (a + b), (2 * a + 4 * b) / (a + b)});
  expectNear(c.result(1), {1 / std::sqrt(2.0), std::log(a + b)});
}

TEST(Evaluate, C3RowsWithoutALiveKey) {
  Case c(R"(
kernel c(q: f32[M, D], k: f32[N, D], v: f32[N, D])
    -> (o: f32[M, D], lse: f32[M])
where D = 1 {
    s = mask(matmul(q, k, over=D), n < m)
    p, lse = softmax(s, over=N)
    o = matmul(p, v, over=N)
})",
         {{"M", 2}, {"N", 2}});
  c.set("q", {1, 2});
  c.set("k", {3, 4});
  c.set("v", {7, 8});
  expectNear(c.result(0), {0, 7});
  expectNear(c.result(1), {-kInfinity, 6});
}

TEST(Evaluate, C3NoKeysAtAll) {
  Case c(kCausal, {{"B", 1}, {"H", 2}, {"M", 2}, {"N", 0}});
  expectNear(c.result(0), std::vector<double>(8, 0));
  expectNear(c.result(1), std::vector<double>(4, -kInfinity));
}

TEST(Evaluate, NoRowsAtAll) {
  Case c(kCausal, {{"B", 1}, {"H", 2}, {"M", 0}, {"N", 5}});
  EXPECT_TRUE(c.result(0).empty());
}

TEST(Evaluate, ASinkTakesItsShare) {
  Case c(R"(
kernel c(q: f32[M, D], k: f32[N, D], v: f32[N, D], e: f32[M])
    -> (o: f32[M, D], lse: f32[M])
where D = 1 {
    s = mask(matmul(q, k, over=D), n < m)
    p, lse = softmax(s, over=N, sink=e[m])
    o = matmul(p, v, over=N)
})",
         {{"M", 2}, {"N", 1}});
  c.set("q", {1, 2});
  c.set("k", {0.5});
  c.set("v", {10});
  c.set("e", {3, 1});
  expectNear(c.result(0), {0, 5});
  expectNear(c.result(1), {3, 1 + std::log(2.0)});
}

TEST(Evaluate, GroupedHeadsReadTheirKeyHead) {
  Case c(R"(
kernel c(q: f32[Hq, M, D], k: f32[Hkv, N, D], v: f32[Hkv, N, D])
    -> (o: f32[Hq, M, D])
where D = 1, Hq = G * Hkv {
    s = matmul(q, k, over=D) + 100 * g + 10 * hkv
    o = matmul(s, v, over=N)
})",
         {{"Hkv", 2}, {"G", 3}, {"M", 1}, {"N", 1}});
  c.set("q", {1, 2, 3, 4, 5, 6});
  c.set("k", {1, 2});
  c.set("v", {1, 1});
  expectNear(c.result(), {1, 102, 203, 18, 120, 222});
}

TEST(Evaluate, IntegersDivideTowardsMinusInfinity) {
  Case c(R"(
kernel c(a: i64[N], b: i64[N]) -> (o: i64[N]) { o = a / b })",
         {{"N", 6}});
  c.set("a", {7, -7, 7, -7, 5, -6});
  c.set("b", {2, 2, -2, -2, 0, 3});
  expectNear(c.result(), {3, -4, -4, 3, 0, -2});
}

TEST(Evaluate, ReadsAreClamped) {
  Case c(R"(
kernel c(x: f32[N], t: f32[R]) -> (o: f32[N]) { o = x * 0 + t[n - 1] })",
         {{"N", 5}, {"R", 3}});
  c.set("x", {0, 0, 0, 0, 0});
  c.set("t", {4, 5, 6});
  expectNear(c.result(), {4, 4, 5, 6, 6});
}

TEST(Evaluate, ReadsOfAnEmptyTensorAreZero) {
  Case c(R"(
kernel c(x: f32[N], t: f32[R]) -> (o: f32[N]) { o = x + t[n] })",
         {{"N", 2}, {"R", 0}});
  c.set("x", {1, 2});
  expectNear(c.result(), {1, 2});
}

TEST(Evaluate, ElementwiseForms) {
  Case c(R"(
kernel c(x: f32[N]) -> (o: f32[N], i: i64[N], w: i1[N]) {
    a = select(n == 0, sigmoid(x), select(n == 1, 3 * tanh(x / 3), exp2(abs(x))))
    o = max(min(a + log(N), 2.5), floor(x))
    i = abs(n - 2) * 3 - min(n, 1)
    w = n < 1 or not (x < 2)
})",
         {{"N", 3}});
  c.set("x", {1, 1.5, -0.25});
  expectNear(c.result(0), {1 / (1 + std::exp(-1.0)) + std::log(3.0),
                           3 * std::tanh(0.5) + std::log(3.0),
                           std::exp2(0.25) + std::log(3.0)});
  expectNear(c.result(1), {6, 2, -1});
  expectNear(c.result(2), {1, 0, 0});
}

TEST(Evaluate, CastRoundsInTheExactViewToo) {
  Case c(R"(
kernel c(x: f32[N]) -> (o: f32[N]) { o = cast(x, bf16) + 1 })",
         {{"N", 1}});
  c.set("x", {1 + 0x1p-9f});
  expectNear(c.result(), {2});
}

TEST(Evaluate, StorageOrderDoesNotMatter) {
  const char *body = R"( {
    s = matmul(q, k, over=D)
    p = softmax(s, over=N)
    o = matmul(p, v, over=N)
})";
  Case a(
      std::string("kernel a(q: f32[H, M, D], k: f32[H, N, D], v: f32[H, N, D])"
                  " -> (o: f32[H, M, D]) where D = 2") +
          body,
      {{"H", 2}, {"M", 2}, {"N", 3}});
  Case b(
      std::string("kernel a(q: f32[D, H, M], k: f32[N, D, H], v: f32[D, N, H])"
                  " -> (o: f32[M, D, H]) where D = 2") +
          body,
      {{"H", 2}, {"M", 2}, {"N", 3}});
  auto q = [](int h, int m, int d) { return 0.3 * h - 0.7 * m + d; };
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 2; ++d) {
      for (int m = 0; m < 2; ++m) {
        a.inputs.tensors["q"].set((h * 2 + m) * 2 + d, q(h, m, d));
        b.inputs.tensors["q"].set((d * 2 + h) * 2 + m, q(h, m, d));
      }
      for (int n = 0; n < 3; ++n) {
        a.inputs.tensors["k"].set((h * 3 + n) * 2 + d, q(n, h, d));
        b.inputs.tensors["k"].set((n * 2 + d) * 2 + h, q(n, h, d));
        a.inputs.tensors["v"].set((h * 3 + n) * 2 + d, q(d, n, h));
        b.inputs.tensors["v"].set((d * 3 + n) * 2 + h, q(d, n, h));
      }
    }
  std::vector<double> x = a.result(), y = b.result(), reordered;
  for (int h = 0; h < 2; ++h)
    for (int m = 0; m < 2; ++m)
      for (int d = 0; d < 2; ++d)
        reordered.push_back(y[size_t((m * 2 + d) * 2 + h)]);
  expectNear(x, reordered);
}

TEST(Evaluate, SamplesAreTheWholeAtThosePoints) {
  const char *text = R"(
kernel c(q: bf16[B, Hq, M, D], k: bf16[B, Hkv, N, D], v: bf16[B, Hkv, N, Dv])
    -> (o: bf16[B, Hq, M, Dv])
where D = 8, Dv = 16, Hq = G * Hkv {
    s = mask(scale(matmul(q, k, over=D), rsqrt(D)), n <= m)
    p = softmax(s, over=N)
    o = matmul(p, v, over=N)
})";
  Case c(text, {{"B", 3}, {"G", 2}, {"Hkv", 3}, {"M", 150}, {"N", 130}});
  std::vector<double> whole = c.result();
  Options options;
  options.points = 100;
  Evaluation sampled = evaluate(c.kernel(), c.lengths, c.inputs, options);
  EXPECT_TRUE(sampled.sampled);
  const ResultSamples &samples = sampled.results.front();
  EXPECT_EQ(samples.rowLength, 16);
  std::set<std::vector<int64_t>> points;
  for (const Slice &slice : samples.slices) {
    size_t i = 0;
    for (int64_t b : slice.coordinates[0])
      for (int64_t h : slice.coordinates[1])
        for (int64_t m : slice.coordinates[2])
          for (int64_t d : slice.coordinates[3]) {
            points.insert({b, h, m});
            double wanted = whole[size_t(((b * 6 + h) * 150 + m) * 16 + d)];
            EXPECT_NEAR(slice.exact[i++], wanted, 1e-12);
          }
  }
  EXPECT_GE(points.size(), 90u);
  EXPECT_LE(points.size(), 120u);
  EXPECT_TRUE(points.count({0, 0, 0}));
  EXPECT_TRUE(points.count({2, 5, 149}));
}

// 0 times what nobody knows has no NaN in it.
TEST(Evaluate, AMaskAtItsThresholdLeavesTheRowUnknown) {
  Case c(R"(
kernel c(q: f32[M, D], k: f32[N, D], v: f32[N, E], a: f32[M], b: f32[N])
    -> (o: f32[M, E])
where D = 1, E = 2 {
    s = mask(matmul(q, k, over=D), a / 3 <= b)
    p = softmax(s, over=N)
    o = matmul(p, v, over=N)
})",
         {{"M", 1}, {"N", 2}});
  c.set("q", {1});
  c.set("k", {1, 2});
  c.set("v", {0, 5, 3, 0});
  c.set("a", {1});
  c.set("b", {1.0 / 3, 1}); // Rounded to f32: below or above a / 3?
  Evaluation evaluation = evaluate(c.kernel(), c.lengths, c.inputs);
  for (const Slice &slice : evaluation.results.at(0).slices)
    for (double variance : slice.variance)
      EXPECT_EQ(variance, kInfinity);
}

TEST(Evaluate, RejectsInputsThatDoNotFit) {
  Case c(kCausal, {{"B", 1}, {"H", 1}, {"M", 2}, {"N", 3}});
  c.inputs.tensors["q"] = HostTensor(DType::F32, {1, 1, 3, 2});
  EXPECT_THROW(evaluate(c.kernel(), c.lengths, c.inputs), InputError);
  c.inputs.tensors.erase("q");
  EXPECT_THROW(evaluate(c.kernel(), c.lengths, c.inputs), InputError);
  EXPECT_THROW(axisLengths(c.kernel(), {{"B", 1}}), InputError);
  EXPECT_THROW(axisLengths(c.kernel(), {{"Z", 1}}), InputError);
}

TEST(Live, CountsPairsAndTilesAndTellsRows) {
  Case c(kCausal, {{"B", 1}, {"H", 2}, {"M", 1024}, {"N", 1024}});
  EXPECT_NEAR(liveFraction(c.kernel(), c.lengths, c.inputs), 1025. / 2048, 1e-3);
  // Of 16 x 16 tiles, those on and below the diagonal.
  EXPECT_NEAR(liveTileFraction(c.kernel(), c.lengths, c.inputs, 64, 64),
              136.0 / 256, 1e-9);
  // Sampled: of 128 x 128 tiles.
  Case long_(kCausal, {{"B", 1}, {"H", 1}, {"M", 16384}, {"N", 16384}});
  EXPECT_NEAR(liveFraction(long_.kernel(), long_.lengths, long_.inputs), 0.5, 1e-3);
  EXPECT_NEAR(
      liveTileFraction(long_.kernel(), long_.lengths, long_.inputs, 128, 128),
      129. / 256, 2e-3);
  std::vector<LiveRow> rows = liveRows(c.kernel(), c.lengths, c.inputs).rows;
  ASSERT_EQ(rows.size(), 65u);
  EXPECT_EQ(rows.front().row, 0);
  EXPECT_EQ(rows.back().row, 1023);
  for (const LiveRow &row : rows) {
    EXPECT_EQ(row.first, 0);
    EXPECT_EQ(row.behind, row.row + 1);
  }
}

TEST(Live, EverythingWithoutMasks) {
  Case c("kernel c(x: f32[N]) -> (o: f32[N]) { o = x }", {{"N", 3}});
  EXPECT_EQ(liveFraction(c.kernel(), c.lengths, c.inputs), 1);
  EXPECT_EQ(liveTileFraction(c.kernel(), c.lengths, c.inputs, 64, 64), 1);
  EXPECT_TRUE(liveRows(c.kernel(), c.lengths, c.inputs).rows.empty());
}
