//===- TokenReader.h - tokens one by one, and what closes brackets -------===//
//
// What the grammar of Parser.cpp is written in. A bracket that nothing closes would
// swallow the statements behind it; here it ends where the next one begins.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SPEC_TOKENREADER_H
#define ATTN_LIB_SPEC_TOKENREADER_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Lexer.h"
#include "lib/Spec/Syntax.h"

namespace attn::spec {

/// Thrown after a report, caught where parsing can go on.
struct Recover {};

struct TokenReader {
  TokenReader(Diagnostics &diagnostics, std::vector<Token> tokens)
      : diagnostics(diagnostics), tokens(std::move(tokens)) {}

  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t at = 0;
  int brackets = 0;          ///< Inside ( or [ newlines do not end a statement.
  size_t statementBegin = 0; ///< The token; 0 outside of bodies.
  size_t reportsBefore = 0;  ///< Those of what stands before the statement.

  const Token &peek() {
    if (brackets > 0)
      skipNewlines();
    return tokens[at];
  }
  void skipNewlines() {
    while (tokens[at].kind == Token::Newline)
      ++at;
  }
  Token take() {
    Token token = peek();
    if (token.kind != Token::End)
      ++at;
    return token;
  }
  bool is(const char *text) {
    const Token &token = peek();
    return (token.kind == Token::Punct || token.kind == Token::Word) &&
           token.text == text;
  }
  bool accept(const char *text) {
    if (!is(text))
      return false;
    take();
    return true;
  }
  uint32_t lastEnd() const { return at == 0 ? 0 : tokens[at - 1].span.end; }

  [[noreturn]] void fail(const char *id, std::string wanted,
                         std::optional<std::string> fix = std::nullopt);
  Name name(const char *id, const char *what);

  /// "(" or "[" ... its partner.
  void open(const char *text, const char *id, const char *what);
  void close(const char *text, const char *what);

  /// To the end of a statement that could not be read. Its targets have no value then,
  /// nor has what is assigned in what is skipped.
  void skipStatement(SyntaxStatement &s);

private:
  bool isPunct(size_t place, const char *text) const {
    return place < tokens.size() && tokens[place].kind == Token::Punct &&
           tokens[place].text == text;
  }
  /// The names of "s =" or "p, lse =" at `place`, none where no assignment stands there.
  /// (An argument "over=N" may begin a line as well.)
  std::vector<Name> assigned(size_t place) const;
  /// Whether the line from `place` on goes on with nothing before it: a statement, the
  /// end of the body, another kernel. Brackets still open there were forgotten.
  bool beginsAnew(size_t place) const;
  /// Where the line begins on which parsing stands.
  size_t lineBegin() const;
  /// A bracket that is still open where the next statement begins. What was reported of
  /// this one follows from it, as like as not.
  [[noreturn]] void reportUnclosed(const char *text, const char *what);
};

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_TOKENREADER_H
