//===- Launch.cpp - slots and grids of a level's kernels ------------------===//

#include "lib/Runtime/BundleError.h"
#include "lib/Runtime/Launch.h"

#include "lib/Bundle/Timeline.h"
#include "lib/Runtime/Half.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

using namespace attn;
using namespace attn::runtime;

Temporaries::Temporaries(Device &device, const bundle::Level &level,
                         const Lengths &lengths) {
  for (const bundle::Tensor &tensor : level.temporaries)
    total += denseBytes(tensor, lengths);
  int64_t free = device.freeBytes();
  if (total > free)
    throw TooLargeError(fmt::format(
        "level {} needs {:.2f} GiB for intermediate tensors, {:.2f} GiB are "
        "free; bind smaller lengths or use level flash, which needs none",
        level.name, double(total) / (1 << 30), double(free) / (1 << 30)));
  for (const bundle::Tensor &tensor : level.temporaries) {
    buffers.emplace_back(device, denseBytes(tensor, lengths));
    refs[tensor.name] = {buffers.back().data(), denseStrides(tensor, lengths)};
  }
}

/// The 8 bytes of a scalar argument: the value of its dtype in the low bytes.
static uint64_t encodeScalar(const bundle::Scalar &scalar,
                             const ScalarValue &value) {
  bool whole = std::holds_alternative<int64_t>(value);
  double real =
      whole ? double(std::get<int64_t>(value)) : std::get<double>(value);
  uint64_t slot = 0;
  auto doesNotFit = [&](const auto &number) {
    return LaunchError(fmt::format("scalar {} is {}, its value {} does not fit",
                                   scalar.name, scalar.dtype, number));
  };
  if (scalar.dtype == "f32") {
    float f = float(real);
    if (std::isinf(f) && !std::isinf(real))
      throw doesNotFit(real);
    std::memcpy(&slot, &f, sizeof f);
    return slot;
  }
  if (scalar.dtype == "f16")
    return halfBits(float(real));
  if (scalar.dtype == "bf16")
    return bfloatBits(float(real));

  int64_t number = 0;
  if (whole)
    number = std::get<int64_t>(value);
  else if (real == std::floor(real) && std::fabs(real) < 9e18)
    number = int64_t(real);
  else
    throw LaunchError(fmt::format("scalar {} is {}, its value {} is not whole; "
                                  "give an integer",
                                  scalar.name, scalar.dtype, real));
  if (scalar.dtype == "i64")
    return uint64_t(number);
  bool fits = scalar.dtype == "i1" ? number == 0 || number == 1
                                   : number >= INT32_MIN && number <= INT32_MAX;
  if (!fits)
    throw doesNotFit(number);
  if (scalar.dtype == "i32")
    return uint32_t(int32_t(number));
  if (scalar.dtype == "i1")
    return uint64_t(number);
  throw LaunchError(fmt::format("scalar {} has dtype '{}', which this runner "
                                "does not know",
                                scalar.name, scalar.dtype));
}

std::optional<int64_t> attn::runtime::readInteger(const std::string &text) {
  int64_t value = 0;
  const char *last = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || stop != last)
    return std::nullopt;
  return value;
}

ScalarValue attn::runtime::readScalar(const bundle::Scalar &scalar,
                                      const std::string &text) {
  ScalarValue value;
  if (std::optional<int64_t> number = readInteger(text)) {
    value = *number;
  } else {
    char *end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size())
      throw LaunchError(fmt::format("scalar {} has value '{}'; give a number",
                                    scalar.name, text));
  }
  encodeScalar(scalar, value); // Throws what does not fit.
  return value;
}

/// Two elements of an output must never share memory: taken from the smallest
/// stride up, each stride must clear what lies below it.
static void checkNoOverlap(const bundle::Tensor &tensor,
                           const std::vector<int64_t> &strides,
                           const Lengths &lengths) {
  std::vector<size_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  int64_t reach = 1; // One past the furthest element below.
  for (size_t axis : order) {
    int64_t length = lengths.at(tensor.axes[axis]);
    if (length <= 1)
      continue;
    if (strides[axis] < reach)
      throw LaunchError(fmt::format(
          "output {}: stride {} of axis {} makes elements overlap; it must be "
          "at least {}",
          tensor.name, strides[axis], tensor.axes[axis], reach));
    reach = strides[axis] * (length - 1) + reach;
  }
}

