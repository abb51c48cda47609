//===- Lexer.h - text to tokens -------------------------------------------===//
#ifndef ATTN_LIB_SPEC_LEXER_H
#define ATTN_LIB_SPEC_LEXER_H

#include "lib/Spec/Diagnostics.h"

namespace attn::spec {

struct Token {
  enum Kind { End, Newline, Word, Int, Float, Punct } kind = End;
  Span span;
  std::string text; ///< Word or punctuation.
  int64_t integer = 0;
  double real = 0;
};

/// Never fails: bad input is reported and skipped. The last token is End.
std::vector<Token> tokenize(const std::string &text, Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_LEXER_H
