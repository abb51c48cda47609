//===- ScheduleChooseTest.cpp - which schedule a problem gets ------------===//

#include "test/Unit/ScheduleProblems.h"

using namespace attn;

TEST(Choose, PointwiseTakesWholeRowsOfLanes) {
  Problem problem;
  problem.kind = KernelKind::Pointwise;
  Schedule onGpu = chosen(problem, gpu()), onCpu = chosen(problem, cpu());
  EXPECT_EQ(onGpu.columns, 512);
  EXPECT_EQ(onGpu.rows, onGpu.warps);
  EXPECT_EQ(onCpu.columns, 512);
  EXPECT_EQ(onCpu.warps, 1);
  expectWellFormed(problem, onGpu, gpu());
}

TEST(Choose, SoftmaxRowsShrinkWhenTheScoresNeedRegisters) {
  Problem problem;
  problem.kind = KernelKind::Rows;
  problem.work = 12;
  EXPECT_EQ(chosen(problem, gpu()).columns, 2048);
  problem.work = 13;
  EXPECT_EQ(chosen(problem, gpu()).columns, 512);
  problem.work = 11;
  problem.uneven = true; // Bounds of live keys take some as well.
  EXPECT_EQ(chosen(problem, gpu()).columns, 512);
  EXPECT_EQ(chosen(problem, cpu()).columns, 1024);
}

TEST(Choose, ShortSummedAxisIsOneStep) {
  Schedule s = chosen(matmul(64, 0), gpu());
  EXPECT_EQ(s.depth, 64);
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.columns, 128);
  // Rounded up to what the instruction takes.
  EXPECT_EQ(chosen(matmul(40, 0), gpu()).depth, 48);
  EXPECT_EQ(chosen(matmul(128, 0), gpu()).depth, 128);
}

TEST(Choose, LongSummedAxisStreamsInStages) {
  for (int64_t contracted : {0, 129, 4096}) {
    Schedule s = chosen(matmul(contracted, 64), gpu());
    EXPECT_EQ(s.depth, 64) << contracted;
    EXPECT_EQ(s.stages, 3) << contracted;
    EXPECT_EQ(s.columns, 64) << contracted;
  }
}

TEST(Choose, FloatMatmulRunsOnOrdinaryCores) {
  Schedule s = chosen(matmul(0, 0, 4), gpu());
  EXPECT_EQ(s.rows, 128);
  EXPECT_EQ(s.warps, 8);
  EXPECT_EQ(s.depth, 32);
  EXPECT_EQ(s.columns, 64);
  EXPECT_EQ(s.stages, 2);
}

TEST(Choose, MatmulOnTheCpuNeedsNoStages) {
  Schedule s = chosen(matmul(4096, 256), cpu());
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.columns, 64);
  EXPECT_EQ(s.depth, 64);
}

TEST(Choose, FlashStagesFollowTheLevel) {
  EXPECT_EQ(chosen(flash(64, 64), gpu()).stages, 1);
  EXPECT_EQ(chosen(flash(64, 64), gpu(true)).stages, 2);
  EXPECT_EQ(chosen(flash(64, 64), cpu()).stages, 1);
}

TEST(Choose, FlashOutputTileCoversTheValues) {
  EXPECT_EQ(chosen(flash(64, 64), gpu()).outColumns, 64);
  EXPECT_EQ(chosen(flash(64, 40), gpu()).outColumns, 48);
  EXPECT_EQ(chosen(flash(192, 128), gpu()).outColumns, 128);
  // Beyond 256 columns the output is made in several blocks.
  EXPECT_EQ(chosen(flash(64, 512), gpu()).outColumns, 128);
}

TEST(Choose, WideHeadsGetFewerKeys) {
  EXPECT_EQ(chosen(flash(128, 128), gpu()).columns, 64);
  EXPECT_EQ(chosen(flash(144, 128), gpu()).columns, 32);
  EXPECT_EQ(chosen(flash(64, 256), gpu()).columns, 32);
  EXPECT_EQ(chosen(flash(64, 64, 4), gpu()).columns, 16);
}

