//===- GpuEmitter.cpp - set-up and look-up --------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

GpuEmitter::GpuEmitter(func::FuncOp program, LLVM::LLVMFuncOp kernel,
                       LLVM::GlobalOp shared)
    : program(program), kernel(kernel), shared(shared), t(program.getContext()) {
  Attribute attribute = program->getAttr(tile::kLayoutAttr);
  if (auto accumulator = dyn_cast<tile::AccumulatorAttr>(attribute)) {
    layout.accumulator = true;
    layout.warps = accumulator.getWarps();
    layout.fragments = accumulator.getFragments();
  } else {
    auto rows = cast<tile::RowsAttr>(attribute);
    layout.accumulator = false;
    layout.warps = rows.getWarps();
    layout.vector = rows.getVector();
  }
}

LogicalResult GpuEmitter::emit() {
  t.loc = program.getLoc();
  Block &entry = kernel.getBody().front();
  t.b.setInsertionPointToStart(&entry);
  // 1-d blocks: the thread index is the linear one.
  blockThread = NVVM::ThreadIdXOp::create(t.b, t.loc, t.i32());
  program.walk([&](tile::SpecializeOp) { hasRoles = true; });
  if (program->hasAttr("tile.groups")) {
    // Through a shuffle, so that the assembler knows it as uniform over a warp.
    roleGroup = t.shuffleFrom(t.shiftRight(blockThread, 7), t.c32(0));
  }
  thread = t.bitAnd(blockThread, llvm::PowerOf2Ceil(layout.threads()) - 1);
  lane = t.bitAnd(thread, 31);
  warp = t.shiftRight(thread, 5);
  if (layout.accumulator) {
    threadRow = t.add(t.mul(warp, 16 * layout.fragments), t.shiftRight(lane, 2));
    threadColumn = t.mul(t.bitAnd(lane, 3), 2);
  } else {
    threadRow = warp;
    threadColumn = t.mul(lane, layout.vector);
  }
  Value base = LLVM::AddressOfOp::create(t.b, t.loc, shared);
  sharedBase = LLVM::PtrToIntOp::create(t.b, t.loc, t.i32(), base);
  entryEnd = sharedBase.getDefiningOp();

  for (auto [from, to] :
       llvm::zip(program.getArguments(), entry.getArguments()))
    scalars[from] = to;
  if (failed(emitBlock(program.getBody().front())))
    return failure();
  // Shared memory may not go while copies read it.
  if (stagingBytes)
    drainStagedStores();
  LLVM::ReturnOp::create(t.b, t.loc, ValueRange());
  return success();
}

Slots GpuEmitter::slotsOf(Value value) {
  auto found = tiles.find(value);
  if (found != tiles.end())
    return found->second;
  Slots one;
  one.values.push_back(scalars.lookup(value));
  return one;
}

Slots GpuEmitter::expanded(Value value) {
  Slots from = slotsOf(value), to;
  to.rows = rowSlots(value.getType());
  to.columns = columnSlots(value.getType());
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; ++k)
      to.values.push_back(from.at(i, k));
  return to;
}

LogicalResult GpuEmitter::checkFits(Operation *op, RankedTensorType type) {
  if (layout.fitsRows(type.getDimSize(0)) &&
      layout.fitsColumns(type.getDimSize(1)))
    return success();
  return op->emitError("a tile of ")
         << type << " does not fit "
         << program->getAttr(tile::kLayoutAttr) << ": rows must be "
         << (layout.accumulator
                 ? std::to_string(16 * layout.fragments * layout.warps)
                 : "a multiple of " + std::to_string(layout.warps))
         << ", columns a multiple of "
         << (layout.accumulator ? 8 : 32 * layout.vector);
}

Value GpuEmitter::rowBase(RankedTensorType type) {
  return type.getDimSize(0) == 1 ? t.c32(0) : threadRow;
}
Value GpuEmitter::columnBase(RankedTensorType type) {
  return type.getDimSize(1) == 1 ? t.c32(0) : threadColumn;
}

/// The largest power of two up to `limit` that divides `value` for certain.
static int64_t knownFactor(Value value, int64_t limit) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isZero()
               ? limit
               : std::min<int64_t>(limit, int64_t(1) << constant.countr_zero());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && value == loop.getInductionVar())
      return std::min(knownFactor(loop.getLowerBound(), limit),
                      knownFactor(loop.getStep(), limit));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return std::min(limit, knownFactor(op->getOperand(0), limit) *
                               knownFactor(op->getOperand(1), limit));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(knownFactor(op->getOperand(0), limit),
                    knownFactor(op->getOperand(1), limit));
  if (isa<arith::SelectOp>(op))
    return std::min(knownFactor(op->getOperand(1), limit),
                    knownFactor(op->getOperand(2), limit));
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return knownFactor(op->getOperand(0), limit);
  if (isa<arith::ShLIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return std::min<int64_t>(
        limit, knownFactor(op->getOperand(0), limit)
                   << std::min<uint64_t>(constant.getZExtValue(), 16));
  return 1;
}

bool GpuEmitter::isMultiple(Value value, int64_t factor) {
  // Only powers of two are asked for.
  return factor <= 1 || knownFactor(value, factor) % factor == 0;
}

Value GpuEmitter::matrixOffset(const StageLayout &stage, MatrixOrder order) {
  Value &offset = matrixOffsets[{stage.rowBytes(), static_cast<int>(order)}];
  if (offset)
    return offset;
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointAfter(entryEnd);
  Value row, chunk;
  if (order == MatrixOrder::RowsFirst) {
    row = t.bitAnd(lane, 15);
    chunk = t.shiftRight(lane, 4);
  } else {
    row = t.add(t.bitAnd(lane, 7), t.mul(t.shiftRight(lane, 4), 8));
    chunk = t.bitAnd(t.shiftRight(lane, 3), 1);
  }
  offset = stageOffset(stage, row, chunk);
  return offset;
}
