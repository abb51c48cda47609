//===- HostMemory.h - what this process can still have --------------------===//
#ifndef ATTN_LIB_RUNTIME_HOSTMEMORY_H
#define ATTN_LIB_RUNTIME_HOSTMEMORY_H

#include <cstdint>

namespace attn::runtime {

/// Bytes that can be taken without swapping: what Linux calls available, or what a
/// container's limit leaves where that is less.
int64_t hostFreeBytes();

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_HOSTMEMORY_H
