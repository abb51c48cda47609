//===- ScheduleProblems.h - problems for tests of schedules --------------===//
#ifndef ATTN_TEST_UNIT_SCHEDULEPROBLEMS_H
#define ATTN_TEST_UNIT_SCHEDULEPROBLEMS_H

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/MeasuredRows.h"

#include <gtest/gtest.h>

namespace attn {

inline Problem matmul(int64_t contracted, int64_t columns, int bytes = 2) {
  return {KernelKind::Matmul, contracted, columns, bytes, bytes == 4, 0};
}

inline Problem flash(int64_t contracted, int64_t columns, int bytes = 2) {
  return {KernelKind::Flash, contracted, columns, bytes, bytes == 4, 0};
}

inline ScheduleTarget cpu() { return {Unit::Cpu, 101376, false}; }
inline ScheduleTarget gpu(bool pipelined = false, int64_t shared = 101376) {
  return {Unit::MmaSync, shared, pipelined};
}

inline Schedule chosen(const Problem &problem, const ScheduleTarget &target) {
  auto result = choose(problem, target);
  if (auto *reason = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  return std::get<Schedule>(result);
}

inline std::string refused(const Problem &problem, const ScheduleTarget &target) {
  auto result = choose(problem, target);
  auto *reason = std::get_if<std::string>(&result);
  return reason ? *reason : "";
}

/// What every chosen schedule must keep so that the passes can obey it.
inline void expectWellFormed(const Problem &problem, const Schedule &s,
                             const ScheduleTarget &target) {
  EXPECT_GE(s.warps, 1);
  EXPECT_LE(s.warps, 32);
  EXPECT_GE(s.stages, 1);
  EXPECT_LE(s.stages, 8);
  if (problem.kind == KernelKind::Matmul || problem.kind == KernelKind::Flash) {
    EXPECT_EQ(s.columns % 16, 0);
    EXPECT_EQ(s.depth % 16, 0);
    EXPECT_EQ(s.outColumns % 16, 0);
    EXPECT_EQ(s.rows % 16, 0);
  }
  if (target.unit == Unit::Cpu)
    return;
  EXPECT_LE(sharedBytes(problem, s), target.sharedPerBlock);
  if (problem.kind == KernelKind::Matmul || problem.kind == KernelKind::Flash)
    EXPECT_EQ(s.rows % (16 * s.warps), 0);
  else
    EXPECT_EQ(s.columns % (32 * s.vector), 0);
}

/// A flash problem that the copy engine can fetch.
inline Problem boxed(int64_t depth, int64_t width, bool uneven) {
  Problem p;
  p.kind = KernelKind::Flash;
  p.contracted = depth;
  p.columns = width;
  p.boxes = true;
  p.uneven = uneven;
  return p;
}

inline const ScheduleTarget kHopper{Unit::Wgmma, 227 * 1024, /*pipelined=*/false};

inline std::variant<Schedule, std::string> chooseHopper(const Problem &p) {
  return choose(p, kHopper);
}

/// The same over a table of one row.
inline Schedule chooseHopper(const Problem &p, const MeasuredRow &row) {
  return std::get<Schedule>(choose(p, kHopper, {row}));
}

} // namespace attn

#endif // ATTN_TEST_UNIT_SCHEDULEPROBLEMS_H
