//===- SpecWordsTest.cpp - what a newcomer's slips are answered with ------===//
//
// Each text is a kernel with one line or one word of its own; `at` is where the
// one diagnostic must stand.
//
//===----------------------------------------------------------------------===//

#include "lib/Spec/Parse.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

using namespace attn::spec;

namespace {
struct Case {
  const char *id;
  const char *line; ///< A line of the body, in place of the mask.
  const char *at;   ///< The text that the caret stands under, its first place.
  const char *message;
  const char *fix = nullptr; ///< Null: none is offered.
};

struct Words {
  std::string q = "bf16[B, H, M, D]", k = "bf16[B, H, N, D]", more = "t: f32[H]",
              where = "D = 64", line = "s = scale(s, t[h])",
              softmax = "softmax(s, over=N)";
};
} // namespace

static std::string kernel(const Words &w) {
  return fmt::format("kernel c(q: {}, k: {}, v: bf16[B, H, N, D],\n    {}) -> "
                     "(o: bf16[B, H, M, D])\nwhere {} {{\n"
                     "    s = matmul(q, k, over=D)\n"
                     "    s = s + t[h]\n"
                     "    {}\n"
                     "    p = {}\n"
                     "    o = matmul(p, v, over=N)\n}}\n",
                     w.q, w.k, w.more, w.where, w.line, w.softmax);
}

static void expectOne(const std::vector<Diagnostic> &list,
                      const ParseResult &result, const std::string &context,
                      const Case &c, bool warning) {
  ASSERT_EQ(list.size(), 1u) << context << "\n" << render(result);
  const Diagnostic &d = list[0];
  EXPECT_EQ(d.id, c.id) << context;
  EXPECT_EQ(d.message, c.message) << context;
  EXPECT_EQ(d.warning, warning) << context;
  size_t begin = result.module.text.find(context);
  ASSERT_NE(begin, std::string::npos) << context;
  EXPECT_EQ(d.span.begin, result.module.text.find(c.at, begin)) << context;
  EXPECT_EQ(d.fix.value_or("none"), c.fix ? c.fix : "none") << context;
}

static void expectError(const Words &words, const std::string &context,
                        const Case &c) {
  ParseResult result = parse("t.attn", kernel(words));
  EXPECT_FALSE(result.ok());
  EXPECT_TRUE(result.warnings.empty());
  expectOne(result.diagnostics, result, context, c, false);
}

static void expectWarning(const Words &words, const std::string &context,
                          const Case &c) {
  ParseResult result = parse("t.attn", kernel(words));
  EXPECT_TRUE(result.ok()) << render(result);
  expectOne(result.warnings, result, context, c, true);
}

