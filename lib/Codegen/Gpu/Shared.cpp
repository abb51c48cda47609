//===- Shared.cpp - stages in shared memory and copies to them ------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

LogicalResult GpuEmitter::emitAlloc(tile::AllocSharedOp op) {
  tile::BufferType type = op.getType();
  int64_t size = byteSize(type.getElement());
  if (type.getRows() % 16 || type.getColumns() * size % 32)
    return op.emitOpError("needs a multiple of 16 rows and of 32 bytes a row, "
                          "not ")
           << type.getRows() << "x" << type.getColumns() << " of "
           << type.getElement();
  Buffer buffer;
  buffer.stage = {type.getRows(), type.getColumns(), size};
  // Stages are multiples of 512 bytes, so all of them start so aligned and the
  // exclusive or of a swizzle never leaves its row.
  buffer.offset = allocated;
  allocated += type.getStages() * buffer.stage.bytes();
  buffers[op.getResult()] = buffer;
  return success();
}

Value GpuEmitter::stageAddress(const Buffer &buffer, Value slot) {
  Value address = t.add(sharedBase, buffer.offset);
  return t.add(address, t.mul(slot, buffer.stage.bytes()));
}

Value GpuEmitter::stageOffset(const StageLayout &stage, Value row, Value chunk) {
  Value swizzle =
      t.shiftRight(t.bitAnd(row, 7), 3 - stage.swizzleBits());
  Value place = t.mul(t.bitXor(chunk, swizzle), 16);
  return t.add(t.mul(row, stage.rowBytes()), place);
}

/// Asynchronous copies of 16 bytes. What lies outside the view is not read and
/// becomes zero: the copy is told how many bytes to take.
void GpuEmitter::copyChunks(const Window &view, Value row, Value column,
                            const StageLayout &stage, Value address) {
  CopyPlan plan(stage, layout.threads());
  int64_t per = stage.perChunk(), size = stage.elementBytes;
  OpBuilder::InsertionGuard guard(t.b);
  if (plan.threads < layout.threads()) {
    auto active = scf::IfOp::create(
        t.b, t.loc, t.less(thread, t.c32(plan.threads)), /*withElse=*/false);
    t.b.setInsertionPointToStart(active.thenBlock());
  }
  bool across = plan.chunkStep != 0;
  Value firstRow = across ? t.c32(0) : t.div(thread, stage.chunks());
  Value firstChunk = across ? thread : t.rem(thread, stage.chunks());
  for (int64_t m = 0; m < plan.chunkSteps; ++m) {
    OpBuilder::InsertionGuard guard(t.b);
    Value chunk = t.add(firstChunk, m * plan.chunkStep);
    if ((m + 1) * plan.chunkStep > stage.chunks()) {
      auto exists = scf::IfOp::create(
          t.b, t.loc, t.less(chunk, t.c32(stage.chunks())), /*withElse=*/false);
      t.b.setInsertionPointToStart(exists.thenBlock());
    }
    Value at = t.add(column, t.wide(t.mul(chunk, per)));
    Value down = t.add(row, t.wide(firstRow));
    Value rowLimit = t.narrow(t.sub(view.rows, down));
    Value bytes = t.mul(t.narrow(t.sub(view.columns, at)), size);
    bytes = t.max(t.min(bytes, t.c32(16)), t.c32(0));
    Value offset = t.add(t.add(view.offset, t.mul(down, view.rowStride)), at);
    Value source = t.element(view.base, offset, view.element);
    Value step = t.mul(view.rowStride, plan.rowStep);
    Value to = t.add(address, stageOffset(stage, firstRow, chunk));
    for (int64_t n = 0; n < plan.rowSteps; ++n) {
      OpBuilder::InsertionGuard guard(t.b);
      int64_t rowDelta = n * plan.rowStep;
      if (n)
        source = t.element(source, step, view.element);
      if (rowDelta + plan.rowStep > stage.rows) {
        auto exists = scf::IfOp::create(
            t.b, t.loc, t.less(firstRow, t.c32(stage.rows - rowDelta)),
            /*withElse=*/false);
        t.b.setInsertionPointToStart(exists.thenBlock());
      }
      // Eight rows on the swizzle is the same again.
      Value target = to;
      int64_t apart = rowDelta * stage.rowBytes();
      if (rowDelta % 8) {
        target = t.add(address,
                       stageOffset(stage, t.add(firstRow, rowDelta), chunk));
        apart = 0;
      }
      Value take = t.select(t.less(t.c32(rowDelta), rowLimit), bytes, t.c32(0));
      NVVM::CpAsyncOp::create(t.b, t.loc, t.sharedAt(target, apart), source, 16,
                              NVVM::LoadCacheModifierKind::CG, take);
    }
  }
}

