//===- Memory.h - what a launch needs besides its arguments ---------------===//
#ifndef ATTN_TEST_RUN_MEMORY_H
#define ATTN_TEST_RUN_MEMORY_H

#include "lib/Runtime/Launch.h"

#include <functional>
#include <optional>

namespace attn::check {

struct ExtraMemory {
  /// Temporaries of the level, as the manifest sizes them.
  int64_t workspace = 0;
  /// How far the process's resident memory rose while the launch ran, above
  /// what lay there before (arguments and temporaries, all touched). Only on
  /// the CPU, and where Linux tells.
  std::optional<int64_t> peak;

  int64_t total() const { return workspace + peak.value_or(0); }
};

/// Bytes of a level's temporaries at these lengths.
int64_t workspaceBytes(const bundle::Level &level,
                       const runtime::Lengths &lengths);

/// The rise of resident memory while `work` runs, in bytes, or nothing where
/// the kernel does not reset its high-water mark (/proc/self/clear_refs).
std::optional<int64_t> peakRise(const std::function<void()> &work);

} // namespace attn::check

#endif // ATTN_TEST_RUN_MEMORY_H
