//===- Chip.cpp - the tables of chips -------------------------------------===//

#include "lib/Target/Chip.h"

#include <iterator>

using namespace attn::target;

// Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability". Tensor rates: dense figures of the vendor's white papers divided
// by SMs and boost clock (A100: 312 TFLOP/s, 108 SMs, 1.41 GHz = 2048; H100 SXM:
// 989 TFLOP/s, 132 SMs, 1.83 GHz = 4096). mma.sync on Hopper: 647 TFLOP/s of
// bf16 and of f16, 323.5 of tf32, measured on an H200 at 1.98 GHz (2026-12-01;
// registers only, eight independent sums a warp). f32 and special-function rates:
// the guide's table of arithmetic throughput (128 or 64 FMA, 16 results).
static constexpr int64_t kKiB = 1024;
static const Architecture kArchitectures[] = {
    // cap warps blk  regs     smem/SM     smem/block  reserved
    {80, 64, 32, 65536, 164 * kKiB, 163 * kKiB, kKiB,
     /*mma*/ 2048, 1024, /*wgmma*/ 0, 0, /*fma*/ 128, /*special*/ 16},
    {86, 48, 16, 65536, 100 * kKiB, 99 * kKiB, kKiB,
     /*mma*/ 512, 256, /*wgmma*/ 0, 0, /*fma*/ 256, /*special*/ 16},
    {89, 48, 24, 65536, 100 * kKiB, 99 * kKiB, kKiB,
     /*mma*/ 512, 256, /*wgmma*/ 0, 0, /*fma*/ 256, /*special*/ 16},
    {90, 64, 32, 65536, 228 * kKiB, 227 * kKiB, kKiB,
     /*mma*/ 2476, 1238, /*wgmma*/ 4096, 2048, /*fma*/ 256, /*special*/ 16},
};

// Clocks and memory: vendor data sheets; the H200's clock as it held under
// mma.sync, FMA and ex2 loops (measured 2026-12-01; 17.3 ex2 a clock of 1.83 GHz
// are 16.0 of 1.98). bandwidthShare: H200 4.30 of 4.8 TB/s in a device-to-device
// copy, 4.50 read, 4.36 written (2026-12-01); the others by the same share. L2:
// white papers, H200 as the driver reports it. launchSeconds: from kernel to
// kernel in a full queue of empty kernels, 1.48 us on the H200 (2026-12-01).
static const Chip kChips[] = {
    {"NVIDIA H200", 90, 132, 1.98, 4.8e12, 0.90, 60 * kKiB * kKiB, 1.5e-6},
    {"NVIDIA H100 80GB HBM3", 90, 132, 1.83, 3.35e12, 0.90,
     50 * kKiB * kKiB, 2.0e-6},
    {"NVIDIA H100 PCIe", 90, 114, 1.62, 2.0e12, 0.90, 50 * kKiB * kKiB, 2.0e-6},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1.41, 2.039e12, 0.90,
     40 * kKiB * kKiB, 2.5e-6},
    {"NVIDIA A100-SXM4-40GB", 80, 108, 1.41, 1.555e12, 0.90,
     40 * kKiB * kKiB, 2.5e-6},
};

const Architecture &attn::target::architecture(int capability) {
  const Architecture *best = nullptr;
  for (const Architecture &row : kArchitectures) {
    if (row.capability == capability)
      return row;
    if (row.capability < capability)
      best = &row; // Rows ascend: the last one below is the newest older.
  }
  return best ? *best : kArchitectures[0];
}

Chip attn::target::chipFor(const DeviceFacts &facts) {
  for (const Chip &row : kChips)
    if (facts.name.compare(0, row.name.size(), row.name) == 0 &&
        facts.multiprocessors == row.multiprocessors)
      return row;
  Chip chip;
  chip.name = facts.name;
  chip.capability = facts.capability;
  chip.multiprocessors = facts.multiprocessors > 0 ? facts.multiprocessors : 1;
  chip.clockGHz = facts.clockGHz > 0 ? facts.clockGHz : 1.4;
  // A driver that does not tell gets the slowest memory of such a GPU.
  chip.bandwidth = facts.bandwidth > 0 ? facts.bandwidth : 3e11;
  chip.bandwidthShare = 0.90;
  chip.l2Bytes = facts.l2Bytes;
  chip.launchSeconds = 2.5e-6;
  return chip;
}

