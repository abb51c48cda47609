//===- Choose.h - which tiles, warps and stages a kernel gets -------------===//
//
// Pure functions from a problem and a target to a schedule. They decide; the
// passes only obey what is written in the IR.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_CHOOSE_H
#define ATTN_LIB_SCHEDULE_CHOOSE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace attn {

/// The shape of a kernel's computation, as far as it decides the schedule.
enum class KernelKind {
  Pointwise, ///< elements in, elements out
  Rows,      ///< a softmax over rows held in device memory
  Matmul,    ///< one matmul
  Flash,     ///< two matmuls with the scores between them kept on chip
};

/// Lengths in elements; 0 where a length is known only at run time.
struct Problem {
  KernelKind kind = KernelKind::Pointwise;
  int64_t contracted = 0; ///< Summed axis of the (first) matmul.
  int64_t columns = 0;    ///< Columns of the result (Dv for Flash).
  int bytes = 2;          ///< Size of a matmul operand's element.
  bool f32 = false;       ///< Operands are f32.
  int64_t work = 0;       ///< Operations of the score functions, an element.
  int64_t special = 0;    ///< Those of them on the special-function unit.
  bool tanh = false;      ///< One of them is a tanh.
  /// Flash: rows are divided by their sums.
  bool softmax = false;
  /// Flash: a log-sum-exp is a result, of sums that the value product does not give.
  bool lse = false;
  /// Flash: a result keeps more bits than rounded probabilities, whose sum must then
  /// divide (OnlineSoftmax.h).
  bool wide = false;
  /// Flash: probabilities are rounded to bf16, whose exponents are those of f32.
  bool bf16 = false;
  /// Flash: scores are so small by themselves that no maximum is needed.
  bool bounded = false;
  /// Every operand is 16 bits wide and has its summed (or output) axis innermost,
  /// in rows of whole 16 bytes, so that the copy engine can fetch it.
  bool boxes = false;
  int resultBytes = 2; ///< Matmul: size of the widest result's element.
  /// Matmul: a result's rows take whole 16 bytes, so that the copy engine can
  /// write them.
  bool resultRows = false;
  /// Some key blocks may be dead for some rows: the kernel has masks.
  bool uneven = false;
  /// Rows: a row's elements lie apart in some operand or result, so that each has an
  /// address of its own.
  bool apart = false;
  /// Flash: masks limit a row's keys on both sides, as a sliding window does, so tiles
  /// are short.
  bool window = false;
  /// Flash: bytes that score functions read for each row and key from tensors
  /// that the copy engine can bring, in rows of keys.
  int64_t captured = 0;
  /// Flash: scores have a term that depends on which key it is (a bias, a slope),
  /// so the first keys of a row say little of the size of the others.
  bool drifts = false;
  /// Flash: scores have a slope along the keys (EvenGrowth.h), whose sign says which
  /// keys have the largest.
  bool grows = false;
};

enum class Unit {
  Cpu,
  MmaSync,
  Wgmma, ///< wgmma on operands that the copy engine brings.
};

/// What of a target decides the schedule.
struct ScheduleTarget {
  Unit unit = Unit::MmaSync;
  int64_t sharedPerBlock = 101376; ///< Bytes a block may use.
  bool pipelined = false;          ///< The level wants copies to run ahead.
};

