//===- SpecRecoveryTest.cpp - one mistake is one report ------------------===//

#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

using namespace attn::spec;

/// What `text` reports, as "id id ...".
static std::string reported(const std::string &text) {
  std::string ids;
  for (const Diagnostic &d : parse("t.attn", text).diagnostics)
    ids += (ids.empty() ? "" : " ") + d.id;
  return ids;
}

// One mistake is one report: what a broken parameter or statement would have
// declared is not missed again where it is used.
TEST(SpecRecovery, BrokenParameterIsReportedOnce) {
  const std::string rest = "    v: f16[B, N, E]) -> (o: f32[B, M, E])\n"
                           "where D = 64, E = 64 {\n"
                           "    s = mask(matmul(q, k, over=D), n < w[m])\n"
                           "    o = matmul(softmax(s, over=N), v, over=N)\n}\n";
  const std::string q = "kernel f(q: f16[B, M, D], w: i32[M], ";
  EXPECT_EQ(reported(q + "k: f16[B, N, D],\n" + rest), "");
  EXPECT_EQ(reported(q + "k f16[B, N, D],\n" + rest), "expected-colon");
  EXPECT_EQ(reported(q + "k: [B, N, D],\n" + rest), "expected-type");
  EXPECT_EQ(reported(q + "k: f16[B, N, 3],\n" + rest), "expected-axis");
  EXPECT_EQ(reported(q + "k: f16[B, N D],\n" + rest), "expected-close");
  // A bracket that never closes takes the parameters after it along.
  EXPECT_EQ(reported(q + "k: f16[B, N, D,\n" + rest), "expected-close");
  // Axes that no other parameter has.
  EXPECT_EQ(reported("kernel f(q f16[B, M, D], w i32[M], k f16[B, N, D],\n" + rest),
            "expected-colon expected-colon expected-colon");
  // A nested axis.
  EXPECT_EQ(reported("kernel f(q: f16[Hq], k f16[Hkv]) -> (o: f32[Hq])\n"
                     "where Hq = G * Hkv {\n    o = scale(q, 1)\n}\n"),
            "expected-colon");
  // A nest that is wrong: its parts, and the axes that values have by it.
  const std::string heads = "kernel f(q: f16[Hq, M], t: f32[Hkv]) -> (o: f32[Hq, M])\n",
                    body = "    s = scale(q, t[hkv] + g)\n    o = s * t\n}\n";
  EXPECT_EQ(reported(heads + "where G = 4, Hq = G * Hkv {\n" + body), "");
  EXPECT_EQ(reported(heads + "where Hq = G * Hvk, G = 4 {\n" + body), "nest-unused");
  EXPECT_EQ(reported(heads + "where Hq = G * J, J = 4 {\n" + body), "nest-unused");
  EXPECT_EQ(reported(heads + "where Hq = G + Hkv, G = 4 {\n" + body), "where-form");
  EXPECT_EQ(reported(heads + "where Hqq = G * Hkv {\n" + body), "where-unknown-axis");
  // The only result.
  EXPECT_EQ(reported("kernel f(q: f16[B]) -> (o f32[B]) {\n    o = scale(q, 1)\n}\n"),
            "expected-colon");
}

TEST(SpecRecovery, ALongNameIsOneErrorAndIsNotRepeated) {
  const std::string name(101, 'a'), longest(100, 'a');
  auto text = [](const std::string &argument) {
    return "kernel f(" + argument + ": f16[B]) -> (o: f32[B]) {\n    o = scale(" +
           argument + ", 1)\n}\n";
  };
  EXPECT_EQ(reported(text(longest)), "");
  EXPECT_EQ(reported(text(name)), "long-name long-name");
  ParseResult result = parse("x.attn", text(name));
  EXPECT_EQ(result.diagnostics[0].message,
            "a name has at most 100 characters, this one 101");
}

TEST(SpecRecovery, TheLeastIntegerFitsWithItsSign) {
  const std::string head = "kernel f(q: f16[B, M]) -> (o: f32[B, M])\nwhere M = 64 {\n";
  auto body = [&](const char *condition) {
    return head + "    o = select(" + condition + ", q, 0)\n}\n";
  };
  EXPECT_EQ(reported(body("m >= -9223372036854775808")), "");
  EXPECT_EQ(reported(body("m >= 9223372036854775807")), "");
  EXPECT_EQ(reported(body("m >= 9223372036854775808")), "number-too-large");
  EXPECT_EQ(reported(body("0 <= m - 9223372036854775808")), "number-too-large");
  EXPECT_EQ(reported(body("m >= -9223372036854775809")), "number-too-large");
  ParseResult result = parse("x.attn", body("m >= -9223372036854775808"));
  const Expr &choice = *result.module.kernels[0].body[0].value;
  EXPECT_EQ(choice.operands[0]->operands[1]->integer, INT64_MIN);
  // A length that no integer holds is one error, not a wrong length as well.
  EXPECT_EQ(reported("kernel f(q: f16[B, M]) -> (o: f32[B, M])\n"
                     "where M = 99999999999999999999 {\n    o = scale(q, 1)\n}\n"),
            "number-too-large");
}

