//===- CudaDevice.cpp - kernels on a CUDA GPU -----------------------------===//

#include "lib/Runtime/BundleError.h"
#include "lib/Runtime/CudaDriver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

using namespace attn;
using namespace attn::runtime;
using cuda::Driver;

/// What fits any device without asking; more needs an opt-in.
static constexpr int64_t kDefaultShared = 48 * 1024;

namespace {
class CudaFunction : public Function {
public:
  CudaFunction(const Driver &driver, cuda::Stream stream, cuda::Kernel kernel,
               const bundle::Kernel &shape)
      : driver(driver), stream(stream), kernel(kernel), symbol(shape.symbol),
        threads(shape.threads), shared(shape.dynamicShared),
        parameters(shape.args.size()), byValue(shape.args.size()) {
    for (size_t i = 0; i < shape.args.size(); ++i)
      byValue[i] = shape.args[i].kind == bundle::Arg::Kind::Map;
  }

  void launch(int64_t blocks, const uint64_t *slots) override {
    for (size_t i = 0; i < parameters.size(); ++i)
      parameters[i] = byValue[i] ? reinterpret_cast<void *>(slots[i])
                                 : const_cast<uint64_t *>(slots + i);
    cuda::Result result =
        driver.launch(kernel, unsigned(blocks), 1, 1, unsigned(threads), 1, 1,
                      unsigned(shared), stream, parameters.data(), nullptr);
    if (result != 0)
      throw DeviceError(fmt::format("launch of {} ({} blocks of {} threads, {} "
                                    "bytes of shared memory): {}",
                                    symbol, blocks, threads, shared,
                                    driver.describe(result)));
  }

  FunctionFacts facts() const override {
    FunctionFacts facts;
    int value = 0;
    if (driver.functionAttribute(&value, cuda::kFunctionRegisters, kernel) == 0)
      facts.registers = value;
    if (driver.functionAttribute(&value, cuda::kFunctionLocalBytes, kernel) ==
        0)
      facts.localBytes = value;
    if (driver.functionAttribute(&value, cuda::kFunctionSharedBytes, kernel) ==
        0)
      facts.sharedBytes = value;
    if (driver.residentBlocks(&value, kernel, threads, size_t(shared)) == 0)
      facts.residentBlocks = value;
    return facts;
  }

private:
  const Driver &driver;
  cuda::Stream stream;
  cuda::Kernel kernel;
  std::string symbol;
  int threads;
  int64_t shared;
  std::vector<void *> parameters;
  std::vector<bool> byValue; ///< The slot holds the parameter's address.
};

class CudaCode : public Code {
public:
  CudaCode(const Driver &driver, cuda::Stream stream, const DeviceInfo &info,
           cuda::Module module, std::string kind)
      : driver(driver), stream(stream), info(info), module(module),
        fileKind(std::move(kind)) {}
  ~CudaCode() override { driver.moduleUnload(module); }

