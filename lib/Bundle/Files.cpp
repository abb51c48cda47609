//===- Files.cpp - whole files, read and written --------------------------===//

#include "lib/Bundle/Manifest.h"

#include "lib/Spec/Links.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

[[noreturn]] static void fail(const char *what, const std::string &path,
                              int error) {
  std::string link = attn::danglingLink(path);
  throw std::runtime_error(fmt::format("cannot {} '{}': {}", what, path,
                                       link.empty() ? std::strerror(error) : link));
}

/// 0 or the reason. Closes the file.
static int writeAll(int file, const std::string &contents) {
  size_t done = 0;
  int error = 0;
  while (done < contents.size() && !error) {
    ssize_t n = write(file, contents.data() + done, contents.size() - done);
    if (n >= 0)
      done += size_t(n);
    else if (errno != EINTR)
      error = errno;
  }
  if (close(file) != 0 && !error)
    error = errno;
  return error;
}

void attn::bundle::writeFileAtomically(const std::string &path,
                                       const std::string &contents) {
  // A pipe or a device is written to, never replaced.
  struct stat there {};
  bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      fail("write", path, errno);
    if (int error = writeAll(file, contents))
      fail("write", path, error);
    return;
  }
  // What a link points to is replaced, not the link.
  std::string target = path;
  if (char *real = exists ? realpath(path.c_str(), nullptr) : nullptr) {
    target = real;
    std::free(real);
  }
  // The process id keeps two writers of one path from sharing a file.
  std::string beside = fmt::format("{}.{}.tmp", target, getpid());
  int file =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    fail("write", path, errno);
  int error = writeAll(file, contents);
  if (!error && rename(beside.c_str(), target.c_str()) != 0)
    error = errno;
  if (error) {
    unlink(beside.c_str());
    fail("write", path, error);
  }
}

std::string attn::bundle::readFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail("read", path, errno);
  std::string contents;
  char block[1 << 16];
  int error = 0;
  for (;;) {
    ssize_t n = read(file, block, sizeof block);
    if (n > 0) {
      contents.append(block, size_t(n));
    } else if (n == 0) {
      break;
    } else if (errno != EINTR) {
      error = errno;
      break;
    }
  }
  close(file);
  if (error)
    fail("read", path, error);
  return contents;
}
