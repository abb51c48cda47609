//===- Box.cpp - the part of the index space that is evaluated ------------===//

#include "lib/Reference/Box.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

using namespace attn;
using namespace attn::reference;

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Fills in the one missing length of `outer = group * inner`.
static bool completeNest(int outer, int group, int inner,
                         AxisLengths &lengths) {
  int64_t &whole = lengths[outer], &g = lengths[group], &i = lengths[inner];
  if (whole < 0 && g >= 0 && i >= 0) {
    whole = g * i;
    return true;
  }
  if (whole >= 0 && g < 0 && i > 0 && whole % i == 0) {
    g = whole / i;
    return true;
  }
  if (whole >= 0 && i < 0 && g > 0 && whole % g == 0) {
    i = whole / g;
    return true;
  }
  if (whole == 0 && g < 0 && i == 0) { // No heads: any group will do.
    g = 1;
    return true;
  }
  return false;
}

AxisLengths
attn::reference::axisLengths(const spec::Kernel &kernel,
                             const std::map<std::string, int64_t> &given) {
  AxisLengths lengths(kernel.axes.size(), -1);
  for (size_t i = 0; i < lengths.size(); ++i)
    if (kernel.axes[i].extent)
      lengths[i] = *kernel.axes[i].extent;
  for (const auto &[name, length] : given) {
    int axis = kernel.findAxis(name);
    if (axis < 0)
      throw InputError(
          fmt::format("kernel {} has no axis {}", kernel.name, name));
    if (length < 0)
      throw InputError(fmt::format(
          "axis {} has length {}; a length is 0 or more", name, length));
    if (lengths[axis] >= 0 && lengths[axis] != length)
      throw InputError(fmt::format("axis {} is bound to {}, not {}; parse the "
                                   "spec with {}={}",
                                   name, lengths[axis], length, name, length));
    lengths[axis] = length;
  }
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < lengths.size(); ++i)
      if (kernel.axes[i].group >= 0)
        again |= completeNest(int(i), kernel.axes[i].group,
                              kernel.axes[i].inner, lengths);
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    const spec::Axis &axis = kernel.axes[i];
    if (lengths[i] < 0)
      throw InputError(fmt::format("axis {} has no length; bind {}=...",
                                   axis.name, axis.name));
    if (axis.group >= 0 &&
        lengths[i] != lengths[axis.group] * lengths[axis.inner])
      throw InputError(fmt::format("{} = {} but {} * {} = {}", axis.name,
                                   lengths[i], kernel.axes[axis.group].name,
                                   kernel.axes[axis.inner].name,
                                   lengths[axis.group] * lengths[axis.inner]));
  }
  return lengths;
}

std::vector<int64_t> attn::reference::shapeOf(const spec::Type &type,
                                              const AxisLengths &lengths) {
  std::vector<int64_t> shape;
  for (int axis : type.axes)
    shape.push_back(lengths[axis]);
  return shape;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

Box Box::whole(const spec::Kernel &kernel, const AxisLengths &lengths) {
  Box box;
  box.kernel = &kernel;
  box.lengths = &lengths;
  for (int64_t length : lengths) {
    box.coordinates.emplace_back(size_t(length));
    std::iota(box.coordinates.back().begin(), box.coordinates.back().end(), 0);
  }
  return box;
}

void Box::restrict(int axis, std::vector<int64_t> chosen) {
  for (int part : {kernel->axes[axis].group, kernel->axes[axis].inner}) {
    if (part < 0)
      continue;
    std::vector<int64_t> reached;
    for (int64_t coordinate : chosen)
      reached.push_back(project(axis, coordinate, part));
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    coordinates[part] = std::move(reached);
  }
  coordinates[axis] = std::move(chosen);
}

std::vector<int64_t> Box::shape(const std::vector<int> &axes) const {
  std::vector<int64_t> lengths;
  for (int axis : axes)
    lengths.push_back(size(axis));
  return lengths;
}

int64_t Box::project(int outer, int64_t coordinate, int axis) const {
  const spec::Axis &info = kernel->axes[outer];
  if (outer == axis)
    return coordinate;
  // Head hq is number hq % G in the group that reads key head hq / G.
  int64_t group = (*lengths)[info.group];
  return axis == info.inner ? coordinate / group : coordinate % group;
}

std::vector<int64_t> Box::positions(int outer, int axis) const {
  std::vector<int64_t> result;
  const std::vector<int64_t> &list = coordinates[axis];
  for (int64_t coordinate : coordinates[outer]) {
    int64_t wanted = project(outer, coordinate, axis);
    result.push_back(std::lower_bound(list.begin(), list.end(), wanted) -
                     list.begin());
  }
  return result;
}
