//===- Dot.cpp - matmul and row reductions on the CPU ---------------------===//

#include "lib/Codegen/Cpu/CpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// A new buffer of columns x rows. Transposes 16 x 16 at a time in registers.
Value CpuEmitter::transposeBuffer(Value buffer, int64_t rows, int64_t columns) {
  Type f32 = b.getF32Type();
  Value turned = allocate(RankedTensorType::get({columns, rows}, f32));
  int64_t tall = std::gcd(kLanes, rows), wide = std::gcd(kLanes, columns);
  auto in = VectorType::get({wide}, f32);
  loop(rows, tall, [&](Value r) {
    loop(columns, wide, [&](Value c) {
      Value square = zeroOf(VectorType::get({tall, wide}, f32));
      for (int64_t i = 0; i < tall; ++i) {
        Value row = arith::AddIOp::create(b, loc, r, index(i));
        Value line =
            vector::LoadOp::create(b, loc, in, buffer, linear(row, c, columns));
        square = vector::InsertOp::create(b, loc, line, square, i);
      }
      Value flipped =
          vector::TransposeOp::create(b, loc, square, ArrayRef<int64_t>{1, 0});
      for (int64_t j = 0; j < wide; ++j) {
        Value column = arith::AddIOp::create(b, loc, c, index(j));
        Value line = vector::ExtractOp::create(b, loc, flipped, j);
        vector::StoreOp::create(b, loc, line, turned, linear(column, r, rows));
      }
    });
  });
  return turned;
}

Value CpuEmitter::transposedOperand(Value tile) {
  if (Value turned = transposed.lookup(tile))
    return turned;
  auto type = cast<RankedTensorType>(tile.getType());
  Value turned = transposeBuffer(materialize(tile), type.getDimSize(0),
                                 type.getDimSize(1));
  if (tile.getParentBlock() == current)
    transposed[tile] = turned;
  return turned;
}

/// The carried tile that `dot` may overwrite: its result is what the loop
/// yields in that tile's place, and the accumulator, through elementwise
/// operations, is all that reads the old value. Null when there is none.
static BlockArgument carriedAccumulator(tile::DotOp dot) {
  if (!dot->hasOneUse())
    return nullptr;
  OpOperand &use = *dot->use_begin();
  auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
  if (!isa<scf::YieldOp>(use.getOwner()) || !loop || dot->getParentOp() != loop)
    return nullptr;
  BlockArgument carried = loop.getRegionIterArg(use.getOperandNumber());
  for (Value at = carried; at.hasOneUse();) {
    OpOperand &next = *at.use_begin();
    Operation *user = next.getOwner();
    if (user == dot)
      return next.getOperandNumber() == 2 ? carried : nullptr;
    // The same element of the old tile, before the new one is written.
    bool elementwise = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
        user->getDialect());
    if (!elementwise || user->getNumResults() != 1 ||
        user->getBlock() != dot->getBlock())
      return nullptr;
    at = user->getResult(0);
  }
  return nullptr;
}

