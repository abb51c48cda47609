//===- SampleResults.h - a kernel and a run for tests of profiles --------===//
#ifndef ATTN_TEST_UNIT_SAMPLERESULTS_H
#define ATTN_TEST_UNIT_SAMPLERESULTS_H

#include "lib/Profile/Estimate.h"
#include "lib/Profile/Reason.h"
#include "lib/Profile/Results.h"

#include <map>
#include <string>

namespace attn::profile {

/// Round numbers: 1 kB/s, 100 FLOP/s of matmul, 10 of f32, 1 exponential/s.
inline target::Roofs roundRoofs() {
  target::Roofs roofs;
  roofs.bandwidth = 1000;
  roofs.matmul["mma.f16"] = 100;
  roofs.scalar = 10;
  roofs.exponentials = 1;
  roofs.launchSeconds = 0.5;
  roofs.multiprocessors = 4;
  roofs.cacheBytes = 100;
  return roofs;
}

inline bundle::Kernel kernel() {
  bundle::Kernel k;
  k.symbol = "flash_0";
  k.label = "flash";
  k.prediction.tensorUnit = "mma.f16";
  k.prediction.bytesRead = {{2, {"M", "D"}, false}, {2, {"N", "D"}, false}};
  k.prediction.bytesWritten = {{4, {"M"}, false}};
  k.prediction.tensorFlops = {{2, {"M", "N", "D"}, true}};
  k.prediction.exponentials = {{1, {"M", "N"}, true}};
  return k;
}
inline const std::map<std::string, int64_t> kLengths{{"M", 10}, {"N", 20}, {"D", 4}};

inline Results results() {
  Results r;
  r.spec = "causal.attn";
  r.program = "causal";
  r.target = "sm_80";
  r.device = "NVIDIA H200";
  r.binds = {{"B", "4"}, {"slope", "0.5"}};
  r.live = 0.5;
  r.gpu = true;
  r.roofs = roundRoofs();
  LevelResult level;
  level.name = "flash";
  level.launches = 1;
  level.hostMicroseconds = 2.5;
  level.check = Check::Passed;
  level.error = 1e-3;
  KernelResult k;
  k.symbol = "causal_flash";
  k.label = "flash";
  k.schedule = "tile 128x64";
  k.blocks = 8;
  k.predicted = estimate(kernel(), kLengths, 0.5, 8, r.roofs);
  k.measured = summarize({134500});
  k.registers = 240;
  k.sharedBytes = 65536;
  k.occupancy = target::Occupancy{1, 8, 0.125, "registers"};
  k.reason = likeliestReason(k, r.roofs);
  level.predictedMs = k.predicted.seconds * 1e3;
  level.measured = k.measured;
  level.kernels = {k};
  LevelResult failed;
  failed.name = "fused";
  failed.check = Check::Failed;
  failed.failure = "o[0, 3] is 2, the reference is 1";
  r.levels = {level, failed};
  return r;
}

} // namespace attn::profile

#endif // ATTN_TEST_UNIT_SAMPLERESULTS_H
