//===- Exponential.cpp - tile.exp2 and its packed form --------------------===//
//
// Exponentials are shared out between the special-function unit and the
// multipliers pair by pair, since two neighbours become one register of 16-bit
// probabilities. The pairs of one kind are spread over a thread's rows and columns.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/Exp2Packed.h"
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

/// Writes Exp2Packed's operations. Those that LLVM has no name for are the
/// instructions' own.
struct WritePacked {
  ThreadCode &t;

  Value bits(uint32_t value) { return t.c32(static_cast<int32_t>(value)); }
  Value bitsOf(Value x) { return t.bitcast(x, t.i32()); }
  Value maxInt(Value x, Value y) { return t.max(x, y); }
  Value add(Value x, Value y) { return t.add(x, y); }
  Value addAndCut(Value x, Value y, Value most) {
    return one({x, y, most}, "{\n\t.reg .s32 sum;\n\tadd.s32 sum, $1, $2;\n\t"
                             "min.relu.s32 $0, sum, $3;\n\t}");
  }
  Value join(Value low, Value high) {
    return one({low, high, bits(0x5410)}, "prmt.b32 $0, $1, $2, $3;");
  }
  Value maskOr(Value x, Value y, Value z) {
    return one({x, y, z}, "lop3.b32 $0, $1, $2, $3, 0xEA;");
  }
  Value fmaPair(Value x, Value y, Value z) {
    return one({x, y, z}, "fma.rn.bf16x2 $0, $1, $2, $3;", false);
  }

private:
  /// `immediate`: the instruction takes constants as they are.
  Value one(ValueRange operands, const std::string &text, bool immediate = true) {
    std::string constraints = "=r";
    for (Value operand : operands) {
      bool constant = immediate && operand.getDefiningOp<arith::ConstantOp>();
      constraints += constant ? ",n" : ",r";
    }
    return t.assembly({t.i32()}, operands, text, constraints, false)[0];
  }
};
} // namespace

/// x plus a polynomial's offset, for each element of x. Where x = a b + c and c
/// belongs to a row, the offset goes with c and costs nothing.
class GpuEmitter::OffsetSum {
public:
  OffsetSum(GpuEmitter &emitter, Value x, float offset)
      : t(emitter.t), offset(offset), x(emitter.expanded(x)) {
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
    return arith::AddFOp::create(t.b, t.loc, value, t.real(offset));
  }
  ThreadCode &t;
  float offset;
  Slots x, a, b;
  SmallVector<Value> rows;
};

/// Whether the pair that slot (i, k) is in goes without the special-function unit.
static bool isSpared(int64_t i, int64_t k, int64_t share) {
  return (k / 2 + i) * share % 8 < share;
}

LogicalResult GpuEmitter::emitExp2(tile::Exp2Op op) {
  Slots from = expanded(op.getValue()), to;
  to.rows = from.rows;
  to.columns = from.columns;
  WriteArithmetic code{t};
  OffsetSum sums(*this, op.getValue(), Exp2Polynomial::kOffset);
  int64_t share = op.getPolynomial();
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; ++k) {
      if (isSpared(i, k, share)) {
        to.values.push_back(
            Exp2Polynomial::from(code, sums.at(i, k), op.getUnbounded()));
      } else {
        to.values.push_back(math::Exp2Op::create(t.b, t.loc, from.at(i, k)));
      }
    }
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitExp2Packed(tile::Exp2PackedOp op) {
  if (!layout.accumulator)
    return op.emitOpError("needs #tile.accumulator");
  Slots from = expanded(op.getValue()), exact, power, bend;
  for (Slots *to : {&exact, &power, &bend}) {
    to->rows = from.rows;
    to->columns = from.columns;
  }
  WritePacked code{t};
  OffsetSum sums(*this, op.getValue(), Exp2Packed::kOffset);
  Type pair = VectorType::get({2}, t.b.getBF16Type());
  // What is of no meaning is undefined, and takes no register.
  Value noFloat = LLVM::UndefOp::create(t.b, t.loc, t.f32());
  Value noHalf = LLVM::UndefOp::create(t.b, t.loc, t.b.getBF16Type());
  auto push = [&](Slots &to, Value both) {
    both = t.bitcast(both, pair);
    for (int64_t half = 0; half < 2; ++half)
      to.values.push_back(
          LLVM::ExtractElementOp::create(t.b, t.loc, both, t.c32(half)));
  };
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t k = 0; k < from.columns; k += 2) {
      if (isSpared(i, k, op.getShare())) {
        auto halves = Exp2Packed::from(code, sums.at(i, k), sums.at(i, k + 1),
                                       op.getChecked());
        push(power, halves.power);
        push(bend, halves.bend);
        exact.values.append(2, noFloat);
        continue;
      }
      for (int64_t half = 0; half < 2; ++half)
        exact.values.push_back(
            math::Exp2Op::create(t.b, t.loc, from.at(i, k + half)));
      power.values.append(2, noHalf);
      bend.values.append(2, noHalf);
    }
  tiles[op.getExact()] = exact;
  tiles[op.getPower()] = power;
  tiles[op.getBend()] = bend;
  return success();
}

LogicalResult GpuEmitter::emitRoundPacked(tile::RoundPackedOp op) {
  Slots exact = expanded(op.getExact()), power = expanded(op.getPower()),
        bend = expanded(op.getBend()), to;
  to.rows = exact.rows;
  to.columns = exact.columns;
  WritePacked code{t};
  Type pair = VectorType::get({2}, t.b.getBF16Type());
  auto bits = [&](const Slots &from, int64_t i, int64_t k) {
    return t.bitcast(t.pair(from.at(i, k), from.at(i, k + 1)), t.i32());
  };
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; k += 2) {
      Value both;
      if (isSpared(i, k, op.getShare()))
        both = t.bitcast(Exp2Packed::together(code, bits(power, i, k), bits(bend, i, k)),
                         pair);
      else
        both = arith::TruncFOp::create(t.b, t.loc, pair,
                                       t.pair(exact.at(i, k), exact.at(i, k + 1)));
      for (int64_t half = 0; half < 2; ++half)
        to.values.push_back(
            LLVM::ExtractElementOp::create(t.b, t.loc, both, t.c32(half)));
    }
  tiles[op.getResult()] = to;
  return success();
}
