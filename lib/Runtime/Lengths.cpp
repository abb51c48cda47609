//===- Lengths.cpp - axis lengths, dense tensors, grids -------------------===//

#include "lib/Runtime/Launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace attn;
using namespace attn::runtime;

static std::string axisNames(const bundle::Program &program) {
  std::vector<std::string> names;
  for (const bundle::Axis &axis : program.axes)
    names.push_back(axis.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

static const bundle::Axis *findAxis(const bundle::Program &program,
                                    const std::string &name) {
  for (const bundle::Axis &axis : program.axes)
    if (axis.name == name)
      return &axis;
  return nullptr;
}

/// The length known so far, or -1.
static int64_t known(const Lengths &lengths, const std::string &axis) {
  auto it = lengths.find(axis);
  return it == lengths.end() ? -1 : it->second;
}

static void checkRange(const std::string &axis, int64_t length) {
  if (length < 0)
    throw LaunchError(fmt::format(
        "axis {} has length {}; a length is 0 or more", axis, length));
  if (length > kMaxLength)
    throw LaunchError(
        fmt::format("axis {} has length {}, the most is 2^30 = {}; split the "
                    "axis over several launches",
                    axis, length, kMaxLength));
}

/// Fills in the one missing length of `outer = group * inner`, if there is just
/// one and it follows from the others. Returns whether it did.
static bool completeNest(const bundle::Axis &outer, Lengths &lengths) {
  int64_t whole = known(lengths, outer.name);
  int64_t group = known(lengths, outer.group);
  int64_t inner = known(lengths, outer.inner);
  if (whole < 0 && group >= 0 && inner >= 0) {
    // Both are at most 2^30: the product fits.
    lengths[outer.name] = group * inner;
    return true;
  }
  if (whole >= 0 && group < 0 && inner > 0 && whole % inner == 0) {
    lengths[outer.group] = whole / inner;
    return true;
  }
  if (whole >= 0 && inner < 0 && group > 0 && whole % group == 0) {
    lengths[outer.inner] = whole / group;
    return true;
  }
  // No heads at all: any group size will do.
  if (whole == 0 && group < 0 && inner == 0) {
    lengths[outer.group] = 1;
    return true;
  }
  return false;
}

Lengths attn::runtime::resolveLengths(const bundle::Program &program,
                                      const Lengths &given) {
  Lengths lengths;
  for (const auto &[name, length] : given) {
    const bundle::Axis *axis = findAxis(program, name);
    if (!axis)
      throw LaunchError(
          fmt::format("program {} has no axis {}; its axes are {}",
                      program.name, name, axisNames(program)));
    checkRange(name, length);
    if (axis->extent && *axis->extent != length)
      throw LaunchError(
          fmt::format("axis {} has length {}, but this bundle is compiled for "
                      "{} = {}; compile the spec again with --bind {}={}",
                      name, length, name, *axis->extent, name, length));
    lengths[name] = length;
  }
  for (const bundle::Axis &axis : program.axes)
    if (axis.extent) {
      checkRange(axis.name, *axis.extent);
      lengths[axis.name] = *axis.extent;
    }

  for (bool again = true; again;) {
    again = false;
    for (const bundle::Axis &axis : program.axes)
      if (!axis.group.empty())
        again |= completeNest(axis, lengths);
  }

  for (const bundle::Axis &axis : program.axes) {
    int64_t length = known(lengths, axis.name);
    if (axis.group.empty()) {
      if (length < 0)
        throw LaunchError(
            fmt::format("axis {} has no length; give one with --bind {}=...",
                        axis.name, axis.name));
      checkRange(axis.name, length);
      continue;
    }
    int64_t group = known(lengths, axis.group);
    int64_t inner = known(lengths, axis.inner);
    if (length >= 0 && group >= 0 && inner >= 0) {
      checkRange(axis.name, length);
      if (length != group * inner)
        throw LaunchError(fmt::format(
            "{0} = {1} * {2} does not hold: {3} is not {4} * {5}; bind two of "
            "the three and the third follows",
            axis.name, axis.group, axis.inner, length, group, inner));
      continue;
    }
    // Two known lengths that leave the third open do not divide.
    if (length >= 0 && (group >= 0 || inner >= 0))
      throw LaunchError(fmt::format(
          "{0} = {1} * {2} does not hold: {0} = {3} is not a multiple of {4} = "
          "{5}; change one of them",
          axis.name, axis.group, axis.inner, length,
          group >= 0 ? axis.group : axis.inner, group >= 0 ? group : inner));
    throw LaunchError(
        fmt::format("{0} = {1} * {2}: bind two of {0}, {1} and {2}, for "
                    "example --bind {0}=8,{2}=2",
                    axis.name, axis.group, axis.inner));
  }
  return lengths;
}

int64_t attn::runtime::elementBytes(const std::string &dtype) {
  if (dtype == "f16" || dtype == "bf16")
    return 2;
  if (dtype == "f32" || dtype == "i32")
    return 4;
  if (dtype == "i64")
    return 8;
  if (dtype == "i1" || dtype == "f8e4m3" || dtype == "f8e5m2")
    return 1;
  throw LaunchError(fmt::format("dtype '{}' is unknown to this runner; use the "
                                "attn-bench that belongs to "
                                "the attnc which made the bundle",
                                dtype));
}

static int64_t lengthOf(const std::string &axis, const Lengths &lengths) {
  int64_t length = known(lengths, axis);
  if (length < 0)
    throw LaunchError(fmt::format(
        "axis {} has no length; give one with --bind {}=...", axis, axis));
  return length;
}

/// a * b for lengths; throws when the tensor would not fit an address space.
static int64_t product(int64_t a, int64_t b, const std::string &tensor) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > int64_t(1) << 58)
    throw TooLargeError(fmt::format(
        "tensor {} would have more than 2^58 elements; bind smaller lengths",
        tensor));
  return result;
}