TEST(SpecWords, ErrorsOfALine) {
  const Case kCases[] = {
      {"part-axes", "s = scale(s, rsqrt(d))", "d))",
       "'d' runs along 'D', an axis that the scores [B, H, M, N] do not have; the "
       "length of the axis is 'D'",
       "D"},
      {"part-axes", "s = scale(s, q)", "q)",
       "the factor varies along 'D', an axis that the scores [B, H, M, N] do not "
       "have; to add the axis multiply with '*'"},
      {"part-axes", "s = mask(s, d < 3)", "d <",
       "'d' runs along 'D', an axis that the scores [B, H, M, N] do not have; the "
       "length of the axis is 'D'",
       "D"},
      {"foreign-operator", "s = mask(s, (m - n) % 64 < 8)", "%",
       "'%' is not in the language, which has no remainder; for integers write "
       "x - y * (x / y), where '/' rounds down"},
      {"foreign-function", "s = mask(s, mod(m - n, 64) < 8)", "mod",
       "there is no 'mod'; for integers write x - y * (x / y), where '/' rounds "
       "down"},
      {"foreign-function", "s = causal(s)", "causal",
       "there is no 'causal'; a causal mask is written mask(s, n <= m)"},
      {"unknown-function", "s = foo(s)", "foo",
       "unknown function 'foo'; known are matmul, scale, mask, softmax, select, "
       "cast, abs, exp, exp2, floor, log, max, min, rsqrt, sigmoid, sqrt, tanh"},
      {"unknown-name", "s = s + foo", "foo",
       "unknown name 'foo'; known are s, q, k, v, t, b, B, h, H, m, M, d, D, n, N"},
      {"unknown-name", "s = matmul(q, K, over=D)", "K", "unknown name 'K'", "k"},
      {"equality-for-comparison", "s = mask(s, n = m)", "= m)",
       "a comparison is written with '=='", "=="},
      {"unknown-keyword", "s = matmul(q, k, axis=D)", "axis",
       "'matmul' names its axis with over=", "over"},
      {"missing-over", "s = matmul(q, k, D)", "D)",
       "'matmul' is written matmul(a, b, over=AXIS)", "over=D"},
      {"where-function", "s = where(n <= m, s, 0)", "where",
       "'where' describes axes; to choose between two values write "
       "select(condition, x, y), to drop scores mask(s, condition)",
       "select"},
      {"where-function", "s = where(n <= m, s, -inf)", "where",
       "'where' describes axes; to drop scores write mask(s, condition)",
       "mask(s, n <= m)"},
      {"where-function", "s = where(n > m or m < n, -inf, 2 * s)", "where",
       "'where' describes axes; to drop scores write mask(s, condition)",
       "mask(2 * s, not (n > m or m < n))"},
      {"no-infinity", "s = select(n <= m, s, -inf)", "select",
       "there is no infinity to write; to drop scores write mask(s, condition)",
       "mask(s, n <= m)"},
      {"no-infinity", "s = select(n <= m, s, inf)", "inf",
       "there is no infinity to write; mask(s, condition) puts minus infinity "
       "where the condition fails"},
      {"over-not-axis", "s = matmul(q, k, over=Z)", "Z",
       "over= takes the name of an axis; the axes are B, H, M, D, N"},
      {"over-not-axis", "s = softmax(s, over=2)", "2",
       "over= takes the name of an axis; the axes are B, H, M, D, N"},
      {"foreign-comment", "// a comment: of [mine", "//",
       "a comment starts with '#'; for a rounded quotient of integers write '/'",
       "#"},
      {"foreign-comment", "s = mask(s, n <= m) /* mine */", "/*",
       "a comment starts with '#' and ends with the line"},
      {"foreign-comment", "s = mask(s, n <= m // 2)", "//",
       "a comment starts with '#'; for a rounded quotient of integers write '/'",
       "/"},
      // Inventions of other languages.
      {"foreign-operator", "s = q @ k", "@",
       "'@' is not an operator here; write matmul(a, b, over=AXIS)"},
      {"foreign-operator", "s = mask(s, (n <= m) & (m < 3))", "&",
       "'&' is not an operator here; write 'and'", "and"},
      {"foreign-operator", "s = mask(s, n \u2264 m)", "\u2264",
       "'\u2264' is not in the language; write '<='", "<="},
      {"foreign-operator", "s = mask(s, n =< m)", "=<",
       "'=<' is not an operator here; write '<='", "<="},
      {"foreign-operator", "s = scale(s, 2);", ";",
       "a statement ends with its line, without ';'", ""},
      {"string", "s = matmul(q, k, over=\"D\")", "\"",
       "the language has no strings; names stand bare", "D"},
      {"member", "s = s.T", ".T",
       "values have no members; functions are called by their bare names, and no "
       "transpose is needed: axes are matched by name"},
      {"foreign-statement", "where N = 128", "where N",
       "the where clause stands before the '{' of the body"},
      {"foreign-statement", "return s", "return",
       "nothing is returned: a result is the last value assigned to its name"},
      {"foreign-statement", "let s = s + 1", "let",
       "a value is named by s = ..., without a word before it"},
      {"slice", "s = s * t[:]", ":",
       "there are no slices; write an index for each axis, or the bare name for "
       "the whole tensor"},
      {"bad-number", "s = scale(s, 0.125f)", "0.125f",
       "'0.125f' is not a number; numbers have no suffix", "0.125"},
      {"reduction", "s = s - max(s, over=N)", "max",
       "'max' is written max(x, y), element by element; the reductions are matmul "
       "and softmax"},
      {"not-yet", "s = cast(s, f8e5m2)", "f8e5m2",
       "f8e5m2 is not supported yet; use bf16 or f16"},
      {"not-yet", "s = ragged(s)", "ragged",
       "'ragged' axes are not supported yet; pad to one length and mask"},
  };
  for (const Case &c : kCases) {
    // What a broken line would have assigned is 's', and its uses are silent.
    Words words;
    words.line = c.line;
    expectError(words, c.line, c);
  }
}

