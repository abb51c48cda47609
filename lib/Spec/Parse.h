//===- Parse.h - .attn text to a checked syntax tree ----------------------===//
#ifndef ATTN_LIB_SPEC_PARSE_H
#define ATTN_LIB_SPEC_PARSE_H

#include "lib/Spec/Ast.h"

namespace attn::spec {

/// One error or warning. `fix` is the replacement text for `span` when one edit would
/// mend it. `id` names the kind ("unknown-name"), stable for tests.
struct Diagnostic {
  std::string id;
  std::string message;
  Span span;
  std::optional<std::string> fix;
  bool warning = false;
};

/// The tree, valid only when `diagnostics`, the errors, is empty. Warnings are kept
/// of texts without errors only. Never throws on bad text.
struct ParseResult {
  Module module;
  std::vector<Diagnostic> diagnostics;
  std::vector<Diagnostic> warnings;
  bool ok() const { return diagnostics.empty(); }
  /// There was no text: the only error is why, and stands at no place.
  bool unreadable() const {
    return !ok() && diagnostics.front().id == "unreadable-file";
  }
};

/// Parses and checks `text`. Every error in the file is reported, ordered by
/// position. `binds` gives axes lengths from outside.
ParseResult parse(std::string path, std::string text, const Binds &binds = {});

/// Reads a file, or standard input for "-", and parses it; one that cannot be read is
/// a diagnostic.
ParseResult parseFile(const std::string &path, const Binds &binds = {});

/// "file:line:col: error: message" (or warning), the source line, a caret line and
/// the fix; of a result, all its errors, or else all its warnings.
std::string render(const Module &module, const Diagnostic &diagnostic);
std::string render(const ParseResult &result);

/// 1-based line and column of a byte offset.
std::pair<int, int> lineAndColumn(const std::string &text, uint32_t offset);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_PARSE_H
