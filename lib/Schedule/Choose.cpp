//===- Choose.cpp - which tiles, warps and stages a kernel gets -----------===//

#include "lib/Schedule/Choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

using namespace attn;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

int64_t attn::sharedBytes(const Problem &problem, const Schedule &s) {
  switch (problem.kind) {
  case KernelKind::Pointwise:
  case KernelKind::Rows:
    return 0;
  case KernelKind::Matmul: {
    if (s.groups > 0) { // Slabs of 64 columns; signals besides.
      int64_t step = (64 * s.groups + roundUp(s.columns, 64)) * roundUp(s.depth, 64);
      int64_t result = s.staged ? 64 * s.groups * (s.columns + 8) : 0;
      return s.stages * step * problem.bytes + result * problem.resultBytes + 2048;
    }
    return s.stages * (s.rows + s.columns) * s.depth * problem.bytes;
  }
  case KernelKind::Flash: {
    if (s.groups > 0) { // Slabs of 64 columns; signals and a word besides.
      int64_t depth = roundUp(problem.contracted, 64);
      int64_t step = s.columns * (depth + roundUp(s.outColumns, 64));
      int64_t captured =
          s.producer && s.columns % 64 == 0
              ? 64 * s.groups * s.columns * problem.captured
              : 0;
      return (64 * s.groups * depth + s.stages * step) * problem.bytes +
             s.stages * captured + 1024;
    }
    int64_t query = s.rows * roundUp(problem.contracted, 16);
    int64_t step =
        s.columns * (roundUp(problem.contracted, 16) + s.outColumns);
    return (query + s.stages * step) * problem.bytes;
  }
  }
  return 0;
}

/// Row kernels and pointwise kernels move memory: a warp a row, 16-byte lanes.
/// A softmax reads its rows twice. With 64 elements a lane few enough rows are
/// under way at once for the second reading to find them in the L2 cache, unless
/// the score function and the bounds of live keys need the registers.
static Schedule chooseRows(const Problem &problem, const ScheduleTarget &target) {
  Schedule s;
  bool cpu = target.unit == Unit::Cpu, rows = problem.kind == KernelKind::Rows;
  s.warps = cpu ? 1 : 4;
  s.vector = 4;
  s.rows = cpu ? 8 : 4;
  int64_t most = problem.uneven ? 10 : 12;
  s.columns = !rows ? 512 : cpu ? 1024 : problem.work > most ? 512 : 2048;
  return s;
}

static Schedule chooseMatmul(const Problem &problem,
                             const ScheduleTarget &target) {
  Schedule s;
  // A short summed axis is taken in one step, a long one streams.
  bool oneStep = problem.contracted > 0 && problem.contracted <= 128;
  int64_t widest = problem.columns ? roundUp(problem.columns, 16) : 128;
  s.depth = oneStep ? roundUp(problem.contracted, 16) : 64;
  if (target.unit == Unit::Cpu) {
    s.rows = 64;
    s.columns = std::min<int64_t>(widest, 64);
    s.depth = std::min<int64_t>(s.depth, 64);
    return s;
  }
  // Small blocks, several a multiprocessor: one stores while another loads.
  s.rows = 64;
  s.columns = std::min<int64_t>(widest, 128);
  s.warps = 4;
  s.stages = oneStep ? 1 : 3;
  if (problem.f32) {
    s.rows = 128;
    s.warps = 8;
    s.depth = std::min<int64_t>(s.depth, 32);
    s.columns = std::min<int64_t>(s.columns, 64);
    s.stages = 2;
  }
  return s;
}

/// Warp groups on tiles that the copy engine brings. These kernels move memory:
/// a matrix of scores is written or read once, the other operands come from the
/// L2 cache, whose own rate asks for large tiles.
static Schedule chooseWgmmaMatmul(const Problem &problem,
                                  const ScheduleTarget &target) {
  Schedule s;
  s.rows = 64;
  s.warps = 4;
  s.persistent = 1;
  int64_t width = problem.columns ? roundUp(problem.columns, 16) : 128;
  // A short summed axis: a large result, written through shared memory.
  if (problem.contracted > 0 && problem.contracted <= 256) {
    s.groups = 2;
    s.columns = std::min<int64_t>(width, 128);
    s.depth = std::min<int64_t>(roundUp(problem.contracted, 16), 128);
    s.staged = problem.resultRows;
    s.stages = 4;
  } else {
    // A long one: four groups read the other operand half as often as two; 64 by
    // 256 sums, or work on the result, need the registers of two.
    s.columns = width <= 256 ? width : 128;
    s.groups = s.columns <= 128 && problem.work <= 4 ? 4 : 2;
    s.depth = 64;
    s.stages = 6;
  }
  while (s.stages > 1 && sharedBytes(problem, s) > target.sharedPerBlock)
    --s.stages;
  return s;
}

