//===- Lazy.cpp - tiles evaluated vector by vector ------------------------===//

#include "lib/Codegen/Cpu/CpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Type CpuEmitter::storageType(Type element) {
  if (isa<FloatType>(element))
    return b.getF32Type();
  return element.isInteger(1) ? b.getI8Type() : element;
}

Value CpuEmitter::allocate(RankedTensorType tile) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  auto type = MemRefType::get({tile.getNumElements()},
                              storageType(tile.getElementType()));
  auto buffer = memref::AllocaOp::create(b, loc, type, b.getI64IntegerAttr(64));
  scratch.push_back(buffer);
  return buffer;
}

/// Scratch beyond what a thread's stack surely has comes from the heap, for the
/// whole call.
void CpuEmitter::moveLargeScratch(Operation *end) {
  constexpr int64_t kStackBytes = 256 << 10;
  int64_t bytes = 0;
  for (memref::AllocaOp buffer : scratch)
    bytes += buffer.getType().getNumElements() *
             buffer.getType().getElementTypeBitWidth() / 8;
  if (bytes <= kStackBytes)
    return;
  for (memref::AllocaOp buffer : scratch) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(buffer);
    Value heap = memref::AllocOp::create(b, loc, buffer.getType(),
                                         buffer.getAlignmentAttr());
    buffer.replaceAllUsesWith(heap);
    buffer.erase();
    b.setInsertionPoint(end);
    memref::DeallocOp::create(b, loc, heap);
  }
}

/// Costs far more than the load of a held value.
static bool isDear(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::TanhOp, math::SqrtOp,
             math::RsqrtOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
             arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, tile::GatherOp>(op);
}

/// Held rather than recomputed: what is dear and used twice, and every row or
/// column value, which is small and would be computed once for each vector.
bool CpuEmitter::mustHold(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<tile::SplatOp, tile::IndexOp, tile::BroadcastOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (type.getDimSize(0) == 1 || type.getDimSize(1) == 1)
    return true;
  if (isa<tile::GatherOp>(op))
    return true;
  if (llvm::hasSingleElement(op->getUses()))
    return false;
  // A chain of cheap operations is evaluated again; one with a function is not.
  SmallVector<Operation *> stack{op};
  int64_t work = 0;
  while (!stack.empty()) {
    Operation *at = stack.pop_back_val();
    if (buffers.count(at->getResult(0)))
      continue;
    if (isDear(at) || ++work > 16)
      return true;
    for (Value operand : at->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && operand.getDefiningOp() &&
          operand.getDefiningOp()->getNumResults() == 1)
        stack.push_back(operand.getDefiningOp());
  }
  return false;
}

Value CpuEmitter::materialize(Value tile) {
  if (Value held = buffers.lookup(tile))
    return held;
  Value buffer = allocate(cast<RankedTensorType>(tile.getType()));
  evaluateInto(tile, buffer);
  // What a loop computes for itself does not exist after it: the loop may not
  // have run.
  if (tile.getParentBlock() == current)
    buffers[tile] = buffer;
  return buffer;
}

void CpuEmitter::evaluateInto(Value tile, Value buffer) {
  auto type = cast<RankedTensorType>(tile.getType());
  forEachVector(type, [&](const Place &place) {
    writeBuffer(evaluate(tile, place), buffer, type, place);
  });
}

void CpuEmitter::forEachVector(RankedTensorType tile,
                               const std::function<void(const Place &)> &body) {
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
  if (columns == 1) {
    int64_t width = std::gcd(kLanes, rows);
    loop(rows, width, [&](Value row) {
      body({Place::Rows, row, index(0), width});
    });
    return;
  }
  int64_t width = std::gcd(kLanes, columns);
  if (rows == 1) {
    loop(columns, width, [&](Value column) {
      body({Place::Columns, index(0), column, width});
    });
    return;
  }
  loop(rows, 1, [&](Value row) {
    loop(columns, width, [&](Value column) {
      body({Place::Tile, row, column, width});
    });
  });
}

/// The buffer's elements at `place`, as a vector of the storage type unless
/// `element` asks for the tile's own.
Value CpuEmitter::readBuffer(Value tile, Value buffer, const Place &place,
                             Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  Type storage = storageType(type.getElementType());
  auto vector = VectorType::get({place.width}, storage);
  bool alongRows = place.kind == Place::Rows;
  bool single = alongRows ? rows == 1 : columns == 1;
  Value at = linear(rows == 1 ? index(0) : place.row,
                    columns == 1 ? index(0) : place.column, columns);
  Value result;
  if (single)
    result = vector::BroadcastOp::create(
        b, loc, vector, memref::LoadOp::create(b, loc, buffer, at));
  else
    result = vector::LoadOp::create(b, loc, vector, buffer, at);
  if (element == storage)
    return result;
  auto wanted = VectorType::get({place.width}, element);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, result,
                                 zeroOf(vector));
  return arith::TruncFOp::create(b, loc, wanted, result);
}

void CpuEmitter::writeBuffer(Value vector, Value buffer, RankedTensorType tile,
                             const Place &place) {
  Type element = cast<VectorType>(vector.getType()).getElementType();
  auto stored = VectorType::get({place.width}, storageType(element));
  if (element.isInteger(1))
    vector = arith::ExtUIOp::create(b, loc, stored, vector);
  else if (stored != vector.getType())
    vector = arith::ExtFOp::create(b, loc, stored, vector);
  vector::StoreOp::create(b, loc, vector, buffer,
                          linear(place.row, place.column, tile.getDimSize(1)));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Value CpuEmitter::evaluate(Value tile, const Place &place) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type) // A scalar operand of a tile operation, such as select's
             // condition.
    return vector::BroadcastOp::create(
        b, loc, VectorType::get({place.width}, tile.getType()), lookUp(tile));
  Type element = type.getElementType();
  auto vector = VectorType::get({place.width}, element);
  if (Value buffer = buffers.lookup(tile))
    return readBuffer(tile, buffer, place, element);
  Operation *op = tile.getDefiningOp();
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return vector::BroadcastOp::create(b, loc, vector,
                                       lookUp(splat.getValue()));
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return evaluate(broadcast.getValue(), place);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(vector, elements.getSplatValue<Attribute>()));
  }
  if (auto numbers = dyn_cast<tile::IndexOp>(op)) {
    bool rowNumbers = type.getDimSize(1) == 1 && type.getDimSize(0) != 1;
    Value base =
        arith::AddIOp::create(b, loc, lookUp(numbers.getBase()),
                              toI64(rowNumbers                ? place.row
                                    : type.getDimSize(1) == 1 ? index(0)
                                                              : place.column));
    if (!element.isInteger(64))
      base = arith::TruncIOp::create(b, loc, element, base);
    Value first = vector::BroadcastOp::create(b, loc, vector, base);
    bool along =
        rowNumbers == (place.kind == Place::Rows) && type.getNumElements() != 1;
    if (!along)
      return first;
    SmallVector<Attribute> steps;
    for (int64_t i = 0; i < place.width; ++i)
      steps.push_back(b.getIntegerAttr(element, i));
    Value iota = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vector, steps));
    return arith::AddIOp::create(b, loc, first, iota);
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return emitGather(gather, place);
  // A narrow float that is widened at once is held as f32 already.
  if (isa<arith::ExtFOp>(op) && element.isF32())
    if (Value buffer = buffers.lookup(op->getOperand(0)))
      return readBuffer(op->getOperand(0), buffer, place, element);
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(evaluate(operand, place));
  state.addTypes(vector);
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}
