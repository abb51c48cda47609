//===- Interrupt.cpp - what to undo when a user stops the program ---------===//

#include "lib/Bundle/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace attn::bundle;

namespace {
/// Never destroyed: the thread that waits for signals outlives main.
struct Watch {
  std::mutex mutex;
  std::list<std::function<void()>> undo;
  int ends[2] = {-1, -1};

  Watch();
  void wait();
};
} // namespace

static int gSignalled = -1; ///< The pipe's end that the handler writes.

extern "C" void attnInterrupted(int signal) {
  int kept = errno;
  char number = char(signal);
  if (write(gSignalled, &number, 1) < 0) {
  } // Full: a signal is on its way already.
  errno = kept;
}

Watch::Watch() {
  if (pipe2(ends, O_CLOEXEC) != 0)
    return; // Signals then end the process at once.
  gSignalled = ends[1];
  // A reader that goes away ends a program as a user does.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = attnInterrupted;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
  std::thread([this] { wait(); }).detach();
}

void Watch::wait() {
  char number = 0;
  ssize_t n;
  while ((n = read(ends[0], &number, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto at = undo.rbegin(); at != undo.rend(); ++at)
    (*at)();
  std::signal(number, SIG_DFL);
  kill(getpid(), number);
}

static Watch &watch() {
  static Watch *const one = new Watch;
  return *one;
}

OnInterrupt::OnInterrupt(std::function<void()> undo,
                         const std::function<void()> &begin) {
  Watch &w = watch();
  std::lock_guard<std::mutex> lock(w.mutex); // A signal waits for it.
  begin();
  place = w.undo.insert(w.undo.end(), std::move(undo));
}

OnInterrupt::~OnInterrupt() {
  Watch &w = watch();
  std::lock_guard<std::mutex> lock(w.mutex);
  w.undo.erase(place);
}
