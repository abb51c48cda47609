//===- Search.cpp - schedules worth timing beside a choice ----------------===//

#include "lib/Schedule/Search.h"

#include <fmt/format.h>

#include <algorithm>

using namespace attn;

/// What a thread of a consumer may keep, by number of groups: SpecializeWarps.cpp
/// with a producer, else the register file shared by all threads.
static int64_t registersOf(const Schedule &s) {
  static constexpr int64_t producer[] = {248, 232, 160, 112};
  static constexpr int64_t none[] = {255, 255, 168, 128};
  return (s.producer ? producer : none)[s.groups - 1];
}

/// Result, scores, probabilities and held queries of a thread, one accumulator fragment
/// of 16 rows a warp; 32 more hold sums, positions and addresses (3 x 64 x 80 at head
/// dimension 128 fits 160, 4 x 64 x 64 at 64 fits 112).
static int64_t registersNeeded(const Schedule &s, int64_t contracted) {
  int64_t fragments = std::max<int64_t>(1, s.rows / (16 * s.warps));
  int64_t queries = s.held ? contracted / 4 : 0;
  return fragments * (s.outColumns / 2 + s.columns / 2 + s.columns / 4 + queries) + 32;
}

std::string attn::spellOverrides(const Schedule &s, Unit unit) {
  if (unit == Unit::Cpu)
    return fmt::format("rows={},columns={}", s.rows, s.columns);
  if (unit == Unit::MmaSync || s.groups == 0)
    return fmt::format("rows={},columns={},warps={},stages={}", s.rows, s.columns,
                       s.warps, s.stages);
  std::string text = fmt::format("groups={},columns={},stages={},vote={}", s.groups,
                                 s.columns, s.stages, s.vote);
  text += s.producer
              ? fmt::format(",turns={},persistent={}", s.turns, s.persistent) +
                    (s.queries > 1 ? ",queries=2" : "") +
                    (s.cluster > 1 ? fmt::format(",cluster={}", s.cluster) : "")
              : fmt::format(",rotate={}", s.rotate);
  if (s.held)
    text += ",held=1";
  if (s.sums)
    text += ",sums=1";
  if (s.packed)
    text += fmt::format(",packed={}", s.packed);
  if (s.polynomial)
    text += fmt::format(",polynomial={}", s.polynomial);
  return s.tanh ? text + ",tanh=1" : text;
}

namespace {
/// Collects what fits, each once and never the choice itself.
struct Collector {
  const Problem &problem;
  const ScheduleTarget &target;
  const Schedule &chosen;
  std::vector<std::string> list;

  bool fitsShared(const Schedule &s) const {
    return target.unit == Unit::Cpu ||
           sharedBytes(problem, s) <= target.sharedPerBlock;
  }

  void add(const Schedule &s) {
    if (s == chosen || !fitsShared(s))
      return;
    std::string text = spellOverrides(s, target.unit);
    // What the choice has and this one has not is said as well.
    if (s.groups > 0)
      for (const ScheduleField &field : scheduleFields())
        if (field.overridable() && s.*field.member == Schedule().*field.member &&
            chosen.*field.member != s.*field.member &&
            text.find("," + field.name + "=") == std::string::npos &&
            text.find(field.name + "=") != 0)
          text += fmt::format(",{}={}", field.name, s.*field.member);
    if (std::find(list.begin(), list.end(), text) == list.end())
      list.push_back(std::move(text));
  }

  /// With as many stages, from `least` to `most`, as fit.
  void addDeep(Schedule s, int64_t least, int64_t most) {
    for (s.stages = most; s.stages > least && !fitsShared(s);)
      --s.stages;
    add(s);
  }
};
} // namespace