  std::unique_ptr<Function> function(const bundle::Program &, const bundle::Level &,
                                     const bundle::Kernel &shape) override {
    cuda::Kernel kernel = nullptr;
    if (driver.moduleFunction(&kernel, module, shape.symbol.c_str()) != 0)
      throw BundleError(fmt::format("the bundle's code lacks kernel {}; make "
                                    "the bundle again with attnc",
                                    shape.symbol));
    checkParameters(shape, kernel);
    int fixed = 0, most = 0;
    driver.check(
        driver.functionAttribute(&fixed, cuda::kFunctionSharedBytes, kernel),
        "reading a kernel's shared memory");
    if (fixed + shape.dynamicShared > info.sharedPerBlock)
      throw LaunchError(fmt::format(
          "kernel {} needs {} bytes of shared memory a block, {} gives {}; "
          "compile with fewer stages or smaller tiles (attnc --schedule=...)",
          shape.symbol, fixed + shape.dynamicShared, info.name,
          info.sharedPerBlock));
    if (fixed + shape.dynamicShared > kDefaultShared)
      driver.check(driver.setFunctionAttribute(kernel,
                                               cuda::kFunctionDynamicShared,
                                               int(shape.dynamicShared)),
                   "raising a kernel's shared memory");
    driver.check(
        driver.functionAttribute(&most, cuda::kFunctionMaxThreads, kernel),
        "reading a kernel's thread limit");
    if (shape.threads > most)
      throw LaunchError(fmt::format(
          "kernel {} is launched with {} threads a block, its registers leave "
          "room for {}; compile with fewer warps",
          shape.symbol, shape.threads, most));
    return std::make_unique<CudaFunction>(driver, stream, kernel, shape);
  }
  std::string kind() const override { return fileKind; }

private:
  /// The code's parameters, of which the driver knows the number and sizes, must be
  /// those of the manifest. A driver before CUDA 12.4 does not tell.
  void checkParameters(const bundle::Kernel &shape, cuda::Kernel kernel) const {
    if (!driver.parameterInfo)
      return;
    auto differs = [&](const std::string &how) {
      return BundleError(fmt::format("the code of kernel {} is not what its manifest "
                                     "describes: {}; make the bundle again with attnc",
                                     shape.symbol, how));
    };
    size_t count = 0, offset = 0, bytes = 0;
    cuda::Result result;
    while ((result = driver.parameterInfo(kernel, count, &offset, &bytes)) == 0)
      ++count;
    if (result != cuda::kInvalidValue) // No word on what lies behind the last.
      return;
    if (count != shape.args.size())
      throw differs(fmt::format("it takes {} arguments, the manifest lists {}", count,
                                shape.args.size()));
    for (size_t i = 0; i < count; ++i) {
      bundle::Arg::Kind kind = shape.args[i].kind;
      size_t wanted = kind == bundle::Arg::Kind::Map ? sizeof(TensorMap) : 8;
      driver.check(driver.parameterInfo(kernel, i, &offset, &bytes),
                   "reading a kernel's parameters");
      // A scalar of any type lies in the low bytes of its slot.
      if (kind == bundle::Arg::Kind::Scalar ? bytes > wanted : bytes != wanted)
        throw differs(fmt::format("argument {} has {} bytes, the manifest's has {}",
                                  i + 1, bytes, wanted));
    }
  }

  const Driver &driver;
  cuda::Stream stream;
  const DeviceInfo &info;
  cuda::Module module;
  std::string fileKind;
};

class CudaEvent : public Event {
public:
  explicit CudaEvent(const Driver &driver) : driver(driver) {
    driver.check(driver.eventCreate(&handle, 0), "creating an event");
  }
  ~CudaEvent() override { driver.eventDestroy(handle); }
  const Driver &driver;
  cuda::EventHandle handle = nullptr;
};

class CudaDevice : public Device {
public:
  CudaDevice(const Driver &driver, int ordinal) : driver(driver) {
    int count = 0;
    driver.check(driver.deviceCount(&count), "counting the GPUs");
    if (ordinal < 0 || ordinal >= count)
      throw DeviceError(fmt::format("there is no GPU {}; this machine has {}",
                                    ordinal, count));
    driver.check(driver.deviceGet(&device, ordinal), "opening the GPU");
    describe();
    driver.check(driver.contextRetain(&context, device),
                 "creating the GPU's context");
    driver.check(driver.contextSet(context), "entering the GPU's context");
    // Not tied to the default stream, whose launches wait for other streams.
    driver.check(driver.streamCreate(&stream, /*non-blocking*/ 1),
                 "creating a stream");
  }
  ~CudaDevice() override {
    if (readModule)
      driver.moduleUnload(readModule);
    driver.streamDestroy(stream);
    driver.contextRelease(device);
  }

  const DeviceInfo &info() const override { return facts; }

  void *allocate(int64_t bytes) override {
    cuda::Pointer pointer = 0;
    size_t wanted = size_t(std::max<int64_t>(bytes, 256));
    cuda::Result result = driver.allocate(&pointer, wanted);
    if (result == cuda::kOutOfMemory)
      throw TooLargeError(fmt::format(
          "{:.2f} GiB of device memory are needed, {:.2f} GiB are free; bind "
          "smaller lengths",
          double(bytes) / (1 << 30), double(freeBytes()) / (1 << 30)));
    driver.check(result, "allocating device memory");
    return reinterpret_cast<void *>(pointer);
  }
  void release(void *data) override { driver.release(address(data)); }

  int64_t freeBytes() const override {
    size_t free = 0, all = 0;
    driver.check(driver.memoryInfo(&free, &all), "asking for free memory");
    return int64_t(free);
  }

  void copyIn(void *to, const void *from, int64_t bytes) override {
    if (bytes <= 0)
      return;
    driver.check(driver.copyIn(address(to), from, size_t(bytes), stream),
                 "copying to the GPU");
    synchronize();
  }
  void copyOut(void *to, const void *from, int64_t bytes) override {
    if (bytes <= 0)
      return;
    driver.check(driver.copyOut(to, address(from), size_t(bytes), stream),
                 "copying from the GPU");
    synchronize();
  }
  void fill(void *data, uint8_t byte, int64_t bytes) override {
    if (bytes > 0)
      driver.check(driver.fill(address(data), byte, size_t(bytes), stream),
                   "filling device memory");
  }

