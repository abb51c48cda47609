//===- MatmulAxes.cpp - roles of the axes of a matmul ---------------------===//

#include "lib/Schedule/MatmulAxes.h"

#include "dialect/Attn/Attn.h"

using namespace mlir;
using namespace attn;

/// True when an index of `outer` determines one of `axis`.
static bool determines(StringRef outer, StringRef axis, const AxisTable &table) {
  if (outer == axis)
    return true;
  auto found = table.find(outer);
  return found != table.end() &&
         (found->second.inner == axis || found->second.group == axis);
}

std::string attn::freeAxis(ArrayRef<std::string> axes,
                           ArrayRef<std::string> other, StringRef excluded,
                           const AxisTable &table) {
  for (const std::string &axis : llvm::reverse(axes)) {
    bool shared = llvm::any_of(other, [&](const std::string &o) {
      return determines(axis, o, table) || determines(o, axis, table);
    });
    if (!shared && axis != excluded)
      return axis;
  }
  return "";
}

MatmulAxes attn::matmulAxes(MatmulOp matmul, const AxisTable &table) {
  SmallVector<std::string> a = axesOf(matmul.getA()), b = axesOf(matmul.getB());
  MatmulAxes axes;
  axes.contracted = matmul.getOver().str();
  axes.row = freeAxis(a, b, axes.contracted, table);
  axes.column = freeAxis(b, a, axes.contracted, table);
  return axes;
}
