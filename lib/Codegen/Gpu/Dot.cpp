//===- Dot.cpp - matrix products ------------------------------------------===//
//
// On tensor cores an operand is fetched in steps of 32 bytes along the summed
// axis: 16 elements of 16 bits or 8 of tf32. One ldmatrix.x4 brings a 16-row
// fragment of a, or two 8-column fragments of b. For 32-bit elements a matrix of
// ldmatrix is 8 rows of 4 elements and a lane gets one of them, which is where
// the tf32 fragment wants it, so both widths share the code. b given as KxN is
// transposed by ldmatrix if its elements have 16 bits; see TF32 below otherwise.
//
// TF32. The accumulator layout gives lane t columns 2t and 2t+1 of eight, the
// tf32 fragment of a wants k = t and t + 4. The sum does not mind its order: let
// slot t stand for row 2t of b and slot t + 4 for row 2t + 1, in both operands.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

SmallVector<SmallVector<Value>> GpuEmitter::fragmentsOfA(const Operand &a,
                                                         int64_t step) {
  if (!a.fragments.empty())
    return a.fragments[step];
  // The row of chunk pairs that `step` names: its low bits meet the swizzle, its
  // high bits are a constant.
  Value corner = t.add(a.address, matrixOffset(a.stage, MatrixOrder::RowsFirst));
  corner = t.add(corner, t.mul(warp, 16 * layout.fragments * a.stage.rowBytes()));
  int64_t mask = (int64_t(1) << a.stage.swizzleBits()) - 1;
  int64_t chunk = 2 * step;
  Value address = t.bitXor(corner, (chunk & mask) * 16);
  SmallVector<SmallVector<Value>> fragments;
  for (int64_t f = 0; f < layout.fragments; ++f)
    fragments.push_back(t.loadMatrices(
        address, (chunk & ~mask) * 16 + 16 * f * a.stage.rowBytes(), false));
  return fragments;
}

/// Scalars a value of this type takes in a thread.
static int64_t registersOf(const ThreadLayout &layout, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return 1;
  return layout.rowSlots(tile.getDimSize(0)) *
         layout.columnSlots(tile.getDimSize(1));
}

/// An a operand read outside a loop and used inside is fetched once if registers
/// allow: what the loop carries, its largest other product and the fragments
/// must leave room for addresses and the softmax.
bool GpuEmitter::holdInRegisters(tile::SharedReadOp op) {
  Type element = op.getBuffer().getType().getElement();
  if (element.isF32() || !layout.accumulator)
    return false;
  const StageLayout stage = buffers.lookup(op.getBuffer()).stage;
  int64_t fragments = stage.chunks() / 2 * layout.fragments * 4;
  int64_t most = 0;
  for (OpOperand &use : op->getUses()) {
    auto dot = cast<tile::DotOp>(use.getOwner());
    Operation *loop = dot->getParentOp();
    if (use.getOperandNumber() != 0 || !isa<scf::ForOp>(loop) ||
        op->getParentOp() == loop)
      return false;
    int64_t carried = 0, product = 0;
    for (Type type : loop->getResultTypes())
      carried += registersOf(layout, type);
    loop->walk([&](tile::DotOp other) {
      if (!isa<BlockArgument>(other.getAccumulator()))
        product = std::max(product, registersOf(layout, other.getType()));
    });
    most = std::max(most, carried + product);
  }
  return most > 0 && most + fragments <= 190;
}

LogicalResult GpuEmitter::emitDot(tile::DotOp op) {
  if (!layout.accumulator)
    return op.emitOpError("needs #tile.accumulator");
  if (op.getSums())
    return op.emitOpError("has row sums, which only tile.dot_async computes");
  if (!operands.contains(op.getB()))
    return op.emitOpError("operand b must come from tile.shared_read; run "
                          "tile-stage-loads first");
  Type element = cast<RankedTensorType>(op.getB().getType()).getElementType();
  auto a = cast<RankedTensorType>(op.getA().getType());
  auto c = cast<RankedTensorType>(op.getType());
  if (!operands.contains(op.getA()) && failed(checkFits(op, a)))
    return failure();
  if (a.getDimSize(1) % 16 || c.getDimSize(1) % 16)
    return op.emitOpError("sums over ")
           << a.getDimSize(1) << " and gives " << c.getDimSize(1)
           << " columns; both must be multiples of 16";
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op.emitOpError("multiplies f16, bf16 or f32, not ") << element;
  Slots sum = expanded(op.getAccumulator());
  LogicalResult done = element.isF32() && !op.getTf32()
                           ? emitScalarDot(op, sum)
                           : emitTensorDot(op, sum);
  tiles[op.getResult()] = sum;
  return done;
}

/// An f32 (as i32) to the nearest tf32, ties away, in the same register.
static Value roundToTf32(ThreadCode &t, Value value) {
  return t.assembly({t.i32()}, {value}, "cvt.rna.tf32.f32 $0, $1;", "=r,r",
                    false)[0];
}

namespace {
/// Operand b of tf32 from KxN: ldmatrix does not transpose 32-bit elements, so a
/// lane reads its words one by one. Lane 4 g + t wants column g of rows t and
/// t + 4, or of rows 2t and 2t + 1 (`permuted`, see the top of the file).
struct WordColumns {
  StageLayout stage;
  Value rows[2];   ///< Address of the lane's row in the first k step.
  Value chunks[2]; ///< 16 x (chunk of column g, swizzled for that row).

