//===- Tune.h - check and time the schedules of a bundle ------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_TUNE_H
#define ATTN_TOOLS_ATTN_BENCH_TUNE_H

#include "lib/Profile/Tune.h"
#include "tools/attn-bench/Input.h"
#include "tools/Progress.h"

namespace attn::bench {

/// Every schedule of every level of `input` that has several: checked against the
/// reference at each size of `options.sizes` (one at least; none: the binds alone),
/// then timed beside the others in shuffled rounds. A schedule that differs or does
/// not run at one size is noted and timed at none. Throws InputError when no level
/// has variants, runtime::DeviceError when the device fails.
profile::TuneResults
runTune(const Options &options, Input &input, runtime::Device &device,
        Progress &progress);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_TUNE_H
