//===- Compile.cpp - asking attnc for a bundle ----------------------------===//

#include "tools/attn-bench/Compile.h"

#include "lib/Bundle/Interrupt.h"
#include "tools/attn-bench/Options.h"

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn;
using namespace attn::bench;

extern char **environ;

/// `name` beside this executable, else its bare name for a search on PATH.
static std::string toolPath(const std::string &name) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    std::string path(self, size_t(length));
    path = path.substr(0, path.rfind('/') + 1) + name;
    if (access(path.c_str(), X_OK) == 0)
      return path;
  }
  return name;
}

static std::vector<char *>
argumentVector(std::string &path, const std::vector<std::string> &list) {
  std::vector<char *> argv{path.data()};
  for (const std::string &argument : list)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

/// Ends with this process when that is interrupted, having tidied up itself.
static int waitFor(pid_t child) {
  bundle::OnInterrupt interrupted([child] {
    kill(child, SIGTERM);
    siginfo_t ended{};
    waitid(P_PID, id_t(child), &ended, WEXITED | WNOWAIT);
  });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void attn::bench::runCompiler(const std::vector<std::string> &arguments) {
  std::string path = toolPath("attnc");
  std::vector<char *> argv = argumentVector(path, arguments);

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

  int status = waitFor(child);
  if (WIFSIGNALED(status))
    throw InputError(fmt::format("attnc was ended by signal {} ({})",
                                 WTERMSIG(status),
                                 strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) == 1)
    throw SpecError("attnc made no bundle; its reason stands above. Options of attnc "
                    "that attn-bench lacks: make the bundle with attnc, then run "
                    "attn-bench on its folder");
  if (WEXITSTATUS(status) != 0)
    throw InputError("attnc made no bundle; its reason stands above");
}

std::string attn::bench::printIr(const std::vector<std::string> &arguments) {
  std::string path = toolPath("attn-opt");
  std::vector<char *> argv = argumentVector(path, arguments);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw InputError(
        fmt::format("cannot start attn-opt: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  pid_t child = 0;
  int error = posix_spawnp(&child, path.c_str(), &actions, nullptr, argv.data(),
                           environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    throw InputError(
        error == ENOENT
            ? "attn-opt is neither beside attn-bench nor on PATH"
            : fmt::format("cannot start attn-opt: {}", std::strerror(error)));
  }
  std::string text;
  char block[1 << 16];
  for (ssize_t n; (n = read(ends[0], block, sizeof block)) != 0;) {
    if (n > 0)
      text.append(block, size_t(n));
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  int status = waitFor(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw InputError("attn-opt refused this spec and level");
  return text;
}
