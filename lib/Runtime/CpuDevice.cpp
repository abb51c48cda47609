//===- CpuDevice.cpp - kernels from a shared object, on all cores ---------===//

#include "lib/Bundle/Signature.h"
#include "lib/Runtime/BundleError.h"
#include "lib/Runtime/HostMemory.h"
#include "lib/Runtime/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <unistd.h>

using namespace attn;
using namespace attn::runtime;

namespace {
using Clock = std::chrono::steady_clock;

class CpuFunction : public Function {
public:
  CpuFunction(ThreadPool &pool, ThreadPool::Body body)
      : pool(pool), body(body) {}
  void launch(int64_t blocks, const uint64_t *slots) override {
    pool.run(body, slots, blocks);
  }
  FunctionFacts facts() const override { return {}; }

private:
  ThreadPool &pool;
  ThreadPool::Body body;
};

/// Whether a shared object is shorter than its own header says: the loader
/// would map it all the same and die at the first touch of what is not there.
static bool isCutOff(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return false; // Absent, or no object at all: the loader says so.
  file.seekg(0, std::ios::end);
  return uint64_t(file.tellg()) <
         header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
}

class CpuCode : public Code {
public:
  CpuCode(ThreadPool &pool, const std::string &path) : pool(pool), path(path) {
    // A bare file name would be searched in the system's library folders.
    std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    if (isCutOff(file))
      throw BundleError(fmt::format("the level's code {} is cut off; copy the "
                                    "bundle again, or make it again with attnc",
                                    path));
    handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw BundleError(fmt::format(
          "cannot load the level's code: {}; make the bundle again with attnc "
          "--targets=cpu on this machine",
          dlerror()));
  }
  ~CpuCode() override { dlclose(handle); }

  std::unique_ptr<Function> function(const bundle::Program &program,
                                     const bundle::Level &level,
                                     const bundle::Kernel &kernel) override {
    auto body = reinterpret_cast<ThreadPool::Body>(
        dlsym(handle, kernel.symbol.c_str()));
    if (!body)
      throw BundleError(fmt::format("'{}' lacks kernel {}; the bundle is "
                                    "broken, make it again with attnc",
                                    path, kernel.symbol));
    auto made = static_cast<const char *>(
        dlsym(handle, bundle::signatureSymbol(kernel).c_str()));
    if (!made)
      throw BundleError(fmt::format("'{}' does not say what arguments kernel {} "
                                    "takes; make the bundle again with the attnc "
                                    "of this build",
                                    path, kernel.symbol));
    std::string differs = bundle::signatureMismatch(
        made, bundle::signature(program, level, kernel));
    if (!differs.empty())
      throw BundleError(fmt::format("the code of kernel {} is not what its manifest "
                                    "describes: {}; make the bundle again with attnc",
                                    kernel.symbol, differs));
    return std::make_unique<CpuFunction>(pool, body);
  }
  std::string kind() const override { return "so"; }

private:
  ThreadPool &pool;
  std::string path;
  void *handle = nullptr;
};

class CpuEvent : public Event {
public:
  Clock::time_point time;
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(int threads)
      : pool(threads > 0 ? threads : availableCores()) {
    facts.kind = "cpu";
    facts.multiprocessors = pool.threads();
    facts.name = fmt::format("{}, {} thread{}", modelName(), pool.threads(),
                             pool.threads() == 1 ? "" : "s");
    facts.memoryBytes =
        int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    facts.facts.name = facts.name;
    facts.facts.multiprocessors = pool.threads();
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    facts.facts.l2Bytes = l3 > 0 ? l3 : 0;
  }

  const DeviceInfo &info() const override { return facts; }

  void *allocate(int64_t bytes) override {
    // Linux promises memory it does not have; ask what is really free.
    if (bytes > freeBytes())
      throw TooLargeError(fmt::format(
          "{:.2f} GiB of memory are needed, {:.2f} GiB are free; bind smaller "
          "lengths",
          double(bytes) / (1 << 30), double(freeBytes()) / (1 << 30)));
    size_t rounded = (size_t(bytes) + 255) / 256 * 256;
    void *data = std::aligned_alloc(256, rounded ? rounded : 256);
    if (!data)
      throw TooLargeError(fmt::format("cannot allocate {} bytes; bind smaller "
                                      "lengths",
                                      bytes));
    return data;
  }
  void release(void *data) override { std::free(data); }

  int64_t freeBytes() const override { return hostFreeBytes(); }

  void copyIn(void *device, const void *host, int64_t bytes) override {
    if (bytes > 0)
      std::memcpy(device, host, size_t(bytes));
  }
  void copyOut(void *host, const void *device, int64_t bytes) override {
    if (bytes > 0)
      std::memcpy(host, device, size_t(bytes));
  }
  void fill(void *device, uint8_t byte, int64_t bytes) override {
    if (bytes > 0)
      std::memset(device, byte, size_t(bytes));
  }
  void synchronize() override {}

  std::shared_ptr<Code> load(const bundle::Level &level,
                             const std::string &folder) override {
    std::string why;
    if (!target::runsOn(level.target, 0, why))
      throw LaunchError(why);
    auto file = level.files.find("so");
    if (file == level.files.end())
      throw BundleError(
          fmt::format("level {} for cpu has no shared object; the "
                      "bundle is broken, make it again with attnc",
                      level.name));
    return std::make_shared<CpuCode>(pool, folder + "/" + file->second);
  }

  TensorMap encodeMap(const MapShape &) override {
    throw LaunchError("the CPU has no tensor maps; compile with --targets=cpu");
  }

  std::unique_ptr<Event> createEvent() override {
    return std::make_unique<CpuEvent>();
  }
  void record(Event &event) override {
    static_cast<CpuEvent &>(event).time = Clock::now();
  }
  double milliseconds(const Event &from, const Event &to) override {
    return std::chrono::duration<double, std::milli>(
               static_cast<const CpuEvent &>(to).time -
               static_cast<const CpuEvent &>(from).time)
        .count();
  }

private:
  static std::string modelName() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
      size_t colon = line.find(": ");
      if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos)
        return line.substr(colon + 2);
    }
    return "CPU";
  }

  ThreadPool pool;
  DeviceInfo facts;
};
} // namespace

std::unique_ptr<Device> attn::runtime::openCpu(int threads) {
  // Idle threads look for work: far more of them than cores only hinder each other.
  int cores = availableCores(), most = std::max(16, 4 * cores);
  if (threads > most)
    throw LaunchError(fmt::format("{} threads are too many for {} core{}; --threads is "
                                  "{} at most here",
                                  threads, cores, cores == 1 ? "" : "s", most));
  return std::make_unique<CpuDevice>(threads);
}
