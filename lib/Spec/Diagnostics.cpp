//===- Diagnostics.cpp - rendering errors and finding near names ----------===//

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Printable.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

/// Edits (insert, delete, replace, swap neighbours) between two words.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::optional<std::string>
attn::spec::nearest(const std::string &word,
                    const std::vector<std::string> &candidates) {
  if (word.size() > 64)
    return std::nullopt;
  auto lower = [](std::string text) {
    for (char &c : text)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  };
  for (const std::string &candidate : candidates)
    if (lower(candidate) == lower(word))
      return candidate;
  std::optional<std::string> best;
  size_t limit = word.size() <= 5 ? 1 : 2;
  size_t least = limit;
  for (const std::string &candidate : candidates) {
    size_t d = distance(word, candidate);
    // A short word must keep at least one letter of the candidate.
    if (d < std::max(word.size(), candidate.size()) &&
        (d < least || (d == least && !best))) {
      best = candidate;
      least = d;
    }
  }
  return best;
}

std::optional<std::string> attn::spec::notYet(const std::string &word) {
  if (word == "ragged" || word == "lengths" || word == "paged")
    return fmt::format("'{}' axes are not supported yet; pad to one length and "
                       "mask",
                       word);
  return std::nullopt;
}

std::pair<int, int> attn::spec::lineAndColumn(const std::string &text,
                                              uint32_t offset) {
  offset = std::min<uint32_t>(offset, text.size());
  int line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
  size_t start = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  size_t first = start == std::string::npos ? 0 : start + 1;
  return {line, static_cast<int>(offset - first) + 1};
}

std::string attn::spec::render(const Module &module,
                               const Diagnostic &diagnostic) {
  // No text, no place in it.
  if (module.text.empty() && diagnostic.id == "unreadable-file")
    return fmt::format("error: {}\n", printable(diagnostic.message));
  auto [line, column] = lineAndColumn(module.text, diagnostic.span.begin);
  std::string out = fmt::format("{}:{}:{}: {}: {}\n", printable(module.path),
                                line, column,
                                diagnostic.warning ? "warning" : "error",
                                printable(diagnostic.message));
  if (module.text.find_first_not_of(" \t\r\n") == std::string::npos)
    return out; // No line to show.
  size_t first = std::min<size_t>(diagnostic.span.begin, module.text.size()) -
                 (column - 1);
  size_t last = module.text.find('\n', first);
  std::string source = module.text.substr(
      first, last == std::string::npos ? last : last - first);
  if (!source.empty() && source.back() == '\r')
    source.pop_back();
  Excerpt shown = excerpt(source, column - 1, diagnostic.span.end - first);
  out += "  " + shown.source + "\n  " + shown.caret + "\n";
  if (diagnostic.fix)
    out += diagnostic.fix->empty() ? "  fix: remove it\n"
                                   : fmt::format("  fix: {}\n", printable(*diagnostic.fix));
  return out;
}

std::string attn::spec::render(const ParseResult &result) {
  std::string out;
  for (const Diagnostic &diagnostic : result.diagnostics)
    out += render(result.module, diagnostic);
  for (const Diagnostic &warning : result.warnings)
    out += render(result.module, warning);
  return out;
}
