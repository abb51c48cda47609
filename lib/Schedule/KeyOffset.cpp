//===- KeyOffset.cpp - what of a score grows evenly along the keys --------===//

#include "lib/Schedule/KeyOffset.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {
/// How much a value grows from one column to the next: a number times scalars.
struct Growth {
  double steps = 0;
  SmallVector<Value> factors; ///< f32 scalars.
};

struct Splitter {
  ProgramBuilder &p;
  Location loc;
  llvm::DenseMap<Value, Value> narrowed;

  bool variesWithColumn(Value v) { return shapeOf(v).second > 1; }

  /// The scalar that every element of `v` is, or null.
  Value scalarOf(Value v) {
    while (isa_and_nonnull<tile::BroadcastOp, tile::SplatOp>(v.getDefiningOp()))
      v = v.getDefiningOp()->getOperand(0);
    return shapeOf(v).first == 0 ? v : Value();
  }

  /// Nothing when it is not known or not even.
  std::optional<Growth> growth(Value v) {
    if (!variesWithColumn(v) || scalarOf(v))
      return Growth();
    Operation *op = v.getDefiningOp();
    if (!op || matchPattern(v, m_Constant()))
      return op ? std::optional(Growth()) : std::nullopt;
    if (isa<tile::IndexOp>(op) && elementOf(v).isInteger(32))
      return Growth{1, {}};
    if (isa<tile::BroadcastOp, arith::SIToFPOp>(op))
      return growth(op->getOperand(0));
    if (isa<arith::NegFOp>(op)) {
      auto own = growth(op->getOperand(0));
      if (own)
        own->steps = -own->steps;
      return own;
    }
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      auto left = growth(op->getOperand(0)), right = growth(op->getOperand(1));
      if (!left || !right)
        return std::nullopt;
      left->steps += isa<arith::SubIOp>(op) ? -right->steps : right->steps;
      return left; // Integers have no factors.
    }
    if (isa<arith::MulFOp>(op))
      for (unsigned side : {0u, 1u}) {
        Value other = op->getOperand(1 - side);
        auto own = growth(op->getOperand(side));
        if (!own || own->steps == 0)
          continue;
        if (auto constant = constantOf(other))
          own->steps *= *constant;
        else if (Value scalar = scalarOf(other))
          own->factors.push_back(scalar);
        else
          return std::nullopt;
        return own;
      }
    return std::nullopt;
  }

  /// The first 8 columns of `v`, an odd one as the even one before it.
  Value firstColumns(Value v) {
    if (!variesWithColumn(v))
      return v;
    Value &known = narrowed[v];
    if (known)
      return known;
    Operation *op = v.getDefiningOp();
    auto type = RankedTensorType::get({shapeOf(v).first, 8}, elementOf(v));
    SplatElementsAttr splat;
    if (matchPattern(v, m_Constant(&splat)))
      return narrowed[v] = arith::ConstantOp::create(
                 p.b, loc, splat.resizeSplat(type));
    if (auto index = dyn_cast<tile::IndexOp>(op)) {
      Value own = tile::IndexOp::create(p.b, loc, type, p.constant(0));
      own = arith::AndIOp::create(p.b, loc, own, p.intLike(own, -2));
      Value start = arith::TruncIOp::create(p.b, loc, elementOf(v), index.getBase());
      return narrowed[v] = arith::AddIOp::create(
                 p.b, loc, own, p.expand(start, type.getDimSize(0), 8));
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(firstColumns(operand));
    OperationState state(loc, op->getName());
    state.addOperands(operands);
    state.addTypes(type);
    state.addAttributes(op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return narrowed[v] = p.b.create(state)->getResult(0);
  }

  /// What columns grow by, times `scale`.
  Value slopeOf(const Growth &growth, double scale) {
    Value slope = arith::ConstantOp::create(
        p.b, loc, p.b.getF32FloatAttr(growth.steps * scale));
    for (Value factor : growth.factors)
      slope = arith::MulFOp::create(p.b, loc, slope, factor);
    return slope;
  }

  /// scores + slope * (c - c % 8 + c % 2).
  Value addCoarse(Value scores, const Growth &growth, double scale) {
    SmallVector<float> steps;
    for (int64_t c = 0; c < p.columns; ++c)
      steps.push_back(float(c - c % 8 + c % 2));
    auto type = RankedTensorType::get({1, p.columns}, p.b.getF32Type());
    Value step = arith::ConstantOp::create(
        p.b, loc, DenseElementsAttr::get(type, ArrayRef<float>(steps)));
    Value slope = slopeOf(growth, scale);
    auto [rows, columns] = shapeOf(scores);
    // A slope that is not finite makes the other part NaN, so 0 times it may be
    // nothing here.
    return math::FmaOp::create(p.b, loc, p.expand(step, rows, columns),
                               p.expand(slope, rows, columns), scores,
                               arith::FastMathFlags::nnan);
  }
};
} // namespace

KeyOffset attn::takeKeyOffset(ProgramBuilder &p, Value &scores, double &factor) {
  Operation *sum = scores.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum) || !scores.use_empty() ||
      p.columns % 8)
    return {};
  Splitter split{p, p.program.getLoc(), {}};
  bool minus = isa<arith::SubFOp>(sum);
  for (unsigned side : {1u, 0u}) {
    if (minus && side == 0)
      break;
    Value term = sum->getOperand(side), rest = sum->getOperand(1 - side);
    std::optional<Growth> growth = split.growth(term);
    if (!growth || growth->steps == 0 || scores == rest ||
        shapeOf(rest).first != shapeOf(scores).first ||
        shapeOf(rest).second != p.columns)
      continue;
    // Positive constants belong to the exponent.
    double own = 1;
    auto product = rest.getDefiningOp<arith::MulFOp>();
    double constant = product ? constantOf(product.getRhs()).value_or(0) : 0;
    if (constant > 1e-30 && constant < 1e30 && rest.hasOneUse()) {
      own = constant;
      rest = product.getLhs();
    }
    double scale = (minus ? -1 : 1) / own;
    Value offset = split.firstColumns(term);
    offset = p.expand(offset, shapeOf(scores).first, 8);
    offset = arith::MulFOp::create(p.b, split.loc, offset,
                                   p.floatLike(offset, scale));
    scores = split.addCoarse(rest, *growth, scale);
    factor *= own;
    return {offset, split.slopeOf(*growth, scale)};
  }
  return {};
}
