//===- Tune.cpp - schedules of one level side by side ---------------------===//

#include "lib/Profile/Tune.h"

#include "lib/Profile/Table.h"
#include "lib/Schedule/Search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace attn;
using namespace attn::profile;
using Json = nlohmann::ordered_json;

double attn::profile::meanSpeed(const TunedSchedule &schedule) {
  if (schedule.times.empty())
    return 0;
  double sum = 0;
  for (const TunedTime &t : schedule.times)
    sum += std::log(t.speed);
  return std::exp(sum / double(schedule.times.size()));
}

static bool faster(const TunedTime &t) { return t.change && t.change->most < 0; }
static bool slower(const TunedTime &t) { return t.change && t.change->least > 0; }

size_t attn::profile::fastest(const TunedLevel &level) {
  size_t best = 0;
  double speed = 1;
  for (size_t i = 1; i < level.schedules.size(); ++i) {
    const std::vector<TunedTime> &times = level.schedules[i].times;
    if (meanSpeed(level.schedules[i]) > speed &&
        std::any_of(times.begin(), times.end(), faster) &&
        std::none_of(times.begin(), times.end(), slower)) {
      best = i;
      speed = meanSpeed(level.schedules[i]);
    }
  }
  return best;
}

static std::string nameOf(const TunedSchedule &schedule) {
  return schedule.overrides.empty() ? "default" : schedule.overrides;
}

/// What the speeds of a level are against: the compiler's choice, or the schedule that a
/// user put in its place.
static std::string baseName(const TunedLevel &level) {
  const std::string &overrides = level.schedules[0].overrides;
  return overrides.empty() ? "the default" : overrides + " (--schedule)";
}

static Unit unitOf(const TuneResults &results, const TunedSchedule &schedule) {
  if (results.target == "cpu")
    return Unit::Cpu;
  return scheduleFrom(schedule.choice.schedule).groups > 0 ? Unit::Wgmma
                                                           : Unit::MmaSync;
}

static std::string quoted(const std::string &text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Where the row's figures hold: a run without --at is of its binds alone.
static std::string measuredAt(const TuneResults &results) {
  std::vector<std::string> sizes = results.sizes;
  for (std::string &size : sizes)
    for (const auto &[name, value] : results.binds)
      if (results.sizes.size() == 1 && results.sizes[0].empty())
        size += fmt::format("{}{}={}", size.empty() ? "" : " ", name, value);
  return fmt::format("{}", fmt::join(sizes, ", "));
}

std::string attn::profile::measuredRow(const TuneResults &results,
                                       const TunedLevel &level, size_t place) {
  static const char *const names[] = {"Unit::Cpu", "Unit::MmaSync", "Unit::Wgmma"};
  const TunedSchedule &s = level.schedules[place];
  Problem problem = problemFrom(s.choice.problem);
  Unit unit = unitOf(results, s);
  std::vector<std::string> speeds;
  for (const TunedTime &t : s.times)
    speeds.push_back(fmt::format("{:.3f}", t.speed));
  std::string others =
      place ? fmt::format("{} of {}", fmt::join(speeds, ", "),
                          spellOverrides(scheduleFrom(level.schedules[0].choice.schedule),
                                         unit))
            : fmt::format("none of {} others is faster", level.schedules.size() - 1);
  return fmt::format("{{{}, {}, {}, {}, {}, {},\n {},\n {}, {},\n {}}},",
                     names[int(unit)],
                     unit != Unit::Cpu && level.name == "pipelined", problem.bytes,
                     problem.contracted, problem.columns, problem.uneven,
                     quoted(spellOverrides(scheduleFrom(s.choice.schedule), unit)),
                     quoted(results.date), quoted(results.device),
                     quoted(fmt::format("{}; {}; --tune at {}", others,
                                        results.program,
                                        measuredAt(results))));
}

/// "1.042 +": significantly faster; "-": slower; "=": neither.
static std::string speedCell(const TunedTime &t) {
  return fmt::format("{:.3f} {}", t.speed, faster(t) ? "+" : slower(t) ? "-" : "=");
}

static std::string levelTable(const TuneResults &results, const TunedLevel &level) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0] = {"schedule"};
  for (const std::string &size : results.sizes)
    rows[0].insert(rows[0].end(), {size.empty() ? "speed" : size, "spread"});
  rows[0].insert(rows[0].end(), {"mean", "registers", "error", "what it is"});
  std::vector<size_t> order(level.schedules.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return meanSpeed(level.schedules[a]) > meanSpeed(level.schedules[b]);
  });
  for (size_t i : order) {
    const TunedSchedule &s = level.schedules[i];
    if (s.times.empty())
      continue;
    std::vector<std::string> row{nameOf(s)};
    for (const TunedTime &t : s.times)
      row.insert(row.end(),
                 {i ? speedCell(t) : "1.000  ", fmt::format("{:.1f} %", 100 * t.time.spread())});
    row.push_back(fmt::format("{:.3f}", meanSpeed(s)));
    row.push_back(s.registers ? std::to_string(*s.registers) : "-");
    row.push_back(s.error ? fmt::format("{:.1e}", *s.error) : "not checked");
    row.push_back(s.description);
    rows.push_back(std::move(row));
  }
  const std::string first = baseName(level);
  std::string text = fmt::format("level {}: speed against {}\n", level.name, first) +
                     alignColumns(rows, 1);
  for (const TunedSchedule &s : level.schedules)
    if (!s.failure.empty())
      text += fmt::format("{}: {}\n", nameOf(s), s.failure);
  if (level.schedules[0].times.empty())
    return text;
  size_t best = fastest(level);
  text += best ? fmt::format("fastest: {}", nameOf(level.schedules[best]))
               : fmt::format("no schedule is faster than {} beyond the rounds' spread",
                             first);
  return text + "; its row for lib/Schedule/MeasuredRows.h:\n" +
         measuredRow(results, level, best) + "\n";
}