/// result = accumulator + a x b, f32. Blocks of rows by vectors stay in
/// registers while the summed axis runs.
void CpuEmitter::emitDot(tile::DotOp dot) {
  auto aType = cast<RankedTensorType>(dot.getA().getType());
  auto cType = cast<RankedTensorType>(dot.getType());
  int64_t rows = cType.getDimSize(0), columns = cType.getDimSize(1);
  int64_t depth = aType.getDimSize(1);
  Value a = materialize(dot.getA());
  Value second = dot.getTransposed() ? transposedOperand(dot.getB())
                                     : materialize(dot.getB());
  BlockArgument carried = carriedAccumulator(dot);
  Value result = carried ? buffers.lookup(carried) : allocate(cType);

  int64_t lanes = std::gcd(kLanes, columns);
  int64_t wide = microWide > 1 && columns % (2 * lanes) == 0 ? 2 : 1;
  int64_t tall = std::gcd<int64_t>(microTall, rows);
  auto vector = VectorType::get({lanes}, b.getF32Type());
  loop(rows, tall, [&](Value r) {
    loop(columns, lanes * wide, [&](Value c) {
      SmallVector<Value> rowAt, columnAt, sums;
      for (int64_t i = 0; i < tall; ++i)
        rowAt.push_back(arith::AddIOp::create(b, loc, r, index(i)));
      for (int64_t j = 0; j < wide; ++j)
        columnAt.push_back(arith::AddIOp::create(b, loc, c, index(j * lanes)));
      for (Value row : rowAt)
        for (Value column : columnAt)
          sums.push_back(evaluate(dot.getAccumulator(),
                                  {Place::Tile, row, column, lanes}));
      auto walk = scf::ForOp::create(
          b, loc, index(0), index(depth), index(1), sums,
          [&](OpBuilder &inner, Location loc, Value k, ValueRange carried) {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPointToEnd(inner.getInsertionBlock());
            SmallVector<Value> right, next;
            for (Value column : columnAt)
              right.push_back(vector::LoadOp::create(
                  b, loc, vector, second, linear(k, column, columns)));
            for (auto [i, row] : llvm::enumerate(rowAt)) {
              Value left =
                  memref::LoadOp::create(b, loc, a, linear(row, k, depth));
              Value spread = vector::BroadcastOp::create(b, loc, vector, left);
              for (int64_t j = 0; j < wide; ++j)
                next.push_back(math::FmaOp::create(b, loc, spread, right[j],
                                                   carried[i * wide + j]));
            }
            scf::YieldOp::create(b, loc, next);
          });
      unsigned at = 0;
      for (Value row : rowAt)
        for (Value column : columnAt)
          vector::StoreOp::create(b, loc, walk.getResult(at++), result,
                                  linear(row, column, columns));
    });
  });
  buffers[dot.getResult()] = result;
}

/// The identity of a maximum.
static TypedAttr leastOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerAttr::get(
        element, llvm::APInt::getSignedMinValue(integer.getWidth()));
  return FloatAttr::get(element, -std::numeric_limits<double>::infinity());
}

/// Vector by vector, then across lanes in a fixed order (C10).
void CpuEmitter::emitReduce(tile::ReduceOp reduce) {
  auto from = cast<RankedTensorType>(reduce.getValue().getType());
  int64_t rows = from.getDimSize(0), columns = from.getDimSize(1);
  int64_t width = std::gcd(kLanes, columns);
  bool isMax = reduce.getKind() != tile::ReduceKind::Add;
  Type element = from.getElementType();
  Value buffer = allocate(cast<RankedTensorType>(reduce.getType()));
  buffers[reduce.getResult()] = buffer;
  // One instruction, and NaN is left out: the identity starts no chain with
  // one.
  auto combine = [&](Value x, Value y) -> Value {
    if (!element.isF32())
      return isMax ? arith::MaxSIOp::create(b, loc, x, y).getResult()
                   : arith::AddIOp::create(b, loc, x, y).getResult();
    if (!isMax)
      return arith::AddFOp::create(b, loc, x, y);
    Value more = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, y, x);
    return arith::SelectOp::create(b, loc, more, y, x);
  };
  auto vector = VectorType::get({width}, from.getElementType());
  Value identity = zeroOf(vector);
  if (isMax)
    identity = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(vector, leastOf(element)));
  loop(rows, 1, [&](Value r) {
    auto walk = scf::ForOp::create(
        b, loc, index(0), index(columns), index(width), ValueRange{identity},
        [&](OpBuilder &inner, Location loc, Value c, ValueRange carried) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(inner.getInsertionBlock());
          Value next = evaluate(reduce.getValue(), {Place::Tile, r, c, width});
          scf::YieldOp::create(b, loc, combine(carried[0], next));
        });
    Value sum = walk.getResult(0);
    for (int64_t half = width / 2; half >= 1; half /= 2) {
      Value low = vector::ExtractStridedSliceOp::create(
          b, loc, sum, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
      Value high = vector::ExtractStridedSliceOp::create(
          b, loc, sum, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
      sum = combine(low, high);
    }
    memref::StoreOp::create(
        b, loc, vector::ExtractOp::create(b, loc, sum, int64_t(0)), buffer, r);
  });
}
