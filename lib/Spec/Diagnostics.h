//===- Diagnostics.h - collecting errors ----------------------------------===//
#ifndef ATTN_LIB_SPEC_DIAGNOSTICS_H
#define ATTN_LIB_SPEC_DIAGNOSTICS_H

#include "lib/Spec/Parse.h"

#include <string>
#include <vector>

namespace attn::spec {

class Diagnostics {
public:
  void report(const char *id, Span span, std::string message,
              std::optional<std::string> fix = std::nullopt) {
    list.push_back({id, std::move(message), span, std::move(fix)});
  }
  std::vector<Diagnostic> list;
};

/// The candidate nearest to `word`, when it is near enough to be a slip.
std::optional<std::string> nearest(const std::string &word,
                                   const std::vector<std::string> &candidates);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_DIAGNOSTICS_H