std::string attn::profile::tuneTable(const TuneResults &results) {
  std::vector<std::string> binds;
  for (const auto &[name, value] : results.binds)
    binds.push_back(name + "=" + value);
  std::string text = fmt::format("{}: {} code on {}, {}\n{}\n", results.program,
                                 results.target, results.device, results.date,
                                 fmt::join(binds, " "));
  for (const TunedLevel &level : results.levels)
    text += "\n" + levelTable(results, level);
  return text + "\n+ faster, - slower, = neither beyond the rounds' spread (95 %)\n";
}

static Json timeJson(const TunedTime &t) {
  Json j{{"speed", t.speed},
         {"median", t.time.median},
         {"least", t.time.least},
         {"most", t.time.most},
         {"lower_quartile", t.time.lowerQuartile},
         {"upper_quartile", t.time.upperQuartile},
         {"count", t.time.count}};
  if (t.change && std::isfinite(t.change->most))
    j["change"] = {{"change", t.change->change},
                   {"least", t.change->least},
                   {"most", t.change->most},
                   {"significant", t.change->significant()}};
  return j;
}

std::string attn::profile::tuneJson(const TuneResults &results) {
  Json levels = Json::array();
  for (const TunedLevel &level : results.levels) {
    Json schedules = Json::array();
    for (const TunedSchedule &s : level.schedules) {
      Json times = Json::array();
      for (const TunedTime &t : s.times)
        times.push_back(timeJson(t));
      Json j{{"schedule", s.overrides},
             {"description", s.description},
             {"choice",
              {{"problem", s.choice.problem}, {"schedule", s.choice.schedule}}},
             {"failure", s.failure},
             {"times", times}};
      j["registers"] = s.registers ? Json(*s.registers) : Json(nullptr);
      j["error"] = s.error ? Json(*s.error) : Json(nullptr);
      schedules.push_back(std::move(j));
    }
    Json j{{"name", level.name}, {"schedules", schedules}};
    if (!level.schedules[0].times.empty()) {
      j["fastest"] = fastest(level);
      j["row"] = measuredRow(results, level, fastest(level));
    }
    levels.push_back(std::move(j));
  }
  Json j{{"spec", results.spec},     {"program", results.program},
         {"target", results.target}, {"device", results.device},
         {"compiler", results.compiler}, {"date", results.date},
         {"binds", results.binds},   {"sizes", results.sizes},
         {"levels", levels}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