  void readThrough(const void *data, int64_t bytes) override;

  void synchronize() override {
    driver.check(driver.streamSynchronize(stream), "running on the GPU");
  }

  std::shared_ptr<Code> load(const bundle::Level &level,
                             const std::string &folder) override;

  TensorMap encodeMap(const MapShape &shape) override {
    unsigned long long lengths[5], strides[5];
    unsigned box[5], ones[5] = {1, 1, 1, 1, 1};
    for (size_t i = 0; i < shape.lengths.size(); ++i) {
      lengths[i] = static_cast<unsigned long long>(shape.lengths[i]);
      strides[i] = static_cast<unsigned long long>(shape.strides[i]);
      box[i] = unsigned(shape.box[i]);
    }
    TensorMap map;
    int type = shape.dtype == "f16" ? cuda::kMapFloat16 : cuda::kMapBfloat16;
    cuda::Result result = driver.encodeMap(
        &map, type, unsigned(shape.lengths.size()), shape.data, lengths,
        strides + 1, box, ones, /*interleave=*/0, cuda::kMapSwizzle128,
        cuda::kMapPromotion256, /*oobFill=*/0);
    if (result != 0)
      throw LaunchError(fmt::format(
          "the driver makes no tensor map of lengths {} and strides {} bytes: "
          "{}; strides must be multiples of 16 bytes below 2^40",
          fmt::join(shape.lengths, "x"), fmt::join(shape.strides, ","),
          driver.describe(result)));
    return map;
  }

  std::unique_ptr<Event> createEvent() override {
    return std::make_unique<CudaEvent>(driver);
  }
  void record(Event &event) override {
    driver.check(
        driver.eventRecord(static_cast<CudaEvent &>(event).handle, stream),
        "recording an event");
  }
  double milliseconds(const Event &from, const Event &to) override {
    float elapsed = 0;
    driver.check(driver.eventElapsed(
                     &elapsed, static_cast<const CudaEvent &>(from).handle,
                     static_cast<const CudaEvent &>(to).handle),
                 "reading an event");
    return elapsed;
  }

private:
  static cuda::Pointer address(const void *data) {
    return reinterpret_cast<cuda::Pointer>(data);
  }
  int attribute(int which) const {
    int value = 0;
    return driver.deviceAttribute(&value, which, device) == 0 ? value : 0;
  }
  void describe() {
    char name[256] = "";
    driver.check(driver.deviceName(name, sizeof name, device),
                 "reading the GPU's name");
    size_t memory = 0;
    driver.check(driver.deviceMemory(&memory, device),
                 "reading the GPU's memory");
    int version = 0;
    driver.driverVersion(&version);
    facts.kind = "cuda";
    facts.name = name;
    facts.capability = attribute(cuda::kCapabilityMajor) * 10 +
                       attribute(cuda::kCapabilityMinor);
    facts.multiprocessors = attribute(cuda::kMultiprocessors);
    facts.memoryBytes = int64_t(memory);
    facts.sharedPerBlock = attribute(cuda::kSharedPerBlockOptin);
    facts.driver =
        fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    facts.facts.name = name;
    facts.facts.capability = facts.capability;
    facts.facts.multiprocessors = facts.multiprocessors;
    facts.facts.clockGHz = attribute(cuda::kClockRate) * 1e-6;
    // Two transfers a clock.
    facts.facts.bandwidth = 2e3 * attribute(cuda::kMemoryClockRate) *
                            attribute(cuda::kMemoryBusWidth) / 8;
    facts.facts.l2Bytes = attribute(cuda::kL2CacheSize);
  }

  const Driver &driver;
  cuda::Ordinal device = 0;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::Module readModule = nullptr; ///< Of readThrough, once it is needed.
  DeviceInfo facts;
};
} // namespace

