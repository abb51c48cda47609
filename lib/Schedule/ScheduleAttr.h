//===- ScheduleAttr.h - a schedule in the IR ------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_SCHEDULEATTR_H
#define ATTN_LIB_SCHEDULE_SCHEDULEATTR_H

#include "lib/Schedule/Kernels.h"

namespace attn {

/// `schedule = {rows = 128 : i64, ...}` on an attn.kernel.
mlir::DictionaryAttr scheduleAttr(mlir::OpBuilder &b, const Schedule &schedule);
/// What of a flash problem decides its schedule, under the names of its members.
mlir::DictionaryAttr problemAttr(mlir::OpBuilder &b, const Problem &problem);
/// Fails with an error on the kernel when the attribute is missing or wrong.
mlir::FailureOr<Schedule> readSchedule(KernelOp kernel);

/// "tile 128x64, 4 warps, 2 stages".
std::string describeSchedule(const Schedule &schedule, KernelKind kind);
/// Label, dtype, tile and instruction: a kernel's name tells what it is.
std::string kernelFingerprint(KernelOp kernel, KernelKind kind,
                              const Schedule &schedule, bool tf32);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SCHEDULEATTR_H