struct Schedule {
  int64_t rows = 64;       ///< Rows of the output tile.
  int64_t columns = 64;    ///< Columns: keys a step (Flash), tile (others).
  int64_t outColumns = 0;  ///< Flash: columns of the output tile.
  int64_t depth = 64;      ///< Matmul: elements of the summed axis a step.
  int64_t warps = 4;
  int64_t vector = 4;      ///< Elements a lane takes at once (rows layout).
  int64_t stages = 1;
  int64_t groups = 0; ///< Wgmma: consumer warp groups of 64 rows each.
  int64_t vote = 0;   ///< Wgmma: how the maximum moves in live blocks; 0: always,
                      ///< 1: by vote, 2: not at all, a tile that overflows is done
                      ///< again (persistent tiles only).
  int64_t turns = 0;  ///< Wgmma: take turns on the tensor cores; 1: pass the turn
                      ///< when both products are issued, 2: when scores are there.
  int64_t persistent = 0; ///< Wgmma: 1: tiles a grid apart, 2: from a counter.
  int64_t producer = 1; ///< Wgmma: a warp group of its own brings tiles; 0: the
                        ///< first thread of the block does, beside its work.
  int64_t rotate = 1; ///< Wgmma, Flash: issue a block's score product together
                      ///< with the value product of the block before.
  int64_t queries = 1; ///< Wgmma: stages of queries; with 2 the next tile's are
                       ///< there before every group is done with these.
  int64_t held = 0;    ///< Wgmma, Flash: 1: a tile's queries stay in registers, and
                       ///< their stage is free at once.
  int64_t cluster = 1; ///< Wgmma, Flash: blocks that share each tile of keys and
                       ///< values that they load, 1 or 2 (tiles a grid apart only).
  int64_t polynomial = 0; ///< Wgmma, Flash: of every 8 pairs of probabilities, how
                          ///< many the special-function unit is spared.
  int64_t packed = 0; ///< Wgmma, Flash, bf16: of every 8 pairs of probabilities, how many
                      ///< are computed in packed bf16 (with sums=1).
  int64_t sums = 0;   ///< Wgmma, Flash: 1: the value product gives the row sums, of a
                      ///< column block of ones.
  int64_t tanh = 0;   ///< Wgmma, Flash: 1: the tanh of small scores by multiplications.
  int64_t staged = 0; ///< Wgmma, Matmul: the copy engine writes the result.

  bool operator==(const Schedule &other) const; ///< In every field.
};

/// Where a user may write a field of a flash kernel's schedule.
enum class Writable {
  Never, ///< It follows from others, or is of other kernels.
  Everywhere,
  Gpus, ///< On the CPU a tile is one thread's, and nothing is copied ahead.
  WarpGroups,
};

/// A field of a schedule under the name that IR, overrides and manifests give it; the
/// table holds all of them.
struct ScheduleField {
  std::string name;
  int64_t Schedule::*member;
  int64_t least; ///< Smallest value of an override.
  Writable where;
  bool overridable() const { return where != Writable::Never; }
};
const std::vector<ScheduleField> &scheduleFields();

/// What a user may write, for messages and help: "rows=N, columns=N, ...".
std::string overridesInWords();

/// Largest number of an override.
inline constexpr int64_t kMostOfAField = 4096;

/// One item of "rows=64,columns=32".
struct Override {
  std::string text, name;
  const ScheduleField *field = nullptr; ///< Null: a user may write none of that name.
  std::optional<int64_t> value;         ///< Nothing: no number from its least on.
};
/// The items in the order they are written; one at least, and an empty one for each
/// comma that nothing follows.
std::vector<Override> readOverrides(const std::string &text);

/// Shared memory in bytes that the schedule's matmul operands take.
int64_t sharedBytes(const Problem &problem, const Schedule &schedule);

/// The schedule, or one line that names the resource that does not fit and the
/// smallest change that would make it fit.
std::variant<Schedule, std::string> choose(const Problem &problem,
                                           const ScheduleTarget &target);

/// The same over a table of one's own, see MeasuredRows.h.
struct MeasuredRow;
std::variant<Schedule, std::string> choose(const Problem &problem,
                                           const ScheduleTarget &target,
                                           const std::vector<MeasuredRow> &rows);

/// What is wrong with a schedule of warp groups that a user wrote, and the
/// smallest change; empty when it can be tried.
std::string checkGroups(const Problem &problem, const Schedule &schedule,
                        int64_t sharedPerBlock);

/// What is wrong with `schedule`, made from `chosen` by overrides, and what could be
/// written; empty when it can be tried.
std::string checkOverrides(const Problem &problem, const Schedule &chosen,
                           const Schedule &schedule, int64_t sharedPerBlock);

/// What of `schedule`, made from `chosen` by overrides, the code will not show, and why:
/// one text for each reason.
std::vector<std::string> idleOverrides(const Problem &problem, Unit unit,
                                       const Schedule &chosen, const Schedule &schedule);

/// Applies "rows=64,columns=32,warps=4,stages=2". Returns an error text, empty
/// when the override is understood.
std::string applyOverrides(const std::string &text, Schedule &schedule);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_CHOOSE_H
