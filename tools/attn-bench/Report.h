//===- Report.h - the folder that --report writes -------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_REPORT_H
#define ATTN_TOOLS_ATTN_BENCH_REPORT_H

#include "tools/attn-bench/Bench.h"

namespace attn::bench {

/// Throws InputError when a report could not be written to `folder`, or would replace
/// a file there that no report wrote; leaves nothing behind. Asked before anything
/// runs.
void checkReportFolder(const std::string &folder);

/// Paths of what a report writes there, the traces of all known levels among them.
std::vector<std::string> reportFiles(const std::string &folder);

/// The levels that have a time line.
std::vector<profile::LevelTrace> tracesOf(const BenchResults &bench);

/// What changed from each level to the next, with the IR of both from attn-opt.
std::vector<profile::Step> stepsOf(const Options &options, const Input &input,
                                   const profile::Results &results);

/// Writes page, data and traces. A new folder appears whole; in one that is
/// there each file of an older report is replaced whole, the page last. Throws
/// InputError.
void writeReport(const std::string &folder, const profile::Report &report);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_REPORT_H
