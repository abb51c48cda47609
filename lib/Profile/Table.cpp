//===- Table.cpp - results as text ----------------------------------------===//

#include "lib/Profile/Table.h"

#include "lib/Profile/Reason.h"
#include "lib/Profile/Units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

using namespace attn;
using namespace attn::profile;
using Row = std::vector<std::string>;

std::string attn::profile::alignColumns(const std::vector<Row> &rows,
                                        size_t leftColumns) {
  std::vector<size_t> widths;
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const Row &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0)
        line += "  ";
      // The last column holds words and stays ragged.
      bool left = i < leftColumns || i + 1 == widths.size();
      line += left ? fmt::format("{:<{}}", row[i], widths[i])
                   : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

static std::string orDash(const std::string &text) {
  return text.empty() ? "-" : text;
}

/// "+12 % !" where the miss is over 10 %.
static std::string missCell(double predictedMs, double measuredMs) {
  if (predictedMs <= 0)
    return "-";
  std::string cell = humanMiss(miss(predictedMs, measuredMs));
  return isMiss(predictedMs, measuredMs) ? cell + " !" : cell + "  ";
}

/// Share of the roofline that a measured time reaches, launches left out of
/// the roof.
static std::string shareCell(double roofMs, double measuredMs) {
  if (measuredMs <= 0 || roofMs <= 0)
    return "-";
  return fmt::format("{:.0f} %", 100 * roofMs / measuredMs);
}

static double roofMs(const Estimate &e) { return e.roofSeconds * 1e3; }

static std::string checkCell(const LevelResult &level) {
  switch (level.check) {
  case Check::Failed:
    return "FAILED";
  case Check::Skipped:
    return level.failure.empty() ? "not checked" : "cannot run";
  case Check::Passed:
    return level.error ? fmt::format("ok {:.1e}", *level.error) : "ok";
  }
  return "";
}

static Row levelRow(const LevelResult &level) {
  double bytes = 0, flops = 0, roof = 0;
  for (const KernelResult &kernel : level.kernels) {
    bytes += double(kernel.predicted.bytes());
    flops += kernel.predicted.flops();
    roof += roofMs(kernel.predicted);
  }
  Row row{level.name, std::to_string(level.launches),
          humanTime(level.predictedMs)};
  if (level.measured) {
    const Summary &m = *level.measured;
    row.insert(row.end(),
               {humanTime(m.median), fmt::format("{:.1f} %", 100 * m.spread()),
                missCell(level.predictedMs, m.median)});
  } else {
    row.insert(row.end(), {"-", "-", "-"});
  }
  row.push_back(humanBytes(bytes));
  if (level.measured) {
    row.push_back(humanFlops(flops / (level.measured->median * 1e-3)));
    row.push_back(shareCell(roof, level.measured->median));
  } else {
    row.insert(row.end(), {"-", "-"});
  }
  row.push_back(
      level.hostMicroseconds ? humanTime(*level.hostMicroseconds * 1e-3) : "-");
  row.push_back(checkCell(level));
  return row;
}

static Row kernelRow(const LevelResult &level, const KernelResult &kernel,
                     const target::Roofs &roofs) {
  Row row{"  " + kernel.label, std::to_string(kernel.blocks > 0 ? 1 : 0),
          humanTime(kernel.predicted.seconds * 1e3)};
  if (kernel.measured) {
    double median = kernel.measured->median;
    row.insert(row.end(),
               {humanTime(median),
                missCell(kernel.predicted.seconds * 1e3, median),
                humanBytes(double(kernel.predicted.bytes())),
                humanFlops(kernel.predicted.flops() / (median * 1e-3)),
                beatsMemory(kernel, roofs)
                    ? "in cache"
                    : shareCell(roofMs(kernel.predicted), median)});
  } else {
    row.insert(
        row.end(),
        {"-", "-", humanBytes(double(kernel.predicted.bytes())), "-", "-"});
  }
  auto count = [](const auto &value) {
    return value ? std::to_string(*value) : std::string("-");
  };
  row.push_back(count(kernel.registers));
  row.push_back(kernel.sharedBytes ? humanBytes(double(*kernel.sharedBytes))
                                   : "-");
  if (kernel.occupancy)
    row.insert(row.end(),
               {fmt::format("{:.0f} %", 100 * kernel.occupancy->share),
                kernel.occupancy->limiter});
  else
    row.insert(row.end(), {"-", "-"});
  row.push_back(
      level.hostMicroseconds ? humanTime(*level.hostMicroseconds * 1e-3) : "-");
  row.push_back(orDash(kernel.schedule));
  return row;
}

