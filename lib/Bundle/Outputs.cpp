//===- Outputs.cpp - what a run must not write over -----------------------===//

#include "lib/Bundle/Outputs.h"

#include "lib/Bundle/Manifest.h"
#include "lib/Spec/Links.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <stdexcept>

using namespace attn;
using namespace attn::bundle;
namespace fs = std::filesystem;

bool attn::bundle::sameFile(const std::string &a, const std::string &b) {
  std::error_code error;
  if (fs::equivalent(a, b, error))
    return true;
  if (fs::exists(a, error) || fs::exists(b, error))
    return false;
  fs::path left = fs::weakly_canonical(a, error);
  return !error && left == fs::weakly_canonical(b, error) && !error;
}

bool attn::bundle::isBundleFile(const std::string &name) {
  std::string kind = fs::path(name).extension().string();
  return name == "manifest.json" || name == "spec.attn" || kind == ".ptx" ||
         kind == ".cubin" || kind == ".so" || kind == ".h";
}

/// The file of `input` that `path` is, or "".
static std::string fileOf(const std::string &input, const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(input, error))
    return sameFile(input, path) ? input : "";
  for (fs::directory_iterator at(input, error), end; !error && at != end;
       at.increment(error))
    if (isBundleFile(at->path().filename().string()) &&
        sameFile(at->path().string(), path))
      return at->path().string();
  return "";
}

/// Why a regular file that is there is not replaced: nobody wrote it by an option.
static std::string precious(const OutputFile &output) {
  std::error_code error;
  fs::path real = fs::canonical(output.path, error);
  for (const fs::path &path : {fs::path(output.path), real})
    if (path.extension() == ".attn")
      return "a spec";
  if (!output.isJson || fs::file_size(output.path, error) == 0)
    return "";
  try {
    return nlohmann::json::accept(readFile(output.path)) ? "" : "a file that is no JSON";
  } catch (const std::runtime_error &) {
    return "a file that cannot be read";
  }
}

std::string
attn::bundle::writesOver(const std::vector<OutputFile> &outputs,
                         const std::vector<std::string> &inputs) {
  std::error_code error;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputFile &output = outputs[i];
    if (std::string link = danglingLink(output.path); !link.empty())
      return fmt::format("{}: {}", output.option, link);
    if (fs::exists(output.path, error) && !fs::is_regular_file(output.path, error))
      continue;
    for (const std::string &input : inputs)
      if (std::string file = fileOf(input, output.path); !file.empty())
        return fmt::format("{}: '{}' is {}, which this run reads, and would be "
                           "overwritten; write elsewhere",
                           output.option, output.path,
                           file == output.path ? "a file" : "'" + file + "'");
    if (fs::exists(output.path, error))
      if (std::string what = precious(output); !what.empty())
        return fmt::format("{}: '{}' is there and is {}, which would be overwritten; "
                           "write elsewhere, or move that file away",
                           output.option, output.path, what);
    for (size_t j = 0; j < i; ++j)
      if (sameFile(outputs[j].path, output.path))
        return fmt::format("{} and {} both write '{}'; name two files",
                           outputs[j].option, output.option, output.path);
  }
  return "";
}
