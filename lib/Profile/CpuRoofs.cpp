//===- CpuRoofs.cpp - the ceilings of this machine's CPU, measured --------===//

#include "lib/Profile/CpuRoofs.h"

#include "lib/Runtime/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace attn;
using runtime::ThreadPool;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds of the fastest round. A roof is what the machine can do: rounds that shared
/// it with other programs say less, so they go on well beyond a scheduler's slice.
template <typename Round> static double bestRound(const Round &round) {
  constexpr int kLeastRounds = 4;
  constexpr double kSeconds = 0.15;
  double best = 1e9;
  auto begin = Clock::now();
  for (int i = 0; i < kLeastRounds || secondsSince(begin) < kSeconds; ++i) {
    auto start = Clock::now();
    round();
    best = std::min(best, secondsSince(start));
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Multiply-adds: more independent chains than latency times pipes
//===----------------------------------------------------------------------===//

static constexpr int kChains = 12;
static constexpr int64_t kSteps = 100000;

// Each function runs kSteps * kChains FMAs of its vector. They differ in
// nothing but the instruction set, which a template cannot be given.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static float chains512(float x) {
  __m512 factor = _mm512_set1_ps(x), sums[kChains];
  for (int c = 0; c < kChains; ++c)
    sums[c] = _mm512_set1_ps(x * float(c));
  for (int64_t i = 0; i < kSteps; ++i)
    for (int c = 0; c < kChains; ++c)
      sums[c] = _mm512_fmadd_ps(sums[c], factor, factor);
  for (int c = 1; c < kChains; ++c)
    sums[0] = _mm512_add_ps(sums[0], sums[c]);
  return _mm512_cvtss_f32(sums[0]);
}
__attribute__((target("avx2,fma"))) static float chains256(float x) {
  __m256 factor = _mm256_set1_ps(x), sums[kChains];
  for (int c = 0; c < kChains; ++c)
    sums[c] = _mm256_set1_ps(x * float(c));
  for (int64_t i = 0; i < kSteps; ++i)
    for (int c = 0; c < kChains; ++c)
      sums[c] = _mm256_fmadd_ps(sums[c], factor, factor);
  for (int c = 1; c < kChains; ++c)
    sums[0] = _mm256_add_ps(sums[0], sums[c]);
  return _mm256_cvtss_f32(sums[0]);
}
#endif
/// Whatever the compiler makes of four lanes on any machine.
static float chains128(float x) {
  float sums[kChains][4];
  for (int c = 0; c < kChains; ++c)
    for (float &lane : sums[c])
      lane = x * float(c);
  for (int64_t i = 0; i < kSteps; ++i)
    for (int c = 0; c < kChains; ++c)
      for (float &lane : sums[c])
        lane = lane * x + x;
  float total = 0;
  for (int c = 0; c < kChains; ++c)
    for (float lane : sums[c])
      total += lane;
  return total;
}

static volatile float sink;

/// slots[0]: lanes of the vector to use.
static void runChains(const uint64_t *slots, int64_t first, int64_t last) {
  // Not a constant, and small enough that no chain overflows.
  float x = 0.25f + float(first & 1) * 0.125f;
  for (int64_t block = first; block < last; ++block)
    switch (slots[0]) {
#if defined(__x86_64__)
    case 16:
      sink = chains512(x);
      break;
    case 8:
      sink = chains256(x);
      break;
#endif
    default:
      sink = chains128(x);
    }
}

static int vectorLanes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return 16;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return 8;
#endif
  return 4;
}

static double measureFma(ThreadPool &pool) {
  uint64_t lanes = uint64_t(vectorLanes());
  int64_t blocks = 4 * pool.threads();
  double best = bestRound([&] { pool.run(runChains, &lanes, blocks); });
  return 2.0 * double(blocks * kSteps * kChains) * double(lanes) / best;
}

//===----------------------------------------------------------------------===//
// Memory and launches
//===----------------------------------------------------------------------===//

static constexpr int64_t kPieceBytes = 1 << 20;

/// slots: destination, source. A block copies one piece.
static void copyPieces(const uint64_t *slots, int64_t first, int64_t last) {
  char *to = reinterpret_cast<char *>(slots[0]) + first * kPieceBytes;
  char *from = reinterpret_cast<char *>(slots[1]) + first * kPieceBytes;
  std::memcpy(to, from, size_t((last - first) * kPieceBytes));
}

/// Bytes read and written per second by a copy several times the cache's size.
static double measureBandwidth(ThreadPool &pool, int64_t cacheBytes) {
  int64_t pieces = std::clamp<int64_t>(2 * cacheBytes / kPieceBytes, 64, 256);
  size_t bytes = size_t(pieces * kPieceBytes);
  std::unique_ptr<char[]> to(new char[bytes]), from(new char[bytes]);
  std::memset(from.get(), 1, bytes);
  std::memset(to.get(), 0, bytes);
  uint64_t slots[] = {reinterpret_cast<uintptr_t>(to.get()),
                      reinterpret_cast<uintptr_t>(from.get())};
  return 2.0 * double(bytes) / bestRound([&] { pool.run(copyPieces, slots, pieces); });
}

static void nothing(const uint64_t *, int64_t, int64_t) {}

static double measureLaunch(ThreadPool &pool) {
  constexpr int kRuns = 20;
  return bestRound([&] {
           for (int i = 0; i < kRuns; ++i)
             pool.run(nothing, nullptr, pool.threads());
         }) /
         kRuns;
}

target::Roofs attn::profile::measureCpuRoofs(int threads, int64_t cacheBytes) {
  ThreadPool pool(threads);
  double fma = measureFma(pool);
  target::Roofs roofs;
  roofs.onePipe = true;
  roofs.multiprocessors = threads;
  roofs.cacheBytes = cacheBytes;
  roofs.bandwidth = measureBandwidth(pool, cacheBytes);
  roofs.matmul["fma.f32"] = fma;
  // One result an instruction where an FMA makes two operations.
  roofs.scalar = fma / 2;
  // A vector exponential is about 12 instructions: reduction of the argument
  // (3), a polynomial (6), the exponent's insertion and clamps (3).
  roofs.exponentials = fma / 2 / 12;
  roofs.launchSeconds = measureLaunch(pool);
  return roofs;
}
