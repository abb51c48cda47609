//===- Live.cpp - how much of the score matrix masks leave ----------------===//

#include "lib/Reference/Live.h"
#include "lib/Reference/Interpreter.h"

#include <algorithm>
#include <set>

using namespace attn;
using namespace attn::reference;
using spec::Expr;
using spec::ExprKind;

/// Whether an expression needs a computed tensor.
static bool isComputed(const spec::Kernel &kernel, const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Matmul:
  case ExprKind::Scale:
  case ExprKind::Mask:
  case ExprKind::Softmax:
    return true;
  case ExprKind::Local:
    for (const spec::Statement &statement : kernel.body)
      if (std::count(statement.targets.begin(), statement.targets.end(),
                     expr.ref))
        return isComputed(kernel, *statement.value);
    return true;
  default:
    return std::any_of(expr.operands.begin(), expr.operands.end(),
                       [&](const auto &o) { return isComputed(kernel, *o); });
  }
}

static void collectMasks(const spec::Kernel &kernel, const Expr &expr,
                         std::vector<const Expr *> &masks) {
  if (expr.kind == ExprKind::Mask && !isComputed(kernel, *expr.operands[1]))
    masks.push_back(&expr);
  for (const auto &operand : expr.operands)
    collectMasks(kernel, *operand, masks);
}

static std::vector<const Expr *> masksOf(const spec::Kernel &kernel) {
  std::vector<const Expr *> masks;
  for (const spec::Statement &statement : kernel.body)
    collectMasks(kernel, *statement.value, masks);
  return masks;
}

/// Evenly spaced coordinates, in the middle of equal parts. Rows and keys take
/// prime counts, two different ones: with equal ones every sampled row would meet
/// its own diagonal, which a causal mask leaves alive (150: 0.6 % too many).
static std::vector<int64_t> spread(int64_t length, int64_t count) {
  std::vector<int64_t> list;
  count = std::min(length, count);
  for (int64_t i = 0; i < count; ++i)
    list.push_back((2 * i + 1) * length / (2 * count));
  return list;
}

/// Whether each pair of the box passes every mask, over the axes of the first
/// mask's scores.
static std::vector<bool> alive(const Box &box, const Inputs &inputs,
                               const std::vector<const Expr *> &masks) {
  Interpreter interpreter(box, inputs, false);
  const std::vector<int> &axes = masks.front()->type.axes;
  std::vector<bool> result;
  for (const Expr *mask : masks) {
    if (mask->type.axes != axes)
      continue;
    ValuePtr v = broadcast(box, interpreter.value(*mask->operands[1]), axes);
    result.resize(v->whole.size(), true);
    for (size_t i = 0; i < v->whole.size(); ++i)
      result[i] = result[i] && v->whole[i] != 0;
  }
  return result;
}

double attn::reference::liveFraction(const spec::Kernel &kernel,
                                     const AxisLengths &lengths,
                                     const Inputs &inputs, uint64_t) {
  std::vector<const Expr *> masks = masksOf(kernel);
  if (masks.empty())
    return 1;
  Box box = Box::whole(kernel, lengths);
  const std::vector<int> &axes = masks.front()->type.axes;
  for (size_t i = 0; i < axes.size();
       ++i) // Rows and keys finely, the rest not.
    box.restrict(axes[i], spread(lengths[size_t(axes[i])],
                                 i + 1 == axes.size()   ? 151
                                 : i + 2 == axes.size() ? 149
                                                        : 2));
  std::vector<bool> live = alive(box, inputs, masks);
  if (live.empty())
    return 1;
  return double(std::count(live.begin(), live.end(), true)) /
         double(live.size());
}

double attn::reference::liveTileFraction(const spec::Kernel &kernel,
                                         const AxisLengths &lengths,
                                         const Inputs &inputs, int64_t tileM,
                                         int64_t tileN, uint64_t) {
  std::vector<const Expr *> masks = masksOf(kernel);
  if (masks.empty() || masks.front()->type.axes.size() < 2)
    return 1;
  const std::vector<int> &axes = masks.front()->type.axes;
  int row = axes[axes.size() - 2], key = axes.back();
  int64_t rows = lengths[size_t(row)], keys = lengths[size_t(key)];
  auto tiles = [](int64_t length, int64_t tile) {
    return (length + tile - 1) / tile;
  };
  int64_t total = 0, live = 0;
  for (int64_t tm : spread(tiles(rows, tileM), 59))
    for (int64_t tn : spread(tiles(keys, tileN), 71)) {
      Box box = Box::whole(kernel, lengths);
      for (int axis : axes)
        box.restrict(axis, spread(lengths[size_t(axis)], 2));
      auto inside = [](int64_t tile, int64_t size, int64_t length) {
        // First, last and spread others of the tile.
        std::set<int64_t> at;
        int64_t first = tile * size, last = std::min(length, first + size) - 1;
        for (int64_t i = 0; i <= 8; ++i)
          at.insert(first + (last - first) * i / 8);
        return std::vector<int64_t>(at.begin(), at.end());
      };
      box.restrict(row, inside(tm, tileM, rows));
      box.restrict(key, inside(tn, tileN, keys));
      std::vector<bool> pairs = alive(box, inputs, masks);
      ++total;
      live += std::count(pairs.begin(), pairs.end(), true) > 0;
    }
  return total ? double(live) / double(total) : 1;
}

LiveRows attn::reference::liveRows(const spec::Kernel &kernel,
                                   const AxisLengths &lengths,
                                   const Inputs &inputs) {
  std::vector<const Expr *> masks = masksOf(kernel);
  if (masks.empty() || masks.front()->type.axes.size() < 2)
    return {};
  const std::vector<int> &axes = masks.front()->type.axes;
  int row = axes[axes.size() - 2], key = axes.back();
  int64_t rows = lengths[size_t(row)], keys = lengths[size_t(key)];
  if (rows < 1 || keys < 1)
    return {};
  std::set<int64_t> chosen;
  constexpr int64_t kParts = 64;
  for (int64_t i = 0; i <= kParts; ++i)
    chosen.insert((rows - 1) * i / kParts);
  Box box = Box::whole(kernel, lengths);
  for (size_t i = 0; i + 2 < axes.size(); ++i)
    box.restrict(axes[i], {0});
  box.restrict(row, {chosen.begin(), chosen.end()});
  std::vector<bool> live = alive(box, inputs, masks);
  if (live.size() != chosen.size() * size_t(keys))
    return {};
  LiveRows found{kernel.axes[size_t(row)].name, kernel.axes[size_t(key)].name, {}};
  auto at = live.begin();
  for (int64_t m : chosen) {
    auto end = at + keys;
    auto first = std::find(at, end, true);
    int64_t behind = keys;
    while (behind > first - at && !at[behind - 1])
      --behind;
    found.rows.push_back({m, first == end ? 0 : first - at, first == end ? 0 : behind});
    at = end;
  }
  return found;
}
