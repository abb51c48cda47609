//===- ScalarDot.cpp - f32 products without rounding ----------------------===//
//
// On the ordinary cores, in the accumulator layout like any other product. A
// thread reads the rows of a that it holds four elements of the summed axis at a
// time; when a is an earlier accumulator, a row's element comes by shuffle from
// the lane that holds its column. Of b it reads its column pairs.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

namespace {
/// `count` neighbouring f32 at a shared-memory address.
SmallVector<Value> loadFloats(ThreadCode &t, Value address, int64_t bytes,
                              int64_t count) {
  Type type = VectorType::get({count}, t.f32());
  Value vector = LLVM::LoadOp::create(t.b, t.loc, type,
                                      t.sharedAt(address, bytes), 4 * count);
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(
        LLVM::ExtractElementOp::create(t.b, t.loc, vector, t.c32(i)));
  return values;
}

/// A row of a stage that this thread reads: its address and its swizzle. Rows
/// that are multiples of 8 apart share both but for a constant.
struct StageRow {
  StageLayout stage;
  Value address, swizzle; ///< i32; the swizzle times 16.

  StageRow(ThreadCode &t, const Operand &operand, Value row)
      : stage(operand.stage) {
    address = t.add(operand.address, t.mul(row, stage.rowBytes()));
    swizzle = t.mul(t.shiftRight(t.bitAnd(row, 7), 3 - stage.swizzleBits()), 16);
  }
  /// Four floats of chunk `chunk`, `down` rows further (a multiple of 8).
  SmallVector<Value> chunk(ThreadCode &t, int64_t chunk, int64_t down) {
    int64_t mask = (int64_t(1) << stage.swizzleBits()) - 1;
    Value place = t.add(address, t.bitXor(swizzle, (chunk & mask) * 16));
    return loadFloats(t, place, (chunk & ~mask) * 16 + down * stage.rowBytes(), 4);
  }
};
} // namespace

LogicalResult GpuEmitter::emitScalarDot(tile::DotOp op, Slots &c) {
  int64_t depth = cast<RankedTensorType>(op.getA().getType()).getDimSize(1);
  const Operand b = operands.lookup(op.getB());
  bool aInShared = operands.contains(op.getA());
  Slots a;
  if (!aInShared)
    a = expanded(op.getA());
  std::optional<StageRow> aRow;
  if (aInShared)
    aRow.emplace(t, operands.lookup(op.getA()), threadRow);
  // b as NxK: two rows, columns 2t and 2t + 1 of the product; fragments further
  // on lie 8 rows apart.
  SmallVector<StageRow> bRows;
  if (op.getTransposed())
    for (int64_t p = 0; p < 2; ++p)
      bRows.emplace_back(t, b, t.add(threadColumn, p));
  // b as KxN: the pair lies in chunk 2 j + t / 2; its lowest bit is the lane's.
  Value half = t.bitAnd(t.shiftRight(lane, 1), 1);
  Value inChunk = t.add(b.address, t.mul(t.bitAnd(lane, 1), 8));
  Value parity[2] = {t.mul(half, 16), t.mul(t.bitXor(half, 1), 16)};
  int64_t mask = (int64_t(1) << b.stage.swizzleBits()) - 1;
  Value quadBase = t.bitAnd(lane, 28);

  int64_t rows = 2 * layout.fragments, pairs = c.columns / 2;
  for (int64_t k0 = 0; k0 < depth; k0 += 4) {
    SmallVector<SmallVector<Value>> left(rows); // [row][k - k0]
    for (int64_t i = 0; i < rows; ++i) {
      if (aInShared) {
        left[i] = aRow->chunk(t, k0 / 4, layout.rowDelta(i));
        continue;
      }
      for (int64_t k = k0; k < k0 + 4; ++k)
        left[i].push_back(t.shuffleFrom(a.at(i, 2 * (k / 8) + k % 2),
                                        t.add(quadBase, k % 8 / 2)));
    }
    for (int64_t j = 0; j < pairs; ++j) {
      SmallVector<Value> right[2]; // [column of the pair][k - k0]
      if (op.getTransposed()) {
        for (int64_t p = 0; p < 2; ++p)
          right[p] = bRows[p].chunk(t, k0 / 4, 8 * j);
      } else {
        for (int64_t k = k0; k < k0 + 4; ++k) {
          // Constant part of the swizzled chunk; its lowest bit flips the lane's.
          int64_t chunk = ((2 * j) & mask) ^ b.stage.swizzle(k);
          Value place = t.add(inChunk, parity[chunk & 1]);
          SmallVector<Value> both = loadFloats(
              t, place,
              ((chunk & ~int64_t(1)) + ((2 * j) & ~mask)) * 16 +
                  k * b.stage.rowBytes(),
              2);
          for (int64_t p = 0; p < 2; ++p)
            right[p].push_back(both[p]);
        }
      }
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t p = 0; p < 2; ++p) {
          Value &sum = c.values[i * c.columns + 2 * j + p];
          for (int64_t k = 0; k < 4; ++k)
            sum = math::FmaOp::create(t.b, t.loc, left[i][k], right[p][k], sum);
        }
    }
  }
  return success();
}
