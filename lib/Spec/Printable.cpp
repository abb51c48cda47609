//===- Printable.cpp - text of unknown origin on a terminal ---------------===//

#include "lib/Spec/Printable.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn::spec;

/// Characters without a shape of their own that change how their neighbours look:
/// C0 and C1 controls, marks of direction, joiners, line separators, tags.
static bool isShown(uint32_t code) {
  static constexpr uint32_t kUnseen[][2] = {
      {0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
      {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};
  return std::none_of(std::begin(kUnseen), std::end(kUnseen), [&](auto &range) {
    return code >= range[0] && code <= range[1];
  });
}

/// Decodes UTF-8 (RFC 3629, table 3-7 of the Unicode standard: no overlong forms, no
/// surrogates).
Character attn::spec::characterAt(const std::string &text, size_t i) {
  unsigned char first = text[i];
  if (first < 0x80)
    return {1, isShown(first), first};
  size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + bytes > text.size())
    return {1, false, 0};
  uint32_t code = first & (0x7f >> bytes);
  for (size_t k = 1; k < bytes; ++k) {
    unsigned char next = text[i + k];
    if ((next & 0xc0) != 0x80)
      return {1, false, 0};
    code = code << 6 | (next & 0x3f);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
    return {1, false, 0};
  return {bytes, isShown(code), code};
}

std::string attn::spec::printable(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    Character c = characterAt(text, i);
    for (size_t end = i + c.bytes; i < end; ++i)
      if (c.shown)
        out += text[i];
      else
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
  }
  return out;
}

std::string attn::spec::maskControls(std::string text) {
  for (size_t i = 0; i < text.size();) {
    Character c = characterAt(text, i);
    if (!c.shown && text[i] != '\t' && text[i] != '\n')
      std::fill_n(text.begin() + i, c.bytes, '?');
    i += c.bytes;
  }
  return text;
}

static bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

Excerpt attn::spec::excerpt(const std::string &line, size_t begin, size_t end) {
  // A screen's width of the line, with more of what follows the place than of what
  // precedes it.
  constexpr size_t kBefore = 60, kAfter = 100, kSpare = 20;
  std::string text = maskControls(line);
  begin = std::min(begin, text.size());
  end = std::clamp(end, begin, text.size());
  size_t first = begin > kBefore + kSpare ? begin - kBefore : 0;
  size_t last = text.size() - begin > kAfter + kSpare ? begin + kAfter : text.size();
  while (first > 0 && continues(text[first]))
    --first;
  while (last < text.size() && continues(text[last]))
    ++last;
  end = std::min(end, last);

  Excerpt result;
  if (first > 0) {
    result.source = "...";
    result.caret = "   ";
  }
  result.source += text.substr(first, last - first);
  if (last < text.size())
    result.source += "...";
  // A tab stays a tab in the caret line so that the columns meet.
  for (size_t i = first; i < begin; ++i)
    if (!continues(text[i]))
      result.caret += text[i] == '\t' ? '\t' : ' ';
  size_t width = 0;
  for (size_t i = begin; i < end; ++i)
    width += !continues(text[i]);
  result.caret += '^' + std::string(std::max<size_t>(width, 1) - 1, '~');
  return result;
}
