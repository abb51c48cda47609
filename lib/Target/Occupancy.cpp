//===- Occupancy.cpp - how many blocks fit a multiprocessor, and why ------===//

#include "lib/Target/Occupancy.h"

#include <algorithm>

using namespace attn::target;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Occupancy attn::target::occupancy(const Architecture &arch, int threads,
                                  int registers, int64_t shared) {
  // Allocation units of compute capability 8 and 9: registers by 256 a warp,
  // warps over four schedulers, shared memory by 128 bytes a block.
  constexpr int kWarp = 32, kSchedulers = 4;
  int warps = static_cast<int>(roundUp(std::max(threads, 1), kWarp) / kWarp);

  struct Limit {
    int64_t blocks;
    const char *name;
  };
  enum { Warps, Blocks, Registers, Shared };
  // On a tie the first named wins: a full SM is never blamed on registers.
  Limit limits[] = {
      {arch.maxWarps / warps, "warps"},
      {arch.maxBlocks, "blocks"},
      {arch.maxBlocks, "registers"},
      {arch.maxBlocks, "shared memory"},
  };
  if (registers > 0) {
    int64_t perWarp = roundUp(int64_t(registers) * kWarp, 256);
    int64_t residentWarps =
        arch.registers / perWarp / kSchedulers * kSchedulers;
    limits[Registers].blocks = residentWarps / warps;
  }
  limits[Shared].blocks =
      shared > arch.sharedPerBlock
          ? 0
          : arch.sharedPerSm / roundUp(shared + arch.sharedReserved, 128);

  const Limit *least = std::min_element(
      std::begin(limits), std::end(limits),
      [](const Limit &a, const Limit &b) { return a.blocks < b.blocks; });
  Occupancy result;
  result.blocks = static_cast<int>(least->blocks);
  result.warps = result.blocks * warps;
  result.share = double(result.warps) / arch.maxWarps;
  result.limiter = least->name;
  return result;
}