TEST(Choose, SharedBytesCountEveryOperand) {
  Schedule s = chosen(flash(64, 64), gpu(true));
  // Queries once, keys and values in each of two stages.
  EXPECT_EQ(sharedBytes(flash(64, 64), s), (64 * 64 + 2 * 64 * 128) * 2);
  s = chosen(matmul(4096, 64), gpu());
  EXPECT_EQ(sharedBytes(matmul(4096, 64), s), 3 * (64 + 64) * 64 * 2);
  EXPECT_EQ(sharedBytes({KernelKind::Rows}, s), 0);
  EXPECT_EQ(sharedBytes({KernelKind::Pointwise}, s), 0);
}

// Stages beyond two go first, then a matmul's depth, keys, the second stage,
// and rows last.
TEST(Choose, GivesUpInOrder) {
  Problem m = matmul(4096, 128); // 3 stages of (64 + 128) x 64 of 2 bytes
  int64_t stage = (64 + 128) * 64 * 2;
  EXPECT_EQ(chosen(m, gpu(false, 3 * stage)).stages, 3);
  Schedule s = chosen(m, gpu(false, 3 * stage - 1));
  EXPECT_EQ(s.stages, 2);
  EXPECT_EQ(s.depth, 64);
  s = chosen(m, gpu(false, 2 * stage - 1));
  EXPECT_EQ(s.stages, 2);
  EXPECT_EQ(s.depth, 32);
  EXPECT_EQ(s.columns, 128);

  Problem f = flash(64, 64); // 64 queries, 2 stages of 64 x 128 of 2 bytes
  int64_t query = 64 * 64 * 2, step = 128 * 2;
  s = chosen(f, gpu(true, query + 2 * 64 * step));
  EXPECT_EQ(s.columns, 64);
  s = chosen(f, gpu(true, query + 2 * 64 * step - 1));
  EXPECT_EQ(s.columns, 32);
  EXPECT_EQ(s.stages, 2);
  s = chosen(f, gpu(true, query + 2 * 16 * step - 1));
  EXPECT_EQ(s.columns, 16);
  EXPECT_EQ(s.stages, 1);
  EXPECT_EQ(s.rows, 64);
  s = chosen(f, gpu(true, query + 16 * step - 1));
  EXPECT_EQ(s.rows, 32);
  EXPECT_EQ(s.warps, 2);
}

TEST(Choose, EveryHeadLengthFitsOrSaysWhy) {
  for (int bytes : {2, 4})
    for (bool pipelined : {false, true})
      for (int64_t contracted = 1; contracted <= 1100; contracted += 7)
        for (int64_t columns : {1, 8, 64, 100, 256, 300, 1024}) {
          Problem problem = flash(contracted, columns, bytes);
          auto result = choose(problem, gpu(pipelined));
          if (auto *s = std::get_if<Schedule>(&result))
            expectWellFormed(problem, *s, gpu(pipelined));
          else
            EXPECT_GT(contracted, 256);
          expectWellFormed(problem, chosen(problem, cpu()), cpu());
          problem.kind = KernelKind::Matmul;
          expectWellFormed(problem, chosen(problem, gpu(pipelined)),
                           gpu(pipelined));
        }
}

TEST(Choose, UnknownLengthsOfFlashNameTheFix) {
  EXPECT_EQ(refused(flash(0, 64), gpu()),
            "the axis summed by the first matmul must have a known length; add "
            "it to the where clause or pass --bind AXIS=LENGTH");
  EXPECT_EQ(refused(flash(64, 0), cpu()),
            "the last axis of the value tensor must have a known length; add "
            "it to the where clause or pass --bind AXIS=LENGTH");
}

TEST(Choose, WhatCannotFitNamesAChangeThatFits) {
  std::string reason = refused(flash(2048, 64), gpu());
  EXPECT_EQ(reason, "needs 133120 bytes of shared memory, the target allows "
                    "101376; the smallest change that fits is a head dimension "
                    "of at most 1552");
  chosen(flash(1552, 64), gpu());
  EXPECT_NE(refused(flash(1568, 64), gpu()), "");
}
