//===- ScratchFolder.h - a folder that does not outlive its use -----------===//
#ifndef ATTN_LIB_BUNDLE_SCRATCHFOLDER_H
#define ATTN_LIB_BUNDLE_SCRATCHFOLDER_H

#include "lib/Bundle/Interrupt.h"

#include <memory>
#include <string>

namespace attn::bundle {

/// A new folder, removed with all it holds when the object goes or the process is
/// interrupted. What was renamed away in time stays.
class ScratchFolder {
public:
  /// `prefix`, then six characters that make it new. Throws std::runtime_error.
  explicit ScratchFolder(const std::string &prefix);
  ~ScratchFolder();
  const std::string &path() const { return folder; }
  /// Gives it the permissions of any new folder; until then it is its owner's.
  void share() const;

private:
  std::string folder;
  OnInterrupt interrupted;
};

/// A folder that stands beside nothing, in $TMPDIR, else /tmp: NAME-.... Null where none
/// can be made, with `why`, a fix in it.
std::unique_ptr<ScratchFolder> makeTemporary(const std::string &name, std::string &why);

/// Why none can be made; "" when one can.
std::string temporaryProblem();

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_SCRATCHFOLDER_H
