//===- Progress.cpp - what a run is doing, for who waits for it -----------===//

#include "tools/Progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

using namespace attn;

static constexpr const char *kClearLine = "\r\033[K";
/// How often a terminal's line is drawn again.
static constexpr std::chrono::milliseconds kRedraw{1000};

Progress::Progress(const std::string &tool)
    : Progress(tool, {isatty(STDERR_FILENO) == 1, Style().first, Style().again},
               [](const std::string &text) {
                 std::fputs(text.c_str(), stderr);
                 std::fflush(stderr);
               }) {}

Progress::Progress(const std::string &tool, Style style,
                   std::function<void(const std::string &)> write)
    : tool(tool), style(style), write(std::move(write)), watcher([this] { watch(); }) {}

Progress::~Progress() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
  }
  changed.notify_all();
  watcher.join();
}

void Progress::step(const std::string &next) {
  std::lock_guard<std::mutex> lock(mutex);
  if (style.terminal)
    write(next.empty() ? kClearLine : fmt::format("{}{} ...", kClearLine, next));
  what = next;
  which.clear();
  share = -1;
  start = Clock::now();
  due = start + (style.terminal ? kRedraw : style.first);
  changed.notify_all();
}

void Progress::part(const std::string &next) {
  std::lock_guard<std::mutex> lock(mutex);
  which = next;
  share = -1;
}

void Progress::done(double part) {
  std::lock_guard<std::mutex> lock(mutex);
  share = part;
}

void Progress::makeRoom() {
  std::lock_guard<std::mutex> lock(mutex);
  if (style.terminal && !what.empty())
    write(kClearLine);
}

std::string Progress::line(Clock::time_point now) const {
  std::string text = which.empty() ? what : what + ": " + which;
  if (share >= 0)
    text += fmt::format(", {:.0f} % done", 100 * share);
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start);
  text += fmt::format(" ({} s)", seconds.count());
  return style.terminal ? kClearLine + text + " ..." : tool + ": " + text + "\n";
}

void Progress::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!ending) {
    if (what.empty()) {
      changed.wait(lock);
      continue;
    }
    changed.wait_until(lock, due);
    Clock::time_point now = Clock::now();
    if (ending || what.empty() || now < due)
      continue;
    write(line(now));
    due = now + (style.terminal ? kRedraw : style.again);
  }
}
