//===- SpecDiagnosticsTest.cpp - text and position of every diagnostic ----===//

#include "lib/Spec/Parse.h"
#include "lib/Spec/Printable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace attn::spec;

namespace {
struct Case {
  const char *id;
  int line, column;
  const char *message;
  const char *fix; ///< Null: none is offered.
  const char *text;
};

const Case kCases[] = {
    {"bad-character", 3, 11,
     "character that the language does not use",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q $ k\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"bad-number", 3, 13,
     "'12ab' is not a number",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * 12ab\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"number-too-large", 3, 13,
     "integer does not fit 64 bits",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * 99999999999999999999\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"number-too-large", 3, 13,
     "number is too large for a float",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * 1e999\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"foreign-operator", 3, 23,
     "'&&' is not an operator here; write 'and'",
     "and",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, m < 3 && d < 2)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"foreign-operator", 3, 17,
     "'!' is not an operator here; write 'not'",
     "not ",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, !(m < 3))\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"foreign-operator", 3, 11,
     "'**' is not an operator here; write exp2 or a product",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q ** 2\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"empty-file", 2, 1,
     "the file holds no kernel",
     nullptr,
     "# nothing\n"},
    {"expected-kernel", 1, 1,
     "expected 'kernel', found 'kernl'",
     nullptr,
     "kernl f() -> () {}\n"},
    {"expected-name", 1, 8,
     "expected the kernel's name, found '('",
     nullptr,
     "kernel (q: f16[B]) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"reserved-word", 1, 8,
     "'where' is a word of the language and cannot be a name",
     nullptr,
     "kernel where(q: f16[B]) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-arguments", 1, 10,
     "expected '(' and the arguments, found '->'",
     nullptr,
     "kernel f -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-colon", 1, 12,
     "expected ':' and a type, found 'f16'",
     nullptr,
     "kernel f(q f16[B]) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-type", 1, 13,
     "expected a type such as bf16[B, H, M, D], found '['",
     nullptr,
     "kernel f(q: [B]) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-axis", 1, 17,
     "expected an axis name such as D, which the where clause binds: where D = 3, found '3'",
     nullptr,
     "kernel f(q: f16[3]) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-close", 1, 18,
     "expected ',' or ']', found ')'",
     nullptr,
     "kernel f(q: f16[B) -> (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-arrow", 1, 21,
     "expected '->' and the results, found '('",
     nullptr,
     "kernel f(q: f16[B]) (o: f16[B]) {\n    o = q\n}\n"},
    {"expected-results", 1, 24,
     "expected '(' and the results, found 'o'",
     nullptr,
     "kernel f(q: f16[B]) -> o: f16[B] {\n    o = q\n}\n"},
    {"expected-body", 2, 5,
     "expected '{' and the body, found 'o'",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f16[B])\n    o = q\n"},
    {"missing-close-brace", 1, 36,
     "the body that starts here has no '}'",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f16[B]) {\n    o = scale(q, 1)\n"},
    {"expected-statement", 3, 5,
     "expected a statement such as s = ..., found '='",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    = q\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"expected-equals", 3, 7,
     "expected '=', found '+'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s + q\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"equality-for-binding", 3, 7,
     "an assignment is written with one '='",
     "=",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s == q\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"expected-expression", 3, 12,
     "expected an expression, found the end of the line",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q *\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"expected-end-of-statement", 3, 11,
     "expected the end of the statement, found 'k'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q k\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"comparison-chain", 3, 23,
     "comparisons do not chain; join two with 'and'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, 1 < m < 3)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"too-deep", 3, 209,
     "expression nests deeper than 200 levels; name a part of it",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((q))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"keyword-repeated", 3, 28,
     "'over' is given twice",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = softmax(q, over=M, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"positional-after-keyword", 3, 25,
     "a plain argument must come before 'name=' ones",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = softmax(over=M, q)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"kernel-repeated", 4, 8,
     "kernel 'f' is declared twice",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f16[B]) {\n    o = scale(q, 1)\n}\nkernel f(q: f16[B]) -> (o: f16[B]) {\n    o = scale(q, 1)\n}\n"},
    {"unknown-dtype", 1, 13,
     "unknown dtype 'float32'; known are f16, bf16, f32, i32, i64, i1",
     "f32",
     "kernel f(q: float32[B]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"unknown-dtype", 1, 13,
     "unknown dtype 'bf61'; known are f16, bf16, f32, i32, i64, i1",
     "bf16",
     "kernel f(q: bf61[B]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"not-yet", 1, 13,
     "f8e4m3 is not supported yet; use bf16 or f16",
     nullptr,
     "kernel f(q: f8e4m3[B]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"not-yet", 2, 11,
     "'ragged' axes are not supported yet; pad to one length and mask",
     nullptr,
     "kernel f(q: f16[B, M], cu: i32[B]) -> (o: f32[B, M])\nwhere M = ragged(B, cu) {\n    o = scale(q, 1)\n}\n"},
    {"not-yet", 2, 11,
     "'lengths' axes are not supported yet; pad to one length and mask",
     nullptr,
     "kernel f(q: f16[B, M], len: i32[B]) -> (o: f32[B, M])\nwhere M = lengths(len) {\n    o = scale(q, 1)\n}\n"},
    {"not-yet", 2, 11,
     "'paged' axes are not supported yet; pad to one length and mask",
     nullptr,
     "kernel f(q: f16[B, M], t: i32[B]) -> (o: f32[B, M])\nwhere M = paged(t, page=64) {\n    o = scale(q, 1)\n}\n"},
    {"empty-axes", 1, 13,
     "a tensor needs at least one axis; write the dtype alone for a scalar",
     "f16",
     "kernel f(q: f16[]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"axis-case", 1, 17,
     "axis 'b' must start with a capital; the lower-case name is its index",
     "B",
     "kernel f(q: f16[b]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"axis-repeated", 1, 20,
     "axis 'B' appears twice in one tensor",
     nullptr,
     "kernel f(q: f16[B, B]) -> (o: f32[B]) {\n    o = q\n}\n"},
    {"axis-index-clash", 1, 21,
     "axes 'Hq' and 'HQ' would share the index 'hq'",
     nullptr,
     "kernel f(q: f16[Hq, HQ]) -> (o: f32[Hq, HQ]) {\n    o = scale(q, 1)\n}\n"},
    {"argument-repeated", 1, 21,
     "argument 'q' is declared twice",
     nullptr,
     "kernel f(q: f16[B], q: f16[B]) -> (o: f32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"scalar-dtype", 1, 24,
     "a scalar argument is f32, i32, i64 or i1",
     "f32",
     "kernel f(q: f16[B], c: f16) -> (o: f32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"name-is-index", 1, 21,
     "'b' is the index of axis 'B'; give the argument another name",
     nullptr,
     "kernel f(q: f16[B], b: f32) -> (o: f32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"name-is-index", 1, 32,
     "'G' is the length of axis 'G'; give the argument another name",
     nullptr,
     "kernel f(q: f16[H], c: f16[J], G: i32) -> (o: f32[H])\nwhere H = G * J {\n    o = scale(q, c[h / G])\n}\n"},
    {"name-is-index", 1, 32,
     "'g' is the index of axis 'G'; give the argument another name",
     nullptr,
     "kernel f(q: f16[H], c: f16[J], g: i32) -> (o: f32[H])\nwhere H = G * J {\n    o = scale(q, c[h / g])\n}\n"},
    {"where-repeated", 2, 14,
     "axis 'B' is described twice",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B])\nwhere B = 2, B = 3 {\n    o = scale(q, 1)\n}\n"},
    {"where-unknown-axis", 2, 7,
     "no argument has an axis 'Bacth'",
     "Batch",
     "kernel f(q: f16[Batch]) -> (o: f32[Batch])\nwhere Bacth = 2 {\n    o = scale(q, 1)\n}\n"},
    {"where-length", 2, 11,
     "a length must lie between 1 and 2^30",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B])\nwhere B = 0 {\n    o = scale(q, 1)\n}\n"},
    {"where-form", 2, 11,
     "a where clause binds a number (D = 128) or nests heads (Hq = G * Hkv)",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B])\nwhere B = 2 + 3 {\n    o = scale(q, 1)\n}\n"},
    {"nest-cycle", 2, 11,
     "an axis cannot nest in itself",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B])\nwhere B = B * G {\n    o = scale(q, 1)\n}\n"},
    {"nest-unused", 2, 11,
     "neither 'G' nor 'K' is an axis of an argument; the axes are H",
     nullptr,
     "kernel f(q: f16[H]) -> (o: f32[H])\nwhere H = G * K {\n    o = scale(q, 1)\n}\n"},
    {"nest-unused", 2, 16,
     "neither 'G' nor 'Hvk' is an axis of an argument",
     "Hkv",
     "kernel f(q: f16[Hq], k: f16[Hkv]) -> (o: f32[Hq])\nwhere Hq = G * Hvk {\n    o = scale(q, 1)\n}\n"},
    {"nest-depth", 2, 22,
     "axis 'H' nests already; only one level is supported",
     nullptr,
     "kernel f(q: f16[H], k: f16[K], l: f16[L]) -> (o: f32[H])\nwhere H = G * K, K = J * L {\n    o = scale(q, 1)\n}\n"},
    {"nest-both", 3, 15,
     "'q' has axis 'G' beside 'H', which stands for it (H = G * K); give one of "
     "them another name",
     nullptr,
     "kernel f(q: f16[H, G], k: f16[K]) -> (o: f32[H])\nwhere H = G * K {\n    o = scale(q, 1)\n}\n"},
    {"no-results", 1, 8,
     "a kernel needs at least one result",
     nullptr,
     "kernel f(q: f16[B]) -> () {\n    s = scale(q, 1)\n}\n"},
    {"result-repeated", 1, 36,
     "result 'o' is declared twice",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B], o: f32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"result-is-argument", 1, 25,
     "'q' is an argument; give the result another name",
     nullptr,
     "kernel f(q: f16[B]) -> (q: f32[B]) {\n    s = scale(q, 1)\n}\n"},
    {"result-scalar", 1, 28,
     "results are tensors of at least one axis; give an argument an axis of length 1 if "
     "need be",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32) {\n    o = scale(q, 1)\n}\n"},
    {"result-undefined", 1, 25,
     "the body never assigns 'out'; write out = ... in it",
     "oyt",
     "kernel f(q: f16[B]) -> (out: f32[B]) {\n    oyt = scale(q, 1)\n}\n"},
    {"result-axes", 1, 28,
     "'o' is declared with axes [B] but its value has [B, M]",
     nullptr,
     "kernel f(q: f16[B, M]) -> (o: f32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"result-dtype", 1, 28,
     "'o' is declared i32 but its value is f32; no integer is made of a float: declare it "
     "f32",
     "f32",
     "kernel f(q: f16[B]) -> (o: i32[B]) {\n    o = scale(q, 1)\n}\n"},
    {"result-dtype", 1, 28,
     "'o' is declared i1 but its value is i64; no condition is made of a number: declare "
     "it i64, or compare it",
     "i64",
     "kernel f(q: f16[B]) -> (o: i1[B]) {\n    o = b\n}\n"},
    {"result-dtype", 1, 25,
     "'o' is declared f32 but its value is i64; write o = cast(..., f32) in the body, or "
     "declare it i64",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[B]) {\n    o = b\n}\n"},
    {"empty-axes", 1, 28,
     "results are tensors of at least one axis; give an argument an axis of length 1 if "
     "need be",
     nullptr,
     "kernel f(q: f16[B]) -> (o: f32[]) {\n    o = scale(q, 1)\n}\n"},
    {"target-count", 3, 8,
     "only softmax gives two values",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s, t = matmul(q, k, over=D)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"target-count", 3, 11,
     "softmax gives two values: p, lse = softmax(...)",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    a, b, c = softmax(q, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"assign-argument", 3, 5,
     "'q' is an argument and cannot be assigned",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    q = scale(q, 2)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"assign-axis", 3, 5,
     "'m' names axis 'M' and cannot be assigned",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    m = scale(q, 2)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"target-repeated", 3, 8,
     "'p' is assigned twice in one statement",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    p, p = softmax(q, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"function-without-call", 3, 13,
     "'tanh' is a function; call it with (...)",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * tanh\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"unknown-name", 3, 9,
     "unknown name 'qq'",
     "q",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = qq * 2\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"condition-expected", 3, 21,
     "'not' takes a condition, not a number",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, not m)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"condition-expected", 3, 27,
     "'and' takes conditions, not numbers",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, m < 2 and w)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"condition-expected", 3, 16,
     "select takes a condition first, not a number",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = select(m, 1, 2)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"condition-expected", 3, 17,
     "mask keeps scores where a condition holds; this is a number",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = mask(q, m - d)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"boolean-as-number", 3, 13,
     "'*' takes a number, not a condition; use select(condition, 1, 0)",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * (m < 3)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"divide-by-zero", 3, 18,
     "division by zero",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * (m / 0)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"call-of-tensor", 3, 9,
     "'q' is a tensor; read it with [...]",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q(1)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"unknown-function", 3, 9,
     "unknown function 'sofmax'",
     "softmax",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = sofmax(q, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"argument-count", 3, 9,
     "'scale' is written scale(s, factor), not with 1 plain argument",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = scale(q)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"argument-count", 3, 9,
     "'min' is written min(x, y), not with 3 plain arguments",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = min(q, q, q)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"unknown-keyword", 3, 20,
     "'softmax' has no argument 'ovr'",
     "over",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = softmax(q, ovr=M, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"missing-over", 3, 9,
     "'matmul' needs over=AXIS",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = matmul(q, k)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"over-not-axis", 3, 27,
     "over= takes the name of an axis",
     "D",
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = matmul(q, k, over=d)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"over-missing", 3, 19,
     "this operand has axes [B, N, D] but no 'M'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = matmul(q, k, over=M)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"over-missing", 3, 17,
     "this operand has axes [B, M, D] but no 'N'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = softmax(q, over=N)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"matmul-dtype", 3, 19,
     "matmul multiplies floats; cast the operand",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = matmul(q, n + d, over=D)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"select-branches", 3, 9,
     "select must choose between two numbers or two conditions",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = select(m < 2, m < 3, 1)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"cast-dtype", 3, 17,
     "cast takes a dtype such as f32 second",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = cast(q, 3)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"cast-to-condition", 3, 9,
     "a number does not cast to a condition; compare it",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = cast(q, i1)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"cast-to-integer", 3, 9,
     "a float does not cast to an integer; index expressions stay exact (C9)",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = cast(q, i32)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"read-not-tensor", 3, 13,
     "'w' is not a tensor argument; only those are read with [...]",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q * w[m]\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"read-rank", 3, 9,
     "'q' has axes [B, M, D] and takes 3 indices, not 1",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q[m]\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"read-index", 3, 14,
     "an index must be an integer",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = q[m, 0.5, 1]\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
    {"sink-axes", 3, 33,
     "the sink may vary along the axes of the scores but not along 'M'",
     nullptr,
     "kernel f(q: f16[B, M, D], k: f16[B, N, D], v: f16[B, N, D], w: i32) -> (o: f32[B, M, D])\nwhere D = 64 {\n    s = softmax(q, over=M, sink=m)\n    o = matmul(softmax(matmul(q, k, over=D), over=N), v, over=N)\n}\n"},
};
} // namespace

TEST(SpecDiagnostics, TextPositionAndFix) {
  for (const Case &c : kCases) {
    ParseResult result = parse("t.attn", c.text);
    auto found = std::find_if(result.diagnostics.begin(), result.diagnostics.end(),
                              [&](const Diagnostic &d) { return d.id == c.id; });
    ASSERT_NE(found, result.diagnostics.end()) << c.id << " in\n" << c.text;
    EXPECT_EQ(found->message, c.message) << c.id;
    auto at = lineAndColumn(c.text, found->span.begin);
    EXPECT_EQ(at.first, c.line) << c.id;
    EXPECT_EQ(at.second, c.column) << c.id;
    EXPECT_EQ(found->fix.value_or(""), c.fix ? c.fix : "") << c.id;
    EXPECT_EQ(found->fix.has_value(), c.fix != nullptr) << c.id;
  }
}

TEST(SpecDiagnostics, AtLeastFortyKinds) {
  std::set<std::string> kinds;
  for (const Case &c : kCases)
    kinds.insert(c.id);
  EXPECT_GE(kinds.size(), 40u);
}

TEST(SpecDiagnostics, EveryErrorOfAFileIsReported) {
  ParseResult result = parse("t.attn", "kernel f(q: f16[B]) -> (o: f32[B]) {\n"
                                       "    a = scale(q)\n"
                                       "    c = qq\n"
                                       "    o = scale(q, 1)\n}\n"
                                       "kernel g(q: f17[B]) -> (o: f32[B]) {\n"
                                       "    o = scale(q, 1)\n}\n");
  ASSERT_EQ(result.diagnostics.size(), 3u) << render(result);
}

TEST(SpecDiagnostics, CaretStandsUnderTheError) {
  ParseResult result = parse("t.attn", "kernel f(q: bf17[B]) -> (o: f32[B]) {\n"
                                       "    o = scale(q, 1)\n}\n");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(render(result),
            "t.attn:1:13: error: unknown dtype 'bf17'; known are f16, bf16, f32, "
            "i32, i64, i1\n"
            "  kernel f(q: bf17[B]) -> (o: f32[B]) {\n"
            "              ^~~~\n"
            "  fix: bf16\n");
}

/// What `text` reports, as "id id ...".
static std::string reported(const std::string &text) {
  std::string ids;
  for (const Diagnostic &d : parse("t.attn", text).diagnostics)
    ids += (ids.empty() ? "" : " ") + d.id;
  return ids;
}

// One mistake is one report: what a broken parameter or statement would have
// declared is not missed again where it is used.
TEST(SpecDiagnostics, BrokenParameterIsReportedOnce) {
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

TEST(SpecDiagnostics, NoByteThatATerminalActsOnIsPrinted) {
  EXPECT_EQ(printable("a\x1b[31m\tb\x7f\r\xc2\x9b \xc3\xa9"),
            "a\\x1b[31m\\x09b\\x7f\\x0d\\xc2\\x9b \xc3\xa9");
  EXPECT_EQ(maskControls("a\x1b\tb\n\x7f\xc2\x9b\xc3\xa9"),
            "a?\tb\n???\xc3\xa9");
  // Direction marks, characters without width, what is no UTF-8: a stray byte, one cut
  // off, an overlong form, a surrogate.
  EXPECT_EQ(printable("\xe2\x80\xae|\xe2\x80\x8b|\xef\xbb\xbf"),
            "\\xe2\\x80\\xae|\\xe2\\x80\\x8b|\\xef\\xbb\\xbf");
  EXPECT_EQ(printable("\xff|\xe2\x82"), "\\xff|\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\x80|\xed\xa0\x80"), "\\xc0\\x80|\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xe2\x89\xa4 \xf0\x9f\x98\x80"), "\xe2\x89\xa4 \xf0\x9f\x98\x80");
  EXPECT_EQ(maskControls("\xe2\x80\xae \xe2\x89\xa4 \xff"), "??? \xe2\x89\xa4 ?");
}