/// One field at a time, then other tiles with every order.
static void searchGroups(Collector &c) {
  const Schedule &base = c.chosen;
  auto change = [&](int64_t Schedule::*field, std::initializer_list<int64_t> values) {
    for (int64_t value : values) {
      Schedule s = base;
      s.*field = value;
      if (s.vote == 2 && !s.persistent)
        s.vote = 1; // A frozen maximum needs persistent tiles,
      if (s.vote == 2 && s.polynomial)
        s.vote = 1; // and probabilities without a bound.
      if (s.persistent != 1)
        s.cluster = 1; // A counter would tell one block only.
      c.add(s);
    }
  };
  if (c.problem.softmax && !c.problem.bounded)
    change(&Schedule::vote, {0, 1});
  if (c.problem.softmax && base.producer)
    change(&Schedule::vote, {2});
  change(&Schedule::stages, {2, 3, 4});
  if (c.problem.softmax)
    change(&Schedule::polynomial, {0, 2, 4, 8});
  Schedule holding = base;
  holding.held = 1;
  if (registersNeeded(holding, c.problem.contracted) <= registersOf(base))
    change(&Schedule::held, {0, 1});
  if (c.problem.softmax && (c.problem.wide || !c.problem.lse))
    change(&Schedule::sums, {0, 1});
  if (c.problem.softmax && c.problem.bf16 && !c.problem.lse)
    for (int64_t packed : {2, 3, 4}) {
      Schedule s = base;
      s.packed = packed;
      s.sums = 1;
      s.polynomial = 0;
      c.add(s);
    }
  if (c.problem.tanh)
    change(&Schedule::tanh, {0, 1});
  if (base.producer) {
    change(&Schedule::turns, {0, 1, 2});
    change(&Schedule::persistent, {0, 1, 2});
    change(&Schedule::queries, {1, 2});
    // Of three groups it gained nothing: their block loads keys for 192 rows.
    if (base.groups <= 2 && base.cluster == 1) {
      Schedule s = base;
      s.cluster = 2;
      s.persistent = 1;
      c.add(s);
    }
  } else {
    change(&Schedule::rotate, {0, 1});
  }
  for (int64_t groups : {2, 3, 4}) {
    Schedule s = base;
    s.groups = groups;
    // Captured tensors come in slabs of 64 keys.
    std::vector<int64_t> widths;
    for (int64_t columns = 48; columns <= 192; columns += 16) {
      s.columns = columns;
      if (registersNeeded(s, c.problem.contracted) <= registersOf(s) &&
          (c.problem.captured == 0 || columns % 64 == 0))
        widths.push_back(columns);
    }
    // A tile under half of what fits only pays more for its barriers.
    for (int64_t columns : widths) {
      if (2 * columns < widths.back())
        continue;
      s.columns = columns;
      for (int64_t order : {0, 1, 2}) {
        if (base.producer)
          s.turns = order;
        else if (order < 2)
          s.rotate = order;
        c.addDeep(s, base.producer ? 1 : 2, 4);
      }
    }
  }
}

static void searchMmaSync(Collector &c) {
  for (int64_t warps : {4, 8})
    for (int64_t rows : {64, 128})
      for (int64_t columns : {16, 32, 64, 128})
        for (int64_t stages : {1, 2, 3}) {
          Schedule s = c.chosen;
          s.rows = rows;
          s.columns = columns;
          s.warps = warps;
          s.stages = stages;
          // Level flash has one stage; where copies run ahead there are more.
          if (rows % (16 * warps) == 0 && registersNeeded(s, c.problem.contracted) <= 255 &&
              (stages > 1) == c.target.pipelined)
            c.add(s);
        }
}

static void searchCpu(Collector &c) {
  for (int64_t rows : {16, 32, 64, 128})
    for (int64_t columns : {32, 64, 128, 256}) {
      Schedule s = c.chosen;
      s.rows = rows;
      s.columns = columns;
      c.add(s);
    }
}

std::vector<std::string> attn::neighbours(const Problem &problem,
                                          const ScheduleTarget &target,
                                          const Schedule &chosen) {
  Collector c{problem, target, chosen, {}};
  if (target.unit == Unit::Cpu)
    searchCpu(c);
  else if (chosen.groups > 0)
    searchGroups(c);
  else
    searchMmaSync(c);
  return std::move(c.list);
}

static int64_t numberOf(const std::map<std::string, int64_t> &numbers,
                        const std::string &name, int64_t otherwise) {
  auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

Problem attn::problemFrom(const std::map<std::string, int64_t> &numbers) {
  Problem p;
  p.kind = KernelKind::Flash;
  p.contracted = numberOf(numbers, "contracted", 0);
  p.columns = numberOf(numbers, "columns", 0);
  p.bytes = static_cast<int>(numberOf(numbers, "bytes", 2));
  p.f32 = numberOf(numbers, "f32", 0) != 0;
  p.work = numberOf(numbers, "work", 0);
  p.special = numberOf(numbers, "special", 0);
  p.tanh = numberOf(numbers, "tanh", 0) != 0;
  p.softmax = numberOf(numbers, "softmax", 0) != 0;
  p.lse = numberOf(numbers, "lse", 0) != 0;
  p.wide = numberOf(numbers, "wide", 0) != 0;
  p.bounded = numberOf(numbers, "bounded", 0) != 0;
  p.boxes = numberOf(numbers, "boxes", 0) != 0;
  p.uneven = numberOf(numbers, "uneven", 0) != 0;
  p.window = numberOf(numbers, "window", 0) != 0;
  p.captured = numberOf(numbers, "captured", 0);
  return p;
}

Schedule attn::scheduleFrom(const std::map<std::string, int64_t> &numbers) {
  Schedule s;
  for (const ScheduleField &field : scheduleFields())
    s.*field.member = numberOf(numbers, field.name, s.*field.member);
  return s;
}
