//===- CuptiApi.h - the part of CUPTI that is used, declared here ---------===//
//
// CUPTI is loaded at run time and its headers need not be there when this is
// built. Layouts: CUPTI 13.0; versions 12.6 and later share them as far as they
// are declared. Activity records only ever grow at their end; every parameter
// block of the profiler begins with its size.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_CUPTIAPI_H
#define ATTN_LIB_PROFILE_CUPTIAPI_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace attn::profile::cupti {

using Result = int; ///< 0: success.

enum ActivityKind : int32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriverCall = 4,
  kConcurrentKernel = 10,
};

struct __attribute__((packed, aligned(8))) ActivityRecord {
  int32_t kind;
};

/// The beginning of every version of the kernel's record.
struct __attribute__((packed, aligned(8))) KernelRecord {
  int32_t kind;
  uint8_t cacheConfig, sharedConfig;
  uint16_t registers;
  int32_t partitionedRequested, partitionedExecuted;
  uint64_t start, end, completed; ///< Nanoseconds.
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t staticShared, dynamicShared;
  uint32_t localPerThread, localTotal;
  uint32_t correlation;
  int64_t gridId;
  const char *name;
};
static_assert(offsetof(KernelRecord, correlation) == 92, "layout");
static_assert(offsetof(KernelRecord, name) == 104, "layout");

struct __attribute__((packed, aligned(8))) CallRecord {
  int32_t kind;
  uint32_t callback;
  uint64_t start, end;
  uint32_t process, thread;
  uint32_t correlation;
  uint32_t returned;
};

// Parameter blocks of the profiler. All begin so; `size` is the whole block's.
struct Block {
  size_t size = 0;
  void *reserved = nullptr;
};
struct ChipNameBlock : Block {
  size_t device = 0;
  const char *name = nullptr; ///< Out.
};
struct AvailabilityBlock : Block {
  void *context = nullptr;
  size_t bytes = 0; ///< In and out.
  uint8_t *image = nullptr;
};
struct HostBlock : Block {
  int32_t profiler = 0; ///< 0: the range profiler.
  const char *chip = nullptr;
  const uint8_t *availability = nullptr;
  void *host = nullptr; ///< Out.
};
struct HostEndBlock : Block {
  void *host = nullptr;
};
struct AddMetricsBlock : Block {
  void *host = nullptr;
  const char **names = nullptr;
  size_t count = 0;
};
struct ConfigSizeBlock : Block {
  void *host = nullptr;
  size_t bytes = 0; ///< Out.
};
struct ConfigBlock : Block {
  void *host = nullptr;
  size_t bytes = 0;
  uint8_t *image = nullptr;
};
struct EvaluateBlock : Block {
  void *host = nullptr;
  const uint8_t *data = nullptr;
  size_t bytes = 0;
  size_t range = 0;
  const char **names = nullptr;
  size_t count = 0;
  double *values = nullptr;
};
struct EnableBlock : Block {
  void *context = nullptr;
  void *ranges = nullptr; ///< Out.
};
/// Disable, start, pop.
struct RangesBlock : Block {
  void *ranges = nullptr;
};
struct PushBlock : Block {
  void *ranges = nullptr;
  const char *name = nullptr;
};
struct StopBlock : Block {
  void *ranges = nullptr;
  size_t pass = 0, nesting = 0;
  uint8_t allSubmitted = 0; ///< Out.
};
struct DecodeBlock : Block {
  void *ranges = nullptr;
  size_t dropped = 0; ///< Out.
};
struct DataSizeBlock : Block {
  void *ranges = nullptr;
  const char **names = nullptr;
  size_t count = 0;
  size_t mostRanges = 0;
  uint32_t mostNodes = 0;
  size_t bytes = 0; ///< Out.
};
struct DataBlock : Block {
  void *ranges = nullptr;
  size_t bytes = 0;
  uint8_t *data = nullptr;
};
struct SetConfigBlock : Block {
  void *ranges = nullptr;
  size_t configBytes = 0;
  const uint8_t *config = nullptr;
  size_t dataBytes = 0;
  uint8_t *data = nullptr;
  int32_t range = 2;  ///< Ranges that the user marks.
  int32_t replay = 3; ///< The user repeats the work for each pass.
  size_t mostRanges = 0;
  uint16_t nestingLevels = 1, leastNesting = 1;
  size_t pass = 0;
  uint16_t targetNesting = 0;
};
struct RangeInfoBlock : Block {
  const uint8_t *data = nullptr;
  size_t bytes = 0;
  size_t range = 0;
  const char *delimiter = "/";
  const char *name = nullptr; ///< Out.
};
struct RangeCountBlock : Block {
  const uint8_t *data = nullptr;
  size_t bytes = 0;
  size_t ranges = 0; ///< Out.
};

