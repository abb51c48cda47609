//===- ProgressTest.cpp - what a long run tells, and when ------------===//

#include "tools/Progress.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace std::chrono_literals;

namespace {
/// All that is written, from the watcher's thread too.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;

  std::function<void(const std::string &)> writer() {
    return [this](const std::string &text) {
      std::lock_guard<std::mutex> lock(mutex);
      lines.push_back(text);
    };
  }
  /// Waits for `count` of them, for ten seconds at most.
  std::vector<std::string> wait(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        std::lock_guard<std::mutex> lock(mutex);
        if (lines.size() >= count)
          return lines;
      }
      std::this_thread::sleep_for(10ms);
    }
    return lines;
  }
};

TEST(Progress, ALogHearsOfStepsThatLast) {
  Log log;
  Progress progress("attn-bench", {false, 50ms, 20ms}, log.writer());
  progress.step("flash: checking");
  progress.done(0.456);
  std::vector<std::string> lines = log.wait(2);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[0], "attn-bench: flash: checking, 46 % done (0 s)\n");
  EXPECT_EQ(lines[1], lines[0]);
}

TEST(Progress, AStepOfManyShortPartsLasts) {
  Log log;
  Progress progress("attn-check", {false, 50ms, 20ms}, log.writer());
  progress.step("causal");
  for (int i = 0; i < 300 && log.wait(0).empty(); ++i) {
    progress.part("case 7 of 40, flash");
    std::this_thread::sleep_for(10ms);
  }
  ASSERT_FALSE(log.wait(0).empty());
  EXPECT_EQ(log.lines[0], "attn-check: causal: case 7 of 40, flash (0 s)\n");
}

TEST(Progress, OutputFindsTheTerminalsLineEmpty) {
  Log log;
  Progress progress("attn-check", {true, 10000ms, 10000ms}, log.writer());
  progress.makeRoom(); // Of no step.
  progress.step("causal");
  progress.makeRoom();
  EXPECT_EQ(log.wait(2), (std::vector<std::string>{"\r\033[Kcausal ...", "\r\033[K"}));
}

TEST(Progress, ALogHearsNothingOfShortSteps) {
  Log log;
  {
    Progress progress("attn-bench", {false, 10000ms, 20ms}, log.writer());
    for (const char *step : {"making inputs", "flash: timing", ""})
      progress.step(step);
  }
  EXPECT_EQ(log.lines, std::vector<std::string>());
}

TEST(Progress, NothingIsToldWhenNothingIsWaitedFor) {
  Log log;
  Progress progress("attn-bench", {false, 1ms, 1ms}, log.writer());
  progress.step("flash: timing");
  log.wait(1);
  progress.step("");
  size_t told = log.wait(1).size();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(log.wait(1).size(), told);
}

TEST(Progress, ATerminalShowsEachStepInPlaceOfTheLast) {
  Log log;
  Progress progress("attn-bench", {true, 10000ms, 10000ms}, log.writer());
  progress.step("making inputs");
  progress.step("");
  EXPECT_EQ(log.wait(2), (std::vector<std::string>{"\r\033[Kmaking inputs ...",
                                                   "\r\033[K"}));
}
} // namespace
