//===- Lexer.h - text to tokens -------------------------------------------===//
#ifndef ATTN_LIB_SPEC_LEXER_H
#define ATTN_LIB_SPEC_LEXER_H

#include "lib/Spec/Diagnostics.h"

namespace attn::spec {

struct Token {
  enum Kind { End, Newline, Word, Int, Float, Punct } kind = End;
  Span span;
  std::string text; ///< As it stands there.
  int64_t integer = 0; ///< Of a literal 2^63, which only a sign makes fit: INT64_MIN.
  double real = 0;
};

inline constexpr const char *kIntegerTooLarge = "integer does not fit 64 bits";

/// Never fails: bad input is reported and skipped. The last token is End.
std::vector<Token> tokenize(const std::string &text, Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_LEXER_H