/// Flash tiles: the accumulator of rows x outColumns and the scores of rows x
/// columns live in registers, so wide outputs get fewer rows and keys.
static Schedule chooseFlash(const Problem &problem,
                            const ScheduleTarget &target) {
  Schedule s;
  int64_t width = problem.columns ? roundUp(problem.columns, 16) : 128;
  s.outColumns = width <= 256 ? width : 128;
  s.stages = target.pipelined ? 2 : 1;
  if (target.unit == Unit::Cpu) {
    s.rows = 64;
    s.columns = 64;
    s.stages = 1;
    return s;
  }
  int64_t largest = std::max(roundUp(problem.contracted, 16), s.outColumns);
  // Measured on an H200 (2026-12-01, causal bf16 B4 H16 L4096, time relative to
  // FlashAttention-2 in the same run): 64x64, 4 warps: 0.98 at D64, 1.01 at D128;
  // 128x64, 8 warps: 1.15 and 1.09; 128x64, 4 warps: 0.94 at D64, but it spills
  // with a bias tensor.
  s.warps = 4;
  s.rows = 64;
  s.columns = largest <= 128 ? 64 : 32;
  if (problem.f32) {
    s.columns = 16;
    // 256 columns of the result do not fit the registers beside f32 operands;
    // two blocks then share them and compute the scores twice.
    if (width > 192)
      s.outColumns = 128;
  }
  return s;
}

namespace {
/// A measured choice for the widths that a row covers.
struct WgmmaRow {
  int64_t depth, out;     ///< Largest summed axis and output width.
  bool uneven;            ///< A mask leaves rows with different keys.
  int64_t groups, columns, stages, turns, persistent;
};
} // namespace

/// Speed relative to cuDNN 9.19 in the same run on an H200, bf16, B L = 16384,
/// H D = 2048, 2026-12-02 (tools/peers/sdpa.py --sweep=main): L1024, L4096, L16384
/// of plain and causal attention. In brackets what was tried and lost.
static constexpr WgmmaRow kWgmmaRows[] = {
    // 1.16, 1.17, 1.19 (3 x 128: 1.07, 1.16, 1.23)
    {64, 64, false, 4, 64, 4, 0, 1},
    // 1.18, 1.24, 1.23 (turns 2: 1.15, 1.16, 1.15; 3 x 128: 0.93, 1.14, 1.18; one
    // tile a block: 1.09, 1.21, 1.22)
    {64, 64, true, 4, 64, 4, 0, 2},
    // 1.04 to 1.16, mean 1.11 (turns 1, static: 1.02 to 1.15, 1.10; 2 x 128: 1.06)
    {128, 128, false, 3, 80, 3, 2, 2},
    // 1.08 to 1.28, mean 1.21 (64 keys with turns: 1.20; 80 keys: 1.02 to 1.32, 1.20;
    // one tile a block: 0.91 at L1024)
    {128, 128, true, 3, 64, 4, 0, 2},
    {192, 128, false, 3, 80, 2, 2, 2}, // Not measured; as 128.
    {192, 128, true, 3, 80, 2, 2, 2},
    // 1.19, 1.18, 1.14 (64 keys: 1.19, 1.16, 1.14)
    {256, 256, false, 2, 80, 2, 1, 1},
    // 1.21, 1.34, 1.38 (one tile a block: 1.09, 1.30, 1.24)
    {256, 256, true, 2, 64, 2, 1, 2},
};

/// Whether warp groups can take the two matmuls of a flash kernel.
static bool fitsWgmma(const Problem &problem) {
  return !problem.f32 && problem.boxes && problem.contracted <= 256 &&
         problem.columns <= 256;
}

