//===- Exponential.cpp - tile.exp2 ----------------------------------------===//
//
// Exponentials are shared out between the special-function unit and the
// multipliers pair by pair, since two neighbours become one register of 16-bit
// probabilities. The pairs of one kind are spread over a thread's rows and columns.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/Exp2Polynomial.h"
#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

namespace {
/// Writes Exp2Polynomial's operations.
struct WriteArithmetic {
  ThreadCode &t;

  Value real(float value) { return t.real(value); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(t.b, t.loc, x, y, z);
  }
  Value max(Value x, Value y) {
    return arith::MaximumFOp::create(t.b, t.loc, x, y);
  }
  Value min(Value x, Value y) {
    return arith::MinimumFOp::create(t.b, t.loc, x, y);
  }
  Value bits(Value x) { return arith::BitcastOp::create(t.b, t.loc, t.i32(), x); }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(t.b, t.loc, t.f32(), x);
  }
  Value maskBits(Value x, uint32_t mask) {
    return fromBits(t.bitAnd(bits(x), static_cast<int32_t>(mask)));
  }
  Value addBits(Value x, Value y, int64_t shift) {
    Value shifted =
        arith::ShLIOp::create(t.b, t.loc, bits(y), t.c32(shift)).getResult();
    return fromBits(t.add(bits(x), shifted));
  }
};
} // namespace

/// x plus the polynomial's offset, for each element of x. Where x = a b + c and c
/// belongs to a row, the offset goes with c and costs nothing.
class GpuEmitter::OffsetSum {
public:
  OffsetSum(GpuEmitter &emitter, Value x) : t(emitter.t), x(emitter.expanded(x)) {
    if (auto fused = x.getDefiningOp<math::FmaOp>()) {
      a = emitter.slotsOf(fused.getA());
      b = emitter.slotsOf(fused.getB());
      Slots c = emitter.slotsOf(fused.getC());
      if (c.columns == 1)
        for (Value value : c.values)
          rows.push_back(add(value));
    }
  }
  Value at(int64_t i, int64_t k) {
    if (rows.empty())
      return add(x.at(i, k));
    return math::FmaOp::create(t.b, t.loc, a.at(i, k), b.at(i, k),
                               rows[rows.size() == 1 ? 0 : i]);
  }

private:
  Value add(Value value) {
    return arith::AddFOp::create(t.b, t.loc, value, t.real(Exp2Polynomial::kOffset));
  }
  ThreadCode &t;
  Slots x, a, b;
  SmallVector<Value> rows;
};

LogicalResult GpuEmitter::emitExp2(tile::Exp2Op op) {
  Slots from = expanded(op.getValue()), to;
  to.rows = from.rows;
  to.columns = from.columns;
  WriteArithmetic code{t};
  OffsetSum sums(*this, op.getValue());
  int64_t share = op.getPolynomial();
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; ++k) {
      if ((k / 2 + i) * share % 8 < share) {
        to.values.push_back(
            Exp2Polynomial::from(code, sums.at(i, k), op.getUnbounded()));
      } else {
        to.values.push_back(math::Exp2Op::create(t.b, t.loc, from.at(i, k)));
      }
    }
  tiles[op.getResult()] = to;
  return success();
}
