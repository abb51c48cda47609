//===- LauncherSupport.h - what every launcher header begins with ---------===//
#ifndef ATTN_LIB_BUNDLE_LAUNCHERSUPPORT_H
#define ATTN_LIB_BUNDLE_LAUNCHERSUPPORT_H

namespace attn::bundle {

/// Loading code and counting blocks, the same for every program.
inline constexpr const char *kLauncherSupport = R"cpp(
namespace detail {
/// One level's code in one context.
struct Code {
  CUmodule module = nullptr;
  std::vector<CUfunction> kernels;
  int multiprocessors = 0;
  std::map<CUstream, CUdeviceptr> counters; ///< Of tiles, zero between launches.
};

/// The tile counter of a stream, whose launches are in order.
inline CUresult counterOf(Code &code, CUstream stream, CUdeviceptr &counter) {
  CUdeviceptr &known = code.counters[stream];
  CUresult result = CUDA_SUCCESS;
  if (!known) {
    result = cuMemAlloc(&known, 8);
    if (result == CUDA_SUCCESS)
      result = cuMemsetD8Async(known, 0, 8, stream);
  }
  counter = known;
  return result;
}

inline bool readFile(const std::string &path, std::string &text) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return false;
  char block[65536];
  for (std::size_t n; (n = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, n);
  bool whole = !std::ferror(file);
  std::fclose(file);
  return whole;
}

/// A cubin for `arch` ("90", "90a") runs on this device.
inline bool cubinRuns(const char *arch, int major, int minor) {
  int built = std::atoi(arch);
  if (arch[std::strlen(arch) - 1] == 'a')
    return built == major * 10 + minor;
  return built / 10 == major && built % 10 <= minor;
}

struct File {
  const char *arch; ///< Of a cubin; null for PTX.
  const char *name;
};
struct Entry {
  const char *symbol;
  int dynamicShared;
};

/// Loads the first file that this device takes and looks its kernels up.
inline CUresult load(const std::string &folder, std::vector<File> files,
                     const std::vector<Entry> &entries, Code &code,
                     std::string *why) {
  CUdevice device;
  int major = 0, minor = 0;
  CUresult result = cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS)
    result = cuDeviceGetAttribute(
        &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result == CUDA_SUCCESS)
    result = cuDeviceGetAttribute(
        &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  if (result == CUDA_SUCCESS)
    result = cuDeviceGetAttribute(&code.multiprocessors,
                                  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                  device);
  if (result != CUDA_SUCCESS)
    return result;
  result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (const File &file : files) {
    if (file.arch && !cubinRuns(file.arch, major, minor))
      continue;
    std::string image;
    if (!readFile(folder + "/" + file.name, image)) {
      if (why)
        *why = "cannot read " + folder + "/" + file.name;
      result = CUDA_ERROR_FILE_NOT_FOUND;
      continue;
    }
    result = cuModuleLoadData(&code.module, image.c_str());
    if (result == CUDA_SUCCESS)
      break;
    if (why)
      *why = std::string("the driver rejects ") + file.name;
  }
  if (result != CUDA_SUCCESS)
    return result;
  for (const Entry &entry : entries) {
    CUfunction kernel = nullptr;
    result = cuModuleGetFunction(&kernel, code.module, entry.symbol);
    if (result == CUDA_SUCCESS && entry.dynamicShared > 0)
      result = cuFuncSetAttribute(
          kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          entry.dynamicShared);
    if (result != CUDA_SUCCESS) {
      if (why)
        *why = std::string("cannot prepare kernel ") + entry.symbol;
      cuModuleUnload(code.module);
      code = Code();
      return result;
    }
    code.kernels.push_back(kernel);
  }
  if (why)
    why->clear();
  return CUDA_SUCCESS;
}

inline std::int64_t blocks(std::int64_t length, std::int64_t tile) {
  return (length + tile - 1) / tile;
}

/// A tensor map over 16-bit elements: lengths and strides (elements) innermost
/// first, and the box that one copy takes. Zeros outside the tensor. An optional
/// map stays as it is when the strides do not allow one.
inline CUresult encodeMap(CUtensorMap *map, bool optional, CUtensorMapDataType type,
                          unsigned rank, CUdeviceptr data,
                          const std::vector<std::int64_t> &lengths,
                          const std::vector<std::int64_t> &strides,
                          const std::vector<unsigned> &box) {
  cuuint64_t dims[5], steps[5];
  cuuint32_t sides[5], ones[5] = {1, 1, 1, 1, 1};
  bool empty = std::find(lengths.begin(), lengths.end(), 0) != lengths.end();
  for (unsigned i = 0; i < rank; ++i) {
    // An empty tensor is one element, which nobody asks for. The stride of an axis
    // of one element is never used, but it is checked.
    dims[i] = empty ? 1 : cuuint64_t(lengths[i]);
    steps[i] = dims[i] > 1 ? cuuint64_t(strides[i]) * 2 : 16;
    sides[i] = box[i];
    if (optional && i > 0 && (steps[i] == 0 || steps[i] % 16 != 0))
      return CUDA_SUCCESS;
  }
  return cuTensorMapEncodeTiled(
      map, type, rank, reinterpret_cast<void *>(data), dims, steps + 1, sides,
      ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Runs what it holds at the end of a scope.
template <typename Fn> struct Finally {
  Fn fn;
  ~Finally() { fn(); }
};
template <typename Fn> Finally(Fn) -> Finally<Fn>;
} // namespace detail
)cpp";

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_LAUNCHERSUPPORT_H
