//===- Assembler.cpp - PTX to cubin ---------------------------------------===//

#include "lib/Codegen/Assembler.h"

#include "lib/Bundle/ScratchFolder.h"
#include "lib/Target/Targets.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <dlfcn.h>
#include <regex>
#include <sstream>

using namespace attn;

std::map<std::string, bundle::Resources>
attn::parseAssemblerLog(const std::string &log) {
  // ptxas info : Function properties for NAME
  //     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
  // ptxas info : Used 40 registers, used 1 barriers, 49152 bytes smem
  static const std::regex properties(
      "(?:Function properties for|Compiling entry function) '?([A-Za-z0-9_$]+)'?");
  static const std::regex spills(
      "(\\d+) bytes spill stores, (\\d+) bytes spill loads");
  static const std::regex registers("Used (\\d+) registers");
  static const std::regex shared("(\\d+) bytes smem");
  std::map<std::string, bundle::Resources> result;
  std::string name, line;
  std::istringstream lines(log);
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_search(line, match, properties))
      name = match[1];
    if (name.empty())
      continue;
    if (std::regex_search(line, match, spills))
      result[name].spillBytes = std::stoi(match[1]) + std::stoi(match[2]);
    if (std::regex_search(line, match, registers)) {
      result[name].registers = std::stoi(match[1]);
      if (std::regex_search(line, match, shared))
        result[name].sharedBytes = std::stoll(match[1]);
    }
  }
  return result;
}

std::vector<std::string> attn::parseSerialisation(const std::string &log) {
  static const std::regex warning("\\bC75(1[0-8]|20)\\b");
  std::vector<std::string> found;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, warning))
      found.push_back(line);
  return found;
}

static std::string cudaHome() {
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(variable))
      return home;
  return "/usr/local/cuda";
}

//===----------------------------------------------------------------------===//
// nvJitLink
//===----------------------------------------------------------------------===//

namespace {
/// The entry points, looked up by name: the library is not a build dependency.
struct JitLink {
  using Handle = void *;
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorSize)(Handle, size_t *) = nullptr;
  int (*error)(Handle, char *) = nullptr;
  int (*infoSize)(Handle, size_t *) = nullptr;
  int (*info)(Handle, char *) = nullptr;
  int (*version)(unsigned *, unsigned *) = nullptr;

  static constexpr int kPtx = 2; // NVJITLINK_INPUT_PTX

  bool load() {
    void *library = nullptr;
    std::string home = cudaHome();
    for (const std::string &name :
         {std::string("libnvJitLink.so.13"), std::string("libnvJitLink.so.12"),
          std::string("libnvJitLink.so"), home + "/lib64/libnvJitLink.so"})
      if (!library)
        library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    // Exported names carry the version that introduced them.
    auto find = [&](auto &function, const char *name) {
      for (const char *prefix : {"__nvJitLink", "nvJitLink"})
        for (const char *suffix : {"_13_0", "_12_4", "_12_3", "_12_2", "_12_1",
                                   "_12_0", ""}) {
          std::string symbol = std::string(prefix) + name + suffix;
          if (void *address = dlsym(library, symbol.c_str())) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
            return true;
          }
        }
      return false;
    };
    find(version, "Version");
    return find(create, "Create") && find(destroy, "Destroy") &&
           find(addData, "AddData") && find(complete, "Complete") &&
           find(cubinSize, "GetLinkedCubinSize") &&
           find(cubin, "GetLinkedCubin") && find(errorSize, "GetErrorLogSize") &&
           find(error, "GetErrorLog") && find(infoSize, "GetInfoLogSize") &&
           find(info, "GetInfoLog");
  }

  std::string text(int (*size)(Handle, size_t *), int (*get)(Handle, char *),
                   Handle handle) {
    size_t bytes = 0;
    if (size(handle, &bytes) != 0 || bytes == 0)
      return "";
    std::string out(bytes, '\0');
    get(handle, out.data());
    while (!out.empty() && out.back() == '\0')
      out.pop_back();
    return out;
  }
};
} // namespace

