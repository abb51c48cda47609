//===- Parser.h - tokens to syntax ----------------------------------------===//
#ifndef ATTN_LIB_SPEC_PARSER_H
#define ATTN_LIB_SPEC_PARSER_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Syntax.h"

namespace attn::spec {

/// Parses a whole file. A statement, argument or kernel that cannot be parsed is
/// reported once and skipped; the rest of the file is still read.
std::vector<SyntaxKernel> parseSyntax(const std::string &text,
                                      Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_PARSER_H
