//===- Lexer.cpp - text to tokens -----------------------------------------===//

#include "lib/Spec/Lexer.h"
#include "lib/Spec/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace attn::spec;

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of the letter of another alphabet that begins at `at`, 0 where none does:
/// accents, Greek, Cyrillic, CJK, mathematical alphabets; no signs, no punctuation.
static uint32_t foreignLetter(const std::string &text, uint32_t at) {
  static constexpr uint32_t kLetters[][2] = {
      {0xaa, 0xaa},      {0xb2, 0xb3},     {0xb5, 0xb5},     {0xb9, 0xba},
      {0xc0, 0xd6},      {0xd8, 0xf6},     {0xf8, 0x373},    {0x376, 0x37d},
      {0x386, 0x386},    {0x388, 0x481},   {0x48a, 0x587},   {0x5d0, 0x5ea},
      {0x620, 0x64a},    {0x904, 0x939},   {0x1d00, 0x1fff}, {0x2070, 0x2071},
      {0x2074, 0x2079},  {0x207f, 0x2089}, {0x2090, 0x209c}, {0x2102, 0x2102},
      {0x210a, 0x2115},  {0x2119, 0x211d}, {0x2124, 0x2139}, {0x3041, 0x3096},
      {0x30a1, 0x30fa},  {0x3400, 0x9fff}, {0xac00, 0xd7a3}, {0x1d400, 0x1d6c0},
      {0x1d6c2, 0x1d7ff}};
  Character c = characterAt(text, at);
  for (auto &range : kLetters)
    if (c.code >= range[0] && c.code <= range[1])
      return c.bytes;
  return 0;
}

/// Punctuation of one character.
static const std::string kPunctuation = "()[]{},:=+-*/<>";

/// Names become parts of names of files and symbols.
static constexpr uint32_t kLongestName = 100;

namespace {
struct Lexer {
  const std::string &text;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  std::set<std::string> foreignNames; ///< Reported.
  uint32_t at = 0;

  char peek(uint32_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  void push(Token::Kind kind, uint32_t begin) {
    stand(kind, begin, text.substr(begin, at - begin));
  }

  /// Whether a name goes on here, by a letter of ours or of another alphabet.
  bool skipLetter() {
    uint32_t bytes = isLetter(peek()) || isDigit(peek()) ? 1 : foreignLetter(text, at);
    at += bytes;
    return bytes > 0;
  }

  /// A name, one of other letters too: those are reported once for each name, and
  /// parsing goes on with the name as it is.
  void word() {
    uint32_t begin = at;
    while (skipLetter())
      ;
    push(Token::Word, begin);
    Token &token = tokens.back();
    bool foreign = std::any_of(token.text.begin(), token.text.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x80;
    });
    if (foreign && foreignNames.insert(token.text).second)
      diagnostics.report("foreign-letter", token.span,
                         fmt::format("'{}' is no name here: names are of ASCII letters, "
                                     "digits and '_'",
                                     token.text));
    if (at - begin > kLongestName) {
      diagnostics.report("long-name", {begin, at},
                         fmt::format("a name has at most {} characters, this one {}",
                                     kLongestName, at - begin));
      token.text.resize(kLongestName);
    }
  }

  /// One report for a run of bytes that begin no token.
  void foreignCharacters() {
    uint32_t begin = at;
    auto foreign = [&](char d) {
      return d != '\n' && d != ' ' && d != '\t' && d != '\r' && !isLetter(d) &&
             !isDigit(d) && d != '#' && d != '!' && d != '%' && d != '"' && d != ';' &&
             kPunctuation.find(d) == std::string::npos && !foreignLetter(text, at);
    };
    while (at < text.size() && foreign(peek()))
      ++at;
    at = std::max(at, begin + 1);
    // Without it two operands would meet.
    bool before =
        !tokens.empty() &&
        (tokens.back().kind == Token::Word || tokens.back().kind == Token::Int ||
         tokens.back().kind == Token::Float || tokens.back().text == ")" ||
         tokens.back().text == "]");
    uint32_t next = at;
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t'))
      ++next;
    bool after = next < text.size() && (isLetter(text[next]) || isDigit(text[next]) ||
                                        text[next] == '(' || foreignLetter(text, next));
    diagnostics.report("bad-character", {begin, at},
                       "character that the language does not use",
                       before && after ? std::nullopt : std::optional<std::string>(""));
  }

