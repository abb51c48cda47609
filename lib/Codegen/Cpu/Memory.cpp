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

/// i1 takes a byte in memory.
Type CpuEmitter::memoryType(Type element) {
  return element.isInteger(1) ? b.getI8Type() : element;
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
  return v;
}

/// Vector of `stored` elements with lanes at and beyond `count` off.
static Value laneMask(OpBuilder &b, Location loc, int64_t width, Value count) {
  auto type = VectorType::get({width}, b.getI64Type());
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < width; ++i)
    steps.push_back(b.getI64IntegerAttr(i));
  Value lanes = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, steps));
  Value limit = vector::BroadcastOp::create(b, loc, type, count);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, limit);
}

void CpuEmitter::emitLoad(tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  View v = view(load.getView());
  Value row0 = lookUp(load.getRow()), column0 = lookUp(load.getColumn());
  Value buffer = allocate(type);
  buffers[load.getResult()] = buffer;
  Type memory = memoryType(v.element);
  bool vectors = v.contiguous && columns > 1;
  int64_t width = vectors ? std::gcd(kLanes, columns) : 1;
  auto vector = VectorType::get({width}, memory);
  unsigned bytes = std::max(1u, v.element.getIntOrFloatBitWidth() / 8);

  loop(rows, 1, [&](Value r) {
    Value row = arith::AddIOp::create(b, loc, row0, toI64(r));
    Value rowInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, v.rows);
    Value rowOffset = arith::MulIOp::create(b, loc, row, v.rowStride);
    loop(columns, width, [&](Value c) {
      Value column = arith::AddIOp::create(b, loc, column0, toI64(c));
      Value left = arith::SubIOp::create(b, loc, v.columns, column);
      left = arith::SelectOp::create(b, loc, rowInside, left, i64(0));
      Value offset = arith::AddIOp::create(
          b, loc, rowOffset,
          v.contiguous ? column
                       : arith::MulIOp::create(b, loc, column, v.columnStride)
                             .getResult());
      Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left,
                                         i64(width));
      auto choice = scf::IfOp::create(
          b, loc, full,
          [&](OpBuilder &inner, Location loc) {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPointToEnd(inner.getInsertionBlock());
            Value at = address(v.base, offset, v.element);
            Value loaded =
                LLVM::LoadOp::create(b, loc, width == 1 ? memory : Type(vector),
                                     at, bytes);
            if (width == 1)
              loaded = vector::BroadcastOp::create(b, loc, vector, loaded);
            scf::YieldOp::create(b, loc, loaded);
          },
          [&](OpBuilder &inner, Location loc) {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPointToEnd(inner.getInsertionBlock());
            Value loaded = zeroOf(vector);
            if (width > 1) {
              Value at = address(v.base, offset, v.element);
              loaded = LLVM::MaskedLoadOp::create(
                  b, loc, vector, at, laneMask(b, loc, width, left), loaded,
                  bytes);
            }
            scf::YieldOp::create(b, loc, loaded);
          });
      Value value = choice.getResult(0);
      if (v.element.isInteger(1))
        value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                      zeroOf(vector));
      writeBuffer(value, buffer, type, {Place::Tile, r, c, width});
    });
  });
}

void CpuEmitter::emitStore(tile::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  View v = view(store.getView());
  Value row0 = lookUp(store.getRow()), column0 = lookUp(store.getColumn());
  Type memory = memoryType(v.element);
  unsigned bytes = std::max(1u, v.element.getIntOrFloatBitWidth() / 8);
  bool vectors = v.contiguous && columns > 1;
  int64_t width = vectors ? std::gcd(kLanes, columns) : 1;
  // Values that do not go out as vectors are held first and read one by one.
  if (!vectors && !buffers.count(store.getValue()))
    buffers[store.getValue()] = materialize(store.getValue());

  loop(rows, 1, [&](Value r) {
    Value row = arith::AddIOp::create(b, loc, row0, toI64(r));
    Value rowInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, v.rows);
    scf::IfOp::create(b, loc, rowInside, [&](OpBuilder &inner, Location loc) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(inner.getInsertionBlock());
      Value rowOffset = arith::MulIOp::create(b, loc, row, v.rowStride);
      loop(columns, width, [&](Value c) {
        Value column = arith::AddIOp::create(b, loc, column0, toI64(c));
        Value left = arith::SubIOp::create(b, loc, v.columns, column);
        Place place{columns == 1 ? Place::Rows : Place::Tile, r, c, width};
        Value value = evaluate(store.getValue(), place);
        if (v.element.isInteger(1))
          value = arith::ExtUIOp::create(b, loc, VectorType::get({width}, memory),
                                         value);
        Value offset = arith::AddIOp::create(
            b, loc, rowOffset,
            v.contiguous ? column
                         : arith::MulIOp::create(b, loc, column, v.columnStride)
                               .getResult());
        Value at = address(v.base, offset, v.element);
        Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                           left, i64(width));
        scf::IfOp::create(
            b, loc, full,
            [&](OpBuilder &inner, Location loc) {
              Value out = value;
              if (width == 1)
                out = vector::ExtractOp::create(inner, loc, value, int64_t(0));
              LLVM::StoreOp::create(inner, loc, out, at, bytes);
              scf::YieldOp::create(inner, loc);
            },
            [&](OpBuilder &inner, Location loc) {
              if (width > 1) {
                OpBuilder::InsertionGuard guard(b);
                b.setInsertionPointToEnd(inner.getInsertionBlock());
                LLVM::MaskedStoreOp::create(
                    b, loc, value, at, laneMask(b, loc, width, left), bytes);
              }
              scf::YieldOp::create(inner, loc);
            });
      });
      scf::YieldOp::create(b, loc);
    });
  });
}

/// valid ? base[offset] : 0, one lane after the other: no address of a lane is
/// touched when the tensor is empty.
Value CpuEmitter::emitGather(tile::GatherOp gather, const Place &place) {
  Type element = gather.getBase().getType().getElement();
  Type memory = memoryType(element);
  Value base = lookUp(gather.getBase()), valid = lookUp(gather.getValid());
  bool scalar = !isa<RankedTensorType>(gather.getOffset().getType());
  Value offsets = scalar ? lookUp(gather.getOffset())
                         : evaluate(gather.getOffset(), place);
  auto read = [&](Value offset) {
    auto choice = scf::IfOp::create(
        b, loc, valid,
        [&](OpBuilder &inner, Location loc) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(
              b, loc,
              LLVM::LoadOp::create(b, loc, memory, address(base, offset, element))
                  .getResult());
        },
        [&](OpBuilder &inner, Location loc) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(b, loc, zeroOf(memory));
        });
    Value value = choice.getResult(0);
    if (element.isInteger(1))
      value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                    zeroOf(memory));
    return value;
  };
  if (scalar)
    return read(offsets);
  Value result = zeroOf(VectorType::get({place.width}, element));
  for (int64_t i = 0; i < place.width; ++i)
    result = vector::InsertOp::create(
        b, loc, read(vector::ExtractOp::create(b, loc, offsets, i)), result, i);
  return result;
}
