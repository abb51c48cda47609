//===- Device.h - where a bundle's kernels run ----------------------------===//
//
// One interface over the CPU and a CUDA GPU: memory, code, launches in order,
// and events to time them. The CUDA driver is loaded at run time, so the same
// binary starts on a machine without one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_RUNTIME_DEVICE_H
#define ATTN_LIB_RUNTIME_DEVICE_H

#include "lib/Bundle/Manifest.h"
#include "lib/Target/Chip.h"
#include "lib/Target/Targets.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn::runtime {

/// A launch that cannot be made (contract C12): nothing ran, no output was
/// touched. One line: the reason and what to change.
class LaunchError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A launch for which there is too little memory, or whose grid or tensors are larger
/// than can be: other lengths can be launched.
class TooLargeError : public LaunchError {
public:
  using LaunchError::LaunchError;
};

/// The device, its driver or its code failed.
class DeviceError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct DeviceInfo {
  std::string kind;        ///< "cpu" or "cuda".
  std::string name;        ///< "NVIDIA H200", or the CPU's model and threads.
  int capability = 0;      ///< 90 for compute capability 9.0; 0 for the CPU.
  int multiprocessors = 0; ///< SMs, or threads used.
  int64_t memoryBytes = 0;
  int64_t sharedPerBlock = 0; ///< Bytes; 0 on the CPU.
  std::string driver;         ///< "CUDA 13.0" or "".
  /// What the driver says of the hardware; capability 0 on the CPU.
  target::DeviceFacts facts;
};

/// What the device says of loaded code. Unknown figures are absent.
struct FunctionFacts {
  std::optional<int> registers;       ///< Per thread.
  std::optional<int64_t> localBytes;  ///< Per thread, spills and arrays.
  std::optional<int64_t> sharedBytes; ///< Static, per block.
  std::optional<int> residentBlocks;  ///< Per SM at the launch's shape.
};

/// What a tensor map covers: 16-bit elements, axes innermost first.
struct MapShape {
  std::string dtype;              ///< "f16" or "bf16".
  void *data = nullptr;           ///< On the device, 16-byte aligned.
  std::vector<int64_t> lengths;   ///< At least 1 each.
  std::vector<int64_t> strides;   ///< In bytes; the first is not used.
  std::vector<int64_t> box;       ///< Elements one copy takes along each axis.
};

/// An encoded tensor map, passed to kernels by value.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

/// One kernel, ready to launch.
class Function {
public:
  virtual ~Function() = default;
  /// Runs blocks 0 .. blocks-1 after everything asked of the device before.
  /// `slots` holds one 8-byte argument each (for a tensor map: the address of
  /// its TensorMap) and is read before the return.
  virtual void launch(int64_t blocks, const uint64_t *slots) = 0;
  virtual FunctionFacts facts() const = 0;
};

/// The code of one level, loaded.
class Code {
public:
  virtual ~Code() = default;
  /// The kernel of a level of a program. Throws DeviceError when the code lacks it
  /// or takes other arguments than the manifest lists, LaunchError when its threads
  /// or shared memory do not fit the device.
  virtual std::unique_ptr<Function> function(const bundle::Program &program,
                                             const bundle::Level &level,
                                             const bundle::Kernel &kernel) = 0;
  /// "cubin:sm_90", "ptx" (compiled by the driver), "so".
  virtual std::string kind() const = 0;
};

class Event {
public:
  virtual ~Event() = default;
};

class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceInfo &info() const = 0;

  /// At least 256-byte aligned; never null, for 0 bytes either. Throws
  /// LaunchError when the memory is not there.
  virtual void *allocate(int64_t bytes) = 0;
  virtual void release(void *data) = 0;
  virtual int64_t freeBytes() const = 0;

  /// Blocking copies between host memory and the device's.
  virtual void copyIn(void *device, const void *host, int64_t bytes) = 0;
  virtual void copyOut(void *host, const void *device, int64_t bytes) = 0;
  /// In order with launches; may return before it is done.
  virtual void fill(void *device, uint8_t byte, int64_t bytes) = 0;

  /// Reads a buffer once, in order with launches: a last-level cache that is
  /// smaller then holds unchanged lines of it and nothing else, and what kernels
  /// left changed there has reached memory. Does nothing on a CPU.
  virtual void readThrough(const void *, int64_t /*bytes*/) {}

  /// Waits for everything asked so far. Throws DeviceError when a kernel
  /// failed.
  virtual void synchronize() = 0;

  /// Loads the code of a level from a bundle's folder. Throws LaunchError when
  /// this device cannot run it, DeviceError when the code is broken.
  virtual std::shared_ptr<Code> load(const bundle::Level &level,
                                     const std::string &bundleFolder) = 0;

  /// Throws LaunchError where the device has no tensor maps or the shape does
  /// not suit one.
  virtual TensorMap encodeMap(const MapShape &shape) = 0;

  virtual std::unique_ptr<Event> createEvent() = 0;
  /// Marks the place in the order of launches.
  virtual void record(Event &event) = 0;
  /// Device time between two recorded events that synchronize() has passed.
  virtual double milliseconds(const Event &from, const Event &to) = 0;
};

/// The CPU with `threads` threads, 0 meaning all cores.
std::unique_ptr<Device> openCpu(int threads = 0);

/// The GPU of that ordinal. Throws DeviceError saying what is missing.
std::unique_ptr<Device> openCuda(int ordinal = 0);

/// Whether openCuda can work; else `why` says what is missing.
bool cudaAvailable(std::string &why);

/// Memory of a device, freed with the object.
class Buffer {
public:
  Buffer() = default;
  Buffer(Device &device, int64_t bytes)
      : device(&device), memory(device.allocate(bytes)), length(bytes) {}
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (memory)
      device->release(memory);
  }
  void *data() const { return memory; }
  int64_t bytes() const { return length; }

private:
  void swap(Buffer &other) {
    std::swap(device, other.device);
    std::swap(memory, other.memory);
    std::swap(length, other.length);
  }
  Device *device = nullptr;
  void *memory = nullptr;
  int64_t length = 0;
};

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_DEVICE_H
