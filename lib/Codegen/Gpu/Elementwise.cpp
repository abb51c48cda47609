//===- Elementwise.cpp - the same operation on every slot -----------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cstdlib>
#include <map>

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

/// Rebuilds `op` on scalars.
static Value rebuild(ThreadCode &t, Operation *op, ValueRange operands,
                     Type type) {
  OperationState state(t.loc, op->getName());
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return t.b.create(state)->getResult(0);
}

/// f32 to 16 bits goes two columns at a time: one instruction converts both,
/// and the pair is already the register that a store or a dot wants.
void GpuEmitter::emitTruncPairs(arith::TruncFOp op, const Slots &from,
                                Slots &to) {
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  Type pairType = VectorType::get({2}, element);
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; k += 2) {
      Value wide = t.pair(from.at(i, k), from.at(i, k + 1));
      Value narrow = arith::TruncFOp::create(t.b, t.loc, pairType, wide);
      for (int64_t p = 0; p < 2; ++p)
        to.values.push_back(LLVM::ExtractElementOp::create(t.b, t.loc, narrow,
                                                           t.c32(p)));
    }
}

/// bf16 to f32: the bits are the upper half, so a pair takes one shift and one
/// `and`. Element by element the upper one would first be brought down.
void GpuEmitter::emitExtPairs(const Slots &from, Slots &to) {
  Value upper = t.c32(int32_t(0xffff0000));
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; k += 2) {
      Value both = t.bitcast(t.pair(from.at(i, k), from.at(i, k + 1)), t.i32());
      Value low = t.b.createOrFold<arith::ShLIOp>(t.loc, both, t.c32(16));
      Value high = t.b.createOrFold<arith::AndIOp>(t.loc, both, upper);
      to.values.push_back(t.bitcast(low, t.f32()));
      to.values.push_back(t.bitcast(high, t.f32()));
    }
}

namespace {
/// An integer as a sum of values times coefficients, and a constant.
struct Sum {
  std::map<void *, int64_t> terms;
  int64_t constant = 0;

  void add(Value value, int64_t sign, int depth = 0) {
    APInt number;
    Operation *op = value.getDefiningOp();
    if (matchPattern(value, m_ConstantInt(&number))) {
      constant += sign * number.getSExtValue();
    } else if (op && depth < 6 && isa<arith::AddIOp, arith::SubIOp>(op)) {
      add(op->getOperand(0), sign, depth + 1);
      add(op->getOperand(1), isa<arith::SubIOp>(op) ? -sign : sign, depth + 1);
    } else {
      void *key = value.getAsOpaquePointer();
      if ((terms[key] += sign) == 0)
        terms.erase(key);
    }
  }
};
} // namespace

/// Integers to f32. Slots of a tile of indices differ by constants, and a
/// conversion takes as long as four additions, so one slot of each kind is
/// converted and the others add their distance to it. That rounds no further
/// than the conversion would: both are exact below 2^24, and above it the
/// distance is smaller than the result by 2^16 at least.
static void emitFloatIndices(ThreadCode &t, const Slots &from, Slots &to) {
  std::map<std::map<void *, int64_t>, std::pair<Value, int64_t>> converted;
  for (Value value : from.values) {
    Sum sum;
    sum.add(value, 1);
    auto [found, fresh] = converted.try_emplace(sum.terms);
    if (fresh)
      found->second = {arith::SIToFPOp::create(t.b, t.loc, t.f32(), value),
                       sum.constant};
    int64_t apart = sum.constant - found->second.second;
    Value base = found->second.first;
    if (std::abs(apart) > 256)
      to.values.push_back(arith::SIToFPOp::create(t.b, t.loc, t.f32(), value));
    else
      to.values.push_back(
          apart ? arith::AddFOp::create(t.b, t.loc, base, t.real(double(apart)))
                      .getResult()
                : base);
  }
}

/// Indices, as emitFloatIndices makes them (one of them plus a distance), times
/// what all slots share: (base + d) y as d y + base y, one instruction. Rounds
/// base y as well, so only where `reassoc` allows it.
static Value multiplyIndex(ThreadCode &t, Value index, Value y) {
  auto sum = index.getDefiningOp<arith::AddFOp>();
  Value base = sum ? sum.getLhs() : index;
  Value product = t.b.createOrFold<arith::MulFOp>(t.loc, base, y);
  if (!sum)
    return product;
  return math::FmaOp::create(t.b, t.loc, sum.getRhs(), y, product);
}

/// x and y, i1. LLVM makes a select of a conjunction two, so it may not see it; the
/// assembler joins it with the comparisons.
static Value bothAtOnce(ThreadCode &t, Value x, Value y) {
  return t.assembly({t.i1()}, {x, y}, "and.pred $0, $1, $2;", "=b,b,b", false)[0];
}

/// x y + z. `nnan` says that y need not be looked at for NaN, so that x = 0 leaves z;
/// LLVM would take it to say the same of z.
static Value fusedMultiplyAdd(ThreadCode &t, math::FmaOp op, ArrayRef<Value> xyz) {
  bool drops = bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::nnan);
  if (drops && matchPattern(xyz[0], m_AnyZeroFloat()))
    return xyz[2];
  return math::FmaOp::create(t.b, t.loc, xyz[0], xyz[1], xyz[2]);
}

