//===- Input.h - from a path to a bundle in hand --------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_INPUT_H
#define ATTN_TOOLS_ATTN_BENCH_INPUT_H

#include "lib/Bundle/Open.h"
#include "lib/Bundle/ScratchFolder.h"
#include "tools/attn-bench/Binds.h"
#include "tools/attn-bench/Options.h"

#include <memory>

namespace attn::bench {

/// A bundle, read and understood.
struct Input {
  std::unique_ptr<bundle::ScratchFolder> temporary; ///< When it was compiled here.
  std::string folder;
  bundle::Opened opened;
  bundle::Program program; ///< The chosen one, its levels of `target` only.
  std::string target;      ///< Of the levels' code.
  const spec::Kernel *kernel = nullptr; ///< The program's meaning.
  Binds defaults;                       ///< From the README beside the spec.
};

/// Opens a bundle, or has attnc make one of a spec, for a device of
/// `capability` (0: the CPU). Throws InputError; attnc's own messages have then
/// been shown.
Input openInput(const Options &options, int capability);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_INPUT_H
