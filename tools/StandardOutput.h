//===- StandardOutput.h - what a tool says when nobody can be told --------===//
#ifndef ATTN_TOOLS_STANDARDOUTPUT_H
#define ATTN_TOOLS_STANDARDOUTPUT_H

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

namespace attn {

/// At exit, standard output that could not be written (closed, a full disk) is one
/// line and exit code 2. LLVM's own stream would abort instead; --help and --version
/// leave by exit(), so only a handler sees all ways out.
inline void checkStandardOutput(const char *tool) {
  static const char *name = nullptr;
  name = tool;
  llvm::outs(); // Made before the handler, and so destroyed after it.
  std::atexit([] {
    llvm::outs().flush();
    if (!llvm::outs().has_error())
      return;
    std::string why = llvm::outs().error().message();
    llvm::outs().clear_error();
    llvm::errs() << name << ": error: cannot write to standard output: " << why
                 << "\n";
    llvm::errs().flush();
    _exit(2);
  });
}

} // namespace attn

#endif // ATTN_TOOLS_STANDARDOUTPUT_H
