//===- ThreadPool.h - one grid at a time over all cores -------------------===//
#ifndef ATTN_LIB_RUNTIME_THREADPOOL_H
#define ATTN_LIB_RUNTIME_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace attn::runtime {

/// Runs ranges of a grid's blocks on its threads and the caller's. Threads take
/// the next chunk as they finish one, so uneven blocks (causal rows) even out.
class ThreadPool {
public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  using Body = void (*)(const uint64_t *slots, int64_t first, int64_t last);

  /// Calls `body(slots, first, last)` for ranges that cover 0 .. blocks-1 once.
  /// Returns when all are done.
  void run(Body body, const uint64_t *slots, int64_t blocks);

  int threads() const { return int(workers.size()) + 1; }

private:
  void work();
  void takeChunks();

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake, done;
  uint64_t generation = 0; ///< Of the grid in hand; under `mutex`.
  int busy = 0;            ///< Workers not yet through it; under `mutex`.
  bool stop = false;

  Body body = nullptr;
  const uint64_t *slots = nullptr;
  int64_t blocks = 0, chunk = 1;
  std::atomic<int64_t> next{0};
};

/// Cores that this process may use (its affinity mask), at least 1.
int availableCores();

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_THREADPOOL_H
