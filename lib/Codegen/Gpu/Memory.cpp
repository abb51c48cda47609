//===- Memory.cpp - device memory -----------------------------------------===//
//
// A thread's elements lie at its first element's address plus multiples of the
// strides. Rows get a pointer each; columns of unit stride are immediate offsets
// of it. Elements outside the view are predicated off.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

LogicalResult GpuEmitter::emitView(tile::ViewOp op) {
  Window view;
  view.element = op.getType().getElement();
  view.base = scalar(op.getBase());
  view.offset = scalar(op.getOffset());
  view.rows = scalar(op.getRows());
  view.columns = scalar(op.getColumns());
  view.rowStride = scalar(op.getRowStride());
  view.columnStride = scalar(op.getColumnStride());
  view.aligned = op.getAligned();
  windows[op.getResult()] = view;
  return success();
}

namespace {
/// The part of a view that a thread's slots of a tile lie on.
struct Footprint {
  ThreadCode &t;
  const ThreadLayout &layout;
  const Window &view;
  Value rowLimit, columnLimit; ///< i32: deltas below it are inside.
  Value first;                 ///< Address of the first element.
  bool unitStride;
  SmallVector<Value> rowPointers, rowInside;

  /// `rows`: slots down. `own`: further condition on every access, or null.
  Footprint(ThreadCode &t, const ThreadLayout &layout, const Window &view,
            Value row, Value column, int64_t rows, Value own)
      : t(t), layout(layout), view(view) {
    rowLimit = t.narrow(t.sub(view.rows, row));
    columnLimit = t.narrow(t.sub(view.columns, column));
    Value offset = t.add(view.offset, t.mul(row, view.rowStride));
    offset = t.add(offset, t.mul(column, view.columnStride));
    first = t.element(view.base, offset, view.element);
    APInt stride;
    unitStride = matchPattern(view.columnStride, m_ConstantInt(&stride)) &&
                 stride.isOne();
    for (int64_t i = 0; i < rows; ++i) {
      int64_t delta = layout.rowDelta(i);
      rowPointers.push_back(
          delta ? t.element(first, t.mul(view.rowStride, delta), view.element)
                : first);
      Value inside = t.less(t.c32(delta), rowLimit);
      rowInside.push_back(own ? t.both(own, inside) : inside);
    }
  }

  Value columnInside(int64_t slot, int64_t further = 0) {
    return t.less(t.c32(layout.columnDelta(slot) + further), columnLimit);
  }
  /// Pointer and constant byte offset of an element.
  std::pair<Value, int64_t> at(int64_t i, int64_t k) {
    int64_t delta = layout.columnDelta(k);
    if (unitStride || delta == 0)
      return {rowPointers[i], delta * byteSize(view.element)};
    return {t.element(rowPointers[i], t.mul(view.columnStride, delta),
                      view.element),
            0};
  }
  /// Elements one access may take: neighbours whose address is aligned.
  int64_t run(Value column, int64_t columns, bool columnAligned) const {
    int64_t run = std::min<int64_t>(layout.run(), 16 / byteSize(view.element));
    bool usable = unitStride && columns > 1 && view.aligned > 0 &&
                  view.aligned % run == 0 && columnAligned;
    return usable ? run : 1;
  }
  /// Whether a run is inside the view as a whole or not at all.
  bool wholeRuns(int64_t run) const {
    APInt columns;
    return run == 1 || (matchPattern(view.columns, m_ConstantInt(&columns)) &&
                        columns.urem(run) == 0);
  }
};
} // namespace

LogicalResult GpuEmitter::emitLoad(tile::LoadOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  Type element = tile.getElementType();
  const Window view = windows.lookup(op.getView());
  Slots to;
  to.rows = rowSlots(tile);
  to.columns = columnSlots(tile);
  Value row = t.add(scalar(op.getRow()), t.wide(rowBase(tile)));
  Value column = t.add(scalar(op.getColumn()), t.wide(columnBase(tile)));
  Footprint f(t, layout, view, row, column, to.rows, nullptr);
  int64_t run = f.run(column, to.columns,
                      isMultiple(op.getColumn(), layout.run()));
  bool whole = f.wholeRuns(run);
  Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getZeroAttr(element));
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; k += run) {
      // A run that begins inside may be read as a whole: `aligned` allows it.
      Value inside = t.both(f.rowInside[i], f.columnInside(k));
      auto [pointer, bytes] = f.at(i, k);
      SmallVector<Value> values =
          t.loadGlobal(inside, pointer, bytes, element, run);
      for (int64_t v = 1; v < run && !whole; ++v)
        values[v] = t.select(f.columnInside(k, v), values[v], zero);
      llvm::append_range(to.values, values);
    }
  tiles[op.getResult()] = to;
  return success();
}

/// Four words that a lane of a quad holds of columns 8 c + 2 q (c = 0..3) become
/// the four words of columns 8 q .. 8 q + 7: a transposition in two exchanges.
static SmallVector<Value> transposeQuad(ThreadCode &t, Value odd, Value upper,
                                        ArrayRef<Value> x) {
  Value r0 = t.shuffleXor(t.select(odd, x[0], x[1]), 1);
  Value r1 = t.shuffleXor(t.select(odd, x[2], x[3]), 1);
  Value low[] = {t.select(odd, r0, x[0]), t.select(odd, x[1], r0)};
  Value high[] = {t.select(odd, r1, x[2]), t.select(odd, x[3], r1)};
  SmallVector<Value> words(4);
  for (int64_t i = 0; i < 2; ++i) {
    Value other = t.shuffleXor(t.select(upper, low[i], high[i]), 2);
    Value own = t.select(upper, high[i], low[i]);
    words[i] = t.select(upper, other, own);
    words[2 + i] = t.select(upper, own, other);
  }
  return words;
}

