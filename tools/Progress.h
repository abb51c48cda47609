//===- Progress.h - what a run is doing, for who waits for it -------------===//
#ifndef ATTN_TOOLS_PROGRESS_H
#define ATTN_TOOLS_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace attn {

/// Tells the step that a run is in. On a terminal that is one line which the next
/// replaces. Elsewhere, where each line stays, a step is told only when it has lasted
/// a while, and again from time to time: short runs leave nothing in a log, and a long
/// one does not look hung.
class Progress {
public:
  struct Style {
    bool terminal = false;
    std::chrono::milliseconds first{10000}; ///< Until a step is told at all.
    std::chrono::milliseconds again{30000};
  };

  /// To stderr, in the name of `tool`.
  explicit Progress(const std::string &tool);
  /// `write` gets text to be shown as it is, from any thread.
  Progress(const std::string &tool, Style style,
           std::function<void(const std::string &)> write);
  ~Progress();

  /// A new step; "" when there is nothing to wait for.
  void step(const std::string &what);
  /// Which of its many short parts the step is at, each too short to be a step.
  void part(const std::string &which);
  /// The share of the step that is done, where that is known.
  void done(double share);
  /// Makes room for a line of output on a terminal; the step goes on.
  void makeRoom();

private:
  using Clock = std::chrono::steady_clock;

  void watch();
  std::string line(Clock::time_point now) const;

  const std::string tool;
  const Style style;
  const std::function<void(const std::string &)> write;
  std::mutex mutex;
  std::condition_variable changed;
  std::string what, which;
  double share = -1; ///< -1: not known.
  Clock::time_point start, due;
  bool ending = false;
  std::thread watcher; ///< Last: it uses the rest.
};

} // namespace attn

#endif // ATTN_TOOLS_PROGRESS_H
