//===- ExpandRunningMax.cpp - forms of the running maximum ----------------===//
//
// The vote keeps the maximum while no score of the warp is more than 8 above it
// (in units of the exponent), so probabilities stay at most 2^8 and the
// accumulator need not be touched. Its test needs no exchange between lanes: a
// lane folds its own scores, as integers (three at a time on Hopper), and the
// warp votes. Signed integers order positive floats as floats and put negative
// ones below, so the test is right while the limit is positive; otherwise, and for
// rows of very large scores (ScoreRange.h), the warp takes the ordinary path, which
// is right too.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"
#include "lib/Schedule/ScoreRange.h"

#include "dialect/Tile/Exp2Offset.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <limits>

namespace attn {
#define GEN_PASS_DEF_EXPANDRUNNINGMAXPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct Expansion {
  tile::RunningMaxOp op;
  OpBuilder b;
  Location loc;
  RankedTensorType rowType;
  float factor;

  explicit Expansion(tile::RunningMaxOp op)
      : op(op), b(op), loc(op.getLoc()),
        rowType(cast<RankedTensorType>(op.getMaximum().getType())),
        factor(op.getFactor().convertToFloat()) {}

  Value rowConstant(OpBuilder &b, double value) {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(rowType, b.getF32FloatAttr(value)));
  }
  /// Rounded up, and where floats are more than 1 apart to what offsets of polynomials
  /// can be taken from exactly: multiples of 128 up to kExp2Offset.
  Value wholeOf(OpBuilder &b, Value maximum) {
    Value up = math::CeilOp::create(b, loc, maximum);
    Value offset = rowConstant(b, tile::kExp2Offset);
    Value apart = arith::SubFOp::create(b, loc, offset, up);
    return arith::SelectOp::create(b, loc, isLarge(b, loc, up), up,
                                   arith::SubFOp::create(b, loc, offset, apart));
  }
  /// {next, correction}.
  SmallVector<Value> running(OpBuilder &b) {
    Value scores = op.getScores();
    if (Value offset = op.getOffset()) {
      scores = tile::FoldOp::create(b, loc, offset.getType(), tile::ReduceKind::Max,
                                    scores);
      scores = arith::AddFOp::create(b, loc, scores, offset);
    }
    Value largest = tile::ReduceOp::create(b, loc, rowType, tile::ReduceKind::Max,
                                           scores);
    largest = scaleLargest(b, loc, largest, factor);
    Value next = arith::MaxNumFOp::create(b, loc, op.getMaximum(), largest);
    if (op.getWhole())
      next = wholeOf(b, next);
    Value dead = arith::CmpFOp::create(
        b, loc, arith::CmpFPredicate::OEQ, next,
        rowConstant(b, -std::numeric_limits<double>::infinity()));
    Value shift = arith::SelectOp::create(b, loc, dead, rowConstant(b, 0), next);
    Value correction = math::Exp2Op::create(
        b, loc, arith::SubFOp::create(b, loc, op.getMaximum(), shift));
    return {next, correction};
  }
  Value exceeds() {
    auto scores = cast<RankedTensorType>(op.getScores().getType());
    int64_t rows = scores.getDimSize(0);
    Type i32 = b.getI32Type();
    Value bits = arith::BitcastOp::create(
        b, loc, RankedTensorType::get(scores.getShape(), i32), op.getScores());
    auto foldedInt = RankedTensorType::get({rows, 8}, i32);
    Value most = tile::FoldOp::create(b, loc, foldedInt, tile::ReduceKind::MaxInt,
                                      bits);
    Value limit = arith::AddFOp::create(b, loc, op.getMaximum(),
                                        rowConstant(b, kMostExcess));
    limit = arith::MulFOp::create(b, loc, limit, rowConstant(b, 1.0 / factor));
    auto folded = [&](Type element, Value value) -> Value {
      return b.createOrFold<tile::BroadcastOp>(
          loc, RankedTensorType::get({rows, 8}, element), value);
    };
    if (op.getOffset())
      limit = arith::SubFOp::create(b, loc, folded(b.getF32Type(), limit),
                                    op.getOffset());
    auto limitType = cast<RankedTensorType>(limit.getType());
    Value limitBits = arith::BitcastOp::create(
        b, loc, RankedTensorType::get(limitType.getShape(), i32), limit);
    Value over = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, most,
                                       folded(i32, limitBits));
    // Not positive, or of a large row (a power of two before it is one): both by
    // one comparison, as whole numbers without a sign.
    float beyond = std::min<double>(kLargestMaximum / 2 / factor,
                                    std::numeric_limits<float>::max());
    auto wholeNumber = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(cast<ShapedType>(limitBits.getType()),
                                 b.getI32IntegerAttr(value)));
    };
    Value useless = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::uge,
        arith::SubIOp::create(b, loc, limitBits, wholeNumber(1)),
        wholeNumber(llvm::bit_cast<int32_t>(beyond)));
    useless = folded(b.getI1Type(), useless);
    return tile::AnyOp::create(b, loc, b.getI1Type(),
                               arith::OrIOp::create(b, loc, over, useless));
  }

  void expand() {
    SmallVector<Value> values;
    switch (op.getForm()) {
    case tile::SoftmaxForm::Running:
      values = running(b);
      values.push_back(arith::ConstantIntOp::create(b, loc, 1, 1));
      break;
    case tile::SoftmaxForm::Vote: {
      Value moved = exceeds();
      auto branch = scf::IfOp::create(
          b, loc, moved,
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(b, loc, running(b));
          },
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(b, loc,
                                 ValueRange{op.getMaximum(), rowConstant(b, 1)});
          });
      values.append(branch.getResults().begin(), branch.getResults().end());
      values.push_back(moved);
      break;
    }
    case tile::SoftmaxForm::Keep:
      values = {op.getMaximum(), rowConstant(b, 1),
                arith::ConstantIntOp::create(b, loc, 0, 1)};
      break;
    }
    op->replaceAllUsesWith(values);
    op.erase();
  }
};
} // namespace

static void expandRescale(tile::RescaleOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto scaled = [&](OpBuilder &b) -> Value {
    Value factor = tile::BroadcastOp::create(b, loc, op.getType(), op.getCorrection());
    return arith::MulFOp::create(b, loc, op.getValue(), factor);
  };
  APInt always;
  Value result;
  if (matchPattern(op.getMoved(), m_ConstantInt(&always))) {
    result = always.isZero() ? op.getValue() : scaled(b);
  } else {
    auto branch = scf::IfOp::create(
        b, loc, op.getMoved(),
        [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, scaled(b)); },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, op.getValue());
        });
    result = branch.getResult(0);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct ExpandRunningMax
    : attn::impl::ExpandRunningMaxPassBase<ExpandRunningMax> {
  using ExpandRunningMaxPassBase::ExpandRunningMaxPassBase;
  void runOnOperation() override {
    SmallVector<tile::RunningMaxOp> maxima;
    SmallVector<tile::RescaleOp> rescales;
    getOperation().walk([&](Operation *op) {
      if (auto maximum = dyn_cast<tile::RunningMaxOp>(op))
        maxima.push_back(maximum);
      if (auto rescale = dyn_cast<tile::RescaleOp>(op))
        rescales.push_back(rescale);
    });
    for (tile::RunningMaxOp op : maxima)
      Expansion(op).expand();
    for (tile::RescaleOp op : rescales)
      expandRescale(op);
  }
};
} // namespace
