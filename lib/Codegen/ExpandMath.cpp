//===- ExpandMath.cpp - functions of f32 as arithmetic --------------------===//
//
// Ours, because a library call per element is slow on the CPU and does not
// exist on the GPU, and because attention needs exact behaviour at the edges:
// 2^-inf is 0, log 0 is -inf, NaN stays NaN.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

namespace attn {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "lib/Codegen/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Arithmetic on f32 scalars or vectors of one type.
struct Expander {
  OpBuilder b;
  Location loc;
  Type type;
  bool gpu;

  Type integerType() {
    Type i32 = b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      return VectorType::get(vector.getShape(), i32);
    return i32;
  }
  Value real(double v) {
    Attribute scalar = b.getF32FloatAttr(static_cast<float>(v));
    if (auto vector = dyn_cast<VectorType>(type))
      scalar = DenseElementsAttr::get(vector, scalar);
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(scalar));
  }
  Value integer(int64_t v) {
    Attribute scalar = b.getI32IntegerAttr(static_cast<int32_t>(v));
    if (auto vector = dyn_cast<VectorType>(integerType()))
      scalar = DenseElementsAttr::get(vector, scalar);
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(scalar));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  /// On a GPU the short form, within 2 units in the last place on all inputs:
  /// the exact one branches, for every element.
  Value div(Value x, Value y) {
    if (gpu)
      return intrinsic("llvm.nvvm.div.full", {x, y});
    return arith::DivFOp::create(b, loc, x, y);
  }
  /// Right to the last place, and exact where the quotient is a number of the
  /// format. One Newton step after the short form: what is left of x is exact
  /// in an fma. Where it is not a number (x or y infinite, y zero, the quotient
  /// too large) the short form has the answer.
  Value divRounded(Value x, Value y) {
    Value q = div(x, y);
    if (!gpu)
      return q;
    Value left = fma(arith::NegFOp::create(b, loc, q), y, x);
    APFloat divisor(0.0f);
    bool known = matchPattern(y, m_ConstantFloat(&divisor)) &&
                 divisor.isFiniteNonZero();
    Value more = known ? mul(left, real(1.0 / divisor.convertToDouble()))
                       : div(left, y);
    Value z = add(q, more);
    return select(isNan(z), q, z);
  }
  Value intrinsic(StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                         operands)
        .getResult(0);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value min(Value x, Value y) { return arith::MinNumFOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxNumFOp::create(b, loc, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }
  Value isNan(Value x) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(b, loc, integerType(), x);
  }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, loc, type, x); }

  /// Coefficients, highest power first (Horner).
  Value polynomial(Value x, std::initializer_list<double> coefficients) {
    Value sum;
    for (double c : coefficients)
      sum = sum ? fma(sum, x, real(c)) : real(c);
    return sum;
  }

  /// x cut to [low, high], NaN kept. One instruction a side.
  Value clamp(Value x, double low, double high) {
    x = select(less(real(high), x), real(high), x);
    return select(less(x, real(low)), real(low), x);
  }

  /// The nearest integer to |x| < 2^22, ties to even: adding 1.5 * 2^23 leaves
  /// it in the low bits of the sum. No conversion, which is undefined for NaN.
  struct Nearest {
    Value real, sum;
  };
  Nearest nearest(Value x) {
    Value sum = add(x, real(12582912.0));
    return {sub(sum, real(12582912.0)), sum};
  }
  /// p 2^n by adding n to the exponent of p: right when the result is normal
  /// or, for p = 1 and n = 128, infinity.
  Value timesPowerOfTwo(Value p, Nearest n) {
    Value exponent = arith::ShLIOp::create(b, loc, bits(n.sum), integer(23));
    return fromBits(arith::AddIOp::create(b, loc, bits(p), exponent));
  }

  /// NaN where x is NaN, else y: clamping loses it.
  Value keepNan(Value x, Value y) { return select(isNan(x), x, y); }

  Value exp2(Value x) {
    if (gpu)
      return LLVM::CallIntrinsicOp::create(
                 b, loc, type, b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
                 ValueRange{x})
          .getResult(0);
    Value clamped = clamp(x, -127.0, 128.0);
    Nearest n = nearest(clamped);
    Value f = sub(clamped, n.real);
    // 2^f = 1 + f q(f), q interpolated at Chebyshev points of |f| <= 1/2: off
    // by 1e-8 at most, and 2^0 is exactly 1.
    Value q = polynomial(f, {0.00015453163, 0.0013390863, 0.0096180826,
                             0.055503571, 0.24022651, 0.69314719});
    Value y = timesPowerOfTwo(fma(q, f, real(1)), n);
    y = select(less(x, real(-126)), real(0), y);
    return keepNan(x, y);
  }

  Value exp(Value x) {
    const double log2e = 1.4426950408889634;
    if (gpu) {
      // 2^(t + e) with t the rounded product and e what rounding lost.
      Value t = mul(x, real(log2e));
      Value e = fma(x, real(log2e), arith::NegFOp::create(b, loc, t));
      Value y = exp2(t);
      Value corrected = fma(mul(y, e), real(M_LN2), y);
      // At infinities and after overflow the correction is meaningless.
      Value finite = less(math::AbsFOp::create(b, loc, x), real(88.0));
      return select(finite, corrected, y);
    }
    Value clamped = clamp(x, -88.0, 89.0);
    Nearest n = nearest(mul(clamped, real(log2e)));
    // ln 2 in two parts (Cody and Waite): n times the first is exact.
    const float high = 0.693145751953125f;
    Value r = fma(n.real, real(-high), clamped);
    r = fma(n.real, real(-(M_LN2 - high)), r);
    Value p = polynomial(r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                             1.0 / 6, 0.5, 1.0, 1.0});
    Value y = timesPowerOfTwo(p, n);
    // Below: no normal number. Above: the largest x with a finite result.
    y = select(less(x, real(-87.3365447504)), real(0), y);
    y = select(less(real(88.7228317261), x),
               real(std::numeric_limits<double>::infinity()), y);
    return keepNan(x, y);
  }

  Value log(Value x) {
    // Denormals are scaled up so that the exponent field means something.
    Value tiny = less(x, real(1.1754943508222875e-38));
    Value scaled = select(tiny, mul(x, real(8388608.0)), x);
    Value i = bits(scaled);
    // m in [1/sqrt 2, sqrt 2): subtract the bits of 1/sqrt 2, keep the
    // exponent.
    Value shifted = arith::SubIOp::create(b, loc, i, integer(0x3f3504f3));
    Value e = arith::ShRSIOp::create(b, loc, shifted, integer(23));
    Value m = fromBits(arith::SubIOp::create(
        b, loc, i, arith::ShLIOp::create(b, loc, e, integer(23))));
    Value exponent = arith::SIToFPOp::create(b, loc, type, e);
    exponent = sub(exponent, select(tiny, real(23), real(0)));
    // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172.
    // Divided exactly: a logarithm is often one number for a whole tile, and its
    // error then does not average out.
    Value s = arith::DivFOp::create(b, loc, sub(m, real(1)), add(m, real(1)));
    Value q = mul(s, s);
    Value series =
        polynomial(q, {2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
    Value tail = mul(mul(series, q), s);
    const float high = 0.693145751953125f;
    Value low = fma(exponent, real(M_LN2 - high), tail);
    Value y = fma(exponent, real(high), add(add(s, s), low));
    double inf = std::numeric_limits<double>::infinity();
    y = select(equal(x, real(0)), real(-inf), y);
    y = select(less(x, real(0)), real(std::nan("")), y);
    y = select(equal(x, real(inf)), x, y);
    return keepNan(x, y);
  }

  Value tanh(Value x) {
    Value a = math::AbsFOp::create(b, loc, x);
    // (1 - e) / (1 + e) cancels near 0; a series serves there.
    Value e = exp(mul(a, real(-2)));
    Value large = div(sub(real(1), e), add(real(1), e));
    Value q = mul(x, x);
    Value series =
        polynomial(q, {21844.0 / 6081075, -1382.0 / 155925, 62.0 / 2835,
                       -17.0 / 315, 2.0 / 15, -1.0 / 3});
    Value small = fma(mul(series, q), x, x);
    Value signedLarge = math::CopySignOp::create(b, loc, large, x);
    return keepNan(x, select(less(a, real(0.4)), small, signedLarge));
  }

  /// One instruction, off by 2^-11 of the result at most. Only where somebody
  /// allowed it.
  Value tanhInstruction(Value x) {
    return LLVM::InlineAsmOp::create(
               b, loc, type, ValueRange{x}, "tanh.approx.f32 $0, $1;", "=f,f",
               /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
               ArrayAttr())
        .getRes();
  }

  Value rsqrt(Value x) { return div(real(1), math::SqrtOp::create(b, loc, x)); }
};

/// fastmath<afn>: an approximate function is good enough.
static bool approximate(math::TanhOp op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

/// Whether a step can see this value through arithmetic that keeps differences
/// in the last place: a floor, an explicit rounding to fewer bits, or a
/// comparison. There one unit in the last place may become a whole step.
static bool reachesStep(Value value) {
  SmallVector<Value> open = {value};
  DenseSet<Value> seen;
  while (!open.empty()) {
    Value v = open.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    for (Operation *user : v.getUsers()) {
      if (isa<math::FloorOp, arith::CmpFOp>(user))
        return true;
      if (isa<arith::TruncFOp>(user) &&
          llvm::any_of(user->getUsers(),
                       [](Operation *next) { return isa<arith::ExtFOp>(next); }))
        return true;
      if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
              math::AbsFOp, math::FmaOp, arith::SelectOp>(user))
        open.push_back(user->getResult(0));
    }
  }
  return false;
}

/// Scalars and vectors: a tile that no pass has lowered is left as it is.
static bool isExpandable(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return type.isF32() ||
         (vector && !vector.isScalable() && vector.getElementType().isF32());
}

struct ExpandMath : attn::impl::ExpandMathPassBase<ExpandMath> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> calls;
    DenseSet<Operation *> beforeSteps; // Found before anything is rewritten.
    getOperation()->walk([&](Operation *op) {
      if ((isa<math::ExpOp, math::Exp2Op, math::LogOp, math::TanhOp,
               math::RsqrtOp>(op) ||
           (gpu && isa<arith::DivFOp>(op))) &&
          isExpandable(op->getResult(0).getType()))
        calls.push_back(op);
      if (isa<arith::DivFOp>(op) && reachesStep(op->getResult(0)))
        beforeSteps.insert(op);
    });
    for (Operation *op : calls) {
      Expander e{OpBuilder(op), op->getLoc(), op->getResult(0).getType(), gpu};
      Value x = op->getOperand(0);
      Value y = beforeSteps.contains(op) ? e.divRounded(x, op->getOperand(1))
                : isa<arith::DivFOp>(op)  ? e.div(x, op->getOperand(1))
                : isa<math::ExpOp>(op)  ? e.exp(x)
                : isa<math::Exp2Op>(op) ? e.exp2(x)
                : isa<math::LogOp>(op)  ? e.log(x)
                : isa<math::TanhOp>(op)
                    ? (gpu && approximate(cast<math::TanhOp>(op)) ? e.tanhInstruction(x)
                                                                  : e.tanh(x))
                                        : e.rsqrt(x);
      op->getResult(0).replaceAllUsesWith(y);
      op->erase();
    }
  }
};
} // namespace