/// Elements that every stride but the last must be a multiple of: kernels move
/// rows of a fixed innermost length in pieces of 16 bytes.
static int64_t strideUnit(const bundle::Program &program,
                          const bundle::Tensor &tensor) {
  int64_t unit = kAlignment / elementBytes(tensor.dtype);
  for (const bundle::Axis &axis : program.axes)
    if (axis.name == tensor.axes.back() && axis.extent &&
        *axis.extent % unit == 0)
      return unit;
  return 1;
}

static TensorRef checkTensor(const bundle::Program &program,
                             const bundle::Tensor &tensor,
                             const Arguments &arguments) {
  auto found = arguments.tensors.find(tensor.name);
  if (found == arguments.tensors.end())
    throw LaunchError(fmt::format("tensor {} of program {} is not given",
                                  tensor.name, program.name));
  TensorRef ref = found->second;
  const Lengths &lengths = arguments.lengths;
  bool empty = std::any_of(
      tensor.axes.begin(), tensor.axes.end(),
      [&](const std::string &axis) { return lengths.at(axis) == 0; });
  if (!ref.data && !empty)
    throw LaunchError(
        fmt::format("tensor {}: the pointer is null", tensor.name));
  if (reinterpret_cast<uintptr_t>(ref.data) % kAlignment != 0)
    throw LaunchError(fmt::format(
        "tensor {}: the pointer {} is not a multiple of {} bytes; start the "
        "tensor (or the slice) at an aligned element",
        tensor.name, fmt::ptr(ref.data), kAlignment));
  std::vector<int64_t> dense = denseStrides(tensor, lengths);
  if (ref.strides.empty()) {
    ref.strides = std::move(dense);
    return ref;
  }
  if (ref.strides.size() != tensor.axes.size())
    throw LaunchError(fmt::format("tensor {} has {} axes, {} strides are given",
                                  tensor.name, tensor.axes.size(),
                                  ref.strides.size()));
  int64_t unit = tensor.axes.empty() ? 1 : strideUnit(program, tensor);
  for (size_t i = 0; i < ref.strides.size(); ++i) {
    int64_t stride = ref.strides[i];
    const std::string &axis = tensor.axes[i];
    if (i + 1 == ref.strides.size() && stride != 1)
      throw LaunchError(fmt::format(
          "tensor {}: stride {} of its innermost axis {}; it must be 1, copy "
          "the tensor to make it so",
          tensor.name, stride, axis));
    if (stride < 0 || stride > int64_t(1) << 58)
      throw LaunchError(
          fmt::format("tensor {}: stride {} of axis {} is outside 0 .. 2^58",
                      tensor.name, stride, axis));
    // The stride of an axis of one element is never used.
    if (i + 1 < ref.strides.size() && stride % unit != 0 &&
        lengths.at(axis) > 1)
      throw LaunchError(fmt::format("tensor {}: stride {} of axis {} is not a "
                                    "multiple of {} elements (16 "
                                    "bytes); pad the rows or copy the tensor",
                                    tensor.name, stride, axis, unit));
  }
  if (tensor.role == bundle::Role::Output)
    checkNoOverlap(tensor, ref.strides, lengths);
  return ref;
}