/// member, exported name, arguments.
#define ATTN_CUPTI_ACTIVITY(X)                                                 \
  X(resultString, "cuptiGetResultString", (Result, const char **))             \
  X(activityEnable, "cuptiActivityEnable", (int32_t))                          \
  X(activityDisable, "cuptiActivityDisable", (int32_t))                        \
  X(activityCallbacks, "cuptiActivityRegisterCallbacks",                       \
    (void (*)(uint8_t **, size_t *, size_t *),                                 \
     void (*)(void *, uint32_t, uint8_t *, size_t, size_t)))                   \
  X(activityFlush, "cuptiActivityFlushAll", (uint32_t))                        \
  X(activityNext, "cuptiActivityGetNextRecord",                                \
    (uint8_t *, size_t, ActivityRecord **))
#define ATTN_CUPTI_PROFILER(X)                                                 \
  X(profilerStart, "cuptiProfilerInitialize", (Block *))                       \
  X(profilerEnd, "cuptiProfilerDeInitialize", (Block *))                       \
  X(chipName, "cuptiDeviceGetChipName", (ChipNameBlock *))                     \
  X(availability, "cuptiProfilerGetCounterAvailability",                       \
    (AvailabilityBlock *))                                                     \
  X(hostStart, "cuptiProfilerHostInitialize", (HostBlock *))                   \
  X(hostEnd, "cuptiProfilerHostDeinitialize", (HostEndBlock *))                \
  X(addMetrics, "cuptiProfilerHostConfigAddMetrics", (AddMetricsBlock *))      \
  X(configSize, "cuptiProfilerHostGetConfigImageSize", (ConfigSizeBlock *))    \
  X(config, "cuptiProfilerHostGetConfigImage", (ConfigBlock *))                \
  X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", (EvaluateBlock *))       \
  X(enable, "cuptiRangeProfilerEnable", (EnableBlock *))                       \
  X(disable, "cuptiRangeProfilerDisable", (RangesBlock *))                     \
  X(start, "cuptiRangeProfilerStart", (RangesBlock *))                         \
  X(stop, "cuptiRangeProfilerStop", (StopBlock *))                             \
  X(push, "cuptiRangeProfilerPushRange", (PushBlock *))                        \
  X(pop, "cuptiRangeProfilerPopRange", (RangesBlock *))                        \
  X(decode, "cuptiRangeProfilerDecodeData", (DecodeBlock *))                   \
  X(dataSize, "cuptiRangeProfilerGetCounterDataSize", (DataSizeBlock *))       \
  X(dataStart, "cuptiRangeProfilerCounterDataImageInitialize", (DataBlock *))  \
  X(setConfig, "cuptiRangeProfilerSetConfig", (SetConfigBlock *))              \
  X(rangeCount, "cuptiRangeProfilerGetCounterDataInfo", (RangeCountBlock *))   \
  X(rangeInfo, "cuptiRangeProfilerCounterDataGetRangeInfo", (RangeInfoBlock *))

/// The library's entry points.
struct Api {
#define ATTN_DECLARE(member, name, arguments)                                  \
  Result(*member) arguments = nullptr;
  ATTN_CUPTI_ACTIVITY(ATTN_DECLARE)
  ATTN_CUPTI_PROFILER(ATTN_DECLARE)
#undef ATTN_DECLARE
  std::string path;       ///< Of the library.
  std::string noCounters; ///< Why its profiler cannot be used; else empty.

  /// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" and the like.
  std::string describe(Result result) const;
};

/// CUPTI, loaded once; null with the reason when it is not there. ATTN_CUPTI
/// names the library where it is in an unusual place.
const Api *api(std::string &why);

/// What CUPTI takes for a block's size: up to the end of its last field.
template <typename B> constexpr size_t sizeOf(const B &) { return sizeof(B); }
constexpr size_t sizeOf(const StopBlock &) { return 41; }
constexpr size_t sizeOf(const SetConfigBlock &) { return 90; }
static_assert(sizeof(StopBlock) == 48 && sizeof(SetConfigBlock) == 96,
              "layout");

/// Sets a block's size and makes the call.
template <typename B> Result call(Result (*function)(B *), B &block) {
  block.size = sizeOf(block);
  return function(&block);
}

} // namespace attn::profile::cupti

#endif // ATTN_LIB_PROFILE_CUPTIAPI_H