TEST(SpecWords, CompoundAssignment) {
  Words words;
  words.line = "s *= 2";
  expectError(words, words.line,
              {"foreign-statement", "", "*=",
               "'*=' is not in the language; write s = s * ..."});
}

TEST(SpecWords, NotYetInEveryPosition) {
  auto axes = [](const char *word) {
    return fmt::format("'{}' axes are not supported yet; pad to one length and mask",
                       word);
  };
  for (const char *word : {"ragged", "lengths", "paged"}) {
    std::string text = axes(word);
    Case c{"not-yet", "", word, text.c_str()};
    for (const char *form : {"bf16[{} B, H, M, D]", "{}[B, H, M, D]",
                             "{}(bf16[B, M], page=64)",
                             "bf16[B, H, {}(M), D]"}) {
      Words words;
      words.q = fmt::format(fmt::runtime(form), word);
      expectError(words, words.q, c);
    }
    for (const char *form : {"D = 64, N = {}(x, page=64)", "D = 64, N = {}",
                             "D = 64, {}(N)", "D = 64, {} N = 3"}) {
      Words words;
      words.where = fmt::format(fmt::runtime(form), word);
      ParseResult result = parse("t.attn", kernel(words));
      expectOne(result.diagnostics, result, words.where, c, false);
    }
    Words words;
    words.softmax = fmt::format("softmax(s, over=N, {}=n)", word);
    expectError(words, words.softmax, c);
    words = {};
    words.more = fmt::format("t: f32[H], x: {}", word);
    expectError(words, words.more, c);
  }
  for (const char *type : {"f8e4m3", "f8e5m2"}) {
    std::string text =
        fmt::format("{} is not supported yet; use bf16 or f16", type);
    Words words;
    words.k = fmt::format("{}[B, H, N, D]", type);
    expectError(words, words.k, {"not-yet", "", type, text.c_str()});
  }
  Words words;
  words.k = "fp8[B, H, N, D]";
  expectError(words, words.k,
              {"not-yet", "", "fp8",
               "fp8 is not supported yet, nor is any 8-bit float; use bf16 or f16"});
}

TEST(SpecWords, Types) {
  Words words;
  words.q = "f64[B, H, M, D]";
  expectError(words, words.q,
              {"unknown-dtype", "", "f64",
               "unknown dtype 'f64'; known are f16, bf16, f32, i32, i64, i1", "f32"});
  words.q = "bf16[B, H, m, D]";
  expectError(words, words.q,
              {"axis-case", "", "m,",
               "axis 'm' must start with a capital; the lower-case name is its index",
               "M"});
  words.q = "bf16[b, h, M, d]";
  expectError(words, words.q,
              {"axis-case", "", "b,",
               "axes 'b', 'h', 'd' must start with a capital; the lower-case name is "
               "an axis's index",
               "B, H, M, D"});
  words.q = "bf16[B, H, M, 64]";
  expectError(words, words.q,
              {"expected-axis", "", "64",
               "expected an axis name such as D, which the where clause binds: "
               "where D = 64, found '64'"});
  words.q = "bf16(B, H, M, D)";
  expectError(words, words.q,
              {"axes-brackets", "", "(B",
               "expected the axes in square brackets: bf16[B, H, M, D], found '('",
               "["});
}

