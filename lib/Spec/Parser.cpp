//===- Parser.cpp - tokens to syntax --------------------------------------===//
//
//   file      = { kernel }
//   kernel    = "kernel" name "(" params ")" "->" "(" params ")"
//               [ "where" name "=" expr { "," ... } ] "{" { statement } "}"
//   param     = name ":" dtype [ "[" [ axis { "," axis } ] "]" ]
//   statement = name { "," name } "=" expr newline
//   expr      = or; or = and { "or" and }; and = not { "and" not }
//   not       = "not" not | compare; compare = sum [ cmp sum ]
//   sum       = product { ("+"|"-") product }
//   product   = unary { ("*"|"/") unary }; unary = "-" unary | primary
//   primary   = number | name | name "(" args ")" | name "[" exprs "]" | "(" expr ")"
//
//===----------------------------------------------------------------------===//

#include "lib/Spec/Parser.h"
#include "lib/Spec/Lexer.h"

#include <fmt/format.h>

using namespace attn::spec;

/// Deeper expressions are refused: recursion must not exhaust the stack.
static constexpr int kMaxDepth = 200;

namespace {
/// Thrown after a report, caught where parsing can go on.
struct Recover {};

struct Parser {
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t at = 0;
  int brackets = 0; ///< Inside ( or [ newlines do not end a statement.
  int depth = 0;

  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

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

