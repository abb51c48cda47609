//===- Report.cpp - a profile as a page and as data -----------------------===//

#include "lib/Profile/Report.h"

#include "lib/Profile/Diff.h"
#include "lib/Profile/Page.h"
#include "lib/Profile/Reason.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::profile;
using Json = nlohmann::ordered_json;

std::vector<Regroup> attn::profile::regrouped(const LevelResult &from,
                                              const LevelResult &to) {
  auto labels = [](const LevelResult &level) {
    std::vector<std::string> list;
    for (const KernelResult &kernel : level.kernels)
      list.push_back(kernel.label);
    return list;
  };
  std::vector<Regroup> list;
  for (const Change &change : changes(labels(from), labels(to)))
    if (!change.same)
      list.push_back({fmt::format("{}", fmt::join(change.before, ", ")),
                      fmt::format("{}", fmt::join(change.after, ", "))});
  return list;
}

static int64_t bytesOf(const LevelResult &level) {
  int64_t bytes = 0;
  for (const KernelResult &kernel : level.kernels)
    bytes += kernel.predicted.bytes();
  return bytes;
}

static Json roofsJson(const target::Roofs &roofs) {
  Json matmul = Json::object();
  for (const auto &[unit, rate] : roofs.matmul)
    matmul[unit] = rate;
  return {{"bandwidth", roofs.bandwidth},
          {"matmul", matmul},
          {"scalar", roofs.scalar},
          {"exponentials", roofs.exponentials},
          {"launch", roofs.launchSeconds * 1e3},
          {"multiprocessors", roofs.multiprocessors},
          {"cache_bytes", roofs.cacheBytes}};
}

/// Microseconds from the start of each level's run.
static Json timelineJson(const Report &report) {
  Json levels = Json::array();
  for (const LevelTrace &trace : report.traces) {
    Json spans = Json::array();
    for (size_t k = 0; k < trace.spans.size(); ++k) {
      const Span &span = trace.spans[k];
      if (trace.level->kernels[k].blocks > 0)
        spans.push_back({{"kernel", k},
                         {"host", {span.hostStart, span.hostEnd}},
                         {"device", {span.deviceStart, span.deviceEnd}}});
    }
    levels.push_back({{"level", trace.level - report.results.levels.data()},
                      {"spans", spans}});
  }
  return levels;
}

static Json stepJson(const Report &report, const Step &step) {
  const LevelResult &from = report.results.levels[step.from];
  const LevelResult &to = report.results.levels[step.to];
  Json merged = Json::array();
  for (const Regroup &group : regrouped(from, to))
    merged.push_back({{"before", group.before}, {"after", group.after}});
  return {{"from", from.name},
          {"to", to.name},
          {"launches", {from.launches, to.launches}},
          {"bytes_saved", bytesOf(from) - bytesOf(to)},
          {"kernels", merged},
          {"stage", step.stage},
          {"diff", step.diff},
          {"diff_missing", step.missing}};
}

