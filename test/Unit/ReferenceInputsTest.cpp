//===- ReferenceInputsTest.cpp - generated inputs -------------------------===//

#include "lib/Reference/Inputs.h"
#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn;
using namespace attn::reference;
using spec::DType;

static const char *kText = R"(
kernel c(
    q: f32[B, H, M, D],
    k: f32[B, H, N, D],
    valid: i32[B],
    doc_q: i32[B, M],
    doc_k: i32[B, N],
    where_to: i32[N],
    table: f32[R],
    slope: f32[H],
    window: i32,
    cap: f32,
) -> (s: f32[B, H, M, N])
where D = 4 {
    s = matmul(q, k, over=D) + slope[h] * (n - m) + table[where_to[n]]
    s = cap * tanh(s / cap)
    s = mask(s, n < valid[b] and m - n < window and doc_q == doc_k)
})";

namespace {
struct InputsOf : ::testing::Test {
  spec::ParseResult parsed = spec::parse("t.attn", kText);
  const spec::Kernel &kernel() { return parsed.module.kernels.front(); }
  AxisLengths lengths;
  void SetUp() override {
    ASSERT_TRUE(parsed.ok()) << spec::render(parsed);
    lengths = axisLengths(
        kernel(), {{"B", 5}, {"H", 4}, {"M", 100}, {"N", 100}, {"R", 7}});
  }
};
} // namespace

TEST_F(InputsOf, FitTheirUse) {
  Inputs inputs = makeInputs(kernel(), lengths);
  auto range = [&](const char *name) {
    const HostTensor &t = inputs.tensors.at(name);
    double low = t.at(0), high = t.at(0);
    for (int64_t i = 0; i < t.elements(); ++i) {
      low = std::min(low, t.at(i));
      high = std::max(high, t.at(i));
    }
    return std::make_pair(low, high);
  };
  EXPECT_GE(range("valid").first, 0);
  EXPECT_LE(range("valid").second, 100);
  EXPECT_GE(range("where_to").first, 0);
  EXPECT_LT(range("where_to").second, 7);
  EXPECT_GT(range("slope").first, 0);
  EXPECT_LE(range("slope").second, 1);
  EXPECT_EQ(std::get<int64_t>(inputs.scalars.at("window")), 25);
  EXPECT_EQ(std::get<double>(inputs.scalars.at("cap")), 1);
  const HostTensor &q = inputs.tensors.at("doc_q"),
                   &k = inputs.tensors.at("doc_k");
  for (int64_t i = 0; i < q.elements(); ++i) {
    EXPECT_EQ(q.at(i), k.at(i)); // Equal lengths: the same documents.
    if (i % 100 != 0) {
      EXPECT_GE(q.at(i), q.at(i - 1));
    }
  }
}

TEST_F(InputsOf, AreTheSameForTheSameSeed) {
  InputOptions options;
  options.seed = 9;
  Inputs a = makeInputs(kernel(), lengths, options),
         b = makeInputs(kernel(), lengths, options);
  EXPECT_EQ(a.tensors.at("q").data, b.tensors.at("q").data);
  EXPECT_NE(a.tensors.at("q").data, a.tensors.at("k").data);
  options.seed = 10;
  EXPECT_NE(a.tensors.at("q").data,
            makeInputs(kernel(), lengths, options).tensors.at("q").data);
}

TEST_F(InputsOf, TakeScalarsAndRejectUnknownOnes) {
  InputOptions options;
  options.scalars["window"] = int64_t(3);
  EXPECT_EQ(std::get<int64_t>(
                makeInputs(kernel(), lengths, options).scalars.at("window")),
            3);
  options.scalars["windwo"] = int64_t(3);
  EXPECT_THROW(makeInputs(kernel(), lengths, options), InputError);
}

TEST(FillNormal, HasTheMomentsOfANormal) {
  HostTensor tensor(DType::F32, {100000});
  fillNormal(tensor, 3, 2, 1);
  double sum = 0, squares = 0, fourth = 0;
  for (int64_t i = 0; i < 100000; ++i) {
    double z = (tensor.at(i) - 1) / 2;
    sum += z;
    squares += z * z;
    fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.015);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  EXPECT_NEAR(fourth / 1e5, 3, 0.3);
}