  std::string shown(const Token &token) {
    switch (token.kind) {
    case Token::End:
      return "the end of the file";
    case Token::Newline:
      return "the end of the line";
    default:
      return "'" + token.text + "'";
    }
  }
  [[noreturn]] void fail(const char *id, std::string wanted,
                         std::optional<std::string> fix = std::nullopt) {
    const Token &token = peek();
    diagnostics.report(id, token.span,
                       fmt::format("expected {}, found {}", wanted, shown(token)),
                       std::move(fix));
    throw Recover{};
  }
  Name name(const char *id, const char *what) {
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
  /// "(" or "[" ... its partner.
  void open(const char *text, const char *id, const char *what) {
    if (!is(text))
      fail(id, what);
    take();
    ++brackets;
  }
  void close(const char *text, const char *what) {
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

  //===--------------------------------------------------------------------===//
  // Brackets that nothing closes
  //===--------------------------------------------------------------------===//

  bool isPunct(size_t place, const char *text) const {
    return place < tokens.size() && tokens[place].kind == Token::Punct &&
           tokens[place].text == text;
  }

  /// The names of "s =" or "p, lse =" at `place`, none where no assignment stands there.
  /// (An argument "over=N" may begin a line as well.)
  std::vector<Name> assigned(size_t place) const {
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

  /// Whether the line from `place` on goes on with nothing before it: a statement, the
  /// end of the body, another kernel. Brackets still open there were forgotten.
  bool beginsAnew(size_t place) const {
    if (isPunct(place, "}") || tokens[place].kind == Token::End ||
        (tokens[place].kind == Token::Word && tokens[place].text == "kernel"))
      return true;
    size_t before = place - 1;
    while (before > statementBegin && tokens[before].kind == Token::Newline)
      --before;
    bool goesOn = isPunct(before, ",") || isPunct(before, "(") || isPunct(before, "[");
    return !goesOn && !assigned(place).empty();
  }

  /// Where the line begins on which parsing stands.
  size_t lineBegin() const {
    size_t place = at;
    while (place > statementBegin && tokens[place - 1].kind != Token::Newline)
      --place;
    return place;
  }

  /// A bracket that is still open where the next statement begins. What was reported of
  /// this one follows from it, as like as not.
  [[noreturn]] void reportUnclosed(const char *text, const char *what) {
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
  size_t statementBegin = 0; ///< The token; 0 outside of bodies.
  size_t reportsBefore = 0;  ///< Those of what stands before it.

  /// To the end of a statement that could not be read. Its targets have no value then,
  /// nor has what is assigned in what is skipped.
  void skipStatement(SyntaxStatement &s) {
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

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  struct Deeper {
    Parser &parser;
    Deeper(Parser &p) : parser(p) {
      if (++parser.depth > kMaxDepth) {
        parser.diagnostics.report("too-deep", parser.peek().span,
                                  fmt::format("expression nests deeper than {} "
                                              "levels; name a part of it",
                                              kMaxDepth));
        --parser.depth;
        throw Recover{};
      }
    }
    ~Deeper() { --parser.depth; }
  };

  SyntaxExpr expr() {
    Deeper deeper(*this);
    return binary(0);
  }

  /// Operators by binding strength, weakest first.
  static int level(const Token &token, Op &op) {
    static const struct {
      const char *text;
      Op op;
      int level;
    } kTable[] = {{"or", Op::Or, 0},  {"and", Op::And, 1}, {"==", Op::Eq, 3},
                  {"!=", Op::Ne, 3},  {"<", Op::Lt, 3},    {"<=", Op::Le, 3},
                  {">", Op::Gt, 3},   {">=", Op::Ge, 3},   {"+", Op::Add, 4},
                  {"-", Op::Sub, 4},  {"*", Op::Mul, 5},   {"/", Op::Div, 5}};
    if (token.kind == Token::Word || token.kind == Token::Punct)
      for (auto &row : kTable)
        if (token.text == row.text) {
          op = row.op;
          return row.level;
        }
    return -1;
  }

  SyntaxExpr binary(int strength) {
    if (strength == 2) {
      if (is("not")) {
        Deeper deeper(*this);
        Token token = take();
        return unary(Op::Not, token, binary(2));
      }
      return binary(3);
    }
    if (strength == 6)
      return prefix();
    SyntaxExpr left = binary(strength + 1);
    bool compared = false;
    int chain = 0;
    while (true) {
      Op op = Op::None;
      if (level(peek(), op) != strength)
        return left;
      if (compared) {
        diagnostics.report("comparison-chain", peek().span,
                           "comparisons do not chain; join two with 'and'");
        throw Recover{};
      }
      if (++chain > 10000) {
        diagnostics.report("too-deep", peek().span,
                           "expression is too long; name a part of it");
        throw Recover{};
      }
      compared = strength == 3;
      Token token = take();
      SyntaxExpr right = binary(strength + 1);
      SyntaxExpr both;
      both.kind = SyntaxExpr::Binary;
      both.op = op;
      both.text = token.text;
      both.nameSpan = token.span;
      both.span = {left.span.begin, right.span.end};
      // A long sum is a deep tree: the checker recurses over it.
      if (++size > 2000) {
        diagnostics.report("too-deep", token.span,
                           "statement is too long; name a part of it");
        throw Recover{};
      }
      both.children.push_back(std::move(left));
      both.children.push_back(std::move(right));
      left = std::move(both);
    }
  }
  int size = 0; ///< Operators in this statement.

  SyntaxExpr unary(Op op, const Token &token, SyntaxExpr operand) {
    SyntaxExpr e;
    e.kind = SyntaxExpr::Unary;
    e.op = op;
    e.text = token.text;
    e.nameSpan = token.span;
    e.span = {token.span.begin, operand.span.end};
    e.children.push_back(std::move(operand));
    return e;
  }

  SyntaxExpr prefix() {
    if (is("-")) {
      Deeper deeper(*this);
      Token token = take();
      // The least integer has no positive twin to negate.
      if (isLeast(peek())) {
        SyntaxExpr least = literal(take());
        least.span.begin = token.span.begin;
        return least;
      }
      return unary(Op::Neg, token, prefix());
    }
    return primary();
  }

  static bool isLeast(const Token &token) {
    return token.kind == Token::Int && token.integer == INT64_MIN;
  }

  static SyntaxExpr literal(const Token &token) {
    SyntaxExpr e;
    e.span = e.nameSpan = token.span;
    e.kind = token.kind == Token::Int ? SyntaxExpr::Int : SyntaxExpr::Float;
    e.integer = token.integer;
    e.real = token.real;
    return e;
  }

  SyntaxExpr primary() {
    const Token &token = peek();
    SyntaxExpr e;
    e.span = e.nameSpan = token.span;
    if (token.kind == Token::Int || token.kind == Token::Float) {
      if (isLeast(token))
        diagnostics.report("number-too-large", token.span, kIntegerTooLarge);
      return literal(take());
    }
    if (is("(")) {
      uint32_t begin = token.span.begin;
      open("(", "expected-expression", "'('");
      e = expr();
      close(")", "')'");
      e.span = {begin, lastEnd()};
      return e;
    }
    if (is("true") || is("false")) {
      e.kind = SyntaxExpr::Bool;
      e.integer = is("true");
      take();
      return e;
    }
    // Another language's where(condition, x, y): the checker says what to write.
    bool choice =
        is("where") && at + 1 < tokens.size() && tokens[at + 1].text == "(";
    if (token.kind != Token::Word || is("and") || is("or") || is("not") ||
        is("kernel") || (is("where") && !choice))
      fail("expected-expression", "an expression");
    e.text = token.text;
    take();
    if (is("(")) {
      e.kind = SyntaxExpr::Call;
      open("(", "expected-expression", "'('");
      arguments(e);
      close(")", "',' or ')'");
    } else if (is("[")) {
      e.kind = SyntaxExpr::Index;
      open("[", "expected-expression", "'['");
      while (!is("]")) {
        if (is(":")) {
          diagnostics.report("slice", peek().span,
                             "there are no slices; write an index for each axis, "
                             "or the bare name for the whole tensor");
          throw Recover{};
        }
        e.children.push_back(expr());
        if (!accept(","))
          break;
      }
      close("]", "',' or ']'");
    } else {
      e.kind = SyntaxExpr::NameRef;
    }
    e.span.end = lastEnd();
    return e;
  }

  void arguments(SyntaxExpr &call) {
    while (!is(")")) {
      peek();
      bool keyword = tokens[at].kind == Token::Word && at + 1 < tokens.size() &&
                     tokens[at + 1].kind == Token::Punct &&
                     tokens[at + 1].text == "=";
      if (keyword) {
        Name word = name("expected-name", "a name");
        Span equals = take().span;
        for (auto &[other, value] : call.keywords)
          if (other.text == word.text)
            diagnostics.report("keyword-repeated", word.span,
                               fmt::format("'{}' is given twice", word.text));
        call.keywords.emplace_back(word, expr());
        call.keywords.back().second.equals = equals;
      } else {
        SyntaxExpr value = expr();
        if (!call.keywords.empty())
          diagnostics.report("positional-after-keyword", value.span,
                             "a plain argument must come before 'name=' ones");
        call.children.push_back(std::move(value));
      }
      if (!accept(","))
        break;
    }
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Reports a form that the language is to have and has not yet.
  void refuse(const Name &word) {
    if (std::optional<std::string> text = notYet(word.text)) {
      diagnostics.report("not-yet", word.span, *text);
      throw Recover{};
    }
  }

  SyntaxParam param() {
    SyntaxParam p;
    p.name = name("expected-name", "a name");
    if (!is(":"))
      fail("expected-colon", "':' and a type");
    take();
    p.type.dtype = name("expected-type", "a type such as bf16[B, H, M, D]");
    refuse(p.type.dtype);
    if (is("[")) {
      p.type.tensor = true;
      open("[", "expected-axis", "'['");
      while (!is("]")) {
        if (peek().kind == Token::Int)
          fail("expected-axis",
               fmt::format("an axis name such as D, which the where clause binds: "
                           "where D = {}",
                           peek().text));
        p.type.axes.push_back(
            name("expected-axis", "an axis name such as B"));
        if (!is(",") && !is("]"))
          refuse(p.type.axes.back());
        if (!accept(","))
          break;
      }
      close("]", "',' or ']'");
    } else if (is("(") || is("<")) {
      fail("axes-brackets", "the axes in square brackets: bf16[B, H, M, D]", "[");
    }
    return p;
  }

  /// Skips to the ',' or ')' that ends a broken parameter.
  void skipParam(int outside) {
    int squares = brackets - outside, rounds = 0;
    brackets = outside;
    while (tokens[at].kind != Token::End) {
      const Token &token = tokens[at];
      bool punct = token.kind == Token::Punct;
      if (punct && (token.text == "{" || token.text == "}" || token.text == "->"))
        return;
      if (token.kind == Token::Word && token.text == "kernel")
        return;
      if (punct && rounds == 0 &&
          (token.text == ")" || (squares == 0 && token.text == ",")))
        return;
      squares += punct && token.text == "[";
      squares -= punct && token.text == "]" && squares > 0;
      rounds += punct && token.text == "(";
      rounds -= punct && token.text == ")";
      ++at;
    }
  }

  /// `unread` gets the words of parameters that could not be parsed.
  std::vector<SyntaxParam> params(const char *id, const char *what,
                                  std::vector<std::string> &unread) {
    std::vector<SyntaxParam> list;
    open("(", id, what);
    int outside = brackets;
    while (!is(")")) {
      size_t begin = at;
      try {
        list.push_back(param());
      } catch (Recover) {
        skipParam(outside);
        for (size_t i = begin; i < at; ++i)
          if (tokens[i].kind == Token::Word)
            unread.push_back(tokens[i].text);
      }
      if (!accept(","))
        break;
    }
    close(")", "',' or ')'");
    return list;
  }

  void where(SyntaxKernel &kernel) {
    do {
      skipNewlines();
      if (is("{"))
        break; // A trailing comma.
      SyntaxWhere clause;
      clause.axis = name("expected-axis", "an axis name such as D");
      if (!is("=") && !is("=="))
        refuse(clause.axis);
      if (is("==")) {
        diagnostics.report("equality-for-binding", peek().span,
                           "a binding is written with one '='", "=");
        take();
      } else if (!accept("=")) {
        fail("expected-equals", "'=' and a length");
      }
      clause.value = expr();
      kernel.where.push_back(std::move(clause));
      if (tokens[at].kind == Token::Newline) {
        size_t mark = at;
        skipNewlines();
        if (!is(",") && !is("{"))
          at = mark;
      }
    } while (accept(","));
  }

  /// Statements of other languages, with ours.
  void foreignStatement() {
    const Token &first = peek();
    if (first.kind != Token::Word || at + 1 >= tokens.size())
      return;
    const Token &second = tokens[at + 1];
    bool assigned = second.kind == Token::Punct &&
                    (second.text == "=" || second.text == ",");
    if (assigned)
      return;
    static const std::pair<const char *, const char *> kWords[] = {
        {"return", "nothing is returned: a result is the last value assigned to "
                   "its name"},
        {"where", "the where clause stands before the '{' of the body"},
        {"for", "there are no loops: operations run over whole axes"},
        {"while", "there are no loops: operations run over whole axes"},
        {"if", "there are no branches; write select(condition, x, y)"},
        {"let", "a value is named by s = ..., without a word before it"},
        {"var", "a value is named by s = ..., without a word before it"},
        {"const", "a value is named by s = ..., without a word before it"},
        {"auto", "a value is named by s = ..., without a word before it"}};
    for (auto [word, text] : kWords)
      if (first.text == word) {
        diagnostics.report("foreign-statement", first.span, text);
        throw Recover{};
      }
    if (second.kind == Token::Punct && at + 2 < tokens.size() &&
        tokens[at + 2].text == "=" &&
        tokens[at + 2].span.begin == second.span.end &&
        (second.text == "+" || second.text == "-" || second.text == "*" ||
         second.text == "/")) {
      diagnostics.report("foreign-statement",
                         {second.span.begin, tokens[at + 2].span.end},
                         fmt::format("'{1}=' is not in the language; write {0} = "
                                     "{0} {1} ...",
                                     first.text, second.text));
      throw Recover{};
    }
  }

  void statement(SyntaxStatement &s) {
    size = 0;
    s.span.begin = peek().span.begin;
    foreignStatement();
    do
      s.targets.push_back(name("expected-statement", "a statement such as s = ..."));
    while (accept(","));
    if (is("==")) {
      diagnostics.report("equality-for-binding", peek().span,
                         "an assignment is written with one '='", "=");
      take();
    } else if (!accept("=")) {
      fail("expected-equals", "'='");
    }
    s.value = expr();
    s.span.end = s.value.span.end;
    const Token &token = tokens[at];
    if (token.kind != Token::Newline && token.kind != Token::End && !is("}"))
      fail("expected-end-of-statement", "the end of the statement");
  }

  SyntaxKernel kernel() {
    SyntaxKernel k;
    k.span = take().span; // "kernel"
    k.name = name("expected-name", "the kernel's name");
    k.arguments =
        params("expected-arguments", "'(' and the arguments", k.unread);
    size_t unread = k.unread.size();
    skipNewlines();
    if (!accept("->"))
      fail("expected-arrow", "'->' and the results");
    skipNewlines();
    k.results = params("expected-results", "'(' and the results", k.unread);
    k.resultsUnread = k.unread.size() > unread;
    skipNewlines();
    if (accept("where"))
      where(k);
    skipNewlines();
    if (!is("{"))
      fail("expected-body", "'{' and the body");
    Token opened = take();
    while (true) {
      brackets = 0;
      skipNewlines();
      if (accept("}"))
        return k;
      if (peek().kind == Token::End || is("kernel")) {
        diagnostics.report("missing-close-brace", opened.span,
                           "the body that starts here has no '}'");
        return k;
      }
      SyntaxStatement &s = k.body.emplace_back();
      statementBegin = at;
      reportsBefore = diagnostics.list.size();
      try {
        statement(s);
      } catch (Recover) {
        s.unread = true;
        skipStatement(s);
      }
      statementBegin = 0;
    }
  }

  /// To the next kernel, past the body of a broken one.
  void skipKernel() {
    brackets = 0;
    while (tokens[at].kind != Token::End && !is("kernel"))
      ++at;
  }

  std::vector<SyntaxKernel> file() {
    std::vector<SyntaxKernel> kernels;
    bool any = false;
    while (true) {
      brackets = 0;
      depth = 0;
      skipNewlines();
      if (peek().kind == Token::End)
        break;
      any = true;
      try {
        if (!is("kernel"))
          fail("expected-kernel", "'kernel'",
               is("def") || is("func") || is("fn") || is("function")
                   ? std::optional<std::string>("kernel")
                   : std::nullopt);
        kernels.push_back(kernel());
      } catch (Recover) {
        skipKernel();
      }
    }
    if (!any && diagnostics.list.empty())
      diagnostics.report("empty-file", tokens[at].span,
                         "the file holds no kernel");
    return kernels;
  }
};
} // namespace

std::vector<SyntaxKernel> attn::spec::parseSyntax(const std::string &text,
                                                  Diagnostics &diagnostics) {
  Parser parser{diagnostics, tokenize(text, diagnostics)};
  return parser.file();
}
