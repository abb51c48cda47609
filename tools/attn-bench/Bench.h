//===- Bench.h - predict, check and time the levels of a program ----------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_BENCH_H
#define ATTN_TOOLS_ATTN_BENCH_BENCH_H

#include "lib/Profile/Report.h"
#include "tools/attn-bench/Input.h"
#include "tools/Progress.h"

namespace attn::bench {

struct BenchResults {
  profile::Results results;
  std::vector<std::vector<profile::Span>>
      spans; ///< By level; empty if untimed.
};

/// Runs every level of `input` on `device`. `progress` is told what is going
/// on. A level that fails its check or cannot be launched is noted in its
/// result and not timed; throws runtime::DeviceError when the device itself
/// fails.
BenchResults runBench(const Options &options, Input &input,
                      runtime::Device &device,
                      Progress &progress);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_BENCH_H
