//===- Scratch.h - where an assembler's or linker's files stand -----------===//
#ifndef ATTN_LIB_CODEGEN_SCRATCH_H
#define ATTN_LIB_CODEGEN_SCRATCH_H

#include "lib/Bundle/ScratchFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <memory>
#include <stdexcept>

namespace attn {

/// A folder among the temporary ones, gone with the object or after an interrupt;
/// null, with `why`, where none can be made.
inline std::unique_ptr<bundle::ScratchFolder> makeScratch(std::string &why) {
  llvm::SmallString<128> prefix;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, prefix);
  llvm::sys::path::append(prefix, "attn-");
  try {
    return std::make_unique<bundle::ScratchFolder>(prefix.str().str());
  } catch (const std::runtime_error &problem) {
    why = problem.what();
    return nullptr;
  }
}

} // namespace attn

#endif // ATTN_LIB_CODEGEN_SCRATCH_H