  /// A token in place of what was written.
  void stand(Token::Kind kind, uint32_t begin, std::string word) {
    Token token;
    token.kind = kind;
    token.span = {begin, at};
    token.text = std::move(word);
    tokens.push_back(std::move(token));
  }

  void number() {
    uint32_t begin = at;
    bool real = false;
    while (isDigit(peek()))
      ++at;
    if (peek() == '.' && isDigit(peek(1))) {
      real = true;
      ++at;
      while (isDigit(peek()))
        ++at;
    } else if (peek() == '.') {
      real = true;
      ++at;
    }
    if (peek() == 'e' || peek() == 'E') {
      uint32_t sign = peek(1) == '+' || peek(1) == '-';
      if (isDigit(peek(1 + sign))) {
        real = true;
        at += 1 + sign;
        while (isDigit(peek()))
          ++at;
      }
    }
    if (isLetter(peek()) || peek() == '.') {
      bool suffixed = (peek() == 'f' || peek() == 'F') && !isLetter(peek(1)) &&
                      !isDigit(peek(1)) && peek(1) != '.';
      while (isLetter(peek()) || isDigit(peek()) || peek() == '.')
        ++at;
      diagnostics.report("bad-number", {begin, at},
                         fmt::format("'{}' is not a number{}",
                                     text.substr(begin, at - begin),
                                     suffixed ? "; numbers have no suffix" : ""),
                         suffixed ? std::optional<std::string>(
                                        text.substr(begin, at - begin - 1))
                                  : std::nullopt);
      push(Token::Int, begin);
      return;
    }
    push(real ? Token::Float : Token::Int, begin);
    Token &token = tokens.back();
    errno = 0;
    token.real = std::strtod(token.text.c_str(), nullptr);
    if (real && !std::isfinite(token.real)) {
      diagnostics.report("number-too-large", token.span,
                         "number is too large for a float");
      token.real = 0;
    }
    if (!real) {
      errno = 0;
      unsigned long long magnitude = std::strtoull(token.text.c_str(), nullptr, 10);
      // 2^63 is the parser's to judge: with a sign before it, it fits.
      token.integer = static_cast<int64_t>(magnitude);
      if (errno == ERANGE || magnitude > uint64_t(INT64_MAX) + 1) {
        diagnostics.report("number-too-large", token.span, kIntegerTooLarge);
        token.integer = 1; // Right wherever a length or a divisor stands.
      }
    }
  }

