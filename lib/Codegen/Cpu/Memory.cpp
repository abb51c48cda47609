//===- Memory.cpp - loads, stores and gathers on the CPU ------------------===//

#include "lib/Codegen/Cpu/CpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// What a vector of `element` is read and written as: i1 takes a byte in
/// memory, and 16-bit floats are moved as bits, which every host can do under a
/// mask.
Type CpuEmitter::memoryType(Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16)
    return b.getI16Type();
  return element;
}

static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value CpuEmitter::fromMemory(Value value, Type element) {
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 zeroOf(value.getType()));
  if (memoryType(element) == element)
    return value;
  return arith::BitcastOp::create(b, loc, withElement(value.getType(), element),
                                  value);
}

Value CpuEmitter::toMemory(Value value, Type element) {
  Type type = withElement(value.getType(), memoryType(element));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, value);
  if (type == value.getType())
    return value;
  return arith::BitcastOp::create(b, loc, type, value);
}

Value CpuEmitter::address(Value base, Value offset, Type element) {
  return LLVM::GEPOp::create(b, loc, base.getType(), memoryType(element), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

CpuEmitter::View CpuEmitter::view(Value value) {
  auto op = value.getDefiningOp<tile::ViewOp>();
  View v;
  v.element = cast<tile::ViewType>(value.getType()).getElement();
  v.base = address(lookUp(op.getBase()), lookUp(op.getOffset()), v.element);
  v.rows = lookUp(op.getRows());
  v.columns = lookUp(op.getColumns());
  v.rowStride = lookUp(op.getRowStride());
  v.columnStride = lookUp(op.getColumnStride());
  v.contiguous = matchPattern(op.getColumnStride(), m_One());
  v.rowsContiguous = matchPattern(op.getRowStride(), m_One());
  return v;
}

/// The lanes of columns column .. + width that lie in [0, columns), where
/// `rowInside` holds. Unsigned, so that a negative column is outside too.
Value CpuEmitter::lanesInside(Value rowInside, Value column, Value columns,
                              int64_t width) {
  auto type = VectorType::get({width}, b.getI64Type());
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < width; ++i)
    steps.push_back(b.getI64IntegerAttr(i));
  Value lanes =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, steps));
  Value numbers = arith::AddIOp::create(
      b, loc, lanes, vector::BroadcastOp::create(b, loc, type, column));
  Value limit = arith::SelectOp::create(b, loc, rowInside, columns, i64(0));
  return arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ult, numbers,
      vector::BroadcastOp::create(b, loc, type, limit));
}

/// All of columns column .. + width are in [0, columns).
Value CpuEmitter::allInside(Value column, Value columns, int64_t width) {
  Value first =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, column, columns);
  if (width == 1)
    return first;
  Value left = arith::SubIOp::create(b, loc, columns, column);
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left,
                                     i64(width));
  return arith::AndIOp::create(b, loc, first, last);
}

static unsigned bytesOf(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

/// The window at (row0, column0) of `v` into `buffer`, zero outside.
void CpuEmitter::readWindow(const View &v, Value row0, Value column0,
                            RankedTensorType type, Value buffer) {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  int64_t width = v.contiguous ? std::gcd(kLanes, columns) : 1;
  Type memory = memoryType(v.element);
  auto vector = VectorType::get({width}, memory);
  unsigned bytes = bytesOf(v.element);
  loop(rows, 1, [&](Value r) {
    Value row = arith::AddIOp::create(b, loc, row0, toI64(r));
    Value rowInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, v.rows);
    Value rowOffset = arith::MulIOp::create(b, loc, row, v.rowStride);
    loop(columns, width, [&](Value c) {
      Value column = arith::AddIOp::create(b, loc, column0, toI64(c));
      Value offset = column;
      if (!v.contiguous)
        offset = arith::MulIOp::create(b, loc, column, v.columnStride);
      offset = arith::AddIOp::create(b, loc, rowOffset, offset);
      Value full = arith::AndIOp::create(b, loc, rowInside,
                                         allInside(column, v.columns, width));
      Value at = address(v.base, offset, v.element);
      Value value = choose(
          full,
          [&]() -> Value {
            if (width > 1)
              return LLVM::LoadOp::create(b, loc, vector, at, bytes);
            Value one = LLVM::LoadOp::create(b, loc, memory, at, bytes);
            return vector::BroadcastOp::create(b, loc, vector, one);
          },
          [&]() -> Value {
            if (width == 1)
              return zeroOf(vector);
            Value lanes = lanesInside(rowInside, column, v.columns, width);
            return LLVM::MaskedLoadOp::create(b, loc, vector, at, lanes,
                                              zeroOf(vector), bytes);
          });
      writeBuffer(fromMemory(value, v.element), buffer, type,
                  {Place::Tile, r, c, width});
    });
  });
}