TEST(SpecDiagnostics, ALongNameIsOneErrorAndIsNotRepeated) {
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

TEST(SpecDiagnostics, TheExcerptOfALineShowsThePlace) {
  Excerpt plain = excerpt("\ts = q $ k", 7, 8);
  EXPECT_EQ(plain.source, "\ts = q $ k");
  EXPECT_EQ(plain.caret, "\t      ^");
  // A caret for each character, not for each byte.
  Excerpt wide = excerpt("\xc3\xa9 = \xe2\x89\xa4\xe2\x89\xa4", 5, 11);
  EXPECT_EQ(wide.caret, "    ^~");
  // Behind the end.
  EXPECT_EQ(excerpt("ab", 2, 9).caret, "  ^");
  // What is far away is left out, and both lines agree about where the place is.
  std::string line = std::string(5000, 'a') + "MARK" + std::string(5000, 'b');
  Excerpt far = excerpt(line, 5000, 5004);
  EXPECT_LT(far.source.size(), 200u);
  EXPECT_EQ(far.source.substr(far.caret.find('^'), 4), "MARK");
  EXPECT_EQ(far.caret.substr(far.caret.find('^')), "^~~~");
  EXPECT_EQ(far.source.substr(0, 3), "...");
  EXPECT_EQ(far.source.substr(far.source.size() - 3), "...");
  // A span longer than what is shown.
  Excerpt all = excerpt(line, 0, line.size());
  EXPECT_LE(all.caret.size(), all.source.size());
}

TEST(SpecDiagnostics, TheLeastIntegerFitsWithItsSign) {
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

TEST(SpecDiagnostics, BrokenStatementIsReportedOnce) {
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
TEST(SpecDiagnostics, ABracketThatNothingClosesIsReportedOnceWhereItsStatementEnds) {
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

TEST(SpecDiagnostics, ANameOfOtherLettersIsReportedOnceAndNoPartOfItIsCutOff) {
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
TEST(SpecDiagnostics, ACharacterIsToBeRemovedOnlyWhereThatWouldDo) {
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

TEST(SpecDiagnostics, OtherErrorsBesideABrokenParameterAreReported) {
  EXPECT_EQ(reported("kernel f(q: f16[B], k f16[B]) -> (o: f32[B]) {\n"
                     "    a = scale(k, r)\n    o = scale(q, b + zz)\n}\n"),
            "expected-colon unknown-name unknown-name");
}

TEST(SpecDiagnostics, LengthsThatNoNestFitsAreRefused) {
  auto told = [](const std::string &clauses, const Binds &binds) {
    ParseResult result = parse("t.attn", "kernel f(q: f16[Hq], k: f16[Hkv]) -> (o: f32[Hq])\n"
                                         "where Hq = G * Hkv" + clauses +
                                             " {\n    o = q * k\n}\n", binds);
    return result.ok() ? "" : result.diagnostics.at(0).message;
  };
  EXPECT_EQ(told("", {{"Hq", 8}, {"Hkv", 2}}), "");
  EXPECT_EQ(told("", {{"Hq", 8}, {"G", 2}}), "");
  EXPECT_EQ(told("", {{"Hq", 8}, {"G", 2}, {"Hkv", 4}}), "");
  EXPECT_EQ(told("", {{"Hq", 0}, {"Hkv", 0}}), "");
  EXPECT_EQ(told("", {{"Hq", 0}, {"Hkv", 3}}), "");
  EXPECT_EQ(told("", {{"Hq", 7}, {"Hkv", 2}}),
            "Hq = 7 is no multiple of Hkv = 2, so no length of G makes Hq = G * Hkv");
  EXPECT_EQ(told(", Hkv = 2", {{"Hq", 7}}),
            "Hq = 7 is no multiple of Hkv = 2, so no length of G makes Hq = G * Hkv");
  EXPECT_EQ(told("", {{"Hq", 7}, {"G", 2}}),
            "Hq = 7 is no multiple of G = 2, so no length of Hkv makes Hq = G * Hkv");
  EXPECT_EQ(told("", {{"Hq", 7}, {"Hkv", 0}}),
            "Hq = 7 is no multiple of Hkv = 0, so no length of G makes Hq = G * Hkv");
  EXPECT_EQ(told("", {{"Hq", 7}, {"G", 2}, {"Hkv", 4}}), "Hq = 7 but G * Hkv = 8");
  EXPECT_EQ(told("", {{"G", 1 << 20}, {"Hkv", 1 << 20}}),
            "Hq = G * Hkv = 1099511627776 is beyond 2^30, the longest axis");
}