/// Warp groups that bring their own tiles and share keys and values. Time relative
/// to FlashAttention-2 in the same run (H200, 2026-12-02, B4 H16 L4096): D64 causal
/// 0.60 (2 stages: 0.63; 2 x 128 keys: 0.69; 3 x 64: 0.70), D128 causal 0.52 (3 x 80:
/// 0.54; 2 x 128: 0.56; 2 x 64: 0.61), D128 plain 0.51 with 80 keys (3 x 64: 0.58).
static Schedule choosePipelined(const Problem &problem,
                                const ScheduleTarget &target) {
  Schedule s;
  s.rows = 64;
  s.warps = 4;
  s.outColumns = roundUp(problem.columns, 16);
  int64_t largest = std::max(problem.contracted, s.outColumns);
  bool middle = largest > 64 && largest <= 128;
  s.groups = middle ? 3 : 2;
  s.producer = 0;
  s.vote = 1;
  s.stages = largest <= 64 ? 3 : 2;
  s.columns = middle && !problem.uneven ? 80 : 64;
  while (s.columns > 16 && sharedBytes(problem, s) > target.sharedPerBlock)
    s.columns -= 16;
  return s;
}

static std::variant<Schedule, std::string> chooseWgmma(const Problem &problem,
                                                       int64_t sharedPerBlock) {
  if (problem.f32)
    return std::string("wgmma takes 16-bit operands; use --target=sm_80 or cpu "
                       "for f32, or f16 or bf16 tensors");
  if (!problem.boxes)
    return std::string(
        "query and key must have the summed axis innermost, value and result "
        "the same axis, all 16 bits wide and a fixed multiple of 8 long, with "
        "at most 5 axes; use --target=sm_80, or store them that way");
  for (const WgmmaRow &row : kWgmmaRows)
    if (problem.contracted <= row.depth && problem.columns <= row.out &&
        problem.uneven == row.uneven) {
      Schedule s;
      s.rows = 64;
      s.warps = 4;
      s.outColumns = roundUp(problem.columns, 16);
      s.columns = row.columns;
      s.groups = row.groups;
      s.stages = row.stages;
      s.turns = row.turns;
      s.vote = 1;
      s.persistent = row.persistent;
      if (problem.captured > 0) {
        // Whole slabs, as many stages as fit; four groups lack the registers. Bias
        // tensor, speed relative to FlexAttention in the same run (H200, 2026-12-02,
        // B4 H16 L4096). D64: 1.37, 3 x 64 keys: 1.29; D128: 1.33, 2 x 128: 1.27,
        // 3 x 64 without turns: 1.27, 2 x 64: 1.08.
        bool narrow = problem.contracted <= 64 && problem.columns <= 64;
        s.groups = narrow ? 2 : std::min<int64_t>(s.groups, 3);
        s.columns = narrow ? 128 : 64;
        s.stages = narrow ? 3 : 4;
        while (s.stages > 1 && sharedBytes(problem, s) > sharedPerBlock)
          --s.stages;
      }
      return s;
    }
  return fmt::format("head dimensions {} and {} are beyond 256; use "
                     "--target=sm_80",
                     problem.contracted, problem.columns);
}

std::variant<Schedule, std::string>
attn::choose(const Problem &problem, const ScheduleTarget &target) {
  Schedule s;
  switch (problem.kind) {
  case KernelKind::Pointwise:
  case KernelKind::Rows:
    return chooseRows(problem, target);
  case KernelKind::Matmul:
    // Operands the copy engine cannot fetch keep the form of older GPUs.
    if (target.unit == Unit::Wgmma && problem.boxes && !problem.f32)
      return chooseWgmmaMatmul(problem, target);
    s = chooseMatmul(problem, target);
    break;
  case KernelKind::Flash:
    if (problem.contracted == 0)
      return std::string("the axis summed by the first matmul must have a "
                         "known length; add it to the where clause or pass "
                         "--bind AXIS=LENGTH");
    if (problem.columns == 0)
      return std::string("the last axis of the value tensor must have a known "
                         "length; add it to the where clause or pass --bind "
                         "AXIS=LENGTH");
    if (target.unit == Unit::Wgmma && !target.pipelined)
      return chooseWgmma(problem, target.sharedPerBlock);
    // Operands the copy engine cannot fetch keep the form of older GPUs.
    if (target.unit == Unit::Wgmma && fitsWgmma(problem))
      return choosePipelined(problem, target);
    s = chooseFlash(problem, target);
    break;
  }
  if (target.unit == Unit::Cpu)
    return s;
  // What fits every GPU since sm_86 leaves room for several blocks on later ones.
  const int64_t mostShared = std::min(target.sharedPerBlock, ScheduleTarget().sharedPerBlock);
  // Give up stages first, then keys, then rows.
  while (sharedBytes(problem, s) > mostShared) {
    if (s.stages > 2)
      --s.stages;
    else if (problem.kind == KernelKind::Matmul && s.depth > 16)
      s.depth = std::max<int64_t>(16, roundUp(s.depth / 2, 16));
    else if (s.columns > 16)
      s.columns = std::max<int64_t>(16, roundUp(s.columns / 2, 16));
    else if (s.stages > 1)
      --s.stages;
    else if (s.rows > 16) {
      s.rows /= 2;
      s.warps = std::max<int64_t>(1, std::min(s.warps, s.rows / 16));
    } else
      return fmt::format(
          "needs {} bytes of shared memory, the target allows {}; the smallest "
          "change that fits is a head dimension of at most {}",
          sharedBytes(problem, s), mostShared,
          (mostShared / problem.bytes - 16 * s.outColumns) / 32 /
              16 * 16);
  }
  return s;
}

