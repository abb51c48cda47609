//===- Memory.cpp - what a launch needs besides its arguments -------------===//

#include "test/Run/Memory.h"

#include <algorithm>
#include <fstream>
#include <string>

using namespace attn;
using namespace attn::check;

int64_t attn::check::workspaceBytes(const bundle::Level &level,
                                    const runtime::Lengths &lengths) {
  int64_t bytes = 0;
  for (const bundle::Tensor &tensor : level.temporaries)
    bytes += runtime::denseBytes(tensor, lengths);
  return bytes;
}

/// A field of /proc/self/status in bytes, such as "VmRSS:"; -1 when missing.
static int64_t statusBytes(const std::string &field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (int64_t kib; word == field && status >> kib)
      return kib * 1024;
  return -1;
}

std::optional<int64_t>
attn::check::peakRise(const std::function<void()> &work) {
  // 5 sets the high-water mark back to what is resident now.
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;
  bool canReset = reset.good();
  int64_t before = statusBytes("VmRSS:");
  work();
  int64_t peak = statusBytes("VmHWM:");
  if (!canReset || before < 0 || peak < 0)
    return std::nullopt;
  return std::max<int64_t>(0, peak - before);
}
