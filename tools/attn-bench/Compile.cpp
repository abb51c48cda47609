//===- Compile.cpp - asking attnc for a bundle ----------------------------===//

#include "tools/attn-bench/Compile.h"

#include "tools/attn-bench/Options.h"

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::bench;

extern char **environ;

/// attnc beside this executable, else its bare name for a search on PATH.
static std::string compilerPath() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    std::string path(self, size_t(length));
    path = path.substr(0, path.rfind('/') + 1) + "attnc";
    if (access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "attnc";
}

void attn::bench::runCompiler(const std::vector<std::string> &arguments) {
  std::string path = compilerPath();
  std::vector<char *> argv{path.data()};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  // What attnc says belongs to stderr: stdout is for the table or the JSON.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  int error = posix_spawnp(&child, path.c_str(), &actions, nullptr, argv.data(),
                           environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw InputError(
        "a spec needs the compiler, but attnc is neither beside attn-bench nor "
        "on PATH; build it, or give a bundle made elsewhere");
  if (error)
    throw InputError(
        fmt::format("cannot start {}: {}", path, std::strerror(error)));

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    throw InputError(fmt::format("attnc was ended by signal {} ({})",
                                 WTERMSIG(status),
                                 strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0)
    throw InputError("attnc made no bundle; its reason stands above");
}
