//===- Parse.cpp - .attn text to a checked syntax tree --------------------===//

#include "lib/Spec/Parse.h"
#include "lib/Spec/Checker.h"
#include "lib/Spec/Links.h"
#include "lib/Spec/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>

using namespace attn::spec;

const char *attn::spec::spelling(DType type) {
  static const char *const kNames[] = {"f16",    "bf16", "f32", "f8e4m3",
                                       "f8e5m2", "i32",  "i64", "i1"};
  return kNames[static_cast<int>(type)];
}

int attn::spec::byteSize(DType type) {
  static const int kSizes[] = {2, 2, 4, 1, 1, 4, 8, 1};
  return kSizes[static_cast<int>(type)];
}

int Kernel::findAxis(const std::string &axisName) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == axisName)
      return static_cast<int>(i);
  return -1;
}

ParseResult attn::spec::parse(std::string path, std::string text,
                              const Binds &binds) {
  ParseResult result;
  result.module.path = std::move(path);
  result.module.text = std::move(text);
  Diagnostics diagnostics(result.module.text);
  // Spans are 32-bit; no spec comes near, so refuse rather than wrap.
  if (result.module.text.size() > (1u << 24)) {
    diagnostics.report("file-too-large", {}, "the file is larger than 16 MiB");
    result.diagnostics = std::move(diagnostics.list);
    return result;
  }
  std::vector<SyntaxKernel> kernels =
      parseSyntax(result.module.text, diagnostics);
  std::set<std::string> names;
  for (const SyntaxKernel &kernel : kernels) {
    if (!names.insert(kernel.name.text).second)
      diagnostics.report("kernel-repeated", kernel.name.span,
                         fmt::format("kernel '{}' is declared twice",
                                     kernel.name.text));
    result.module.kernels.push_back(checkKernel(kernel, binds, diagnostics));
  }
  for (auto *list : {&diagnostics.list, &diagnostics.warnings})
    std::stable_sort(list->begin(), list->end(),
                     [](const Diagnostic &a, const Diagnostic &b) {
                       return a.span.begin < b.span.begin;
                     });
  // What an error hides may be what a warning misses.
  if (diagnostics.list.empty())
    result.warnings = std::move(diagnostics.warnings);
  result.diagnostics = std::move(diagnostics.list);
  return result;
}

/// No text and so no place: `why` is errno, or 0.
static ParseResult unreadable(const std::string &path, const std::string &what,
                              int why) {
  ParseResult result;
  result.module.path = path;
  std::string link = attn::danglingLink(path);
  result.diagnostics.push_back({"unreadable-file",
                                fmt::format("{}: {}", what,
                                            !link.empty() ? link
                                            : why         ? std::strerror(why)
                                                          : "not a regular file"),
                                {},
                                std::nullopt});
  return result;
}

ParseResult attn::spec::parseFile(const std::string &path, const Binds &binds) {
  errno = 0;
  if (path == "-") {
    std::string text;
    char block[65536];
    for (size_t n; (n = std::fread(block, 1, sizeof block, stdin)) > 0;)
      text.append(block, n);
    if (std::ferror(stdin))
      return unreadable("<stdin>", "cannot read standard input", errno);
    return parse("<stdin>", std::move(text), binds);
  }
  // A folder opens and reads as nothing.
  if (struct stat at {}; stat(path.c_str(), &at) == 0 && S_ISDIR(at.st_mode))
    return unreadable(path, fmt::format("cannot open '{}'", path), EISDIR);
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (file)
    text << file.rdbuf();
  if (!file || file.bad() || (text.fail() && !file.eof() && file.peek() != EOF))
    return unreadable(path, fmt::format("cannot open '{}'", path), errno);
  return parse(path, text.str(), binds);
}
