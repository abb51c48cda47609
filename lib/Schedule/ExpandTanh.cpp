//===- ExpandTanh.cpp - tanh of small arguments by multiplications --------===//
//
// The tanh instruction takes the special-function unit as long as an exponential
// does, and that unit is what head dimension 64 waits for. Up to 0.75, where the
// scores under a soft cap nearly always are,
//
//   tanh x = x (c0 + c1 x^2 + c2 x^4)   within 2.2e-4 of itself
//
// (least largest relative error of this form, by Remez' exchange), less than half of
// the instruction's 2^-11. A warp whose scores of a block are all that small takes
// the polynomial, any other the instruction. Multipliers are not idle beside wgmma,
// so every operation counts: constant factors of the argument and of the result go
// into the coefficients, and the exponent's fused multiply-add is the polynomial's
// last step.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/ProgramBuilder.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <cmath>

namespace attn {
#define GEN_PASS_DEF_EXPANDTANHPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
constexpr double kCoefficients[] = {0.9997852, -0.326296721, 0.0973554791};
constexpr double kMostArgument = 0.75;
constexpr int64_t kFoldColumns = 8; // See tile.fold.

/// A constant of ordinary size, whose fifth power is a number, too.
std::optional<double> ordinaryConstant(Value value) {
  std::optional<double> number = constantOf(value);
  bool ordinary = number && std::fabs(*number) > 1e-4 && std::fabs(*number) < 1e4;
  return ordinary ? number : std::nullopt;
}

struct Expansion {
  math::TanhOp op;
  Operation *last;    ///< What the branch takes the place of: tanh, or the sum of
                      ///< its multiple that alone uses it.
  OpBuilder b;
  Location loc;
  RankedTensorType type;
  Value x;            ///< The argument is scale * x.
  double scale = 1;
  double factor = 1;  ///< Of the result, in the sum.
  Value added;        ///< Null where there is no sum.

  explicit Expansion(math::TanhOp op)
      : op(op), last(op), b(op), loc(op.getLoc()),
        type(cast<RankedTensorType>(op.getType())), x(op.getOperand()) {
    if (auto product = x.getDefiningOp<arith::MulFOp>())
      if (auto constant = ordinaryConstant(product.getRhs())) {
        scale = *constant;
        x = product.getLhs();
      }
    if (!op->hasOneUse())
      return;
    auto sum = dyn_cast<math::FmaOp>(*op->user_begin());
    auto constant = sum && sum.getA() == op ? ordinaryConstant(sum.getB())
                                            : std::nullopt;
    if (!constant)
      return;
    factor = *constant;
    added = sum.getC();
    last = sum;
    b.setInsertionPoint(sum);
  }

  Value constant(OpBuilder &b, double value) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getF32FloatAttr(value)));
  }

  /// Whether some argument of the warp is too large. NaN is not, and stays what it is
  /// in the polynomial.
  Value someLarge() {
    auto folded = RankedTensorType::get({type.getDimSize(0), kFoldColumns},
                                        type.getElementType());
    Value most = tile::FoldOp::create(b, loc, folded, tile::ReduceKind::Max,
                                      math::AbsFOp::create(b, loc, x));
    float limit = kMostArgument / std::fabs(scale);
    Value beyond = arith::CmpFOp::create(
        b, loc, arith::CmpFPredicate::OGT, most,
        arith::ConstantOp::create(
            b, loc, DenseElementsAttr::get(folded, b.getF32FloatAttr(limit))));
    return tile::AnyOp::create(b, loc, b.getI1Type(), beyond);
  }

  Value byPolynomial(OpBuilder &b) {
    double power = factor * scale;
    SmallVector<double> coefficients;
    for (double c : kCoefficients) {
      coefficients.push_back(c * power);
      power *= scale * scale;
    }
    // The square is no longer alive than the sum, so a test of squares, which would
    // keep them all, is no cheaper.
    Value square = arith::MulFOp::create(b, loc, x, x);
    Value sum = constant(b, coefficients.pop_back_val());
    while (!coefficients.empty())
      sum = math::FmaOp::create(b, loc, sum, square,
                                constant(b, coefficients.pop_back_val()));
    if (added)
      return math::FmaOp::create(b, loc, x, sum, added);
    return arith::MulFOp::create(b, loc, x, sum);
  }

  Value byInstruction(OpBuilder &b) {
    Value argument = op.getOperand();
    if (argument != x) // Only here, so that the other way does without.
      argument = b.clone(*argument.getDefiningOp())->getResult(0);
    Value result = math::TanhOp::create(b, loc, argument, op.getFastmath());
    if (added)
      result = math::FmaOp::create(b, loc, result, last->getOperand(1), added);
    return result;
  }

  void expand() {
    auto branch = scf::IfOp::create(
        b, loc, someLarge(),
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, byInstruction(b));
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, byPolynomial(b));
        });
    last->getResult(0).replaceAllUsesWith(branch.getResult(0));
    if (last != op)
      last->erase();
    op.erase();
  }
};

struct ExpandTanh : attn::impl::ExpandTanhPassBase<ExpandTanh> {
  using ExpandTanhPassBase::ExpandTanhPassBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kShortTanh))
      return;
    SmallVector<math::TanhOp> all;
    getOperation().walk([&](math::TanhOp op) {
      auto type = dyn_cast<RankedTensorType>(op.getType());
      bool approximate =
          bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
      if (approximate && type && type.getElementType().isF32() &&
          type.getDimSize(1) > kFoldColumns && type.getDimSize(1) % kFoldColumns == 0)
        all.push_back(op);
    });
    for (math::TanhOp op : all)
      Expansion(op).expand();
  }
};
} // namespace
