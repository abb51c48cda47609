//===- Compare.cpp - two runs side by side --------------------------------===//

#include "lib/Profile/Compare.h"

#include "lib/Profile/Diff.h"
#include "lib/Profile/Table.h"
#include "lib/Profile/Units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

using namespace attn;
using namespace attn::profile;
using Json = nlohmann::ordered_json;

/// Standard error of a median of samples with a normal spread: 1.2533 sigma /
/// sqrt(n), where the quartiles stand 1.349 sigma apart.
static double medianError(const Summary &s) {
  return 1.2533 * (s.upperQuartile - s.lowerQuartile) / 1.349 /
         std::sqrt(double(s.count));
}

/// The 97.5 % point of Student's t, by its expansion around the normal's.
static double studentPoint(double freedom) {
  return 1.96 + 2.37 / freedom + 2.82 / (freedom * freedom);
}

std::optional<Shift> attn::profile::changeOf(const Summary &a,
                                             const Summary &b) {
  if (a.median <= 0 || b.median <= 0)
    return std::nullopt;
  Shift shift;
  shift.change = b.median / a.median - 1;
  if (std::min(a.count, b.count) < kLeastRepeats) {
    shift.least = -1;
    shift.most = std::numeric_limits<double>::infinity();
    return shift;
  }
  double errorA = medianError(a) / a.median, errorB = medianError(b) / b.median;
  double variance = errorA * errorA + errorB * errorB;
  // Welch's degrees of freedom.
  double parts =
      std::pow(errorA, 4) / (a.count - 1) + std::pow(errorB, 4) / (b.count - 1);
  double freedom = parts > 0 ? variance * variance / parts : 1e9;
  // On the ratio's logarithm, so that both directions are alike.
  double reach = studentPoint(freedom) * std::sqrt(variance);
  shift.least = (1 + shift.change) * std::exp(-reach) - 1;
  shift.most = (1 + shift.change) * std::exp(reach) - 1;
  return shift;
}

/// The runs of a file: one, or what --at made.
static std::vector<Json> parseRuns(const std::string &name, const std::string &text) {
  Json file = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded())
    throw std::runtime_error(
        fmt::format("{} is not JSON, or is cut off", name));
  auto holds = [](const Json &json, const char *key) {
    return json.is_object() && json.contains(key) && json[key].is_array();
  };
  std::vector<Json> runs;
  if (holds(file, "runs"))
    runs.assign(file["runs"].begin(), file["runs"].end());
  else
    runs.push_back(std::move(file));
  for (const Json &run : runs)
    if (!holds(run, "levels"))
      runs.clear();
  if (runs.empty())
    throw std::runtime_error(fmt::format(
        "{} holds no results; give what attn-bench --json or --report wrote",
        name));
  return runs;
}

/// "B=1 M=64".
static std::string sizeOf(const Json &run) {
  std::vector<std::string> words;
  if (auto binds = run.find("binds"); binds != run.end() && binds->is_object())
    for (const auto &[name, value] : binds->items())
      words.push_back(name + "=" + value.dump());
  return fmt::format("{}", fmt::join(words, " "));
}

static std::optional<Summary> summaryOf(const Json &entry) {
  auto found = entry.find("samples");
  if (found == entry.end() || !found->is_object())
    return std::nullopt;
  Summary s;
  s.count = found->value("count", 0);
  s.least = found->value("least", 0.0);
  s.lowerQuartile = found->value("lower_quartile", 0.0);
  s.median = found->value("median", 0.0);
  s.upperQuartile = found->value("upper_quartile", 0.0);
  s.most = found->value("most", 0.0);
  return s;
}

static std::optional<Shift> shiftOf(const std::optional<Summary> &a,
                                    const std::optional<Summary> &b) {
  return a && b ? changeOf(*a, *b) : std::nullopt;
}

/// The level called `wanted`, or all.
static std::vector<Json> levelsOf(const std::string &name, const Json &run,
                                  const std::string &wanted) {
  std::vector<Json> levels;
  std::vector<std::string> names;
  for (const Json &level : run["levels"]) {
    names.push_back(level.value("name", ""));
    if (wanted.empty() || names.back() == wanted)
      levels.push_back(level);
  }
  if (levels.empty())
    throw std::runtime_error(
        wanted.empty() ? fmt::format("{} holds no level", name)
                       : fmt::format("{} has no level '{}'; it has {}", name,
                                     wanted, fmt::join(names, ", ")));
  return levels;
}

static std::vector<std::string> labelsOf(const Json &level) {
  std::vector<std::string> labels;
  for (const Json &kernel : level["kernels"])
    labels.push_back(kernel.value("label", ""));
  return labels;
}

