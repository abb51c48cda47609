//===- Launcher.cpp - a C++ header that launches a bundle -----------------===//

#include "lib/Bundle/Launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

using namespace attn::bundle;

/// What every launcher header begins with, whatever the program.
static const char *kSupport = R"cpp(
namespace detail {
/// One level's code in one context.
struct Code {
  CUmodule module = nullptr;
  std::vector<CUfunction> kernels;
};

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

/// Runs what it holds at the end of a scope.
template <typename Fn> struct Finally {
  Fn fn;
  ~Finally() { fn(); }
};
template <typename Fn> Finally(Fn) -> Finally<Fn>;
} // namespace detail
)cpp";

/// A name that is legal C++ and collides with nothing in the header.
static std::string identifier(const std::string &name) {
  static const std::set<std::string> taken = {
      "alignas",  "alignof",   "and",    "asm",      "auto",     "bool",
      "break",    "case",      "catch",  "char",     "class",    "const",
      "continue", "default",   "delete", "do",       "double",   "else",
      "enum",     "explicit",  "export", "extern",   "false",    "float",
      "for",      "friend",    "goto",   "if",       "inline",   "int",
      "long",     "mutable",   "new",    "not",      "operator", "or",
      "private",  "protected", "public", "register", "return",   "short",
      "signed",   "sizeof",    "static", "struct",   "switch",   "template",
      "this",     "throw",     "true",   "try",      "typedef",  "typeid",
      "union",    "unsigned",  "using",  "virtual",  "void",     "volatile",
      "while",    "xor",       "detail", "std",      "Arguments"};
  return taken.count(name) ? name + "_" : name;
}

static int elementBytes(const std::string &dtype) {
  if (dtype == "i64")
    return 8;
  if (dtype == "f32" || dtype == "i32")
    return 4;
  if (dtype == "f16" || dtype == "bf16")
    return 2;
  return 1;
}

static std::string scalarType(const std::string &dtype) {
  if (dtype == "f32")
    return "float";
  if (dtype == "i64")
    return "std::int64_t";
  if (dtype == "i32")
    return "std::int32_t";
  if (dtype == "i1")
    return "bool";
  return "std::uint16_t"; // The bits of an f16 or bf16.
}

static std::string lengthOf(const std::string &axis) { return "a." + axis; }

namespace {
/// Writes one program's header.
class Generator {
public:
  explicit Generator(const Program &program) : program(program) {}

