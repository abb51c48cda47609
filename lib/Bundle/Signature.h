//===- Signature.h - what a CPU kernel's code expects of its manifest -----===//
//
// A launch hands the kernel bare slots, so code and manifest must agree on every
// one of them, on the element types behind the pointers and on the grid. The
// shared object therefore carries, beside each kernel, this text of the manifest
// entry that was made with it, zero-terminated under the name `<symbol>.signature`;
// whoever loads the code compares.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_BUNDLE_SIGNATURE_H
#define ATTN_LIB_BUNDLE_SIGNATURE_H

#include "lib/Bundle/Manifest.h"

namespace attn::bundle {

/// A line for each argument, then one for the grid.
std::string signature(const Program &program, const Level &level,
                      const Kernel &kernel);

/// The name of the text in the shared object.
std::string signatureSymbol(const Kernel &kernel);

/// In which way the code's signature differs from the manifest's, in one line;
/// "" when they are the same.
std::string signatureMismatch(const std::string &code, const std::string &manifest);

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_SIGNATURE_H
