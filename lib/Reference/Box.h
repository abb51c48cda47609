//===- Box.h - the part of the index space that is evaluated --------------===//
#ifndef ATTN_LIB_REFERENCE_BOX_H
#define ATTN_LIB_REFERENCE_BOX_H

#include "lib/Reference/Evaluate.h"

namespace attn::reference {

/// A list of coordinates for every axis of a kernel. Everything is computed on
/// the product of the lists; an axis that is summed over has all of its
/// coordinates. Where `outer = group * inner`, the lists of the group and the
/// inner axis hold at least what the outer's list reaches.
struct Box {
  const spec::Kernel *kernel = nullptr;
  const AxisLengths *lengths = nullptr;
  std::vector<std::vector<int64_t>> coordinates;

  /// All coordinates of all axes.
  static Box whole(const spec::Kernel &kernel, const AxisLengths &lengths);

  /// Restricts an axis, and what it nests, to these coordinates (ascending).
  void restrict(int axis, std::vector<int64_t> chosen);

  int64_t size(int axis) const { return int64_t(coordinates[axis].size()); }
  std::vector<int64_t> shape(const std::vector<int> &axes) const;

  /// Whether a coordinate of `outer` determines one of `axis`.
  bool covers(int outer, int axis) const {
    const spec::Axis &info = kernel->axes[outer];
    return outer == axis || info.inner == axis || info.group == axis;
  }
  /// The coordinate of `axis` where `outer` is at `coordinate`.
  int64_t project(int outer, int64_t coordinate, int axis) const;
  /// For each position in outer's list the position in axis's list.
  std::vector<int64_t> positions(int outer, int axis) const;
};

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_BOX_H