static bool assembleWithJitLink(const std::string &ptx, const std::string &arch,
                                AssemblyResult &result) {
  static JitLink link;
  static bool loaded = link.load();
  if (!loaded)
    return false;
  result.available = true;
  unsigned major = 0, minor = 0;
  if (link.version)
    link.version(&major, &minor);
  result.assembler =
      "nvJitLink " + std::to_string(major) + "." + std::to_string(minor);
  std::string archOption = "-arch=" + arch;
  const char *options[] = {archOption.c_str(), "-O3", "-verbose"};
  JitLink::Handle handle = nullptr;
  if (link.create(&handle, 3, options) != 0) {
    result.error = "nvJitLink does not know " + arch;
    return true;
  }
  int status = link.addData(handle, JitLink::kPtx, ptx.c_str(), ptx.size() + 1,
                            "attn.ptx");
  if (status == 0)
    status = link.complete(handle);
  result.log = link.text(link.infoSize, link.info, handle);
  if (status != 0) {
    result.error = link.text(link.errorSize, link.error, handle);
    if (result.error.empty())
      result.error = "nvJitLink status " + std::to_string(status);
  } else {
    size_t bytes = 0;
    link.cubinSize(handle, &bytes);
    result.cubin.resize(bytes);
    link.cubin(handle, result.cubin.data());
  }
  link.destroy(&handle);
  return true;
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

static bool assembleWithPtxas(const std::string &ptx, const std::string &arch,
                              const std::string &program,
                              AssemblyResult &result) {
  std::string why;
  std::unique_ptr<bundle::ScratchFolder> folder = bundle::makeTemporary("attn", why);
  if (!folder)
    return false;
  const std::string in = folder->path() + "/kernels.ptx",
                    out = folder->path() + "/kernels.cubin",
                    log = folder->path() + "/assembler.log";
  {
    std::error_code failed;
    llvm::raw_fd_ostream stream(in, failed);
    stream << ptx;
  }
  result.available = true;
  result.assembler = "ptxas (" + program + ")";
  std::string archOption = "-arch=" + arch;
  llvm::StringRef arguments[] = {program, archOption, "-O3", "-v", "-o", out, in};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log),
                                                llvm::StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                         0, 0, &why);
  if (auto text = llvm::MemoryBuffer::getFile(log))
    result.log = (*text)->getBuffer().str();
  if (status != 0) {
    result.error = !result.log.empty() ? result.log.substr(0, 400)
                   : !why.empty()      ? why
                                       : "exit status " + std::to_string(status);
    return true;
  }
  if (auto bytes = llvm::MemoryBuffer::getFile(out))
    result.cubin = (*bytes)->getBuffer().str();
  return true;
}

AssemblyResult attn::assemble(const std::string &ptx, const std::string &arch) {
  AssemblyResult result;
  std::string program;
  if (const char *named = std::getenv("ATTN_PTXAS"))
    program = named;
  // nvJitLink assembles for linking and then ignores register budgets (C7504),
  // which makes kernels with warp groups spill.
  bool whole = ptx.find("setmaxnreg") != std::string::npos;
  bool ran = program.empty() && !whole && assembleWithJitLink(ptx, arch, result);
  if (!ran && program.empty()) {
    std::string home = cudaHome() + "/bin/ptxas";
    if (auto found = llvm::sys::findProgramByName("ptxas"))
      program = *found;
    else if (llvm::sys::fs::can_execute(home))
      program = home;
  }
  if (!ran && !program.empty())
    ran = assembleWithPtxas(ptx, arch, program, result);
  if (ran) {
    result.resources = parseAssemblerLog(result.log);
    result.serialised = parseSerialisation(result.log);
  }
  return result;
}

std::string attn::checkAssembler(const std::string &arch) {
  const std::string probe = ".version 7.0\n.target sm_80\n.address_size 64\n"
                            ".visible .entry probe() { ret; }\n";
  AssemblyResult asked = assemble(probe, arch);
  if (!asked.available || asked.error.empty())
    return "";
  std::vector<std::string> known;
  for (const std::string &name : target::archNames())
    if (assemble(probe, name).error.empty())
      known.push_back(name);
  if (!known.empty())
    return arch + " is unknown to " + asked.assembler + "; it knows " +
           llvm::join(known, ", ");
  return asked.assembler + " does not work here: " +
         llvm::StringRef(asked.error).split('\n').first.str() +
         "; use none for PTX only";
}
