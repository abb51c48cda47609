//===- Open.h - a bundle's manifest and spec, known to belong together ----===//
#ifndef ATTN_LIB_BUNDLE_OPEN_H
#define ATTN_LIB_BUNDLE_OPEN_H

#include "lib/Bundle/Manifest.h"
#include "lib/Spec/Parse.h"

namespace attn::bundle {

/// The part of the manifest that the spec alone decides.
Program describeProgram(const spec::Kernel &kernel);

/// Tells one spec's text from another (Manifest::specHash).
std::string hashOfSpec(const std::string &text);

/// A bundle as its folder has it. Every program has its kernel.
struct Opened {
  Manifest manifest;
  spec::ParseResult spec; ///< spec.attn, with the manifest's binds.

  const spec::Kernel &kernelOf(const Program &program) const;
};

/// Reads `folder`. Throws std::runtime_error with one line on what is malformed, on a
/// spec that is not the text that the bundle was made of, and on a manifest that says
/// something else of axes, tensors or scalars than the spec: the code would be given,
/// or checked against, what it was not made for.
Opened open(const std::string &folder);

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_OPEN_H
