//===- Choose.cpp - which tiles, warps and stages a kernel gets -----------===//

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/MeasuredRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>

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
      int64_t ones = s.sums ? 16 * 64 : 0;
      return (s.queries * 64 * s.groups * depth + s.stages * step + ones) *
                 problem.bytes +
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
/// the score function, the bounds of live keys or the elements' addresses need the
/// registers.
static Schedule chooseRows(const Problem &problem, const ScheduleTarget &target) {
  Schedule s;
  bool cpu = target.unit == Unit::Cpu, rows = problem.kind == KernelKind::Rows;
  s.warps = cpu ? 1 : 4;
  s.vector = 4;
  s.rows = cpu ? 8 : 4;
  int64_t most = problem.uneven ? 10 : 12;
  s.columns = !rows                                  ? 512
              : cpu                                  ? 1024
              : problem.work > most || problem.apart ? 512
                                                     : 2048;
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
    s.warps = 1;
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

/// The first row that covers the problem; null when none does.
static const MeasuredRow *findRow(const Problem &problem,
                                  const ScheduleTarget &target,
                                  const std::vector<MeasuredRow> &rows) {
  for (const MeasuredRow &row : rows)
    if (row.unit == target.unit && row.pipelined == target.pipelined &&
        row.bytes == problem.bytes && problem.contracted <= row.depth &&
        problem.columns <= row.out && problem.uneven == row.uneven)
      return &row;
  return nullptr;
}

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

/// Warp groups with a producer of their own. The schedule itself is measured; a
/// problem that no row covers is refused.
static std::variant<Schedule, std::string> chooseWgmma(const Problem &problem,
                                                       const MeasuredRow *row) {
  if (problem.f32)
    return std::string("wgmma takes 16-bit operands; use --target=sm_80 or cpu "
                       "for f32, or f16 or bf16 tensors");
  if (!problem.boxes)
    return std::string(
        "query and key must have the summed axis innermost and rows, value and result "
        "the same axis, all 16 bits wide and a fixed multiple of 8 long, with "
        "at most 5 axes; use --target=sm_80, or store them that way");
  if (!row)
    return fmt::format("head dimensions {} and {} are beyond 256; use "
                       "--target=sm_80",
                       problem.contracted, problem.columns);
  Schedule s;
  s.groups = 2;
  s.outColumns = roundUp(problem.columns, 16);
  return s;
}

/// A row's schedule in place of the rule's. Captured tensors change what fits.
static Schedule obeyRow(const Problem &problem, const ScheduleTarget &target,
                        const MeasuredRow &row, Schedule s) {
  [[maybe_unused]] std::string wrong = applyOverrides(row.schedule, s);
  assert(wrong.empty() && "a measured row does not read as overrides");
  bool narrow = problem.contracted <= 64 && problem.columns <= 64;
  const int64_t own = s.vote;
  // Under drifting scores the maximum of the first blocks would often be far off, and
  // tiles done twice; captured tensors were measured by vote only; bounded scores need
  // no maximum that moves.
  bool moves = problem.drifts || problem.captured > 0;
  if (moves || problem.bounded || problem.window || (problem.grows && !narrow))
    wrong = applyOverrides(row.drifting, s);
  assert(wrong.empty() && "overrides of drifting scores do not read");
  // The tiles of the vote, the maximum of the others: time for a live tile over the
  // causal kernel's in the same run (H200, 2026-12-02, B4 H16 L4096). Window of 1024,
  // D64: 1.12, with turns 1.20, by vote 1.21; D128: 1.13, 2 x 128 keys 1.20, by vote
  // 1.19. Slope, D128: 1.06, 2 x 128 keys 1.10, by vote 1.26; D64 with turns 1.09,
  // without 1.12, by vote 1.20.
  if (!moves && !problem.bounded)
    s.vote = own;
  // Nothing to add up, or added up once more for the log-sum-exp.
  if (!problem.softmax || problem.lse)
    s.sums = 0;
  if (s.groups > 0 && !target.pipelined && problem.captured > 0) {
    // Whole slabs, as many stages as fit; four groups lack the registers. Bias
    // tensor, speed relative to FlexAttention in the same run (H200, 2026-12-02,
    // B4 H16 L4096). D64: 1.55, 3 x 64 keys: 1.52, tiles from a counter: 1.49, with
    // turns 1 or none 16 and 21 % slower in another run; D128: 1.40, turns 2: 1.30,
    // none: 1.31, and 2 x 64 8 % slower in another run.
    s.groups = narrow ? 2 : std::min<int64_t>(s.groups, 3);
    s.columns = narrow ? 128 : 64;
    s.stages = narrow ? 3 : 4;
    s.turns = narrow ? 2 : 1;
    while (s.stages > 1 && sharedBytes(problem, s) > target.sharedPerBlock)
      --s.stages;
  } else if (s.groups > 0 && !target.pipelined && problem.window && narrow) {
    // Tiles of few keys end often, and their groups at different times. Window of
    // 1024, speed relative to FlexAttention in the same run (as above): 1.62, with
    // 8 stages alone 1.58, with neither 1.58. At D128 it makes no difference.
    s.queries = 2;
    s.stages = 8;
  }
  return s;
}

/// Bounded scores have come out of a tanh, whose instruction doubles the work of the
/// special-function unit. Time for a live tile over the causal kernel's in the same run
/// (H200, 2026-12-02, soft cap, B4 H16 L4096). D64: 1.34 with a polynomial for small
/// scores and turns 1, 1.36 without turns; by the instruction 1.56, with 4 of 8 pairs
/// of exponentials as polynomials instead 1.53 (turns 1: 1.43), with both 1.47. D128:
/// 1.25 (turns 1 or 2), 1.28 by the instruction, 1.29 with 4 of 8 pairs. Level
/// pipelined, whose groups wait for each other less, loses by the polynomial of tanh:
/// 26 % at D64, 4 % at D128; there half of the exponentials gain, as measured before.
static void spareSpecialFunctions(const Problem &problem, Schedule &s) {
  if (!problem.bounded || problem.special == 0)
    return;
  if (s.producer) {
    s.tanh = 1;
    s.turns = 1;
  } else {
    s.polynomial = 4;
  }
}

/// Where the value product adds up the rows; not where captured tensors have the
/// registers. Speed over the same schedule without (H200, 2026-12-03, causal, L4096 or L
/// 1024, 4096, 16384). f32 results, whose sums of rounded probabilities cost six more
/// operations a score otherwise: D64 1.33, D128 1.21, D256 1.05, with a log-sum-exp 1.43
/// and 1.26; level pipelined 1.30, 1.24, 1.13. Soft cap, D64: 1.02, 1.03, 1.03; D128 is
/// within the spread. Level pipelined, D64: 1.03, 1.04, 1.03, plain 1.02, 1.01, 1.01; D128
/// 0.99 in the mean.
static void sumByProduct(const Problem &problem, Schedule &s) {
  if (!problem.softmax || problem.captured > 0)
    return;
  // A slab that is not full has its sums by a product of their own, not measured.
  bool narrow = problem.contracted <= 64 && problem.columns == 64;
  bool gains = narrow && !problem.lse &&
               (s.producer ? problem.bounded && problem.special > 0 : !problem.bounded);
  if (problem.wide || gains)
    s.sums = 1;
}

/// The rule's flash schedule.
static std::variant<Schedule, std::string>
chooseFlashForm(const Problem &problem, const ScheduleTarget &target,
                const MeasuredRow *row) {
  if (target.unit == Unit::Wgmma && !target.pipelined)
    return chooseWgmma(problem, row);
  if (target.unit == Unit::Wgmma && fitsWgmma(problem))
    return choosePipelined(problem, target);
  // Operands the copy engine cannot fetch keep the form of older GPUs.
  return chooseFlash(problem, target);
}

std::variant<Schedule, std::string>
attn::choose(const Problem &problem, const ScheduleTarget &target) {
  static const std::vector<MeasuredRow> rows(std::begin(kMeasuredRows),
                                             std::end(kMeasuredRows));
  return choose(problem, target, rows);
}

std::variant<Schedule, std::string>
attn::choose(const Problem &problem, const ScheduleTarget &target,
             const std::vector<MeasuredRow> &rows) {
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
  case KernelKind::Flash: {
    if (problem.contracted == 0)
      return std::string("the axis summed by the first matmul must have a "
                         "known length; add it to the where clause or pass "
                         "--bind AXIS=LENGTH");
    if (problem.columns == 0)
      return std::string("the last axis of the value tensor must have a known "
                         "length; add it to the where clause or pass --bind "
                         "AXIS=LENGTH");
    const MeasuredRow *row = findRow(problem, target, rows);
    auto form = chooseFlashForm(problem, target, row);
    if (std::holds_alternative<std::string>(form))
      return form;
    s = std::get<Schedule>(form);
    // A row of warp groups says nothing of the form without them.
    if (row && (s.groups > 0) == (target.unit == Unit::Wgmma))
      s = obeyRow(problem, target, *row, s);
    if (s.groups > 0) {
      spareSpecialFunctions(problem, s);
      sumByProduct(problem, s);
      return s;
    }
    break;
  }
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