/// Kernels pair by label in their order; between them by nothing.
static std::vector<ComparedKernel> pairKernels(const Json &a, const Json &b) {
  std::vector<ComparedKernel> list;
  size_t i = 0, j = 0;
  for (const Change &change : changes(labelsOf(a), labelsOf(b))) {
    for (size_t k = 0; k < change.before.size(); ++k) {
      ComparedKernel kernel;
      kernel.a = change.before[k];
      kernel.timeA = summaryOf(a["kernels"][i++]);
      if (change.same) {
        kernel.b = kernel.a;
        kernel.timeB = summaryOf(b["kernels"][j++]);
        kernel.change = shiftOf(kernel.timeA, kernel.timeB);
      }
      list.push_back(std::move(kernel));
    }
    if (change.same)
      continue;
    for (const std::string &label : change.after) {
      ComparedKernel kernel;
      kernel.b = label;
      kernel.timeB = summaryOf(b["kernels"][j++]);
      list.push_back(std::move(kernel));
    }
  }
  return list;
}

static ComparedLevel pairLevel(const Json *a, const Json *b) {
  static const Json kNone = {{"kernels", Json::array()}};
  ComparedLevel level;
  const Json &left = a ? *a : kNone, &right = b ? *b : kNone;
  level.a = left.value("name", "");
  level.b = right.value("name", "");
  level.failureA = left.value("failure", "");
  level.failureB = right.value("failure", "");
  level.timeA = summaryOf(left);
  level.timeB = summaryOf(right);
  level.change = shiftOf(level.timeA, level.timeB);
  level.kernels = pairKernels(left, right);
  return level;
}

/// Two runs of one size each.
static Comparison compareTwo(const std::string &nameA, const Json &a,
                             const std::string &levelA, const std::string &nameB,
                             const Json &b, const std::string &levelB) {
  Comparison comparison;
  comparison.nameA = nameA;
  comparison.nameB = nameB;
  auto shown = [](const Json &run, const char *key) {
    auto found = run.find(key);
    return found == run.end()   ? std::string()
           : found->is_string() ? found->get<std::string>()
                                : found->dump();
  };
  for (const char *key :
       {"program", "target", "device", "compiler", "binds", "live"})
    if (std::string left = shown(a, key), right = shown(b, key); left != right)
      comparison.differences.push_back({key, left, right});

  std::vector<Json> left = levelsOf(nameA, a, levelA);
  std::vector<Json> right = levelsOf(nameB, b, levelB);
  if (left.size() == 1 && right.size() == 1) {
    comparison.levels.push_back(pairLevel(&left[0], &right[0]));
    return comparison;
  }
  auto named = [](const std::vector<Json> &list, const Json &level) {
    auto found = std::find_if(list.begin(), list.end(), [&](const Json &other) {
      return other.value("name", "") == level.value("name", "");
    });
    return found == list.end() ? nullptr : &*found;
  };
  for (const Json &level : left)
    comparison.levels.push_back(pairLevel(&level, named(right, level)));
  for (const Json &level : right)
    if (!named(left, level))
      comparison.levels.push_back(pairLevel(nullptr, &level));
  return comparison;
}

Comparison attn::profile::compareRuns(const std::string &nameA, const std::string &textA,
                                      const std::string &levelA, const std::string &nameB,
                                      const std::string &textB,
                                      const std::string &levelB) try {
  std::vector<Json> a = parseRuns(nameA, textA), b = parseRuns(nameB, textB);
  if (a.size() == 1 && b.size() == 1)
    return compareTwo(nameA, a[0], levelA, nameB, b[0], levelB);
  Comparison all;
  all.nameA = nameA;
  all.nameB = nameB;
  std::vector<std::string> sizesA, sizesB;
  for (const Json &run : a)
    sizesA.push_back(sizeOf(run));
  for (const Json &run : b)
    sizesB.push_back(sizeOf(run));
  for (size_t i = 0; i < a.size(); ++i) {
    auto same = std::find(sizesB.begin(), sizesB.end(), sizesA[i]);
    if (same == sizesB.end()) {
      all.onlyA.push_back(sizesA[i]);
      continue;
    }
    const Json &other = b[same - sizesB.begin()];
    all.sizes.push_back(compareTwo(nameA, a[i], levelA, nameB, other, levelB));
    all.sizes.back().size = sizesA[i];
  }
  for (const std::string &size : sizesB)
    if (std::find(sizesA.begin(), sizesA.end(), size) == sizesA.end())
      all.onlyB.push_back(size);
  if (all.sizes.empty())
    throw std::runtime_error(fmt::format(
        "{} and {} have no size in common: {} | {}; run both with the same --at", nameA,
        nameB, fmt::join(sizesA, ", "), fmt::join(sizesB, ", ")));
  return all;
} catch (const nlohmann::json::exception &) {
  throw std::runtime_error(fmt::format(
      "{} or {} is not what attn-bench --json writes", nameA, nameB));
}

static std::string timeCell(const std::optional<Summary> &time) {
  return time ? humanTime(time->median) : "-";
}

/// "+12.3 %": comparisons are about small changes.
static std::string percentCell(double change) {
  return fmt::format("{:+.1f} %", 100 * change);
}

static std::string intervalCell(const Shift &shift) {
  constexpr double kWide = 10; // How far beyond tells nobody anything.
  if (std::isinf(shift.most))
    return "-";
  return percentCell(shift.least) + " .. " +
         (shift.most > kWide ? ">+1000 %" : percentCell(shift.most));
}

