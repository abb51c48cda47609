//===- ScratchFolder.cpp - a folder that does not outlive its use ---------===//

#include "lib/Bundle/ScratchFolder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>

using namespace attn::bundle;

static void make(std::string &folder) {
  if (!mkdtemp(folder.data()))
    throw std::runtime_error(fmt::format("cannot make a folder {}: {}", folder,
                                         std::strerror(errno)));
}

static void remove(const std::string &folder) {
  // Again, since another thread may just be writing a file there.
  std::error_code error;
  for (int i = 0; i < 5; ++i)
    if (std::filesystem::remove_all(folder, error); !error)
      return;
}

ScratchFolder::ScratchFolder(const std::string &prefix)
    : folder(prefix + "XXXXXX"), // mkdtemp's wild cards.
      interrupted([this] { remove(folder); }, [this] { make(folder); }) {}

ScratchFolder::~ScratchFolder() { remove(folder); }

static std::string temporaryFolder() {
  // In the order of the compiler's libraries.
  for (const char *name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (const char *folder = std::getenv(name); folder && *folder)
      return folder;
  return "/tmp";
}

std::unique_ptr<ScratchFolder> attn::bundle::makeTemporary(const std::string &name,
                                                           std::string &why) {
  std::string base = temporaryFolder();
  try {
    return std::make_unique<ScratchFolder>(base + "/" + name + "-");
  } catch (const std::runtime_error &error) {
    std::string reason = error.what();
    why = fmt::format("TMPDIR: temporary files cannot be written in '{}'{}; set TMPDIR "
                      "to a folder that can be written",
                      base, reason.substr(reason.rfind(": ")));
    return nullptr;
  }
}

std::string attn::bundle::temporaryProblem() {
  std::string why;
  makeTemporary("attn", why);
  return why;
}

void ScratchFolder::share() const {
  mode_t mask = umask(0);
  umask(mask);
  chmod(folder.c_str(), 0777 & ~mask);
}
