//===- Diagnostics.h - collecting errors ----------------------------------===//
#ifndef ATTN_LIB_SPEC_DIAGNOSTICS_H
#define ATTN_LIB_SPEC_DIAGNOSTICS_H

#include "lib/Spec/Parse.h"

#include <string>
#include <vector>

namespace attn::spec {

class Diagnostics {
public:
  /// `text` is what all spans are of; it outlives this object.
  explicit Diagnostics(const std::string &text) : text(text) {}

  /// What stands in the text there, for a fix that keeps parts of it.
  std::string written(Span span) const {
    return text.substr(span.begin, span.end - span.begin);
  }
  void report(const char *id, Span span, std::string message,
              std::optional<std::string> fix = std::nullopt) {
    list.push_back({id, std::move(message), span, std::move(fix)});
  }
  /// A legal text that hardly means what it says.
  void warn(const char *id, Span span, std::string message,
            std::optional<std::string> fix = std::nullopt) {
    warnings.push_back({id, std::move(message), span, std::move(fix), true});
  }
  std::vector<Diagnostic> list; ///< Errors.
  std::vector<Diagnostic> warnings;

private:
  const std::string &text;
};

/// The candidate nearest to `word`, when it is near enough to be a slip: the same
/// word in another case, one edit away, or two where the word is long.
std::optional<std::string> nearest(const std::string &word,
                                   const std::vector<std::string> &candidates);

/// What language.md promises and no version keeps yet: axes described by
/// 'ragged', 'lengths' or 'paged'. The message, or null for another word.
std::optional<std::string> notYet(const std::string &word);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_DIAGNOSTICS_H