  /// Operators of other languages, with ours.
  bool foreignOperator() {
    if (peek() == '/' && (peek(1) == '/' || peek(1) == '*')) {
      uint32_t begin = at;
      bool block = peek(1) == '*';
      uint32_t after = at + 2;
      while (after < text.size() && text[after] == ' ')
        ++after;
      bool quotient = after < text.size() && isDigit(text[after]);
      size_t close = block ? text.find("*/", at + 2) : text.find('\n', at);
      diagnostics.report("foreign-comment", {begin, begin + 2},
                         block ? "a comment starts with '#' and ends with the line"
                               : "a comment starts with '#'; for a rounded "
                                 "quotient of integers write '/'",
                         block ? std::nullopt
                               : std::optional<std::string>(quotient ? "/" : "#"));
      if (quotient) { // Parsing goes on behind it.
        at += 2;
        stand(Token::Punct, begin, "/");
        return true;
      }
      at = close == std::string::npos ? text.size() : close + (block ? 2 : 0);
      return true;
    }
    // Text, what stands in for it so that parsing goes on, what to write, fix.
    static const struct {
      const char *theirs, *ours, *message, *fix;
    } kMarks[] = {
        {"&&", "and", "'&&' is not an operator here; write 'and'", "and"},
        {"||", "or", "'||' is not an operator here; write 'or'", "or"},
        {"**", "*", "'**' is not an operator here; write exp2 or a product", nullptr},
        {"%", "/",
         "'%' is not in the language, which has no remainder; for integers write "
         "x - y * (x / y), where '/' rounds down",
         nullptr},
        {"^", "*", "'^' is not an operator here; write exp2 or a product", nullptr},
        {"@", "*", "'@' is not an operator here; write matmul(a, b, over=AXIS)",
         nullptr},
        {"&", "and", "'&' is not an operator here; write 'and'", "and"},
        {"|", "or", "'|' is not an operator here; write 'or'", "or"},
        {"~", "not", "'~' is not an operator here; write 'not'", "not "},
        {"\u2264", "<=", "'\u2264' is not in the language; write '<='", "<="},
        {"\u2265", ">=", "'\u2265' is not in the language; write '>='", ">="},
        {"\u2260", "!=", "'\u2260' is not in the language; write '!='", "!="},
        {"\u2212", "-", "'\u2212' is not in the language; write '-'", "-"},
        {"\u00d7", "*", "'\u00d7' is not in the language; write '*'", "*"},
        {"\u00b7", "*", "'\u00b7' is not in the language; write '*'", "*"},
        {"=<", "<=", "'=<' is not an operator here; write '<='", "<="},
        {"=>", ">=", "'=>' is not an operator here; write '>='", ">="},
        {";", nullptr, "a statement ends with its line, without ';'", ""},
    };
    for (auto &mark : kMarks) {
      size_t length = std::strlen(mark.theirs);
      if (text.compare(at, length, mark.theirs) != 0)
        continue;
      uint32_t begin = at;
      at += length;
      diagnostics.report("foreign-operator", {begin, at}, mark.message,
                         mark.fix ? std::optional<std::string>(mark.fix)
                                  : std::nullopt);
      stand(!mark.ours             ? Token::Newline
            : isLetter(*mark.ours) ? Token::Word
                                   : Token::Punct,
            begin, mark.ours ? mark.ours : "");
      return true;
    }
    if (peek() == '"' || peek() == '\'') {
      uint32_t begin = at++;
      while (isLetter(peek()) || isDigit(peek()))
        ++at;
      std::string word = text.substr(begin + 1, at - begin - 1);
      bool closed = peek() == text[begin];
      at += closed;
      diagnostics.report("string", {begin, at},
                         "the language has no strings; names stand bare",
                         closed && !word.empty() ? std::optional<std::string>(word)
                                                 : std::nullopt);
      if (!word.empty())
        stand(Token::Word, begin, word);
      return true;
    }
    if (peek() == '.' && isLetter(peek(1))) {
      uint32_t begin = at++;
      while (isLetter(peek()) || isDigit(peek()) || peek() == '.')
        ++at;
      diagnostics.report("member", {begin, at},
                         "values have no members; functions are called by their "
                         "bare names, and no transpose is needed: axes are matched "
                         "by name");
      return true;
    }
    if (peek() == '!' && peek(1) != '=') {
      uint32_t begin = at++;
      diagnostics.report("foreign-operator", {begin, at},
                         "'!' is not an operator here; write 'not'", "not ");
      stand(Token::Word, begin, "not");
      return true;
    }
    return false;
  }

  void run() {
    while (at < text.size()) {
      char c = peek();
      uint32_t begin = at;
      if (c == '\n') {
        ++at;
        push(Token::Newline, begin);
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at;
      } else if (c == '#') {
        while (at < text.size() && peek() != '\n')
          ++at;
      } else if (isLetter(c) || foreignLetter(text, at)) {
        word();
      } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
        number();
      } else if (!foreignOperator()) {
        static const char *const kTwo[] = {"->", "<=", ">=", "==", "!="};
        bool two = false;
        for (const char *op : kTwo)
          two |= text.compare(at, 2, op) == 0;
        if (two || kPunctuation.find(c) != std::string::npos) {
          at += two ? 2 : 1;
          push(Token::Punct, begin);
        } else {
          foreignCharacters();
        }
      }
    }
    push(Token::End, at);
  }
};
} // namespace

std::vector<Token> attn::spec::tokenize(const std::string &text,
                                        Diagnostics &diagnostics) {
  Lexer lexer{text, diagnostics, {}, {}, 0};
  lexer.run();
  return std::move(lexer.tokens);
}
