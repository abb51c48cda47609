//===- Value.cpp - what the interpreter computes with ---------------------===//

#include "lib/Reference/Value.h"

#include <limits>

using namespace attn::reference;

Value attn::reference::makeValue(const Box &box, std::vector<int> axes,
                                 bool real) {
  Value value;
  value.shape = box.shape(axes);
  value.axes = std::move(axes);
  value.real = real;
  return value;
}

/// For every element of the target the element of `source` it repeats.
static std::vector<int64_t> sourceElements(const Box &box, const Value &source,
                                           const Value &target) {
  std::vector<int64_t> elements = {0};
  for (size_t t = 0; t < target.axes.size(); ++t) {
    // What a step along this target axis adds.
    std::vector<int64_t> offsets(size_t(target.shape[t]), 0);
    int64_t stride = 1;
    for (size_t s = source.axes.size(); s-- > 0;) {
      if (box.covers(target.axes[t], source.axes[s])) {
        std::vector<int64_t> at = box.positions(target.axes[t], source.axes[s]);
        for (size_t i = 0; i < offsets.size(); ++i)
          offsets[i] += at[i] * stride;
      }
      stride *= source.shape[s];
    }
    std::vector<int64_t> next;
    next.reserve(elements.size() * offsets.size());
    for (int64_t base : elements)
      for (int64_t offset : offsets)
        next.push_back(base + offset);
    elements = std::move(next);
  }
  return elements;
}

template <typename T>
static void gather(const std::vector<T> &from,
                   const std::vector<int64_t> &elements, std::vector<T> &to) {
  if (from.empty())
    return;
  to.resize(elements.size());
  for (size_t i = 0; i < elements.size(); ++i)
    to[i] = from[size_t(elements[i])];
}

ValuePtr attn::reference::broadcast(const Box &box, const ValuePtr &value,
                                    const std::vector<int> &axes) {
  if (value->axes == axes)
    return value;
  Value target = makeValue(box, axes, value->real);
  std::vector<int64_t> elements = sourceElements(box, *value, target);
  gather(value->exact, elements, target.exact);
  gather(value->model, elements, target.model);
  gather(value->variance, elements, target.variance);
  gather(value->whole, elements, target.whole);
  gather(value->unsure, elements, target.unsure);
  return std::make_shared<Value>(std::move(target));
}

ValuePtr attn::reference::toReal(const ValuePtr &value) {
  if (value->real)
    return value;
  Value result;
  result.axes = value->axes;
  result.shape = value->shape;
  size_t count = value->whole.size();
  result.exact.resize(count);
  bool rounds = false, unsure = !value->unsure.empty();
  for (size_t i = 0; i < count; ++i) {
    result.exact[i] = double(value->whole[i]);
    rounds |= double(float(result.exact[i])) != result.exact[i];
  }
  if (rounds || unsure) { // f32 holds integers up to 2^24.
    result.model.resize(count);
    result.variance.resize(count);
    for (size_t i = 0; i < count; ++i) {
      result.model[i] = float(result.exact[i]);
      double error = result.model[i] - result.exact[i];
      result.variance[i] = value->unsureAt(int64_t(i))
                               ? std::numeric_limits<double>::infinity()
                               : error * error;
    }
  }
  return std::make_shared<Value>(std::move(result));
}