static uint64_t encodeArg(const bundle::Program &program,
                          const bundle::Level &level,
                          const bundle::Kernel &kernel, const bundle::Arg &arg,
                          const std::map<std::string, TensorRef> &tensors,
                          const Arguments &arguments) {
  auto broken = [&](const std::string &what) {
    return BundleError(fmt::format("bundle is broken: kernel {} asks for {}; "
                                   "make it again with attnc",
                                   kernel.symbol, what));
  };
  switch (arg.kind) {
  case bundle::Arg::Kind::Length: {
    auto length = arguments.lengths.find(arg.axis);
    if (length == arguments.lengths.end())
      throw broken(fmt::format("the length of unknown axis '{}'", arg.axis));
    return uint64_t(length->second);
  }
  case bundle::Arg::Kind::Scalar: {
    for (const bundle::Scalar &scalar : program.scalars)
      if (scalar.name == arg.name)
        return encodeScalar(scalar, arguments.scalars.at(arg.name));
    throw broken(fmt::format("unknown scalar '{}'", arg.name));
  }
  case bundle::Arg::Kind::Scheduler:
  case bundle::Arg::Kind::Timeline:
  case bundle::Arg::Kind::Map: // See Plan.
  case bundle::Arg::Kind::Pointer:
  case bundle::Arg::Kind::Stride:
    break;
  }
  auto found = tensors.find(arg.name);
  if (found == tensors.end())
    throw broken(fmt::format("unknown tensor '{}'", arg.name));
  if (arg.kind == bundle::Arg::Kind::Pointer)
    return reinterpret_cast<uintptr_t>(found->second.data);
  for (const std::vector<bundle::Tensor> *list :
       {&program.tensors, &level.temporaries})
    for (const bundle::Tensor &tensor : *list)
      for (size_t i = 0; i < tensor.axes.size(); ++i)
        if (tensor.name == arg.name && tensor.axes[i] == arg.axis)
          return uint64_t(found->second.strides[i]);
  throw broken(
      fmt::format("the stride of axis '{}' in '{}'", arg.axis, arg.name));
}

/// The tensor map an argument asks for; nothing when it is optional and the strides
/// do not allow it.
static std::optional<MapShape> mapShape(const bundle::Program &program,
                                        const bundle::Level &level,
                                        const bundle::Kernel &kernel,
                                        const bundle::Arg &arg,
                                        const std::map<std::string, TensorRef> &tensors,
                                        const Arguments &arguments) {
  const bundle::Tensor *tensor = nullptr;
  for (const std::vector<bundle::Tensor> *list :
       {&program.tensors, &level.temporaries})
    for (const bundle::Tensor &candidate : *list)
      if (candidate.name == arg.name)
        tensor = &candidate;
  auto broken = [&](const std::string &what) {
    return BundleError(fmt::format("bundle is broken: kernel {} maps {}; make it "
                                   "again with attnc",
                                   kernel.symbol, what));
  };
  if (!tensor || tensor->axes.size() != arg.axes.size() ||
      arg.box.size() != arg.axes.size())
    throw broken(fmt::format("tensor '{}'", arg.name));
  const TensorRef &ref = tensors.at(arg.name);
  MapShape shape;
  shape.dtype = tensor->dtype;
  shape.data = ref.data;
  int64_t bytes = elementBytes(tensor->dtype);
  bool empty = std::any_of(
      arg.axes.begin(), arg.axes.end(),
      [&](const std::string &axis) { return arguments.lengths.at(axis) == 0; });
  for (size_t i = 0; i < arg.axes.size(); ++i) {
    auto at = std::find(tensor->axes.begin(), tensor->axes.end(), arg.axes[i]);
    if (at == tensor->axes.end())
      throw broken(fmt::format("axis '{}' of '{}'", arg.axes[i], arg.name));
    // An empty tensor is one element, which nobody asks for.
    int64_t length = empty ? 1 : arguments.lengths.at(arg.axes[i]);
    int64_t stride = ref.strides[size_t(at - tensor->axes.begin())] * bytes;
    shape.lengths.push_back(length);
    // The stride of an axis of one element is never used, but it is checked.
    shape.strides.push_back(length > 1 ? stride : kAlignment);
    bool usable = i == 0 || length <= 1 || stride % kAlignment == 0;
    if (!usable && arg.optional)
      return std::nullopt;
    if (!usable)
      throw LaunchError(fmt::format(
          "tensor {}: stride {} of axis {} is not a multiple of {} elements; "
          "copies into shared memory take multiples of 16 bytes, use level flash "
          "of target sm_80 or copy the tensor",
          arg.name, stride / bytes, arg.axes[i], kAlignment / bytes));
  }
  shape.box = arg.box;
  return shape;
}

