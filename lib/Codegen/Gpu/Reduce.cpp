//===- Reduce.cpp - row reductions ----------------------------------------===//
//
// In the thread over its columns, then over the lanes that share the row, by
// exchanging with ever nearer lanes. The order depends on the
// layout alone, so results are reproducible (C10).
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

LogicalResult GpuEmitter::emitReduce(tile::ReduceOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  Type element = tile.getElementType();
  if (!element.isF32() && !element.isInteger(32) && !element.isInteger(64))
    return op.emitOpError("reduces f32, i32 and i64 only, not ") << element;
  if (failed(checkFits(op, tile)))
    return failure();
  auto combine = [&](Value x, Value y) -> Value {
    if (op.getKind() == tile::ReduceKind::Max)
      return arith::MaxNumFOp::create(t.b, t.loc, x, y);
    if (op.getKind() == tile::ReduceKind::MaxInt)
      return t.max(x, y);
    if (!element.isF32())
      return t.add(x, y);
    return arith::AddFOp::create(t.b, t.loc, x, y);
  };
  Slots from = slotsOf(op.getValue()), to;
  to.rows = from.rows;
  int64_t columns = columnSlots(tile);
  // A few partial results a thread: one chain would wait for itself.
  int64_t chains = std::min<int64_t>(columns, std::max<int64_t>(1, 8 / from.rows));
  for (int64_t i = 0; i < from.rows; ++i) {
    SmallVector<Value> partial;
    for (int64_t k = 0; k < columns; ++k) {
      if (k < chains)
        partial.push_back(from.at(i, k));
      else
        partial[k % chains] = combine(partial[k % chains], from.at(i, k));
    }
    while (partial.size() > 1) {
      size_t half = (partial.size() + 1) / 2;
      for (size_t k = half; k < partial.size(); ++k)
        partial[k - half] = combine(partial[k - half], partial[k]);
      partial.resize(half);
    }
    to.values.push_back(partial[0]);
  }
  if (tile.getDimSize(1) != 1)
    for (int64_t mask = layout.accumulator ? 2 : 16; mask > 0; mask /= 2)
      for (Value &value : to.values)
        value = combine(value, t.shuffleXor(value, mask));
  tiles[op.getResult()] = to;
  return success();
}
