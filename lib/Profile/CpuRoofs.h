//===- CpuRoofs.h - the ceilings of this machine's CPU, measured ----------===//
#ifndef ATTN_LIB_PROFILE_CPUROOFS_H
#define ATTN_LIB_PROFILE_CPUROOFS_H

#include "lib/Target/Chip.h"

namespace attn::profile {

/// Measures memory bandwidth, f32 FMA rate and the cost of a launch on
/// `threads` threads. Takes about half a second. `cacheBytes` is the last
/// level cache's size, 0 when unknown.
target::Roofs measureCpuRoofs(int threads, int64_t cacheBytes);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_CPUROOFS_H
