//===- Tensor.h - a tensor in host memory ---------------------------------===//
#ifndef ATTN_LIB_REFERENCE_TENSOR_H
#define ATTN_LIB_REFERENCE_TENSOR_H

#include "lib/Reference/Float.h"

#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace attn::reference {

/// Inputs that do not fit the kernel: one line with what to change.
class InputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Dense, in the order of the argument's or result's axes, outermost first.
struct HostTensor {
  spec::DType dtype = spec::DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  HostTensor() = default;
  /// All bits zero.
  HostTensor(spec::DType type, std::vector<int64_t> lengths)
      : dtype(type), shape(std::move(lengths)),
        data(size_t(elements()) * spec::byteSize(type)) {}

  int64_t elements() const {
    int64_t count = 1;
    for (int64_t length : shape)
      count *= length;
    return count;
  }
  double at(int64_t element) const {
    return load(dtype, data.data() + element * spec::byteSize(dtype));
  }
  void set(int64_t element, double value) {
    store(dtype, data.data() + element * spec::byteSize(dtype), value);
  }
};

/// Same type as runtime::ScalarValue.
using ScalarValue = std::variant<int64_t, double>;

/// Everything a kernel is given besides lengths, by argument name.
struct Inputs {
  std::map<std::string, HostTensor> tensors;
  std::map<std::string, ScalarValue> scalars;
};

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_TENSOR_H