std::vector<int64_t> attn::runtime::denseStrides(const bundle::Tensor &tensor,
                                                 const Lengths &lengths) {
  std::vector<int64_t> strides(tensor.axes.size(), 1);
  int64_t next = 1;
  for (size_t i = tensor.axes.size(); i-- > 0;) {
    strides[i] = next;
    int64_t length = lengthOf(tensor.axes[i], lengths);
    if (i + 1 == tensor.axes.size())
      length = (length + tensor.pad - 1) / tensor.pad * tensor.pad;
    // An empty axis must not make the strides of the others 0.
    next = product(next, std::max<int64_t>(length, 1), tensor.name);
  }
  return strides;
}

int64_t attn::runtime::denseBytes(const bundle::Tensor &tensor,
                                  const Lengths &lengths) {
  std::vector<int64_t> strides = denseStrides(tensor, lengths);
  int64_t elements = 1;
  for (const std::string &axis : tensor.axes)
    if (lengthOf(axis, lengths) == 0)
      return 0;
  if (!strides.empty()) {
    // Of one axis the whole padded row counts.
    int64_t outer = lengthOf(tensor.axes[0], lengths);
    if (strides.size() == 1)
      outer = (outer + tensor.pad - 1) / tensor.pad * tensor.pad;
    elements = product(strides[0], outer, tensor.name);
  }
  return elements * elementBytes(tensor.dtype);
}

int64_t attn::runtime::gridBlocks(const bundle::Kernel &kernel,
                                  const Lengths &lengths) {
  double estimate = 1;
  int64_t blocks = 1;
  for (const bundle::GridAxis &axis : kernel.grid) {
    int64_t along = 1;
    if (!axis.axis.empty())
      along = (lengthOf(axis.axis, lengths) + axis.tile - 1) / axis.tile;
    estimate *= double(along);
    if (along == 0)
      return 0;
    if (__builtin_mul_overflow(blocks, along, &blocks))
      blocks = INT64_MAX;
  }
  if (blocks > kMaxBlocks / kernel.cluster)
    throw TooLargeError(fmt::format(
        "kernel {} needs a grid of {:.3g} blocks, the most is 2^31 - 1; bind "
        "smaller lengths or split the batch over several launches",
        kernel.symbol, estimate * double(kernel.cluster)));
  return blocks;
}
