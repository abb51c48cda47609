//===- TokenReader.cpp - tokens one by one, and what closes brackets -----===//

#include "lib/Spec/TokenReader.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

static std::string shown(const Token &token) {
  switch (token.kind) {
  case Token::End:
    return "the end of the file";
  case Token::Newline:
    return "the end of the line";
  default:
    return "'" + token.text + "'";
  }
}

void TokenReader::fail(const char *id, std::string wanted,
                       std::optional<std::string> fix) {
  const Token &token = peek();
  diagnostics.report(id, token.span,
                     fmt::format("expected {}, found {}", wanted, shown(token)),
                     std::move(fix));
  throw Recover{};
}

Name TokenReader::name(const char *id, const char *what) {
  static const char *const kReserved[] = {"kernel", "where", "and",  "or",
                                          "not",    "true",  "false"};
  const Token &token = peek();
  if (token.kind != Token::Word)
    fail(id, what);
  for (const char *word : kReserved)
    if (token.text == word) {
      diagnostics.report("reserved-word", token.span,
                         fmt::format("'{}' is a word of the language and "
                                     "cannot be a name",
                                     token.text));
      throw Recover{};
    }
  Token taken = take();
  return {taken.text, taken.span};
}

void TokenReader::open(const char *text, const char *id, const char *what) {
  if (!is(text))
    fail(id, what);
  take();
  ++brackets;
}

void TokenReader::close(const char *text, const char *what) {
  if (!is(text)) {
    size_t line = lineBegin();
    if (statementBegin > 0 &&
        (isPunct(at, "}") || (line > statementBegin && beginsAnew(line))))
      reportUnclosed(text, what);
    fail("expected-close", what);
  }
  --brackets;
  ++at; // Not take(): the newline after it may end the statement.
}

//===----------------------------------------------------------------------===//
// Brackets that nothing closes
//===----------------------------------------------------------------------===//

std::vector<Name> TokenReader::assigned(size_t place) const {
  std::vector<Name> names;
  for (; tokens[place].kind == Token::Word; ++place) {
    const Token &token = tokens[place];
    if (token.text == "over" || token.text == "sink")
      return {};
    names.push_back({token.text, token.span});
    if (isPunct(++place, "="))
      return names;
    if (!isPunct(place, ","))
      return {};
  }
  return {};
}

bool TokenReader::beginsAnew(size_t place) const {
  if (isPunct(place, "}") || tokens[place].kind == Token::End ||
      (tokens[place].kind == Token::Word && tokens[place].text == "kernel"))
    return true;
  size_t before = place - 1;
  while (before > statementBegin && tokens[before].kind == Token::Newline)
    --before;
  bool goesOn = isPunct(before, ",") || isPunct(before, "(") || isPunct(before, "[");
  return !goesOn && !assigned(place).empty();
}

size_t TokenReader::lineBegin() const {
  size_t place = at;
  while (place > statementBegin && tokens[place - 1].kind != Token::Newline)
    --place;
  return place;
}

void TokenReader::reportUnclosed(const char *text, const char *what) {
  bool only = brackets == 1 && diagnostics.list.size() == reportsBefore;
  diagnostics.list.resize(std::min(reportsBefore, diagnostics.list.size()));
  size_t last = isPunct(at, "}") ? at - 1 : lineBegin() - 1;
  while (tokens[last].kind == Token::Newline)
    --last;
  diagnostics.report("expected-close", {tokens[last].span.end, tokens[last].span.end},
                     fmt::format("expected {}, found the end of the statement", what),
                     only ? std::optional<std::string>(text) : std::nullopt);
  throw Recover{};
}

void TokenReader::skipStatement(SyntaxStatement &s) {
  brackets = 0;
  int open = 0;
  for (at = statementBegin; tokens[at].kind != Token::End && !isPunct(at, "}"); ++at) {
    open += isPunct(at, "(") || isPunct(at, "[");
    open -= isPunct(at, ")") || isPunct(at, "]");
    if (tokens[at].kind != Token::Newline)
      continue;
    if (open <= 0 || beginsAnew(at + 1))
      return;
    for (Name &name : assigned(at + 1))
      s.targets.push_back(std::move(name));
  }
}
