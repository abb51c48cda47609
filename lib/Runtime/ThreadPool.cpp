//===- ThreadPool.cpp - one grid at a time over all cores -----------------===//

#include "lib/Runtime/ThreadPool.h"

#include <algorithm>
#include <sched.h>

using namespace attn::runtime;

int attn::runtime::availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i)
    workers.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::takeChunks() {
  for (;;) {
    int64_t first = next.fetch_add(chunk, std::memory_order_relaxed);
    if (first >= blocks)
      return;
    body(slots, first, std::min(first + chunk, blocks));
  }
}

void ThreadPool::work() {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return stop || generation != seen; });
      if (stop)
        return;
      seen = generation;
    }
    takeChunks();
    std::lock_guard<std::mutex> lock(mutex);
    if (--busy == 0)
      done.notify_one();
  }
}

void ThreadPool::run(Body body, const uint64_t *slots, int64_t blocks) {
  // Eight chunks a thread: small enough to even out, large enough to keep the
  // counter and the kernel's own set-up out of the picture.
  int64_t chunk = std::max<int64_t>(1, blocks / (8 * threads()));
  if (workers.empty() || blocks == 1) {
    body(slots, 0, blocks);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    this->body = body;
    this->slots = slots;
    this->blocks = blocks;
    this->chunk = chunk;
    next.store(0, std::memory_order_relaxed);
    busy = int(workers.size());
    ++generation;
  }
  wake.notify_all();
  takeChunks();
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return busy == 0; });
}