/// Memory for a kernel's stamps, in which no lane has been opened.
static void *stampBuffer(Device &device, const bundle::Kernel &kernel,
                         Buffer &buffer) {
  if (!kernel.stamps)
    throw BundleError(fmt::format("bundle is broken: kernel {} records stamps and "
                                  "does not say how; make it again with attnc",
                                  kernel.symbol));
  int64_t bytes =
      bundle::timelineBytes(kernel.stamps->lanes, kernel.stamps->steps);
  buffer = Buffer(device, bytes);
  device.fill(buffer.data(), 0, bytes);
  return buffer.data();
}

Plan::Plan(Device &device, const bundle::Program &program,
           const bundle::Level &level, std::shared_ptr<Code> code,
           const Arguments &given, std::shared_ptr<Temporaries> temporaries)
    : loaded(std::move(code)), scratch(std::move(temporaries)) {
  Arguments arguments = given;
  arguments.lengths = resolveLengths(program, given.lengths);

  for (const bundle::Scalar &scalar : program.scalars)
    if (!arguments.scalars.count(scalar.name))
      throw LaunchError(
          fmt::format("scalar {} of program {} has no value; give one with "
                      "--bind {}=...",
                      scalar.name, program.name, scalar.name));
  std::map<std::string, TensorRef> tensors;
  for (const bundle::Tensor &tensor : program.tensors)
    tensors[tensor.name] = checkTensor(program, tensor, arguments);
  for (const auto &[name, ref] : given.tensors)
    if (!tensors.count(name))
      throw LaunchError(
          fmt::format("program {} has no tensor {}", program.name, name));
  for (const auto &[name, value] : given.scalars)
    if (std::none_of(program.scalars.begin(), program.scalars.end(),
                     [&](const bundle::Scalar &s) { return s.name == name; }))
      throw LaunchError(
          fmt::format("program {} has no scalar {}", program.name, name));

  // Grids and functions before memory: what cannot run allocates nothing.
  for (const bundle::Kernel &kernel : level.kernels) {
    Step step;
    step.blocks = bundle::launchedBlocks(
        kernel, gridBlocks(kernel, arguments.lengths), device.info().multiprocessors);
    step.function = loaded->function(program, level, kernel);
    steps.push_back(std::move(step));
  }
  if (!scratch)
    scratch = std::make_shared<Temporaries>(device, level, arguments.lengths);
  for (const bundle::Tensor &tensor : level.temporaries) {
    auto found = scratch->tensors().find(tensor.name);
    if (found == scratch->tensors().end() ||
        found->second.strides != denseStrides(tensor, arguments.lengths))
      throw LaunchError(
          fmt::format("shared temporaries do not fit tensor {}", tensor.name));
    tensors[tensor.name] = found->second;
  }
  for (size_t i = 0; i < steps.size(); ++i)
    for (const bundle::Arg &arg : level.kernels[i].args) {
      if (arg.kind == bundle::Arg::Kind::Scheduler) {
        if (!counter.data()) {
          counter = Buffer(device, 8);
          device.fill(counter.data(), 0, 8);
        }
        steps[i].slots.push_back(reinterpret_cast<uintptr_t>(counter.data()));
        continue;
      }
      if (arg.kind == bundle::Arg::Kind::Timeline) {
        steps[i].slots.push_back(
            reinterpret_cast<uintptr_t>(stampBuffer(
                device, level.kernels[i], steps[i].stamps)));
        continue;
      }
      if (arg.kind != bundle::Arg::Kind::Map) {
        steps[i].slots.push_back(encodeArg(program, level, level.kernels[i], arg,
                                           tensors, arguments));
        continue;
      }
      std::optional<MapShape> shape =
          mapShape(program, level, level.kernels[i], arg, tensors, arguments);
      // An empty tensor may have no address; nothing is read from this one.
      if (shape && !shape->data)
        shape->data = spare.data() ? spare.data()
                                   : (spare = Buffer(device, 256)).data();
      bool needed = shape && steps[i].blocks > 0;
      maps.push_back(std::make_unique<TensorMap>(
          needed ? device.encodeMap(*shape) : TensorMap()));
      steps[i].slots.push_back(reinterpret_cast<uintptr_t>(maps.back().get()));
    }
}