/// 16-bit tiles of the accumulator layout in pieces of 16 bytes: a lane's own
/// pieces are 4 bytes, so the four lanes that share a row first exchange them.
void GpuEmitter::storeQuads(const Window &view, Value row, Value column,
                            const Slots &from, int64_t rows, int64_t columns) {
  Value quad = t.bitAnd(lane, 3);
  Value odd = t.less(t.c32(0), t.bitAnd(quad, 1));
  Value upper = t.less(t.c32(1), quad);
  Value own = t.add(column, t.wide(t.mul(quad, 8)));
  Value rowLimit = t.narrow(t.sub(view.rows, row));
  Value columnLimit = t.narrow(t.sub(view.columns, own));
  Value offset = t.add(t.add(view.offset, t.mul(row, view.rowStride)), own);
  Value first = t.element(view.base, offset, view.element);
  Type pairType = VectorType::get({2}, view.element);
  for (int64_t i = 0; i < rows; ++i) {
    Value pointer = first;
    if (int64_t delta = layout.rowDelta(i))
      pointer = t.element(first, t.mul(view.rowStride, delta), view.element);
    Value rowInside = t.less(t.c32(layout.rowDelta(i)), rowLimit);
    for (int64_t g = 0; g < columns / 8; ++g) {
      SmallVector<Value> words;
      for (int64_t c = 0; c < 4; ++c)
        words.push_back(t.bitcast(t.pair(from.at(i, 8 * g + 2 * c),
                                         from.at(i, 8 * g + 2 * c + 1)),
                                  t.i32()));
      SmallVector<Value> values;
      for (Value word : transposeQuad(t, odd, upper, words)) {
        Value both = t.bitcast(word, pairType);
        for (int64_t k = 0; k < 2; ++k)
          values.push_back(
              LLVM::ExtractElementOp::create(t.b, t.loc, both, t.c32(k)));
      }
      Value inside = t.both(rowInside, t.less(t.c32(32 * g), columnLimit));
      t.storeGlobal(inside, pointer, 64 * g, values);
    }
  }
}

LogicalResult GpuEmitter::emitStore(tile::StoreOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  if (operands.contains(op.getValue()))
    return op.emitOpError("cannot store a stage of shared memory");
  if (failed(checkFits(op, tile)))
    return failure();
  if (op.getStaged())
    return emitStagedStore(op);
  const Window view = windows.lookup(op.getView());
  Slots from = slotsOf(op.getValue());
  int64_t rows = rowSlots(tile), columns = columnSlots(tile);
  Value row = t.add(scalar(op.getRow()), t.wide(rowBase(tile)));
  APInt length;
  if (layout.accumulator && view.aligned % 8 == 0 && view.aligned > 0 &&
      byteSize(view.element) == 2 && tile.getDimSize(0) != 1 &&
      tile.getDimSize(1) % 32 == 0 && isMultiple(op.getColumn(), 8) &&
      matchPattern(view.columns, m_ConstantInt(&length)) &&
      length.urem(8) == 0) {
    storeQuads(view, row, scalar(op.getColumn()), expanded(op.getValue()), rows,
               columns);
    return success();
  }
  Value column = t.add(scalar(op.getColumn()), t.wide(columnBase(tile)));
  // Of the threads that hold the same row (column) value, the first writes it.
  Value own;
  auto only = [&](Value position) {
    Value first = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                        position, t.c32(0));
    own = own ? t.both(own, first) : first;
  };
  if (tile.getDimSize(0) == 1)
    only(threadRow);
  if (tile.getDimSize(1) == 1)
    only(threadColumn);
  Footprint f(t, layout, view, row, column, rows, own);
  int64_t run =
      f.run(column, columns, isMultiple(op.getColumn(), layout.run()));
  bool whole = f.wholeRuns(run);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < columns; k += run) {
      SmallVector<Value> values;
      for (int64_t v = 0; v < run; ++v)
        values.push_back(from.at(i, k + v));
      auto [pointer, bytes] = f.at(i, k);
      Value all = t.both(f.rowInside[i], f.columnInside(k, run - 1));
      t.storeGlobal(all, pointer, bytes, values);
      if (whole)
        continue;
      // The run that the view's last column cuts: one by one.
      Value begins = t.both(f.rowInside[i], f.columnInside(k));
      Value cut = t.both(begins, t.bitXor(f.columnInside(k, run - 1),
                                          t.integer(1, t.i1())));
      int64_t size = byteSize(view.element);
      auto branch = scf::IfOp::create(t.b, t.loc, cut, /*withElse=*/false);
      OpBuilder::InsertionGuard guard(t.b);
      t.b.setInsertionPointToStart(branch.thenBlock());
      for (int64_t v = 0; v + 1 < run; ++v)
        t.storeGlobal(f.columnInside(k, v), pointer, bytes + v * size, values[v]);
    }
  return success();
}

LogicalResult GpuEmitter::emitGather(tile::GatherOp op) {
  Type element = op.getBase().getType().getElement();
  Value base = scalar(op.getBase()), valid = scalar(op.getValid());
  auto read = [&](Value offset) {
    return t.loadGlobal(valid, t.element(base, offset, element), 0, element, 1)[0];
  };
  if (!isa<RankedTensorType>(op.getType())) {
    scalars[op.getResult()] = read(scalar(op.getOffset()));
    return success();
  }
  Slots from = slotsOf(op.getOffset()), to;
  to.rows = from.rows;
  to.columns = from.columns;
  for (Value offset : from.values)
    to.values.push_back(read(offset));
  tiles[op.getResult()] = to;
  return success();
}