TEST(SpecRecovery, BrokenStatementIsReportedOnce) {
  const std::string head = "kernel f(q: f16[B]) -> (o: f32[B]) {\n";
  EXPECT_EQ(reported(head + "    a = scale(q 1)\n    o = scale(a, 1)\n}\n"),
            "expected-close");
  EXPECT_EQ(reported(head + "    o = scale(q, 1) +\n}\n"), "expected-expression");
  EXPECT_EQ(reported(head + "    o scale(q, 1)\n}\n"), "expected-equals");
  // What goes on in another line belongs to it.
  EXPECT_EQ(reported(head + "    a = max(q q,\n        scale(q,\n        1))\n"
                            "    o = scale(a, 1)\n}\n"),
            "expected-close");
  // An earlier value of the name is not used in its place.
  EXPECT_EQ(reported(head + "    a = 3\n    a = scale(q, *)\n    o = a\n}\n"),
            "expected-expression");
}

// The next statement is read all the same, and what is said of the arguments of a call
// that another bracket closed is not.
TEST(SpecRecovery, ABracketThatNothingClosesIsReportedOnceWhereItsStatementEnds) {
  const std::string head = "kernel f(q: f16[B, D], k: f16[N, D]) -> (o: f32[B, N]) {\n";
  auto expect = [&](const std::string &body, int line, int column, const char *fix) {
    ParseResult result = parse("t.attn", head + body + "    o = softmax(a, over=N)\n}\n");
    ASSERT_EQ(result.diagnostics.size(), 1u) << render(result);
    const Diagnostic &d = result.diagnostics[0];
    EXPECT_EQ(d.id, "expected-close");
    EXPECT_EQ(lineAndColumn(result.module.text, d.span.begin),
              std::make_pair(line, column))
        << render(result);
    EXPECT_EQ(d.fix.value_or(""), fix) << body;
  };
  expect("    a = matmul(q, k, over=D\n", 2, 28, ")");
  expect("    a = matmul(q, k,\n               over=D\n\n", 3, 22, ")");
  expect("    a = 2 * (matmul(q, k, over=D)\n", 2, 34, ")");
  expect("    a = matmul(q, k, over=D)\n    a, l = softmax(a, over=N\n", 3, 29, ")");
  // Which bracket was meant is not known.
  expect("    a = scale(matmul(q, k, over=D, rsqrt(D))\n", 2, 45, "");
  expect("    a = scale(matmul(q, k, over=D), rsqrt(D\n", 2, 44, "");
  // An argument in a line of its own is no statement.
  EXPECT_EQ(reported(head + "    a = matmul(q, k\n               over=D)\n"
                            "    o = softmax(a, over=N)\n}\n"),
            "expected-close");
  // The last statement of a body: another kernel is read.
  EXPECT_EQ(reported(head + "    o = matmul(q, k, over=D\n}\n"
                            "kernel g(q: f16[B]) -> (o: f32[B]) {\n    o = q + zz\n}\n"),
            "expected-close unknown-name");
}

TEST(SpecRecovery, ANameOfOtherLettersIsReportedOnceAndNoPartOfItIsCutOff) {
  auto name = [](const std::string &word) {
    ParseResult result = parse("t.attn", "kernel f(q: f16[B]) -> (o: f32[B]) {\n    " + word +
                                             " = q\n    o = scale(" + word + ", 1)\n}\n");
    std::string told;
    for (const Diagnostic &d : result.diagnostics)
      told += d.id + ": " + d.message + (d.fix ? " fix " + *d.fix : "") + "\n";
    return told;
  };
  for (std::string word : {"s\u00e4", "\u03c3", "s\u0308", "x\u2081", "\u00e4\u00f6x"})
    EXPECT_EQ(name(word), "foreign-letter: '" + word +
                              "' is no name here: names are of ASCII letters, digits and "
                              "'_'\n");
  // An axis too, which has no case to be asked for.
  EXPECT_EQ(reported("kernel f(q: f16[\u03a3, K]) -> (o: f32[\u03a3, K])\n"
                     "where \u03a3 = G * K {\n    o = scale(q, 1)\n}\n"),
            "foreign-letter nest-both");
}

// Without the character two operands would meet.
TEST(SpecRecovery, ACharacterIsToBeRemovedOnlyWhereThatWouldDo) {
  auto fix = [](const std::string &line) {
    ParseResult result = parse("t.attn", "kernel f(q: f16[B]) -> (o: f32[B]) {\n    " + line +
                                             "\n}\n");
    EXPECT_EQ(result.diagnostics.at(0).id, "bad-character") << render(result);
    return result.diagnostics.at(0).fix;
  };
  EXPECT_EQ(fix("o = scale(q, $2)"), "");
  EXPECT_EQ(fix("o = scale(q, 2)\\"), "");
  EXPECT_EQ(fix("o = scale(q\u200b, 2)"), "");
  EXPECT_EQ(fix("o = q $ 2"), std::nullopt);
  EXPECT_EQ(fix("o = scale(q, 1) \u2192 (q)"), std::nullopt);
}

TEST(SpecRecovery, OtherErrorsBesideABrokenParameterAreReported) {
  EXPECT_EQ(reported("kernel f(q: f16[B], k f16[B]) -> (o: f32[B]) {\n"
                     "    a = scale(k, r)\n    o = scale(q, b + zz)\n}\n"),
            "expected-colon unknown-name unknown-name");
}
