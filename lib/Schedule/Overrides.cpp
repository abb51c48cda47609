//===- Overrides.cpp - schedules that a user writes -----------------------===//

#include "lib/Schedule/Choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

using namespace attn;

/// Of packed exponentials.
static std::string checkPacked(const Problem &problem, const Schedule &s) {
  if (s.packed == 0)
    return "";
  if (s.packed > 8)
    return "packed is how many of 8 pairs of probabilities, 0 to 8";
  if (!problem.softmax || !problem.bf16)
    return "packed (exponentials in packed bf16) needs a softmax whose probabilities are "
           "rounded to bf16; use packed=0 or polynomial";
  if (problem.lse)
    return "packed (exponentials in packed bf16) leaves no f32 probabilities, which a "
           "log-sum-exp is made of; use packed=0 or polynomial";
  if (!s.sums)
    return "packed (exponentials in packed bf16) leaves no f32 probabilities to add up; "
           "use sums=1 with it, or packed=0";
  if (s.polynomial)
    return "polynomial and packed are two ways to spare the special-function unit; use "
           "one of them";
  return "";
}

std::string attn::checkGroups(const Problem &problem, const Schedule &s,
                              int64_t sharedPerBlock) {
  if (s.rows != 64 || s.warps != 4)
    return "a warp group has 64 rows and 4 warps; change groups, not rows or "
           "warps";
  if (s.groups < 1 || s.groups > 4)
    return fmt::format("{} groups; a block has 1 to 4 consumer warp groups",
                       s.groups);
  if (s.turns > 2 || s.persistent > 2 || s.vote > 2 || s.rotate > 1 || s.queries > 2 ||
      s.tanh > 1 || s.sums > 1 || s.held > 1)
    return "turns, persistent and vote are 0 to 2, rotate, held, sums and tanh 0 or 1, "
           "queries 1 or 2";
  if (s.sums && !problem.softmax)
    return "sums=1 (row sums from the value product): this kernel has no softmax, so "
           "no row is divided by its sum; use sums=0";
  if (s.polynomial > 8)
    return "polynomial is how many of 8 pairs of probabilities, 0 to 8";
  if (s.vote == 2 && s.polynomial > 0)
    return "vote=2 (a frozen maximum) leaves the polynomials' range; use "
           "polynomial=0 or vote=1";
  if (std::string error = checkPacked(problem, s); !error.empty())
    return error;
  if (s.producer && !s.rotate)
    return "level specialized always rotates its loop; use level pipelined for "
           "rotate=0";
  if (!s.producer && s.turns)
    return fmt::format(
        "turns={}: level pipelined has no turns; use turns=0, or use level "
        "specialized",
        s.turns);
  if (!s.producer && s.persistent)
    return fmt::format("persistent={}: a block of level pipelined computes one tile; use "
                       "persistent=0, or use level specialized",
                       s.persistent);
  if (!s.producer && s.queries > 1)
    return "queries=2: a block of level pipelined computes one tile, so no next tile's "
           "queries could wait in a second stage; use queries=1, or use level "
           "specialized";
  if (!s.producer && s.stages < 2)
    return "stages=1: level pipelined loads a block of keys ahead of the one it computes "
           "with; use stages=2, or use level specialized";
  if (s.vote == 2 && !s.persistent)
    return "vote=2 (a frozen maximum) needs persistent=1 or 2, which level "
           "specialized has: a tile that overflows is done again";
  if (s.cluster > 2)
    return fmt::format("cluster={}; a cluster has 2 blocks, 1 is none", s.cluster);
  if (s.cluster > 1 && !(s.producer && s.persistent == 1))
    return "cluster=2 needs persistent=1 of level specialized: both blocks go from tile "
           "to tile in the same order, which no counter would tell them";
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

/// A warp's rows of a tile are fragments of 16 rows in its registers, at most 8.
static std::string checkWarpRows(const Schedule &s) {
  const int64_t most = 8 * 16;
  if (s.rows <= most * s.warps)
    return "";
  int64_t warps = s.warps + 1;
  while (warps < 32 && (s.rows > most * warps || s.rows % (16 * warps)))
    ++warps;
  bool enough = s.rows <= most * warps && s.rows % (16 * warps) == 0;
  return fmt::format("rows={},warps={} gives each warp {} rows, its registers hold {}; "
                     "{}rows={} would fit",
                     s.rows, s.warps, s.rows / s.warps, most,
                     enough ? fmt::format("warps={} or ", warps) : "",
                     most * s.warps);
}

/// "rows, columns and stages": the fields of the places that `wanted` names.
static std::string listed(bool (*wanted)(Writable)) {
  std::vector<std::string> names;
  for (const ScheduleField &field : scheduleFields())
    if (wanted(field.where))
      names.push_back(field.name);
  std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

std::vector<std::string> attn::idleOverrides(const Problem &problem, Unit unit,
                                             const Schedule &chosen, const Schedule &s) {
  std::vector<std::string> idle;
  if (unit == Unit::Cpu)
    for (const ScheduleField &field : scheduleFields())
      if (field.where == Writable::Gpus && s.*field.member != chosen.*field.member)
        idle.push_back(fmt::format("{}={} has no effect on target cpu, where one thread "
                                   "computes a tile and nothing is copied ahead",
                                   field.name, s.*field.member));
  if (chosen.groups == 0)
    return idle;
  if (s.tanh != chosen.tanh && !problem.tanh)
    idle.push_back(
        fmt::format("tanh={} has no effect: no score function is a tanh", s.tanh));
  if (s.polynomial != chosen.polynomial && !problem.softmax)
    idle.push_back(
        fmt::format("polynomial={} has no effect: without a softmax there are no "
                    "exponentials of probabilities",
                    s.polynomial));
  if (s.vote != chosen.vote && !problem.softmax)
    idle.push_back(fmt::format(
        "vote={} has no effect: without a softmax there is no maximum", s.vote));
  else if (s.vote != chosen.vote && problem.bounded && s.vote != 2 && chosen.vote != 2)
    idle.push_back(
        fmt::format("vote={} has no effect: scores are so small by themselves that "
                    "no maximum is needed",
                    s.vote));
  return idle;
}

std::string attn::checkOverrides(const Problem &problem, const Schedule &chosen,
                                 const Schedule &s, int64_t sharedPerBlock) {
  if (chosen.groups > 0)
    return checkGroups(problem, s, sharedPerBlock);
  for (const ScheduleField &field : scheduleFields())
    if (field.where == Writable::WarpGroups && s.*field.member != chosen.*field.member)
      return fmt::format(
          "{} are for warp groups, which levels pipelined and specialized of "
          "--target=sm_90a have; here {} can be chosen",
          listed([](Writable where) { return where == Writable::WarpGroups; }),
          listed([](Writable where) {
            return where == Writable::Everywhere || where == Writable::Gpus;
          }));
  if (s.rows > 1024)
    return fmt::format("rows={}: a tile has at most 1024 rows; use rows=1024", s.rows);
  if (s.stages > 8)
    return fmt::format("stages={}: a ring has at most 8 stages; use stages=8", s.stages);
  return checkWarpRows(s);
}

const std::vector<ScheduleField> &attn::scheduleFields() {
  static const std::vector<ScheduleField> fields = {
      {"rows", &Schedule::rows, 1, Writable::Everywhere},
      {"columns", &Schedule::columns, 1, Writable::Everywhere},
      {"out", &Schedule::outColumns, 0, Writable::Never},
      {"depth", &Schedule::depth, 1, Writable::Never},
      {"warps", &Schedule::warps, 1, Writable::Gpus},
      {"vector", &Schedule::vector, 1, Writable::Never},
      {"stages", &Schedule::stages, 1, Writable::Gpus},
      {"groups", &Schedule::groups, 1, Writable::WarpGroups},
      {"vote", &Schedule::vote, 0, Writable::WarpGroups},
      {"turns", &Schedule::turns, 0, Writable::WarpGroups},
      {"persistent", &Schedule::persistent, 0, Writable::WarpGroups},
      {"producer", &Schedule::producer, 0, Writable::Never},
      {"rotate", &Schedule::rotate, 0, Writable::WarpGroups},
      {"queries", &Schedule::queries, 1, Writable::WarpGroups},
      {"held", &Schedule::held, 0, Writable::WarpGroups},
      {"cluster", &Schedule::cluster, 1, Writable::WarpGroups},
      {"polynomial", &Schedule::polynomial, 0, Writable::WarpGroups},
      {"packed", &Schedule::packed, 0, Writable::WarpGroups},
      {"sums", &Schedule::sums, 0, Writable::WarpGroups},
      {"tanh", &Schedule::tanh, 0, Writable::WarpGroups},
      {"staged", &Schedule::staged, 0, Writable::Never}};
  return fields;
}

bool Schedule::operator==(const Schedule &other) const {
  const std::vector<ScheduleField> &fields = scheduleFields();
  return std::all_of(fields.begin(), fields.end(), [&](const ScheduleField &field) {
    return this->*field.member == other.*field.member;
  });
}

std::string attn::overridesInWords() {
  std::string words;
  for (const ScheduleField &field : scheduleFields())
    if (field.overridable())
      words += fmt::format("{}{}=N", words.empty() ? "" : ", ", field.name);
  return words;
}

std::vector<Override> attn::readOverrides(const std::string &text) {
  std::vector<Override> list;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    Override item{text.substr(begin, end - begin), "", nullptr, std::nullopt};
    begin = end + 1;
    size_t equals = std::min(item.text.find('='), item.text.size());
    item.name = item.text.substr(0, equals);
    for (const ScheduleField &field : scheduleFields())
      if (field.overridable() && field.name == item.name)
        item.field = &field;
    const char *first = item.text.data() + std::min(equals + 1, item.text.size());
    const char *last = item.text.data() + item.text.size();
    int64_t value = 0;
    auto [stop, error] = std::from_chars(first, last, value);
    if (item.field && error == std::errc() && stop == last &&
        value >= item.field->least && value <= kMostOfAField)
      item.value = value;
    list.push_back(std::move(item));
  }
  return list;
}

std::string attn::applyOverrides(const std::string &text, Schedule &s) {
  std::vector<Override> items;
  if (!text.empty())
    items = readOverrides(text);
  for (const Override &item : items) {
    if (!item.value)
      return fmt::format("schedule override '{}' is not understood; write some of {} "
                         "with commas between them (numbers up to {})",
                         item.text, overridesInWords(), kMostOfAField);
    s.*item.field->member = *item.value;
  }
  if (s.warps > 32 || s.rows % (16 * s.warps) || s.columns % 16)
    return fmt::format("schedule rows={},columns={},warps={} does not divide: "
                       "rows must be a multiple of 16 x warps, columns of 16",
                       s.rows, s.columns, s.warps);
  return "";
}