  WordColumns() = default;
  WordColumns(ThreadCode &t, const Operand &b, Value lane, bool permuted)
      : stage(b.stage) {
    Value g = t.shiftRight(lane, 2), quad = t.bitAnd(lane, 3);
    for (int64_t i = 0; i < 2; ++i) {
      Value row = permuted ? t.add(t.mul(quad, 2), i) : t.add(quad, 4 * i);
      Value swizzle = t.shiftRight(row, 3 - stage.swizzleBits());
      chunks[i] = t.mul(t.bitXor(t.shiftRight(g, 2), swizzle), 16);
      rows[i] = t.add(t.add(b.address, t.mul(row, stage.rowBytes())),
                      t.mul(t.bitAnd(g, 3), 4));
    }
  }
  /// Registers of k step `s` for 8-column fragments 2n and 2n + 1.
  SmallVector<Value> fetch(ThreadCode &t, int64_t s, int64_t n) {
    int64_t mask = (int64_t(1) << stage.swizzleBits()) - 1;
    SmallVector<Value> words;
    for (int64_t j = 2 * n; j < 2 * n + 2; ++j)
      for (int64_t i = 0; i < 2; ++i) {
        int64_t chunk = 2 * j;
        Value place = t.add(rows[i], t.bitXor(chunks[i], (chunk & mask) * 16));
        words.push_back(LLVM::LoadOp::create(
            t.b, t.loc, t.i32(),
            t.sharedAt(place, 8 * s * stage.rowBytes() + (chunk & ~mask) * 16)));
      }
    return words;
  }
};
} // namespace

LogicalResult GpuEmitter::emitTensorDot(tile::DotOp op, Slots &c) {
  auto aType = cast<RankedTensorType>(op.getA().getType());
  Type element = aType.getElementType();
  const Operand b = operands.lookup(op.getB());
  bool tf32 = element.isF32();
  int64_t depth = tf32 ? 8 : 16; // Elements of one step.
  int64_t steps = aType.getDimSize(1) / depth;
  int64_t columns = cast<RankedTensorType>(op.getType()).getDimSize(1);
  bool aInShared = operands.contains(op.getA());
  Slots a;
  if (!aInShared)
    a = expanded(op.getA());
  MatrixOrder order =
      op.getTransposed() ? MatrixOrder::ChunksFirst : MatrixOrder::RowsFirst;
  Value corner = t.add(b.address, matrixOffset(b.stage, order));
  int64_t mask = (int64_t(1) << b.stage.swizzleBits()) - 1;
  WordColumns words;
  if (tf32 && !op.getTransposed())
    words = WordColumns(t, b, lane, /*permuted=*/!aInShared);
  for (int64_t s = 0; s < steps; ++s) {
    SmallVector<SmallVector<Value>> left;
    if (aInShared) {
      left = fragmentsOfA(operands.lookup(op.getA()), s);
    } else {
      for (int64_t f = 0; f < layout.fragments; ++f) {
        SmallVector<Value> registers;
        if (tf32) { // One 8-column fragment: slot t is column 2t, t + 4 is 2t + 1.
          for (int64_t p = 0; p < 2; ++p)
            for (int64_t h = 0; h < 2; ++h)
              registers.push_back(
                  t.bitcast(a.at(2 * f + h, 2 * s + p), t.i32()));
          left.push_back(registers);
          continue;
        }
        // Two neighbouring 8-column fragments of the accumulator are one of a.
        for (int64_t half = 0; half < 2; ++half)
          for (int64_t h = 0; h < 2; ++h)
            registers.push_back(t.pair(a.at(2 * f + h, 4 * s + 2 * half),
                                       a.at(2 * f + h, 4 * s + 2 * half + 1)));
        left.push_back(registers);
      }
    }
    if (tf32)
      for (SmallVector<Value> &fragment : left)
        for (Value &value : fragment)
          value = roundToTf32(t, value);
    for (int64_t n = 0; n < columns / 16; ++n) {
      // Corner of this step and column pair: constant rows and chunks.
      int64_t rows = 16 * (op.getTransposed() ? n : s);
      int64_t chunk = 2 * (op.getTransposed() ? s : n);
      SmallVector<Value> right;
      if (tf32 && !op.getTransposed()) {
        right = words.fetch(t, s, n);
      } else {
        Value address = t.bitXor(corner, (chunk & mask) * 16);
        right = t.loadMatrices(
            address, rows * b.stage.rowBytes() + (chunk & ~mask) * 16,
            !op.getTransposed());
      }
      if (tf32)
        for (Value &value : right)
          value = roundToTf32(t, value);
      for (int64_t f = 0; f < layout.fragments; ++f)
        for (int64_t j = 2 * n; j < 2 * n + 2; ++j) {
          auto slot = [&](int64_t i) -> Value & {
            return c.values[(2 * f + i / 2) * c.columns + 2 * j + i % 2];
          };
          SmallVector<Value> sum = t.mma(
              element, left[f], ArrayRef<Value>(right).slice(2 * (j % 2), 2),
              {slot(0), slot(1), slot(2), slot(3)});
          for (int64_t i = 0; i < 4; ++i)
            slot(i) = sum[i];
        }
    }
  }
  return success();
}