std::string attn::profile::reportJson(const Report &report) {
  const Results &results = report.results;
  Json j = Json::parse(resultsJson(results));
  for (size_t l = 0; l < results.levels.size(); ++l)
    for (size_t k = 0; k < results.levels[l].kernels.size(); ++k)
      j["levels"][l]["kernels"][k]["occupancy_note"] =
          occupancyNote(results.levels[l].kernels[k]);
  j["gpu"] = results.gpu;
  j["roofs"] = roofsJson(results.roofs);
  j["above_roof"] = aboveRoofNote(results);
  j["timeline"] = timelineJson(report);
  j["steps"] = Json::array();
  for (const Step &step : report.steps)
    j["steps"].push_back(stepJson(report, step));
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

static std::string quoted(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string all = "\"";
  for (char c : text)
    all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

static std::string csvLine(const std::vector<std::string> &cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i)
    line += (i ? "," : "") + quoted(cells[i]);
  return line + "\r\n";
}

template <typename T>
static std::string orEmpty(const std::optional<T> &value) {
  return value ? fmt::format("{}", *value) : "";
}

/// Median and quartiles of a measurement, or empty cells.
static void addSummary(std::vector<std::string> &cells,
                       const std::optional<Summary> &summary) {
  if (!summary) {
    cells.insert(cells.end(), 4, "");
    return;
  }
  for (double value :
       {summary->median, summary->lowerQuartile, summary->upperQuartile})
    cells.push_back(fmt::format("{}", value));
  cells.push_back(std::to_string(summary->count));
}

/// First columns by which a table is known again, whatever later versions add.
static const char *const kLevelColumns = "level,launches,predicted_ms,";
static const char *const kKernelColumns = "level,kernel,symbol,";

std::string attn::profile::levelsCsv(const Results &results) {
  std::string text = csvLine(
      {"level", "launches", "predicted_ms", "measured_ms", "lower_quartile_ms",
       "upper_quartile_ms", "samples", "bytes_predicted", "temporary_bytes",
       "host_us_per_launch", "error", "failure"});
  for (const LevelResult &level : results.levels) {
    std::vector<std::string> cells{level.name, std::to_string(level.launches),
                                   fmt::format("{}", level.predictedMs)};
    addSummary(cells, level.measured);
    cells.insert(cells.end(), {std::to_string(bytesOf(level)),
                               std::to_string(level.temporaryBytes),
                               orEmpty(level.hostMicroseconds),
                               orEmpty(level.error), level.failure});
    text += csvLine(cells);
  }
  return text;
}

std::string attn::profile::kernelsCsv(const Results &results) {
  std::string text = csvLine({"level",
                              "kernel",
                              "symbol",
                              "blocks",
                              "threads",
                              "predicted_ms",
                              "measured_ms",
                              "lower_quartile_ms",
                              "upper_quartile_ms",
                              "samples",
                              "bound",
                              "bytes_read",
                              "bytes_written",
                              "counted_bytes_read",
                              "counted_bytes_written",
                              "flops",
                              "registers",
                              "spill_bytes",
                              "shared_bytes",
                              "occupancy",
                              "limiter",
                              "reason"});
  for (const LevelResult &level : results.levels)
    for (const KernelResult &kernel : level.kernels) {
      const Estimate &e = kernel.predicted;
      std::vector<std::string> cells{level.name,
                                     kernel.label,
                                     kernel.symbol,
                                     std::to_string(kernel.blocks),
                                     std::to_string(kernel.threads),
                                     fmt::format("{}", e.seconds * 1e3)};
      addSummary(cells, kernel.measured);
      Counters counted = kernel.counted.value_or(Counters{});
      cells.insert(cells.end(),
                   {e.bound, std::to_string(e.bytesRead),
                    std::to_string(e.bytesWritten), orEmpty(counted.bytesRead),
                    orEmpty(counted.bytesWritten), fmt::format("{}", e.flops()),
                    orEmpty(kernel.registers), orEmpty(kernel.spillBytes),
                    orEmpty(kernel.sharedBytes)});
      if (kernel.occupancy)
        cells.insert(cells.end(), {fmt::format("{}", kernel.occupancy->share),
                                   kernel.occupancy->limiter});
      else
        cells.insert(cells.end(), 2, "");
      cells.push_back(kernel.reason);
      text += csvLine(cells);
    }
  return text;
}

std::string attn::profile::reportPage(const std::string &json) {
  // Inside a script element only "</script" and "<!--" are special: no "<" is
  // left as it is.
  std::string data;
  for (char c : json)
    data += c == '<' ? std::string("\\u003c") : std::string(1, c);
  std::string page = kPage;
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), data);
}

bool attn::profile::isReportFile(const std::string &name, const std::string &text) {
  if (name == "report.html")
    return text.find("<title>attn profile</title>") != std::string::npos;
  if (name == "levels.csv")
    return text.rfind(kLevelColumns, 0) == 0;
  if (name == "kernels.csv")
    return text.rfind(kKernelColumns, 0) == 0;
  Json j = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object())
    return false;
  if (name == "report.json")
    return j.contains("levels") && j.contains("steps") && j.contains("roofs") &&
           j.contains("compiler");
  auto other = j.find("otherData");
  return j.contains("traceEvents") && other != j.end() && other->is_object() &&
         other->contains("spec") && other->contains("target");
}