  std::string run() {
    banner();
    arguments();
    for (const Level &level : program.levels)
      if (level.target != "cpu")
        launcher(level);
    line("}} // namespace attn_{}", program.name);
    return std::move(text);
  }

private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format,
                   std::forward<Args>(args)...);
    text += '\n';
  }

  void banner() {
    line("// Generated by attnc: launches the kernels of program '{}'.",
         program.name);
    line("//");
    line("//   attn_{}::Arguments a;", program.name);
    line("//   a.{} = ...;  // every length, pointer and scalar",
         program.tensors.empty() ? "lengths"
                                 : identifier(program.tensors[0].name));
    for (const Level &level : program.levels)
      if (level.target != "cpu") {
        line("//   CUresult r = attn_{}::{}(\"bundle\", a, stream);",
             program.name, functionName(level));
        break;
      }
    line("//");
    line("// Needs C++17, the CUDA driver API and a current context. Pointers "
         "are device");
    line("// addresses, multiples of 16 bytes.");
    line("#pragma once");
    line("");
    line("#include <cuda.h>");
    line("");
    for (const char *header : {"cstdint", "cstdio", "cstdlib", "cstring", "map",
                               "mutex", "string", "utility", "vector"})
      line("#include <{}>", header);
    line("");
    line("namespace attn_{} {{", program.name);
    text += kSupport;
    line("");
  }

  void arguments() {
    line("struct Arguments {{");
    for (const Axis &axis : program.axes)
      if (axis.extent)
        line("  static constexpr std::int64_t {} = {};", axis.name,
             *axis.extent);
      else
        line("  std::int64_t {} = 0;{}", axis.name,
             axis.group.empty()
                 ? ""
                 : fmt::format(" ///< {} * {}", axis.group, axis.inner));
    for (const Tensor &tensor : program.tensors)
      line("  CUdeviceptr {} = 0; ///< {}, {}[{}].", identifier(tensor.name),
           tensor.role == Role::Output ? "Output" : "Input", tensor.dtype,
           fmt::join(tensor.axes, ", "));
    for (const Scalar &scalar : program.scalars)
      line("  {} {} = 0; ///< {}", scalarType(scalar.dtype),
           identifier(scalar.name), scalar.dtype);
    line("  /// Strides in elements, outermost axis first, the last 1; all 0 "
         "means dense.");
    for (const Tensor &tensor : program.tensors)
      if (!tensor.axes.empty())
        line("  std::int64_t {}_strides[{}] = {{}};", tensor.name,
             tensor.axes.size());
    line("}};");
    line("");
  }

  static std::string functionName(const Level &level) {
    return identifier(level.name + "_" + level.target);
  }

  /// "((a.M + 63) / 64 * 64)" for the innermost axis of a padded tensor.
  static std::string paddedLength(const Tensor &tensor, size_t axis) {
    std::string length = lengthOf(tensor.axes[axis]);
    if (axis + 1 < tensor.axes.size() || tensor.pad == 1)
      return length;
    return fmt::format("(({} + {}) / {} * {})", length, tensor.pad - 1,
                       tensor.pad, tensor.pad);
  }

  /// The number of elements below axis `axis` of a dense tensor.
  static std::string denseStride(const Tensor &tensor, size_t axis) {
    std::string stride = "std::int64_t(1)";
    for (size_t i = axis + 1; i < tensor.axes.size(); ++i)
      stride += " * " + paddedLength(tensor, i);
    return stride;
  }

  void checks() {
    std::vector<std::string> conditions;
    for (const Axis &axis : program.axes) {
      if (!axis.extent)
        conditions.push_back(
            fmt::format("{0} < 0 || {0} > (1 << 30)", lengthOf(axis.name)));
      if (!axis.group.empty())
        conditions.push_back(fmt::format("{} != {} * {}", lengthOf(axis.name),
                                         lengthOf(axis.group),
                                         lengthOf(axis.inner)));
    }
    for (const Tensor &tensor : program.tensors) {
      conditions.push_back(
          fmt::format("a.{} % 16 != 0", identifier(tensor.name)));
      if (!tensor.axes.empty())
        conditions.push_back(fmt::format("strides_{}[{}] != 1", tensor.name,
                                         tensor.axes.size() - 1));
    }
    for (const std::string &condition : conditions) {
      line("  if ({})", condition);
      line("    return CUDA_ERROR_INVALID_VALUE;");
    }
  }

  void strides(const Tensor &tensor, bool given) {
    if (tensor.axes.empty())
      return;
    line("  std::int64_t strides_{}[{}];", tensor.name, tensor.axes.size());
    for (size_t i = 0; i < tensor.axes.size(); ++i) {
      std::string dense = denseStride(tensor, i);
      if (given)
        line("  strides_{0}[{1}] = a.{0}_strides[{2}] ? a.{0}_strides[{1}] : "
             "{3};",
             tensor.name, i, tensor.axes.size() - 1, dense);
      else
        line("  strides_{}[{}] = {};", tensor.name, i, dense);
    }
  }

  const Tensor *findTensor(const Level &level, const std::string &name) const {
    for (const std::vector<Tensor> *list :
         {&program.tensors, &level.temporaries})
      for (const Tensor &tensor : *list)
        if (tensor.name == name)
          return &tensor;
    return nullptr;
  }

  std::string slot(const Level &level, const Arg &arg) const {
    switch (arg.kind) {
    case Arg::Kind::Length:
      return lengthOf(arg.axis);
    case Arg::Kind::Scalar:
      return "a." + identifier(arg.name);
    case Arg::Kind::Pointer:
    case Arg::Kind::Stride:
      break;
    }
    const Tensor *tensor = findTensor(level, arg.name);
    if (!tensor)
      return "0";
    if (arg.kind == Arg::Kind::Pointer)
      return tensor->role == Role::Temporary ? "memory_" + arg.name
                                             : "a." + identifier(arg.name);
    size_t axis =
        size_t(std::find(tensor->axes.begin(), tensor->axes.end(), arg.axis) -
               tensor->axes.begin());
    return fmt::format("strides_{}[{}]", arg.name, axis);
  }

  static std::string slotType(const Program &program, const Arg &arg) {
    if (arg.kind == Arg::Kind::Pointer)
      return "CUdeviceptr";
    if (arg.kind == Arg::Kind::Scalar)
      for (const Scalar &scalar : program.scalars)
        if (scalar.name == arg.name)
          return scalarType(scalar.dtype);
    return "std::int64_t";
  }

  void files(const Level &level) {
    // Cubins first: they need no compilation by the driver.
    line("    std::vector<detail::File> files = {{");
    for (const auto &[kind, name] : level.files)
      if (kind.compare(0, 9, "cubin:sm_") == 0)
        line("        {{\"{}\", \"{}\"}},", kind.substr(9), name);
    for (const auto &[kind, name] : level.files)
      if (kind == "ptx")
        line("        {{nullptr, \"{}\"}},", name);
    line("    }};");
    line("    std::vector<detail::Entry> entries = {{");
    for (const Kernel &kernel : level.kernels)
      line("        {{\"{}\", {}}},", kernel.symbol, kernel.dynamicShared);
    line("    }};");
  }

  void launcher(const Level &level) {
    line("/// Level '{}' for {}: {} launch{} on `stream`. The code is loaded "
         "from `folder` at",
         level.name, level.target, level.kernels.size(),
         level.kernels.size() == 1 ? "" : "es");
    line(
        "/// the first call in a context. On an error nothing was launched and "
        "`why`, when");
    line("/// given, may say more.");
    line("inline CUresult {}(const std::string &folder, const Arguments &a,",
         functionName(level));
    line("    CUstream stream, std::string *why = nullptr) {{");
    for (const Tensor &tensor : program.tensors)
      strides(tensor, /*given=*/true);
    checks();
    for (const Tensor &tensor : level.temporaries)
      strides(tensor, /*given=*/false);

    for (size_t i = 0; i < level.kernels.size(); ++i) {
      line("  double size{} = 1;", i);
      for (const GridAxis &axis : level.kernels[i].grid)
        if (!axis.axis.empty())
          line("  size{} *= double(detail::blocks({}, {}));", i,
               lengthOf(axis.axis), axis.tile);
      line("  if (size{} > 2147483647.0)", i);
      line("    return CUDA_ERROR_INVALID_VALUE;");
    }

    line("  CUcontext context = nullptr;");
    line("  CUresult result = cuCtxGetCurrent(&context);");
    line("  if (result != CUDA_SUCCESS)");
    line("    return result;");
    line("  static std::mutex mutex;");
    line("  static std::map<std::pair<CUcontext, std::string>, detail::Code> "
         "loaded;");
    line("  std::unique_lock<std::mutex> lock(mutex);");
    line("  detail::Code &code = loaded[{{context, folder}}];");
    line("  if (!code.module) {{");
    files(level);
    line("    result = detail::load(folder, files, entries, code, why);");
    line("    if (result != CUDA_SUCCESS)");
    line("      return result;");
    line("  }}");
    line("  lock.unlock();");

    for (const Tensor &tensor : level.temporaries) {
      std::string elements =
          tensor.axes.empty() ? "1"
                              : fmt::format("{} * {}", denseStride(tensor, 0),
                                            paddedLength(tensor, 0));
      line("  CUdeviceptr memory_{} = 0;", tensor.name);
      line("  detail::Finally free_{0}{{[&] {{", tensor.name);
      line("    if (memory_{})", tensor.name);
      line("      cuMemFreeAsync(memory_{}, stream);", tensor.name);
      line("  }}}};");
      line("  result = cuMemAllocAsync(&memory_{}, std::size_t({} * {} + 16), "
           "stream);",
           tensor.name, elements, elementBytes(tensor.dtype));
      line("  if (result != CUDA_SUCCESS)");
      line("    return result;");
    }

    for (size_t i = 0; i < level.kernels.size(); ++i) {
      const Kernel &kernel = level.kernels[i];
      line("  if (size{} > 0) {{ // {}", i, kernel.label);
      std::vector<std::string> addresses;
      for (size_t j = 0; j < kernel.args.size(); ++j) {
        line("    {} p{} = {};", slotType(program, kernel.args[j]), j,
             slot(level, kernel.args[j]));
        addresses.push_back(fmt::format("&p{}", j));
      }
      if (addresses.empty())
        addresses.push_back("nullptr");
      line("    void *parameters[] = {{{}}};", fmt::join(addresses, ", "));
      line("    result = cuLaunchKernel(code.kernels[{}], unsigned(size{}), 1, "
           "1, {}, 1, 1, {}, stream, parameters, nullptr);",
           i, i, kernel.threads, kernel.dynamicShared);
      line("    if (result != CUDA_SUCCESS)");
      line("      return result;");
      line("  }}");
    }
    line("  return CUDA_SUCCESS;");
    line("}}");
    line("");
  }

  const Program &program;
  std::string text;
};
} // namespace

std::string attn::bundle::launcherHeader(const Program &program) {
  return Generator(program).run();
}