std::string attn::checkGroups(const Problem &problem, const Schedule &s,
                              int64_t sharedPerBlock) {
  if (s.rows != 64 || s.warps != 4)
    return "a warp group has 64 rows and 4 warps; change groups, not rows or "
           "warps";
  if (s.groups < 1 || s.groups > 4)
    return fmt::format("{} groups; a block has 1 to 4 consumer warp groups",
                       s.groups);
  if (s.turns > 2 || s.persistent > 2 || s.vote > 1 || s.rotate > 1)
    return "turns and persistent are 0 to 2, vote and rotate are 0 or 1";
  if (s.producer && !s.rotate)
    return "level specialized always rotates its loop; use level pipelined for "
           "rotate=0";
  if (!s.producer && (s.turns || s.persistent || s.stages < 2))
    return "level pipelined has no turns and no persistent tiles, and needs at "
           "least 2 stages; use level specialized";
  if (s.stages > 8 || s.columns > 256)
    return "at most 8 stages and 256 columns (keys a step)";
  int64_t bytes = sharedBytes(problem, s);
  if (bytes <= sharedPerBlock)
    return "";
  Schedule fewer = s;
  while (fewer.stages > (s.producer ? 1 : 2) &&
         sharedBytes(problem, fewer) > sharedPerBlock)
    --fewer.stages;
  while (fewer.columns > 16 && sharedBytes(problem, fewer) > sharedPerBlock)
    fewer.columns -= 16;
  return fmt::format("needs {} bytes of shared memory, a block has {}; "
                     "stages={},columns={} would fit",
                     bytes, sharedPerBlock, fewer.stages, fewer.columns);
}

/// Fields of an override for which 0 has a meaning.
static bool mayBeZero(const std::string &item) {
  for (const char *name : {"turns=", "vote=", "persistent=", "rotate="})
    if (item.rfind(name, 0) == 0)
      return true;
  return false;
}

std::string attn::applyOverrides(const std::string &text, Schedule &s) {
  const std::map<std::string, int64_t *> fields = {
      {"rows", &s.rows},     {"columns", &s.columns}, {"warps", &s.warps},
      {"stages", &s.stages}, {"depth", &s.depth},     {"vector", &s.vector},
      {"groups", &s.groups}, {"turns", &s.turns},     {"vote", &s.vote},
      {"persistent", &s.persistent}, {"rotate", &s.rotate}};
  std::stringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    size_t equals = item.find('=');
    auto field = fields.find(item.substr(0, equals));
    char *end = nullptr;
    int64_t value = equals == std::string::npos
                        ? 0
                        : std::strtoll(item.c_str() + equals + 1, &end, 10);
    if (field == fields.end() || value < 0 ||
        (value == 0 && !mayBeZero(item)) ||
        (end && *end))
      return fmt::format("schedule override '{}' is not understood; write "
                         "rows=N,columns=N,warps=N,stages=N (positive numbers), and for warp "
                         "groups groups=N,turns=N,vote=N,persistent=N,rotate=N",
                         item);
    *field->second = value;
  }
  if (s.warps > 32 || s.rows % (16 * s.warps) || s.columns % 16)
    return fmt::format("schedule rows={},columns={},warps={} does not divide: "
                       "rows must be a multiple of 16 x warps, columns of 16",
                       s.rows, s.columns, s.warps);
  return "";
}
