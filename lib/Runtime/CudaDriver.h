//===- CudaDriver.h - the CUDA driver's entry points, loaded at run time --===//
//
// Declared here, so that no toolkit is needed to build, and found with dlsym,
// so that the binary starts without a driver. Names, types and numbers are
// those of the driver API's public documentation.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_RUNTIME_CUDADRIVER_H
#define ATTN_LIB_RUNTIME_CUDADRIVER_H

#include <cstddef>
#include <string>

namespace attn::runtime::cuda {

using Result = int; ///< CUresult; 0 is success.
using Ordinal = int;
using Pointer = unsigned long long;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Kernel = struct KernelTag *;
using Stream = struct StreamTag *;
using EventHandle = struct EventTag *;

// CUresult
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoBinaryForGpu = 209;

// CUdevice_attribute
inline constexpr int kClockRate = 13; ///< kHz
inline constexpr int kMultiprocessors = 16;
inline constexpr int kMemoryClockRate = 36; ///< kHz
inline constexpr int kMemoryBusWidth = 37;  ///< bits
inline constexpr int kL2CacheSize = 38;     ///< bytes
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kSharedPerBlockOptin = 97; ///< bytes

// CUfunction_attribute
inline constexpr int kFunctionMaxThreads = 0;
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionLocalBytes = 3;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionDynamicShared = 8;

// CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
inline constexpr int kMapFloat16 = 6;
inline constexpr int kMapBfloat16 = 9;
inline constexpr int kMapSwizzle128 = 3;
inline constexpr int kMapPromotion256 = 3;

// CUjit_option
inline constexpr int kJitInfoBuffer = 3;
inline constexpr int kJitInfoBufferBytes = 4;
inline constexpr int kJitErrorBuffer = 5;
inline constexpr int kJitErrorBufferBytes = 6;

/// Every entry point the runtime calls: (member, exported name, arguments).
#define ATTN_CUDA_ENTRY_POINTS(X)                                              \
  X(init, "cuInit", (unsigned))                                                \
  X(driverVersion, "cuDriverGetVersion", (int *))                              \
  X(errorName, "cuGetErrorName", (Result, const char **))                      \
  X(errorString, "cuGetErrorString", (Result, const char **))                  \
  X(deviceCount, "cuDeviceGetCount", (int *))                                  \
  X(deviceGet, "cuDeviceGet", (Ordinal *, int))                                \
  X(deviceName, "cuDeviceGetName", (char *, int, Ordinal))                     \
  X(deviceMemory, "cuDeviceTotalMem_v2", (size_t *, Ordinal))                  \
  X(deviceAttribute, "cuDeviceGetAttribute", (int *, int, Ordinal))            \
  X(contextRetain, "cuDevicePrimaryCtxRetain", (Context *, Ordinal))           \
  X(contextRelease, "cuDevicePrimaryCtxRelease_v2", (Ordinal))                 \
  X(contextSet, "cuCtxSetCurrent", (Context))                                  \
  X(memoryInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                       \
  X(allocate, "cuMemAlloc_v2", (Pointer *, size_t))                            \
  X(release, "cuMemFree_v2", (Pointer))                                        \
  X(copyIn, "cuMemcpyHtoDAsync_v2", (Pointer, const void *, size_t, Stream))   \
  X(copyOut, "cuMemcpyDtoHAsync_v2", (void *, Pointer, size_t, Stream))        \
  X(fill, "cuMemsetD8Async", (Pointer, unsigned char, size_t, Stream))         \
  X(streamCreate, "cuStreamCreate", (Stream *, unsigned))                      \
  X(streamDestroy, "cuStreamDestroy_v2", (Stream))                             \
  X(streamSynchronize, "cuStreamSynchronize", (Stream))                        \
  X(eventCreate, "cuEventCreate", (EventHandle *, unsigned))                   \
  X(eventDestroy, "cuEventDestroy_v2", (EventHandle))                          \
  X(eventRecord, "cuEventRecord", (EventHandle, Stream))                       \
  X(eventElapsed, "cuEventElapsedTime", (float *, EventHandle, EventHandle))   \
  X(moduleLoad, "cuModuleLoadDataEx",                                          \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, "cuModuleUnload", (Module))                                  \
  X(moduleFunction, "cuModuleGetFunction", (Kernel *, Module, const char *))   \
  X(functionAttribute, "cuFuncGetAttribute", (int *, int, Kernel))             \
  X(setFunctionAttribute, "cuFuncSetAttribute", (Kernel, int, int))            \
  X(residentBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",             \
    (int *, Kernel, int, size_t))                                              \
  X(encodeMap, "cuTensorMapEncodeTiled",                                       \
    (void *, int, unsigned, void *, const unsigned long long *,                \
     const unsigned long long *, const unsigned *, const unsigned *, int, int, \
     int, int))                                                                \
  X(launch, "cuLaunchKernel",                                                  \
    (Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     unsigned, Stream, void **, void **))

/// Entry points of newer drivers, null in an older one.
#define ATTN_CUDA_OPTIONAL_ENTRY_POINTS(X)                                     \
  X(parameterInfo, "cuFuncGetParamInfo", (Kernel, size_t, size_t *, size_t *))

struct Driver {
#define ATTN_DECLARE(member, name, arguments)                                  \
  Result(*member) arguments = nullptr;
  ATTN_CUDA_ENTRY_POINTS(ATTN_DECLARE)
  ATTN_CUDA_OPTIONAL_ENTRY_POINTS(ATTN_DECLARE)
#undef ATTN_DECLARE

  /// "CUDA_ERROR_INVALID_VALUE: invalid argument".
  std::string describe(Result result) const;
  /// Throws DeviceError naming `what` failed unless `result` is success.
  void check(Result result, const char *what) const;
};

/// The driver, loaded and initialised once; null with the reason in `why`.
const Driver *driver(std::string &why);

} // namespace attn::runtime::cuda

#endif // ATTN_LIB_RUNTIME_CUDADRIVER_H
