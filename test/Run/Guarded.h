//===- Guarded.h - a tensor in device memory between guards ---------------===//
#ifndef ATTN_TEST_RUN_GUARDED_H
#define ATTN_TEST_RUN_GUARDED_H

#include "lib/Reference/Tensor.h"
#include "lib/Runtime/Launch.h"

namespace attn::check {

/// A tensor whose memory is surrounded by, and when its rows are padded filled
/// up with, one byte. With 0xff that is NaN in every float format: reading past
/// an end poisons the result (C6). Writing past an end is found by `intact`.
class GuardedTensor {
public:
  enum class Layout {
    Dense,
    Padded, ///< Rows lie further apart than they must.
    Sliced, ///< The inside of a tensor that is longer along every axis.
    Expanded, ///< Stride 0 of the outermost axis of two or more. Inputs only, whose
              ///< values do not depend on that axis.
  };
  GuardedTensor(runtime::Device &device, const bundle::Tensor &tensor,
                const runtime::Lengths &lengths, Layout layout, uint8_t guard);

  runtime::TensorRef ref() const;
  /// Writes the dense `values` and all guards.
  void upload(const std::vector<std::byte> &values);
  /// Fills everything with the guard byte, elements too.
  void poison();
  /// The elements, dense.
  std::vector<std::byte> download();
  /// After a download: whether every byte outside the elements is the guard.
  bool intact() const;

private:
  /// Calls f(offset in bytes of a row in memory, in the dense tensor).
  template <typename F> void forEachRow(F f) const;

  runtime::Device &device;
  std::vector<int64_t> shape, strides;
  int64_t element, rowBytes, denseBytes;
  int64_t begin; ///< Offset of element 0 in the buffer, in bytes.
  uint8_t guard;
  runtime::Buffer buffer;
  std::vector<std::byte>
      image; ///< Of the whole buffer, from the last transfer.
};

} // namespace attn::check

#endif // ATTN_TEST_RUN_GUARDED_H