// Measured on an H200. Those of one launch's parts are fitted to kernels/causal.attn
// (D 64 and 128, both targets) and kernels/full.attn (D 64, sm_80), bf16, L 512 to
// 16384, of 2026-12-02; every other spec is predicted with them.
// matmulShare: mma in a matmul kernel, 326 of 647 TFLOP/s (64x128, 3 stages); f32, 29
// of 67 TFLOP/s from shared memory. flashShare: mma fed by ldmatrix, 16 FLOP a byte
// at 128 bytes a clock, 2048 of 2476, and a little more by sharing. Stores: a kernel
// that writes f32 scores moves 2.95 of 4.3 TB/s, by the copy engine 3.8. A block: 65
// 536 blocks of next to nothing take 40 us. tensorSlowdown: 1.45 of 1.98 GHz at 97 % of wgmma's rate, 1.62 at
// 65 %, read inside kernels (2026-12-01).
static const Habits kHabits = [] {
  Habits h;
  h.matmulShare = {{"mma.f16", 0.50}, {"mma.tf32", 0.50}, {"fma.f32", 0.44},
                   {"wgmma.f16", 0.50}, {"wgmma.tf32", 0.50}};
  h.flashShare = {{"mma.f16", 0.85}, {"mma.tf32", 0.85}, {"fma.f32", 0.44}};
  h.overlapped = {{"wgmma.f16", true}, {"wgmma.tf32", true}};
  h.fragmentStores = 0.69;
  h.boxStores = 0.88;
  h.rowOperation = 3.6;
  h.rowCrowding = 2.5;
  h.flashOperation = 0.6;
  h.pipeCrowding = 6;
  h.tensorSlowdown = 0.276;
  h.exposedLoads = 0.7;
  h.latency = 0.8;
  h.crowding = 8;
  h.fillSeconds = 2.5e-6;
  h.loadSeconds = 0.7e-6;
  h.mapFillSeconds = 5e-6;
  return h;
}();
// Of one SM. Of a tile on wgmma: fitted to levels pipelined and specialized of causal (D
// 64, 128) and full (D 64), L 512 to 4096, sm_90a code (H200, 2026-12-02): least squares
// of the times' logarithms over steps of 500 and 1000 clocks.
static constexpr double kBlockClocks = 160; ///< For each block.
/// From the L2 cache, an SM and clock: value products at L 3000, whose rows of
/// probabilities begin within lines (full, D 64 and 128, sm_80 code, H200, 2026-12-03).
static constexpr double kCacheBytes = 36;
static constexpr double kBlockFill = 500, kTileFill = 2500, kPersistentFill = 1500;

Roofs attn::target::roofsOf(const Chip &chip) {
  const Architecture &arch = architecture(chip.capability);
  double clocks = chip.multiprocessors * chip.clockGHz * 1e9;
  Roofs roofs;
  roofs.bandwidth = chip.bandwidth * chip.bandwidthShare;
  roofs.matmul["mma.f16"] = arch.mmaF16 * clocks;
  roofs.matmul["mma.tf32"] = arch.mmaTf32 * clocks;
  roofs.matmul["fma.f32"] = arch.fmaF32 * clocks;
  if (arch.wgmmaF16 > 0) {
    roofs.matmul["wgmma.f16"] = arch.wgmmaF16 * clocks;
    roofs.matmul["wgmma.tf32"] = arch.wgmmaTf32 * clocks;
  }
  // Elementwise work is mostly single operations: one result an instruction.
  roofs.scalar = arch.fmaF32 / 2 * clocks;
  roofs.exponentials = arch.specialFunctions * clocks;
  roofs.launchSeconds = chip.launchSeconds;
  roofs.capability = chip.capability;
  roofs.habits = kHabits;
  roofs.habits.blockSeconds = kBlockClocks / clocks;
  roofs.habits.cacheRate = kCacheBytes * clocks;
  double clock = chip.clockGHz * 1e9;
  roofs.habits.blockFill = kBlockFill / clock;
  roofs.habits.tileFill = kTileFill / clock;
  roofs.habits.persistentFill = kPersistentFill / clock;
  roofs.multiprocessors = chip.multiprocessors;
  roofs.cacheBytes = chip.l2Bytes;
  return roofs;
}
