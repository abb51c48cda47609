//===- CudaDriver.cpp - loading the CUDA driver ---------------------------===//

#include "lib/Runtime/CudaDriver.h"

#include "lib/Runtime/Device.h"

#include <fmt/format.h>

#include <dlfcn.h>

using namespace attn::runtime;
using namespace attn::runtime::cuda;

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (errorName(result, &name) != 0 || errorString(result, &text) != 0)
    return fmt::format("CUDA error {}", result);
  return fmt::format("{}: {}", name, text);
}

void Driver::check(Result result, const char *what) const {
  if (result != 0)
    throw DeviceError(fmt::format("{}: {}", what, describe(result)));
}

/// Fills `driver`; returns what stands in the way, empty when nothing does.
static std::string load(Driver &driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "no CUDA driver (libcuda.so.1) on this machine; install the NVIDIA "
           "driver";
#define ATTN_FIND(member, name, arguments)                                     \
  driver.member = reinterpret_cast<Result(*) arguments>(dlsym(library, name)); \
  if (!driver.member)                                                          \
    return "the CUDA driver is too old: it lacks " name                        \
           "; install a newer one";
  ATTN_CUDA_ENTRY_POINTS(ATTN_FIND)
#undef ATTN_FIND
#define ATTN_FIND_OPTIONAL(member, name, arguments)                            \
  driver.member = reinterpret_cast<Result(*) arguments>(dlsym(library, name));
  ATTN_CUDA_OPTIONAL_ENTRY_POINTS(ATTN_FIND_OPTIONAL)
#undef ATTN_FIND_OPTIONAL
  if (Result result = driver.init(0))
    return fmt::format("the CUDA driver does not start: {}; check that the "
                       "GPU is visible to this process",
                       driver.describe(result));
  int count = 0;
  if (driver.deviceCount(&count) != 0 || count == 0)
    return "the CUDA driver sees no GPU";
  return "";
}

const Driver *attn::runtime::cuda::driver(std::string &why) {
  static Driver loaded;
  static const std::string obstacle = load(loaded);
  why = obstacle;
  return obstacle.empty() ? &loaded : nullptr;
}
