//===- Ast.h - the checked syntax tree of an .attn file -------------------===//
//
// What the parser builds and the checker annotates. Everything after lib/Spec
// (the importer, the float64 interpreter, the runner) reads this tree and
// nothing else, so that a program's meaning is stated once.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SPEC_AST_H
#define ATTN_LIB_SPEC_AST_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn::spec {

enum class DType { F16, BF16, F32, F8E4M3, F8E5M2, I32, I64, I1 };

/// "f16", "bf16", ...: the spelling in the language.
const char *spelling(DType type);
/// All that the language has a word for, and those of them that kernels can be made for.
const std::vector<DType> &allDTypes();
const std::vector<DType> &supportedDTypes();
/// Bytes an element takes in memory (i1 takes one).
int byteSize(DType type);
inline bool isFloat(DType t) { return t <= DType::F8E5M2; }
inline bool isInteger(DType t) { return t == DType::I32 || t == DType::I64; }

/// A half-open byte range of the source text.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// A named axis. `index` is the lower-case name, legal in elementwise
/// expressions. An axis nests when the `where` clause says `Hq = G * Hkv`:
/// then `group` is G, `inner` is Hkv, and index hq reads hkv = hq / G.
struct Axis {
  std::string name;
  std::string index;
  std::optional<int64_t> extent;
  int group = -1; ///< Axis id of G, or -1.
  int inner = -1; ///< Axis id of Hkv, or -1.
  Span span;      ///< First mention.
};

/// dtype plus the axes (ids into Kernel::axes) a value varies along. For
/// arguments and results the order is the order in memory, outermost first.
struct Type {
  DType dtype = DType::F32;
  std::vector<int> axes;
};

enum class ExprKind {
  IntLiteral,   ///< i64 in `integer`
  FloatLiteral, ///< f32 in `real`
  BoolLiteral,  ///< i1 in `integer`
  Argument,     ///< whole argument `ref` (tensor broadcast by axis, or scalar)
  Local,        ///< local value `ref` (see Kernel::locals)
  AxisIndex,    ///< index variable of axis `ref`, i64
  AxisLength,   ///< length of axis `ref`, i64
  Unary,        ///< op: Neg, Not, or a one-operand function
  Binary,       ///< op on operands 0, 1
  Select,       ///< operands: condition, if true, if false
  Cast,         ///< operand 0 to type.dtype, rounding to nearest even
  Read,         ///< t[i, j]: argument `ref` at the index operands
  Matmul,       ///< operands a, b summed over axis `ref`, f32
  Scale,        ///< operands s, c
  Mask,         ///< operands s, predicate
  Softmax,      ///< operand s, optional operand 1 = sink; over axis `ref`
};

enum class Op {
  None,
  // Unary
  Neg, Not, Abs, Floor, Exp, Exp2, Log, Sqrt, Rsqrt, Tanh, Sigmoid,
  // Binary. Integer Div rounds towards minus infinity; x / 0 is 0.
  Add, Sub, Mul, Div, Min, Max,
  Eq, Ne, Lt, Le, Gt, Ge, And, Or,
};

struct Expr {
  ExprKind kind;
  Span span;
  Type type; ///< Set by the checker. Integer arithmetic is i64 exactly (C9).
  Op op = Op::None;
  int ref = -1;
  int64_t integer = 0;
  double real = 0;
  std::string name; ///< As written, for names and calls.
  std::vector<std::unique_ptr<Expr>> operands;
};

/// `s = expr` or `p, lse = softmax(...)`. `targets` are ids into
/// Kernel::locals; names may be assigned again, each assignment is a new local.
struct Statement {
  std::vector<int> targets;
  std::unique_ptr<Expr> value;
  Span span;
};

struct Local {
  std::string name;
  Type type;
  Span span;
};

struct Argument {
  std::string name;
  Type type;     ///< No axes and scalar: see `scalar`.
  bool scalar = false; ///< `window: i32`, passed by value.
  Span span;
};

struct Result {
  std::string name;
  Type type; ///< Order of axes is the order in memory.
  int local = -1; ///< The local that holds it at the end of the body.
  Span span;
};

struct Kernel {
  std::string name;
  std::vector<Axis> axes;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  std::vector<Statement> body;
  std::vector<Local> locals;
  Span span;

  int findAxis(const std::string &axisName) const;
};

struct Module {
  std::string path;
  std::string text;
  std::vector<Kernel> kernels;
};

/// Lengths of axes by name, from the command line. They override a `where`
/// binding of the same axis (a library spec's `D = 128` is a default).
using Binds = std::map<std::string, int64_t>;

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_AST_H
