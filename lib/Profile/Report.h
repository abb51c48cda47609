//===- Report.h - a profile as a page and as data -------------------------===//
//
// The page is one HTML file that carries its data, style and script, so that it
// opens from a file with no network. Its parts stand in Page/.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_PROFILE_REPORT_H
#define ATTN_LIB_PROFILE_REPORT_H

#include "lib/Profile/Json.h"

namespace attn::profile {

/// What the passes between a level and the one before it changed.
struct Step {
  size_t from = 0, to = 0; ///< Places in Results::levels.
  std::string stage;       ///< Of the IR that `diff` compares: "fused", "tile".
  std::string diff;        ///< Unified.
  std::string missing;     ///< Why there is no difference to show.
};

struct Report {
  const Results &results;
  std::vector<LevelTrace> traces; ///< Of the levels that were timed.
  std::vector<Step> steps;
};

/// Kernels of a step that turned into others: "scale, mask, softmax" to
/// "softmax"; empty sides for what appeared or went.
struct Regroup {
  std::string before, after;
};
std::vector<Regroup> regrouped(const LevelResult &from, const LevelResult &to);

/// resultsJson and what the page draws besides: roofs, time line, steps.
std::string reportJson(const Report &report);
/// A line a kernel, with a header; quoted by RFC 4180.
std::string kernelsCsv(const Results &results);
/// A line a level.
std::string levelsCsv(const Results &results);
/// The page around reportJson's text.
std::string reportPage(const std::string &json);

/// Whether a file called `name` (report.html, levels.csv, trace-flash.json, ...) was
/// written by a report: a page by its title, data by their columns or members. Such a
/// file may be replaced by the next report.
bool isReportFile(const std::string &name, const std::string &text);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_REPORT_H
