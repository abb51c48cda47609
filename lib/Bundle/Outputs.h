//===- Outputs.h - what a run must not write over -------------------------===//
#ifndef ATTN_LIB_BUNDLE_OUTPUTS_H
#define ATTN_LIB_BUNDLE_OUTPUTS_H

#include <string>
#include <vector>

namespace attn::bundle {

/// A file that an option asks for: {"--json", "out.json"}.
struct OutputFile {
  std::string option, path;
  bool isJson = false; ///< Replaces nothing but JSON.
};

/// Whether a bundle has files of that name: what attnc writes.
bool isBundleFile(const std::string &name);

/// Why one of `outputs` must not be written, with a fix: it is one of `inputs`, or a
/// file of one that is a bundle, or two options name one file, or there is a spec, or
/// something other than JSON where JSON would go: no tool wrote that, or a link that
/// leads nowhere. Files are told
/// by identity, so links are seen through; pipes and devices are never in the way. ""
/// when all may be written.
std::string writesOver(const std::vector<OutputFile> &outputs,
                       const std::vector<std::string> &inputs);

/// Whether two paths lead to the same file or folder, there or not yet.
bool sameFile(const std::string &a, const std::string &b);

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_OUTPUTS_H