TEST(SpecWarnings, OfALine) {
  const Case kCases[] = {
      {"integer-division", "s = scale(s, 1 / D)", "1 /",
       "'/' of two integers gives 0 where D is above 1; write 1.0 for a real "
       "quotient",
       "1.0"},
      {"integer-division", "s = scale(s, 1 / 8)", "1 /",
       "'/' of two integers gives 0; write 1.0 for a real quotient", "1.0"},
      {"constant-mask", "s = mask(s, N <= M)", "N <=",
       "no index enters this condition, so all scores are kept or none; the index "
       "of an axis is its lower-case name",
       "n <= m"},
      {"read-other-axis", "s = s + t[n]", "n]",
       "'n' runs along 'N', but this axis of 't' is 'H', whose index is 'h'", "h"},
      {"unused-value", "x = mask(s, n <= m)", "x",
       "this value of 'x' is never used"},
      {"index-not-length", "s = scale(s, 1.0 / m)", "m)",
       "'m' is an index and starts at 0, where a division by it is infinite; the "
       "length is 'M'",
       "M"},
      {"matmul-order", "o2 = matmul(v, softmax(s, over=N), over=N)", "v,",
       "the probabilities come first: matmul(p, v, over=AXIS); in this order no "
       "flash level is made"},
  };
  for (const Case &c : kCases) {
    Words words;
    words.line = c.line;
    std::string line = c.line;
    // The tensor's own index must not be read beside the wrong one.
    std::string text = kernel(words);
    if (std::string(c.id) == "read-other-axis")
      text.replace(text.find("s + t[h]"), 8, "s + 1");
    if (std::string(c.id) == "matmul-order") { // Used: added to the result.
      size_t last = text.find("o = matmul");
      text.replace(last, text.find('\n', last) - last,
                   "o = matmul(p, v, over=N) + o2");
    }
    ParseResult result = parse("t.attn", text);
    EXPECT_TRUE(result.ok()) << render(result);
    expectOne(result.warnings, result, line, c, true);
  }
}

TEST(SpecWarnings, UnusedArgument) {
  Words words;
  words.more = "t: f32[H], window: i32";
  expectWarning(words, words.more,
                {"unused-argument", "", "window",
                 "argument 'window' is never used"});
}

TEST(SpecWarnings, SwappedNamesAreTheFix) {
  std::string text = kernel({});
  size_t at = text.find("p, v");
  text.replace(at, 4, "v, p");
  ParseResult result = parse("t.attn", text);
  ASSERT_EQ(result.warnings.size(), 1u) << render(result);
  EXPECT_EQ(result.warnings[0].id, "matmul-order");
  EXPECT_EQ(result.warnings[0].span.begin, at);
  EXPECT_EQ(result.warnings[0].fix.value_or(""), "p, v");
}

TEST(SpecWarnings, AreRenderedAsWarnings) {
  Words words;
  words.line = "s = mask(s, N <= M)";
  ParseResult result = parse("t.attn", kernel(words));
  EXPECT_EQ(render(result),
            "t.attn:6:17: warning: no index enters this condition, so all scores "
            "are kept or none; the index of an axis is its lower-case name\n"
            "      s = mask(s, N <= M)\n"
            "                  ^~~~~~\n"
            "  fix: n <= m\n");
}

// What is meant draws no warning.
TEST(SpecWarnings, NoneOfTheseWarns) {
  for (const char *line :
       {"s = scale(s, t)", "s = scale(s, t[h] * rsqrt(D))", "s = scale(s, 1.0 / D)",
        "s = mask(s, n / 64 == m / 64)", "s = s * (8 / 4)", "s = mask(s, true or n < m)",
        "s = scale(s, sqrt(m))"}) {
    Words words;
    words.line = line;
    EXPECT_EQ(render(parse("t.attn", kernel(words))), "") << line;
  }
  // A tensor compared with itself, and one whose axis is its own.
  Words words;
  words.more = "t: f32[H], doc: i32[B, N], table: f32[R]";
  words.line = "s = mask(s, doc[b, m] == doc[b, n]) + table[n]";
  EXPECT_EQ(render(parse("t.attn", kernel(words))), "");
}