static std::string notes(const Results &results) {
  std::string text;
  for (const LevelResult &level : results.levels)
    if (!level.failure.empty())
      text += fmt::format("{}: {}\n", level.name, level.failure);

  struct Miss {
    double size;
    std::string line;
  };
  std::vector<Miss> misses;
  for (const LevelResult &level : results.levels)
    for (const KernelResult &kernel : level.kernels)
      if (!kernel.reason.empty()) {
        double m =
            miss(kernel.predicted.seconds * 1e3, kernel.measured->median);
        misses.push_back(
            {std::max(m, 1 / (m + 1) - 1),
             fmt::format("  {:>6}  {} {}: {}\n", humanMiss(m), level.name,
                         kernel.label, kernel.reason)});
      }
  std::stable_sort(
      misses.begin(), misses.end(),
      [](const Miss &a, const Miss &b) { return a.size > b.size; });
  if (!misses.empty()) {
    text += "\nmisses over 10 %, worst first, and their likeliest reason:\n";
    // Kernels of one label that miss alike need one line.
    std::set<std::string> said;
    for (const Miss &miss : misses)
      if (said.insert(miss.line).second)
        text += miss.line;
  }
  if (std::string above = aboveRoofNote(results); !above.empty())
    text += "\n" + above;

  for (const LevelResult &level : results.levels)
    for (const KernelResult &kernel : level.kernels)
      if (std::string note = occupancyNote(kernel); !note.empty())
        text += fmt::format("\n{} {}: {}\n", level.name, kernel.label, note);
  for (const Missing &missing : results.missing)
    text += fmt::format("\nnot told: {}: {}\n", missing.what, missing.why);
  return text;
}

std::string attn::profile::table(const Results &results, bool kernels) {
  std::vector<std::string> binds;
  for (const auto &[name, value] : results.binds)
    binds.push_back(name + "=" + value);
  std::string text =
      fmt::format("{}: {} code on {}\n{}", results.program, results.target,
                  results.device, fmt::join(binds, " "));
  if (results.live < 0.9995)
    text += fmt::format("; masks leave {:.1f} % of the pairs alive",
                        100 * results.live);
  text += "\n\n";

  std::vector<Row> rows{{"level", "launches", "predicted", "measured", "spread",
                         "miss  ", "bytes", "FLOP/s", "roofline", "host/launch",
                         "check"}};
  for (const LevelResult &level : results.levels)
    rows.push_back(levelRow(level));
  text += alignColumns(rows, 1);

  if (kernels) {
    rows = {{"kernel", "launches", "predicted", "measured", "miss  ", "bytes",
             "FLOP/s", "roofline", "registers", "shared", "occupancy",
             "limiter", "host/launch", "schedule"}};
    for (const LevelResult &level : results.levels) {
      rows.push_back({level.name});
      for (const KernelResult &kernel : level.kernels)
        rows.push_back(kernelRow(level, kernel, results.roofs));
    }
    text += "\n" + alignColumns(rows, 1);
  }
  for (const LevelResult &level : results.levels)
    for (const KernelResult &kernel : level.kernels)
      if (kernel.timeline)
        text += "\n" + timelineTable(level.name + " " + kernel.label,
                                     *kernel.timeline);
  std::string more = notes(results);
  if (!more.empty())
    text += (more[0] == '\n' ? "" : "\n") + more;
  return text;
}