/// Each thread reads 16 bytes a turn. The sum is stored only where no thread
/// ever comes, so that the loads stay.
static const char *const kReadThrough = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry attn_read_through(.param .u64 data, .param .u64 bytes)
{
  .reg .pred %done, %never;
  .reg .b32 %t, %b, %n, %g, %i, %s, %v<4>;
  .reg .b64 %at, %end, %step, %place;
  ld.param.u64 %place, [data];
  cvta.to.global.u64 %place, %place;
  ld.param.u64 %end, [bytes];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %g, %nctaid.x;
  mad.lo.u32 %i, %b, %n, %t;
  mul.wide.u32 %at, %i, 16;
  mul.lo.u32 %i, %n, %g;
  mul.wide.u32 %step, %i, 16;
  add.u64 %end, %end, %place;
  add.u64 %at, %at, %place;
  mov.u32 %s, 0;
next:
  setp.ge.u64 %done, %at, %end;
  @%done bra out;
  ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%at];
  or.b32 %v0, %v0, %v1;
  or.b32 %v2, %v2, %v3;
  or.b32 %s, %s, %v0;
  or.b32 %s, %s, %v2;
  add.u64 %at, %at, %step;
  bra next;
out:
  setp.gt.u32 %never, %n, 1024;
  @%never st.global.u32 [%place], %s;
  ret;
}
)";

/// Loads code from memory. Returns null and the driver's words in `log` when
/// the driver rejects it.
static cuda::Module loadModule(const Driver &driver, const std::string &image,
                               std::string &log) {
  std::vector<char> errors(16384, 0);
  int options[] = {cuda::kJitErrorBuffer, cuda::kJitErrorBufferBytes};
  void *values[] = {errors.data(), reinterpret_cast<void *>(errors.size() - 1)};
  cuda::Module module = nullptr;
  cuda::Result result =
      driver.moduleLoad(&module, image.c_str(), 2, options, values);
  if (result == 0)
    return module;
  log = driver.describe(result);
  if (errors[0])
    log += fmt::format("\n{}", errors.data());
  return nullptr;
}

/// Whether a cubin for `arch` ("sm_90", "sm_90a") runs on `capability`: the
/// same major version and no newer minor one; an "a" form on its own chip only.
static bool cubinRuns(const std::string &arch, int capability) {
  if (arch.compare(0, 3, "sm_") != 0)
    return false;
  int built = std::atoi(arch.c_str() + 3);
  if (arch.back() == 'a')
    return built == capability;
  return built / 10 == capability / 10 && built <= capability;
}

void CudaDevice::readThrough(const void *data, int64_t bytes) {
  if (bytes < 16)
    return;
  if (!readModule) {
    std::string log;
    readModule = loadModule(driver, kReadThrough, log);
    if (!readModule)
      throw DeviceError("the driver rejects the kernel that reads memory: " + log);
  }
  cuda::Kernel kernel = nullptr;
  driver.check(driver.moduleFunction(&kernel, readModule, "attn_read_through"),
               "finding the kernel that reads memory");
  cuda::Pointer from = address(data);
  uint64_t length = uint64_t(bytes) / 16 * 16;
  void *arguments[] = {&from, &length};
  driver.check(driver.launch(kernel, unsigned(facts.multiprocessors) * 4, 1, 1, 512,
                             1, 1, 0, stream, arguments, nullptr),
               "reading device memory");
}

std::shared_ptr<Code> CudaDevice::load(const bundle::Level &level,
                                       const std::string &folder) {
  std::string why;
  if (!target::runsOn(level.target, facts.capability, why))
    throw LaunchError(why);

  // The best matching cubin first; the driver compiles the PTX otherwise.
  std::string cubin;
  for (const auto &[kind, file] : level.files)
    if (kind.compare(0, 6, "cubin:") == 0 &&
        cubinRuns(kind.substr(6), facts.capability))
      cubin = std::max(cubin, kind);
  std::string log;
  for (const std::string &kind : {cubin, std::string("ptx")}) {
    auto file = level.files.find(kind);
    if (kind.empty() || file == level.files.end())
      continue;
    std::string image = bundle::readFile(folder + "/" + file->second);
    if (cuda::Module module = loadModule(driver, image, log))
      return std::make_shared<CudaCode>(driver, stream, facts, module, kind);
    log = fmt::format("{}: {}", file->second, log);
  }
  if (log.empty())
    throw BundleError(fmt::format(
        "level {} has neither PTX nor a cubin for {}; make the bundle again "
        "with attnc",
        level.name, facts.name));
  throw BundleError(fmt::format("the driver rejects {}", log));
}

std::unique_ptr<Device> attn::runtime::openCuda(int ordinal) {
  std::string why;
  const Driver *driver = cuda::driver(why);
  if (!driver)
    throw DeviceError(why);
  return std::make_unique<CudaDevice>(*driver, ordinal);
}

bool attn::runtime::cudaAvailable(std::string &why) {
  return cuda::driver(why) != nullptr;
}
