//===- ScheduleAttr.cpp - a schedule in the IR ----------------------------===//

#include "lib/Schedule/ScheduleAttr.h"

#include "dialect/Attn/Attn.h"

#include <fmt/format.h>

using namespace mlir;
using namespace attn;

DictionaryAttr attn::scheduleAttr(OpBuilder &b, const Schedule &schedule) {
  SmallVector<NamedAttribute> fields;
  for (const ScheduleField &field : scheduleFields())
    fields.push_back(b.getNamedAttr(
        field.name, b.getI64IntegerAttr(schedule.*field.member)));
  return b.getDictionaryAttr(fields);
}

DictionaryAttr attn::problemAttr(OpBuilder &b, const Problem &problem) {
  auto entry = [&](const char *name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  return b.getDictionaryAttr(
      {entry("contracted", problem.contracted), entry("columns", problem.columns),
       entry("bytes", problem.bytes), entry("f32", problem.f32),
       entry("work", problem.work), entry("special", problem.special),
       entry("tanh", problem.tanh), entry("softmax", problem.softmax),
       entry("lse", problem.lse), entry("wide", problem.wide),
       entry("bf16", problem.bf16), entry("bounded", problem.bounded),
       entry("boxes", problem.boxes), entry("captured", problem.captured),
       entry("uneven", problem.uneven), entry("apart", problem.apart),
       entry("window", problem.window)});
}

FailureOr<Schedule> attn::readSchedule(KernelOp kernel) {
  auto attribute = kernel->getAttrOfType<DictionaryAttr>("schedule");
  if (!attribute)
    return kernel.emitError("has no schedule; run attn-choose-schedule first");
  Schedule schedule;
  for (const ScheduleField &field : scheduleFields())
    if (auto value = attribute.getAs<IntegerAttr>(field.name))
      schedule.*field.member = value.getInt();
  bool positive = schedule.rows > 0 && schedule.columns > 0 &&
                  schedule.depth > 0 && schedule.warps > 0 &&
                  schedule.warps <= 32 && schedule.vector > 0 &&
                  schedule.stages > 0 && schedule.stages <= 8 &&
                  schedule.rows <= 1024 && schedule.columns <= 4096 &&
                  schedule.depth <= 1024 && schedule.outColumns >= 0 &&
                  schedule.outColumns <= 1024 && schedule.groups >= 0 &&
                  schedule.groups <= 4 && schedule.vote >= 0 &&
                  schedule.vote <= 2 && schedule.turns >= 0 &&
                  schedule.turns <= 2 && schedule.persistent >= 0 &&
                  schedule.persistent <= 2 && schedule.queries >= 1 &&
                  schedule.queries <= 2 && schedule.cluster >= 1 &&
                  schedule.cluster <= 2 && schedule.polynomial >= 0 &&
                  schedule.polynomial <= 8 && schedule.packed >= 0 &&
                  schedule.packed <= 8;
  for (int64_t flag :
       {schedule.producer, schedule.rotate, schedule.staged, schedule.held,
        schedule.sums, schedule.tanh})
    positive &= flag == 0 || flag == 1;
  if (!positive)
    return kernel.emitError("schedule is out of range: 1 to 32 warps, 1 to 8 "
                            "stages, positive tiles of at most 1024 rows, at most 4 groups");
  return schedule;
}

std::string attn::describeSchedule(const Schedule &s, KernelKind kind) {
  if (s.groups > 0) {
    std::string text = fmt::format("{} group{} x {}x{}, ", s.groups,
                                   s.groups == 1 ? "" : "s", s.rows, s.columns);
    if (kind == KernelKind::Matmul)
      text += fmt::format("depth {}, ", s.depth);
    text += fmt::format("{} stage{}", s.stages, s.stages == 1 ? "" : "s");
    if (s.vote)
      text += s.vote == 1 ? ", vote" : ", frozen";
    if (s.turns)
      text += fmt::format(", turns {}", s.turns);
    if (s.persistent)
      text += s.persistent == 1 ? ", persistent" : ", dynamic tiles";
    if (s.queries > 1)
      text += ", queries ahead";
    if (s.cluster > 1)
      text += fmt::format(", cluster {}", s.cluster);
    if (s.held)
      text += ", queries held";
    if (s.polynomial)
      text += fmt::format(", polynomial {}", s.polynomial);
    if (s.packed)
      text += fmt::format(", packed {}", s.packed);
    if (s.sums)
      text += ", sums by product";
    if (s.tanh)
      text += ", short tanh";
    if (!s.producer)
      text += s.rotate ? ", rotated" : ", plain order";
    return text;
  }
  std::string text = fmt::format("tile {}x{}, {} warp{}", s.rows, s.columns,
                                 s.warps, s.warps == 1 ? "" : "s");
  if (kind == KernelKind::Matmul)
    text += fmt::format(", depth {}", s.depth);
  if (kind == KernelKind::Matmul || kind == KernelKind::Flash)
    text += fmt::format(", {} stage{}", s.stages, s.stages == 1 ? "" : "s");
  return text;
}

std::string attn::kernelFingerprint(KernelOp kernel, KernelKind kind,
                                    const Schedule &s, bool tf32) {
  Type element = cast<RankedTensorType>(kernel->getResult(0).getType()).getElementType();
  bool matmul = kind == KernelKind::Matmul || kind == KernelKind::Flash;
  for (MatmulOp op : kernel.getBody().getOps<MatmulOp>()) {
    element = cast<RankedTensorType>(op.getA().getType()).getElementType();
    break;
  }
  std::string dtype;
  llvm::raw_string_ostream(dtype) << element;
  std::string unit = !matmul            ? ""
                     : s.groups > 0     ? "_wgmma"
                     : !element.isF32() ? "_mma16816"
                     : tf32             ? "_mma1688tf32"
                                        : "_fma";
  return fmt::format("{}_{}_{}x{}{}", kernel.getLabel().str(), dtype, s.rows,
                     s.columns, unit);
}