/// One element at a time through registers: for any strides and alignment. Lanes
/// run along the dimension that is contiguous in memory.
void GpuEmitter::copyElements(const Window &view, Value row, Value column,
                              const StageLayout &stage, Value address) {
  APInt stride;
  bool downRows = matchPattern(view.rowStride, m_ConstantInt(&stride)) &&
                  stride.isOne();
  int64_t elements = stage.rows * stage.columns;
  int64_t threads = layout.threads();
  // A few loads are in flight before their stores; a loop keeps the code small.
  int64_t batch = std::min<int64_t>(8, (elements + threads - 1) / threads);
  auto loop = scf::ForOp::create(t.b, t.loc, thread, t.c32(elements),
                                 t.c32(threads * batch));
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  Type reg = t.b.getIntegerType(8 * stage.elementBytes);
  struct Moved {
    Value value, address, exists;
  };
  SmallVector<Moved> moved;
  for (int64_t n = 0; n < batch; ++n) {
    Value index = t.add(loop.getInductionVar(), n * threads);
    int64_t fast = downRows ? stage.rows : stage.columns;
    Value r = downRows ? t.rem(index, fast) : t.div(index, fast);
    Value c = downRows ? t.div(index, fast) : t.rem(index, fast);
    Value down = t.add(row, t.wide(r)), at = t.add(column, t.wide(c));
    Value exists = t.less(index, t.c32(elements));
    Value inside = t.both(t.less(down, view.rows), t.less(at, view.columns));
    Value offset = t.add(t.add(view.offset, t.mul(down, view.rowStride)),
                         t.mul(at, view.columnStride));
    Value value = t.loadGlobal(t.both(exists, inside),
                               t.element(view.base, offset, view.element), 0,
                               view.element, 1)[0];
    Value place = stageOffset(stage, r, t.div(c, stage.perChunk()));
    place = t.add(place, t.mul(t.rem(c, stage.perChunk()), stage.elementBytes));
    moved.push_back({t.bitcast(value, reg), t.add(address, place), exists});
  }
  bool ragged = elements % (threads * batch) != 0;
  for (const Moved &m : moved) {
    OpBuilder::InsertionGuard guard(t.b);
    if (ragged) {
      auto exists = scf::IfOp::create(t.b, t.loc, m.exists, /*withElse=*/false);
      t.b.setInsertionPointToStart(exists.thenBlock());
    }
    LLVM::StoreOp::create(t.b, t.loc, m.value, t.sharedAt(m.address));
  }
}

LogicalResult GpuEmitter::emitCopy(tile::CopyAsyncOp op) {
  const Window view = windows.lookup(op.getView());
  const Buffer buffer = buffers.lookup(op.getBuffer());
  Value address = stageAddress(buffer, scalar(op.getSlot()));
  Value row = scalar(op.getRow()), column = scalar(op.getColumn());
  int64_t per = buffer.stage.perChunk();
  bool chunks = view.aligned > 0 && view.aligned % per == 0 &&
                isMultiple(op.getColumn(), per);
  if (chunks)
    copyChunks(view, row, column, buffer.stage, address);
  else
    copyElements(view, row, column, buffer.stage, address);
  return success();
}

LogicalResult GpuEmitter::emitSharedRead(tile::SharedReadOp op) {
  for (OpOperand &use : op->getUses()) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    if (!dot || use.getOperandNumber() > 1)
      return op.emitOpError("can only feed operands of tile.dot");
  }
  const Buffer buffer = buffers.lookup(op.getBuffer());
  Operand operand;
  operand.stage = buffer.stage;
  operand.element = op.getBuffer().getType().getElement();
  operand.address = stageAddress(buffer, scalar(op.getSlot()));
  if (holdInRegisters(op)) {
    // Gathered apart: fragmentsOfA takes what `operand` holds already.
    SmallVector<SmallVector<SmallVector<Value>>> held;
    for (int64_t s = 0; s < operand.stage.chunks() / 2; ++s)
      held.push_back(fragmentsOfA(operand, s));
    operand.fragments = std::move(held);
  }
  operands[op.getResult()] = operand;
  return success();
}
