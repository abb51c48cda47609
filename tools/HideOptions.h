//===- HideOptions.h - a tool's help without its libraries' options -------===//
#ifndef ATTN_TOOLS_HIDEOPTIONS_H
#define ATTN_TOOLS_HIDEOPTIONS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace attn {

/// Moves the options registered so far from --help to --help-hidden, but for those
/// of `kept`. (llvm::cl::HideUnrelatedOptions takes them from both.)
inline void hideOptions(const llvm::cl::OptionCategory *kept = nullptr) {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option &option = *entry.second;
    bool stays = llvm::any_of(option.Categories, [&](llvm::cl::OptionCategory *of) {
      return of == kept || of->getName() == "Generic Options"; // --help itself.
    });
    if (!stays && option.getOptionHiddenFlag() == llvm::cl::NotHidden)
      option.setHiddenFlag(llvm::cl::Hidden);
  }
}

} // namespace attn

#endif // ATTN_TOOLS_HIDEOPTIONS_H
