//===- Memory.h - does a run fit this machine? ----------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_MEMORY_H
#define ATTN_TOOLS_ATTN_BENCH_MEMORY_H

#include "lib/Runtime/Launch.h"

#include <optional>

namespace attn::bench {

/// Bytes of a run in each memory, at the least: one copy of the arguments, the
/// temporaries of the level that has the fewest, and on the host the inputs and the
/// results that are compared. Doubles: absurd lengths go beyond 64 bits.
struct MemoryNeed {
  double host = 0;
  double device = 0; ///< 0 on a CPU, where all of it is the host's.
};
MemoryNeed memoryNeed(const bundle::Program &program,
                      const runtime::Lengths &lengths, bool gpu);

struct FreeMemory {
  double host = 0, device = 0;
};

/// Why a run at `lengths` cannot fit, with the amounts and a small change of lengths
/// that makes it fit; nothing when it may. Told before anything is filled:
/// making the inputs of such a run takes minutes.
std::optional<std::string> tooLarge(const bundle::Program &program,
                                    const runtime::Lengths &lengths, bool gpu,
                                    const FreeMemory &free);

/// Throws InputError when a run on `device` cannot fit.
void requireMemory(const runtime::Device &device, const bundle::Program &program,
                   const runtime::Lengths &lengths);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_MEMORY_H
