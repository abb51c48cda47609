//===- Printable.h - text of unknown origin on a terminal -----------------===//
#ifndef ATTN_LIB_SPEC_PRINTABLE_H
#define ATTN_LIB_SPEC_PRINTABLE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace attn::spec {

/// What stands at a byte: a character, or one byte that begins none.
struct Character {
  size_t bytes;
  bool shown;    ///< A terminal draws it and does nothing else.
  uint32_t code; ///< 0: no UTF-8.
};
Character characterAt(const std::string &text, size_t i);

/// Text for a terminal. What it would act on or not show (controls, bytes that are no
/// UTF-8, marks without width, changes of direction) is written as its bytes, \xe2\x80\xae.
std::string printable(const std::string &text);

/// The same for source text, byte for byte so that columns stay: '?' for each. Tabs
/// and ends of lines stay.
std::string maskControls(std::string text);

/// One line of source and, below, the place that a message is about.
struct Excerpt {
  std::string source, caret;
};
/// `line` holds no end of line; [begin, end) are bytes of it, cut to it. What lies far
/// from the place in a long line is left out ("..."); carets count characters.
Excerpt excerpt(const std::string &line, size_t begin, size_t end);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_PRINTABLE_H
