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
  if (trunc && tile.getElementType().getIntOrFloatBitWidth() == 16 &&
      to.columns % 2 == 0) {
    emitTruncPairs(trunc, from[0], to);
  } else {
    for (int64_t i = 0; i < to.rows; ++i)
      for (int64_t k = 0; k < to.columns; ++k) {
        SmallVector<Value> scalars;
        for (const Slots &slots : from)
          scalars.push_back(slots.at(i, k));
        to.values.push_back(
            indices < 2 ? multiplyIndex(t, scalars[indices], scalars[1 - indices])
                        : rebuild(t, op, scalars, tile.getElementType()));
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
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return op.emitError("a constant tile must be a splat");
  Slots one;
  one.values.push_back(arith::ConstantOp::create(
      t.b, t.loc, cast<TypedAttr>(splat.getSplatValue<Attribute>())));
  tiles[op.getResult()] = one;
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