LogicalResult GpuEmitter::emitElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      (!OpTrait::hasElementwiseMappableTraits(op) &&
       !isa<arith::SelectOp>(op)))
    return op->emitError("has no lowering to NVIDIA GPUs");
  Value result = op->getResult(0);
  auto tile = dyn_cast<RankedTensorType>(result.getType());
  if (!tile) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    scalars[result] = rebuild(t, op, operands, result.getType());
    return success();
  }
  SmallVector<Slots> from;
  Slots to;
  for (Value operand : op->getOperands()) {
    if (operands.contains(operand))
      return op->emitError("a stage of shared memory can only feed tile.dot");
    from.push_back(slotsOf(operand));
    to.rows = std::max(to.rows, from.back().rows);
    to.columns = std::max(to.columns, from.back().columns);
  }
  // The side of a product that is a tile of indices; 2: neither may be split.
  int64_t indices = 2;
  if (auto product = dyn_cast<arith::MulFOp>(op);
      product && bitEnumContainsAll(product.getFastmath(),
                                    arith::FastMathFlags::reassoc))
    for (int64_t side : {0, 1})
      if (op->getOperand(side).getDefiningOp<arith::SIToFPOp>() &&
          from[1 - side].columns == 1)
        indices = side;
  auto trunc = dyn_cast<arith::TruncFOp>(op);
  if (isa<arith::SIToFPOp>(op) && tile.getElementType().isF32() &&
      from[0].values[0].getType().isInteger(32)) {
    emitFloatIndices(t, from[0], to);
    tiles[result] = to;
    return success();
  }
  auto extension = dyn_cast<arith::ExtFOp>(op);
  if (extension && tile.getElementType().isF32() && to.columns % 2 == 0 &&
      from[0].columns == to.columns && from[0].values[0].getType().isBF16()) {
    emitExtPairs(from[0], to);
  } else if (trunc && tile.getElementType().getIntOrFloatBitWidth() == 16 &&
      to.columns % 2 == 0) {
    emitTruncPairs(trunc, from[0], to);
  } else {
    for (int64_t i = 0; i < to.rows; ++i)
      for (int64_t k = 0; k < to.columns; ++k) {
        SmallVector<Value> scalars;
        for (const Slots &slots : from)
          scalars.push_back(slots.at(i, k));
        if (indices < 2)
          to.values.push_back(
              multiplyIndex(t, scalars[indices], scalars[1 - indices]));
        else if (isa<arith::AndIOp>(op) && tile.getElementType().isInteger(1))
          to.values.push_back(bothAtOnce(t, scalars[0], scalars[1]));
        else if (isa<math::FmaOp>(op))
          to.values.push_back(fusedMultiplyAdd(t, cast<math::FmaOp>(op), scalars));
        else
          to.values.push_back(rebuild(t, op, scalars, tile.getElementType()));
      }
  }
  tiles[result] = to;
  return success();
}

LogicalResult GpuEmitter::emitConstant(arith::ConstantOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getType());
  if (!tile) {
    scalars[op.getResult()] =
        arith::ConstantOp::create(t.b, t.loc, cast<TypedAttr>(op.getValue()));
    return success();
  }
  Slots to;
  auto elements = cast<DenseElementsAttr>(op.getValue());
  if (elements.isSplat()) {
    to.values.push_back(arith::ConstantOp::create(
        t.b, t.loc, cast<TypedAttr>(elements.getSplatValue<Attribute>())));
  } else {
    // A row whose values are the same for all lanes of a quad.
    auto values = elements.getValues<TypedAttr>();
    bool alike = layout.accumulator && tile.getDimSize(0) == 1;
    for (int64_t c = 0; alike && c < tile.getDimSize(1); ++c)
      alike = values[c] == values[c - c % 8 + c % 2];
    if (!alike)
      return op.emitError("a constant tile must be a splat, or a row that repeats two "
                          "values over each 8 columns");
    to.columns = columnSlots(tile);
    for (int64_t k = 0; k < to.columns; ++k)
      to.values.push_back(arith::ConstantOp::create(
          t.b, t.loc, values[layout.columnDelta(k)]));
  }
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitIndex(tile::IndexOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  Type element = tile.getElementType();
  Value base = scalar(op.getBase());
  Slots to;
  to.rows = rowSlots(tile);
  to.columns = columnSlots(tile);
  bool down = tile.getDimSize(0) != 1;
  Value own = down ? rowBase(tile) : columnBase(tile);
  Value first = element.isInteger(32) ? t.add(t.narrow(base), own)
                                      : t.add(base, t.wide(own));
  for (int64_t i = 0; i < to.rows * to.columns; ++i)
    to.values.push_back(
        t.add(first, down ? layout.rowDelta(i) : layout.columnDelta(i)));
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitBand(tile::BandOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  // A lane's own columns are a constant apart, so its limits move instead.
  auto own = [&](Value limits) {
    Slots from = slotsOf(limits);
    for (Value &limit : from.values)
      limit = t.sub(limit, columnBase(tile));
    return from;
  };
  Slots high = own(op.getHigh()), low, to;
  if (op.getLow())
    low = own(op.getLow());
  to.rows = rowSlots(tile);
  to.columns = columnSlots(tile);
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; ++k) {
      Value column = t.c32(layout.columnDelta(k));
      Value inside = t.less(column, high.at(i, 0));
      if (op.getLow()) {
        Value above = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::sge,
                                            column, low.at(i, 0));
        inside = bothAtOnce(t, inside, above);
      }
      to.values.push_back(inside);
    }
  tiles[op.getResult()] = to;
  return success();
}
