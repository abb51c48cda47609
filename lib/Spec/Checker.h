//===- Checker.h - syntax to the checked tree -----------------------------===//
#ifndef ATTN_LIB_SPEC_CHECKER_H
#define ATTN_LIB_SPEC_CHECKER_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Syntax.h"

namespace attn::spec {

/// Resolves names, axes and types of one kernel. What cannot be given a type is
/// reported once; whatever depends on it is left alone.
Kernel checkKernel(const SyntaxKernel &syntax, const Binds &binds,
                   Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_LIB_SPEC_CHECKER_H
