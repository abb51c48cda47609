//===- Input.h - from a path to a bundle in hand --------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_INPUT_H
#define ATTN_TOOLS_ATTN_BENCH_INPUT_H

#include "lib/Bundle/Manifest.h"
#include "lib/Bundle/ScratchFolder.h"
#include "lib/Spec/Parse.h"
#include "tools/attn-bench/Binds.h"
#include "tools/attn-bench/Options.h"

#include <memory>

namespace attn::bench {

/// A bundle, read and understood.
struct Input {
  std::unique_ptr<bundle::ScratchFolder> temporary; ///< When it was compiled here.
  std::string folder;
  bundle::Manifest manifest;
  bundle::Program program; ///< The chosen one, its levels of `target` only.
  std::string target;      ///< Of the levels' code.
  spec::ParseResult spec;  ///< Of the bundle's own text, with its binds.
  const spec::Kernel *kernel = nullptr; ///< The program's meaning.
  Binds defaults;                       ///< From the README beside the spec.
};

/// Opens a bundle, or has attnc make one of a spec, for a device of
/// `capability` (0: the CPU). Throws InputError; attnc's own messages have then
/// been shown.
Input openInput(const Options &options, int capability);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_INPUT_H