void CpuEmitter::emitLoad(tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  View v = view(load.getView());
  Value row0 = lookUp(load.getRow()), column0 = lookUp(load.getColumn());
  // Rows that are neighbours in memory are read as columns and turned over.
  if (!v.contiguous && v.rowsContiguous && rows > 1 && columns > 1 &&
      storageType(v.element).isF32()) {
    std::swap(v.rows, v.columns);
    std::swap(v.rowStride, v.columnStride);
    v.contiguous = true;
    auto across = RankedTensorType::get({columns, rows}, v.element);
    Value turned = allocate(across);
    readWindow(v, column0, row0, across, turned);
    transposed[load.getResult()] = turned;
    buffers[load.getResult()] = transposeBuffer(turned, columns, rows);
    return;
  }
  Value buffer = allocate(type);
  readWindow(v, row0, column0, type, buffer);
  buffers[load.getResult()] = buffer;
}

void CpuEmitter::emitStore(tile::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  View v = view(store.getView());
  Value row0 = lookUp(store.getRow()), column0 = lookUp(store.getColumn());
  unsigned bytes = bytesOf(v.element);
  int64_t width = v.contiguous ? std::gcd(kLanes, columns) : 1;
  // Values that do not go out as vectors are held first and read one by one.
  if (width == 1)
    materialize(store.getValue());

  loop(rows, 1, [&](Value r) {
    Value row = arith::AddIOp::create(b, loc, row0, toI64(r));
    Value rowInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, v.rows);
    choose(rowInside, [&]() -> Value {
      Value rowOffset = arith::MulIOp::create(b, loc, row, v.rowStride);
      loop(columns, width, [&](Value c) {
        Value column = arith::AddIOp::create(b, loc, column0, toI64(c));
        Place place{columns == 1 ? Place::Rows : Place::Tile, r, c, width};
        Value value = toMemory(evaluate(store.getValue(), place), v.element);
        Value offset = column;
        if (!v.contiguous)
          offset = arith::MulIOp::create(b, loc, column, v.columnStride);
        offset = arith::AddIOp::create(b, loc, rowOffset, offset);
        Value at = address(v.base, offset, v.element);
        choose(
            allInside(column, v.columns, width),
            [&]() -> Value {
              Value out = value;
              if (width == 1)
                out = vector::ExtractOp::create(b, loc, value, int64_t(0));
              LLVM::StoreOp::create(b, loc, out, at, bytes);
              return nullptr;
            },
            [&]() -> Value {
              if (width > 1)
                LLVM::MaskedStoreOp::create(
                    b, loc, value, at,
                    lanesInside(rowInside, column, v.columns, width), bytes);
              return nullptr;
            });
      });
      return nullptr;
    });
  });
}

/// valid ? base[offset] : 0, one lane after the other: no address of a lane is
/// touched when the tensor is empty.
Value CpuEmitter::emitGather(tile::GatherOp gather, const Place &place) {
  Type element = gather.getBase().getType().getElement();
  Type memory = memoryType(element);
  Value base = lookUp(gather.getBase()), valid = lookUp(gather.getValid());
  auto read = [&](Value offset) -> Value {
    return LLVM::LoadOp::create(b, loc, memory, address(base, offset, element),
                                bytesOf(element));
  };
  if (!isa<RankedTensorType>(gather.getOffset().getType())) {
    Value offset = lookUp(gather.getOffset());
    Value value = choose(
        valid, [&] { return read(offset); }, [&] { return zeroOf(memory); });
    return fromMemory(value, element);
  }
  Value offsets = evaluate(gather.getOffset(), place);
  auto vector = VectorType::get({place.width}, memory);
  Value value = choose(
      valid,
      [&] {
        Value lanes = zeroOf(vector);
        for (int64_t i = 0; i < place.width; ++i)
          lanes = vector::InsertOp::create(
              b, loc, read(vector::ExtractOp::create(b, loc, offsets, i)),
              lanes, i);
        return lanes;
      },
      [&] { return zeroOf(vector); });
  return fromMemory(value, element);
}
