//===- Links.cpp - links whose file is not there --------------------------===//

#include "lib/Spec/Links.h"

#include "lib/Spec/Printable.h"

#include <fmt/format.h>

#include <filesystem>

namespace fs = std::filesystem;

std::string attn::danglingLink(const std::string &path) {
  fs::path part;
  for (const fs::path &name : fs::path(path)) {
    part /= name;
    std::error_code error, ignored;
    if (!fs::is_symlink(fs::symlink_status(part, ignored)) || fs::exists(part, error))
      continue;
    std::string link = spec::printable(part.string());
    if (error == std::errc::too_many_symbolic_link_levels)
      return fmt::format("'{}' is a link that leads back to itself; remove it", link);
    return fmt::format("'{}' is a link to '{}', which is not there; make that, or remove "
                       "the link",
                       link, spec::printable(fs::read_symlink(part, ignored).string()));
  }
  return "";
}
