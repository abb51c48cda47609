//===- HostMemory.cpp - what this process can still have ------------------===//

#include "lib/Runtime/HostMemory.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <unistd.h>

/// A file that holds one number; -1 when there is none ("max" means no limit).
static int64_t number(const char *path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : -1;
}

static int64_t availableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kilobytes;
  for (std::string unit; file >> key >> kilobytes;) {
    if (key == "MemAvailable:")
      return kilobytes * 1024;
    std::getline(file, unit);
  }
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

int64_t attn::runtime::hostFreeBytes() {
  int64_t free = availableBytes();
  int64_t most = number("/sys/fs/cgroup/memory.max"),
          taken = number("/sys/fs/cgroup/memory.current");
  if (most >= 0 && taken >= 0)
    free = std::min(free, std::max<int64_t>(0, most - taken));
  return free;
}
