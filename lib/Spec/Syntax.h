//===- Syntax.h - what the parser hands to the checker --------------------===//
//
// Names are not resolved and types are not known here; the checker turns this
// into the tree of Ast.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SPEC_SYNTAX_H
#define ATTN_LIB_SPEC_SYNTAX_H

#include "lib/Spec/Ast.h"

#include <string>
#include <utility>
#include <vector>

namespace attn::spec {

struct Name {
  std::string text;
  Span span;
};

struct SyntaxExpr {
  enum Kind { Int, Float, Bool, NameRef, Unary, Binary, Call, Index } kind = Int;
  Span span;
  Span nameSpan; ///< Operator or callee.
  Span equals;   ///< Of the '=' before the value of a `word=`.
  std::string text;
  Op op = Op::None;
  int64_t integer = 0;
  double real = 0;
  std::vector<SyntaxExpr> children;
  std::vector<std::pair<Name, SyntaxExpr>> keywords;
};

struct SyntaxType {
  Name dtype;
  bool tensor = false;
  std::vector<Name> axes;
};

struct SyntaxParam {
  Name name;
  SyntaxType type;
};

struct SyntaxWhere {
  Name axis;
  SyntaxExpr value;
};

struct SyntaxStatement {
  std::vector<Name> targets;
  SyntaxExpr value;
  Span span;
  bool unread = false; ///< Could not be parsed: the targets have no value.
};

struct SyntaxKernel {
  Name name;
  std::vector<SyntaxParam> arguments, results;
  std::vector<SyntaxWhere> where;
  std::vector<SyntaxStatement> body;
  Span span;
  /// Words of parameters that could not be parsed. What they would have declared
  /// is not known, so a use of one is no error of its own.
  std::vector<std::string> unread;
  bool resultsUnread = false; ///< One of those parameters is a result.
};

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_SYNTAX_H
