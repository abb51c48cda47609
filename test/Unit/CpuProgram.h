//===- CpuProgram.h - compiles a tile program and calls it ----------------===//
#ifndef ATTN_TEST_UNIT_CPUPROGRAM_H
#define ATTN_TEST_UNIT_CPUPROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::test {

/// A tile program as host code, loaded into this process.
class CpuProgram {
public:
  /// `text` is a module with the tile program `symbol`. On an error the program
  /// is not usable and `error` says why.
  CpuProgram(const std::string &text, const std::string &symbol,
             bool portable = false);
  ~CpuProgram();
  CpuProgram(const CpuProgram &) = delete;

  explicit operator bool() const { return entry != nullptr; }
  /// Runs blocks first .. last - 1.
  void run(const std::vector<uint64_t> &slots, int64_t first,
           int64_t last) const {
    entry(slots.data(), first, last);
  }
  std::string error;
  double passSeconds = 0, optimizeSeconds = 0, linkSeconds = 0;

private:
  void *library = nullptr;
  void (*entry)(const uint64_t *, int64_t, int64_t) = nullptr;
};

/// The 8 bytes of an argument: a pointer, an i64 or a scalar in the low bytes.
template <typename T> uint64_t slot(T value) {
  static_assert(sizeof(T) <= 8, "a slot has 8 bytes");
  uint64_t bytes = 0;
  __builtin_memcpy(&bytes, &value, sizeof(T));
  return bytes;
}

/// Text of a file under test/Codegen.
std::string readProgram(const std::string &file);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_CPUPROGRAM_H