static std::string verdict(const std::optional<Shift> &shift) {
  if (!shift)
    return "-";
  if (std::isinf(shift->most))
    return fmt::format("too few repeats to tell ({} needed)", kLeastRepeats);
  return !shift->significant() ? "within the spread"
         : shift->change < 0   ? "faster"
                               : "slower";
}

static std::string nameCell(const std::string &a, const std::string &b) {
  if (a == b)
    return a;
  return a.empty()   ? "(none) -> " + b
         : b.empty() ? a + " -> (none)"
                     : a + " -> " + b;
}

static std::vector<std::string> row(const std::string &name,
                                    const std::optional<Summary> &a,
                                    const std::optional<Summary> &b,
                                    const std::optional<Shift> &shift) {
  std::vector<std::string> cells{name, timeCell(a), timeCell(b)};
  if (shift)
    cells.insert(cells.end(), {percentCell(shift->change), intervalCell(*shift)});
  else
    cells.insert(cells.end(), {"-", "-"});
  cells.push_back(verdict(shift));
  return cells;
}

/// What differs, and the levels of one size.
static std::string tableOfOne(const Comparison &comparison) {
  std::string text;
  for (const Comparison::Difference &d : comparison.differences)
    text += fmt::format("{} differs: {} | {}\n", d.what, d.a, d.b);
  std::vector<std::vector<std::string>> rows{
      {"level", "A", "B", "B against A", "95 % interval", "verdict"}};
  for (const ComparedLevel &level : comparison.levels) {
    rows.push_back(row(nameCell(level.a, level.b), level.timeA, level.timeB,
                       level.change));
    for (const ComparedKernel &kernel : level.kernels)
      rows.push_back(row("  " + nameCell(kernel.a, kernel.b), kernel.timeA,
                         kernel.timeB, kernel.change));
  }
  text += "\n" + alignColumns(rows, 1);
  for (const ComparedLevel &level : comparison.levels) {
    if (!level.failureA.empty())
      text += fmt::format("\nA {}: {}\n", level.a, level.failureA);
    if (!level.failureB.empty())
      text += fmt::format("\nB {}: {}\n", level.b, level.failureB);
  }
  return text;
}

std::string attn::profile::comparisonTable(const Comparison &comparison) {
  std::string text = fmt::format("A: {}\nB: {}\n", comparison.nameA, comparison.nameB);
  if (comparison.sizes.empty())
    text += tableOfOne(comparison);
  for (const Comparison &one : comparison.sizes)
    text += fmt::format("\n{}\n", one.size) + tableOfOne(one);
  auto only = [&](const char *name, const std::vector<std::string> &sizes) {
    for (const std::string &size : sizes)
      text += fmt::format("\n{}: only {} has it\n", size, name);
  };
  only("A", comparison.onlyA);
  only("B", comparison.onlyB);
  return text + "\nThe interval holds the repeats' spread within each run; "
                "clocks and neighbours\nthat differ between runs are not in "
                "it.\n";
}

static Json shiftJson(const std::optional<Shift> &shift) {
  if (!shift)
    return nullptr;
  // No bound is null: JSON has no infinity.
  return {{"change", shift->change},
          {"least", shift->least},
          {"most", std::isinf(shift->most) ? Json(nullptr) : Json(shift->most)},
          {"significant", shift->significant()}};
}

static Json medianJson(const std::optional<Summary> &time) {
  return time ? Json(time->median) : Json(nullptr);
}

static Json jsonOfOne(const Comparison &comparison) {
  Json differences = Json::object(), levels = Json::array();
  for (const Comparison::Difference &d : comparison.differences)
    differences[d.what] = {{"a", d.a}, {"b", d.b}};
  for (const ComparedLevel &level : comparison.levels) {
    Json kernels = Json::array();
    for (const ComparedKernel &kernel : level.kernels)
      kernels.push_back({{"a", kernel.a},
                         {"b", kernel.b},
                         {"measured_a", medianJson(kernel.timeA)},
                         {"measured_b", medianJson(kernel.timeB)},
                         {"change", shiftJson(kernel.change)}});
    levels.push_back({{"a", level.a},
                      {"b", level.b},
                      {"measured_a", medianJson(level.timeA)},
                      {"measured_b", medianJson(level.timeB)},
                      {"failure_a", level.failureA},
                      {"failure_b", level.failureB},
                      {"change", shiftJson(level.change)},
                      {"kernels", kernels}});
  }
  return {{"differences", differences}, {"levels", levels}};
}

std::string attn::profile::comparisonJson(const Comparison &comparison) {
  Json j{{"a", comparison.nameA}, {"b", comparison.nameB}};
  if (comparison.sizes.empty()) {
    j.update(jsonOfOne(comparison));
  } else {
    j["sizes"] = Json::array();
    for (const Comparison &one : comparison.sizes) {
      Json size;
      size["size"] = one.size;
      size.update(jsonOfOne(one));
      j["sizes"].push_back(std::move(size));
    }
    j["only_a"] = comparison.onlyA;
    j["only_b"] = comparison.onlyB;
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
