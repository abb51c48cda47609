//===- Guarded.cpp - a tensor in device memory between guards -------------===//

#include "test/Run/Guarded.h"

#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::check;

/// Bytes before and after. More than any tile's overhang of one row.
static constexpr int64_t kMargin = 4096;

GuardedTensor::GuardedTensor(runtime::Device &device,
                             const bundle::Tensor &tensor,
                             const runtime::Lengths &lengths, Layout layout,
                             uint8_t guard)
    : device(device), element(runtime::elementBytes(tensor.dtype)),
      begin(kMargin), guard(guard) {
  for (const std::string &axis : tensor.axes)
    shape.push_back(lengths.at(axis));
  strides = runtime::denseStrides(tensor, lengths);
  int64_t unit = runtime::kAlignment / element, next = 1;
  if (layout == Layout::Padded) {
    // Each row and each slab of rows ends in a gap of at least 16 bytes.
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = next;
      next =
          (next * std::max<int64_t>(shape[i], 1) + 2 * unit - 1) / unit * unit;
    }
  }
  if (layout == Layout::Sliced) {
    // One more element before and after along each axis, 16 bytes of them along
    // the innermost: a slice that starts elsewhere is refused.
    for (size_t i = shape.size(); i-- > 0;) {
      bool innermost = i + 1 == shape.size();
      strides[i] = next;
      begin += next * (innermost ? unit : 1) * element;
      int64_t length = std::max<int64_t>(shape[i], 1);
      next *= innermost ? (length + 3 * unit - 1) / unit * unit : length + 2;
    }
  }
  if (layout == Layout::Expanded && shape.size() > 1)
    strides[0] = 0;
  int64_t count = 1, last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    last += (shape[i] - 1) * strides[i];
  }
  denseBytes = count * element;
  rowBytes = shape.empty() ? element : shape.back() * element;
  int64_t spanBytes = count ? (last + 1) * element : 0;
  buffer = runtime::Buffer(device, begin + spanBytes + kMargin);
}

runtime::TensorRef GuardedTensor::ref() const {
  return {static_cast<char *>(buffer.data()) + begin, strides};
}

template <typename F> void GuardedTensor::forEachRow(F f) const {
  if (denseBytes == 0)
    return;
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t dense = 0; dense < denseBytes; dense += rowBytes) {
    int64_t offset = 0;
    for (size_t i = 0; i + 1 < shape.size(); ++i)
      offset += index[i] * strides[i];
    f(offset * element, dense);
    for (size_t i = shape.size(); i-- > 1;) {
      if (++index[i - 1] < shape[i - 1])
        break;
      index[i - 1] = 0;
    }
  }
}

void GuardedTensor::upload(const std::vector<std::byte> &values) {
  image.assign(size_t(buffer.bytes()), std::byte(guard));
  forEachRow([&](int64_t to, int64_t from) {
    std::memcpy(image.data() + begin + to, values.data() + from,
                size_t(rowBytes));
  });
  device.copyIn(buffer.data(), image.data(), buffer.bytes());
}

void GuardedTensor::poison() {
  device.fill(buffer.data(), guard, buffer.bytes());
}

std::vector<std::byte> GuardedTensor::download() {
  image.resize(size_t(buffer.bytes()));
  device.copyOut(image.data(), buffer.data(), buffer.bytes());
  std::vector<std::byte> values(static_cast<size_t>(denseBytes));
  forEachRow([&](int64_t from, int64_t to) {
    std::memcpy(values.data() + to, image.data() + begin + from,
                size_t(rowBytes));
  });
  return values;
}

bool GuardedTensor::intact() const {
  auto clean = [&](int64_t first, int64_t last) {
    return std::all_of(image.begin() + first, image.begin() + last,
                       [&](std::byte b) { return b == std::byte(guard); });
  };
  int64_t done = 0; // End of what is known to be clean or an element.
  std::vector<int64_t> rows;
  forEachRow([&](int64_t at, int64_t) { rows.push_back(begin + at); });
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end()); // Of stride 0.
  for (int64_t row : rows) {
    if (!clean(done, row))
      return false;
    done = row + rowBytes;
  }
  return clean(done, buffer.bytes());
}
