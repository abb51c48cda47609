//===- MaskRange.cpp - which keys a mask can leave alive ------------------===//

#include "lib/Analysis/MaskRange.h"

#include "lib/Analysis/Interval.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace attn;

/// What a value varies with.
enum Dependence : unsigned { OnNothing = 0, OnRow = 1, OnKey = 2, OnBoth = 3 };

static unsigned dependenceOn(llvm::StringRef axis, const MaskAxes &axes) {
  // A nested axis varies with what it nests in, in a way nobody follows here.
  return llvm::is_contained(axes.nested, axis.str()) ? OnBoth
         : axis == axes.row                          ? OnRow
         : axis == axes.key                          ? OnKey
                                                     : OnNothing;
}

/// A region argument is an element of the operand it stands for.
static unsigned dependenceOfElement(BlockArgument argument,
                                    const MaskAxes &axes) {
  Operation *op = argument.getOwner()->getParentOp();
  if (!isa<MaskOp, MapOp, ScaleOp>(op))
    return OnNothing; // An argument of the function: a scalar.
  unsigned skipped = op->getNumOperands() - argument.getOwner()->getNumArguments();
  auto tensor = cast<RankedTensorType>(
      op->getOperand(skipped + argument.getArgNumber()).getType());
  auto names = dyn_cast_or_null<AxesAttr>(tensor.getEncoding());
  if (!names)
    return OnBoth;
  unsigned result = OnNothing;
  for (auto name : names.getNames())
    result |= dependenceOn(name.getValue(), axes);
  return result;
}

static unsigned dependence(Value value, const MaskAxes &axes) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return dependenceOfElement(cast<BlockArgument>(value), axes);
  if (auto index = dyn_cast<IndexOp>(op))
    return dependenceOn(index.getAxis(), axes);
  unsigned result = OnNothing;
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      result |= dependence(operand, axes);
  return result;
}

bool attn::isUniform(Value value, const MaskAxes &axes) {
  return dependence(value, axes) == OnNothing;
}

static bool scaleBy(int64_t &value, int64_t factor) {
  return !llvm::MulOverflow(value, factor, value);
}

/// sum += factor * other; false on overflow.
static bool accumulate(Affine &sum, const Affine &other, int64_t factor) {
  int64_t key = other.key, row = other.row, constant = other.constant;
  if (!scaleBy(key, factor) || !scaleBy(row, factor) ||
      !scaleBy(constant, factor) || llvm::AddOverflow(sum.key, key, sum.key) ||
      llvm::AddOverflow(sum.row, row, sum.row) ||
      llvm::AddOverflow(sum.constant, constant, sum.constant))
    return false;
  for (auto [coefficient, value] : other.uniform) {
    if (!scaleBy(coefficient, factor))
      return false;
    sum.uniform.push_back({coefficient, value});
  }
  return true;
}

/// The numbers that an integer of a region can be; everything where its arithmetic may
/// wrap beyond 64 bits.
static Interval rangeOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Interval::exactly(constant.getSExtValue());
  auto given = [&] { // Nothing is known of it but its type.
    return value.getType().isInteger(64) ? Interval::everything() : Interval::i32();
  };
  Operation *op = value.getDefiningOp();
  if (!op)
    return given();
  if (isa<IndexOp, LengthOp>(op))
    return Interval::length();
  if (isa<arith::ExtSIOp>(op))
    return rangeOf(op->getOperand(0));
  if (isa<arith::TruncIOp>(op)) {
    Interval range = rangeOf(op->getOperand(0));
    return range.fits32() ? range : given();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return rangeOf(select.getTrueValue()).join(rangeOf(select.getFalseValue()));
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
    return rangeOf(op->getOperand(0)).join(rangeOf(op->getOperand(1)));
  if (isa<arith::DivSIOp, arith::FloorDivSIOp>(op)) { // No larger than what is divided.
    Interval a = rangeOf(op->getOperand(0));
    return a.join(Interval::exactly(0) - a);
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return given();
  Interval a = rangeOf(op->getOperand(0)), b = rangeOf(op->getOperand(1));
  Interval made = isa<arith::AddIOp>(op) ? a + b : isa<arith::SubIOp>(op) ? a - b : a * b;
  // 32 bits are taken only where they are proved enough (C8).
  return made.fits32() || value.getType().isInteger(64) ? made : Interval::i32();
}

/// Whether a side of a comparison is an exact number: taken apart, its arithmetic is
/// done in another order, which must not matter.
static bool isExact(Value side) {
  Interval range = rangeOf(side), everything = Interval::everything();
  return range.low != everything.low || range.high != everything.high;
}

static std::optional<Affine> decompose(Value value, const MaskAxes &axes) {
  Affine result;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    result.constant = constant.getSExtValue();
    return result;
  }
  if (isUniform(value, axes)) {
    result.uniform.push_back({1, value});
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto index = dyn_cast<IndexOp>(op)) {
    if (index.getAxis() != axes.key && index.getAxis() != axes.row)
      return std::nullopt;
    (index.getAxis() == axes.key ? result.key : result.row) = 1;
    return result;
  }
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return decompose(op->getOperand(0), axes);
  auto combine = [&](int64_t sign) -> std::optional<Affine> {
    auto left = decompose(op->getOperand(0), axes);
    auto right = decompose(op->getOperand(1), axes);
    if (!left || !right || !accumulate(*left, *right, sign))
      return std::nullopt;
    return left;
  };
  if (isa<arith::AddIOp>(op))
    return combine(1);
  if (isa<arith::SubIOp>(op))
    return combine(-1);
  if (isa<arith::MulIOp>(op))
    for (unsigned i : {0u, 1u})
      if (matchPattern(op->getOperand(i), m_ConstantInt(&constant))) {
        auto other = decompose(op->getOperand(1 - i), axes);
        if (!other ||
            !accumulate(result, *other, constant.getSExtValue()))
          return std::nullopt;
        return result;
      }
  return std::nullopt;
}

/// Whether limits found from it stay numbers of 64 bits for indices up to 2^30 and a
/// block's worth beyond.
static bool isSafe(const Affine &affine) {
  auto small = [](int64_t value, int64_t most) {
    return value <= most && value >= -most;
  };
  constexpr int64_t coefficient = int64_t(1) << 30, constant = int64_t(1) << 61;
  return small(affine.key, coefficient) && small(affine.row, coefficient) &&
         small(affine.constant, constant);
}

/// left - right + offset <= 0.
static MaskRange atMost(const Affine &left, const Affine &right,
                        int64_t offset) {
  MaskRange range{MaskRange::NonPositive, left, nullptr, false, {}};
  if (!accumulate(range.affine, right, -1) ||
      llvm::AddOverflow(range.affine.constant, offset, range.affine.constant) ||
      !isSafe(range.affine))
    return {MaskRange::Unknown, {}, nullptr, false, {}};
  return range;
}

static MaskRange unknown() {
  return {MaskRange::Unknown, {}, nullptr, false, {}};
}

/// `left order right` with the row's side first, if the sides can be told apart.
static MaskRange separate(Value left, Value right, Order order, bool negated,
                          const MaskAxes &axes) {
  unsigned onLeft = dependence(left, axes), onRight = dependence(right, axes);
  MaskRange range = unknown();
  if (!(onLeft & OnKey) && !(onRight & OnRow)) {
    std::tie(range.rowSide, range.keySide) = std::pair(left, right);
  } else if (!(onLeft & OnRow) && !(onRight & OnKey)) {
    std::tie(range.rowSide, range.keySide) = std::pair(right, left);
    order = order == Order::Less           ? Order::Greater
            : order == Order::LessEqual    ? Order::GreaterEqual
            : order == Order::GreaterEqual ? Order::LessEqual
            : order == Order::Greater      ? Order::Less
                                           : order;
  } else {
    return range;
  }
  range.kind = MaskRange::Separable;
  range.order = order;
  range.negated = negated;
  return range;
}

/// A comparison that is not affine.
static MaskRange separateCompare(Operation *compare, bool negated,
                                 const MaskAxes &axes) {
  auto give = [&](Order order, bool opposite) {
    return separate(compare->getOperand(0), compare->getOperand(1), order,
                    negated != opposite, axes);
  };
  if (auto integers = dyn_cast<arith::CmpIOp>(compare)) {
    Type type = integers.getLhs().getType();
    if (!type.isInteger(32) && !type.isInteger(64))
      return unknown();
    switch (integers.getPredicate()) {
    case arith::CmpIPredicate::slt:
      return give(Order::Less, false);
    case arith::CmpIPredicate::sle:
      return give(Order::LessEqual, false);
    case arith::CmpIPredicate::eq:
      return give(Order::Equal, false);
    case arith::CmpIPredicate::ne:
      return give(Order::Equal, true);
    case arith::CmpIPredicate::sge:
      return give(Order::GreaterEqual, false);
    case arith::CmpIPredicate::sgt:
      return give(Order::Greater, false);
    default:
      return unknown();
    }
  }
  // An unordered comparison is the opposite of an ordered one.
  switch (cast<arith::CmpFOp>(compare).getPredicate()) {
  case arith::CmpFPredicate::OLT:
    return give(Order::Less, false);
  case arith::CmpFPredicate::OLE:
    return give(Order::LessEqual, false);
  case arith::CmpFPredicate::OEQ:
    return give(Order::Equal, false);
  case arith::CmpFPredicate::OGE:
    return give(Order::GreaterEqual, false);
  case arith::CmpFPredicate::OGT:
    return give(Order::Greater, false);
  case arith::CmpFPredicate::UNE:
    return give(Order::Equal, true);
  case arith::CmpFPredicate::ULT:
    return give(Order::GreaterEqual, true);
  case arith::CmpFPredicate::ULE:
    return give(Order::Greater, true);
  case arith::CmpFPredicate::UGE:
    return give(Order::Less, true);
  case arith::CmpFPredicate::UGT:
    return give(Order::LessEqual, true);
  default:
    return unknown();
  }
}

/// A condition that varies with the row alone or the key alone.
static MaskRange oneSided(Value condition, bool negated, const MaskAxes &axes) {
  unsigned on = dependence(condition, axes);
  MaskRange range = unknown();
  if (on == OnBoth)
    return range;
  (on == OnRow ? range.rowSide : range.keySide) = condition;
  range.kind = MaskRange::Separable;
  range.negated = negated;
  return range;
}

static MaskRange analyzeCompare(arith::CmpIOp compare, bool negated,
                                const MaskAxes &axes) {
  auto left = decompose(compare.getLhs(), axes);
  auto right = decompose(compare.getRhs(), axes);
  if (!left || !right || !isExact(compare.getLhs()) || !isExact(compare.getRhs()))
    return separateCompare(compare, negated, axes);
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (negated)
    predicate = arith::invertPredicate(predicate);
  switch (predicate) {
  case arith::CmpIPredicate::sle:
    return atMost(*left, *right, 0);
  case arith::CmpIPredicate::slt:
    return atMost(*left, *right, 1);
  case arith::CmpIPredicate::sge:
    return atMost(*right, *left, 0);
  case arith::CmpIPredicate::sgt:
    return atMost(*right, *left, 1);
  case arith::CmpIPredicate::eq:
    return {MaskRange::And,
            {},
            nullptr,
            false,
            {atMost(*left, *right, 0), atMost(*right, *left, 0)}};
  default:
    return separateCompare(compare, negated, axes);
  }
}

static MaskRange analyze(Value predicate, bool negated, const MaskAxes &axes) {
  APInt constant;
  if (matchPattern(predicate, m_ConstantInt(&constant)))
    return {constant.isZero() == negated ? MaskRange::Always : MaskRange::Never,
            {},
            nullptr,
            false,
            {}};
  if (isUniform(predicate, axes))
    return {MaskRange::Uniform, {}, predicate, negated, {}};
  Operation *op = predicate.getDefiningOp();
  if (!op)
    return oneSided(predicate, negated, axes);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    MaskRange range = analyzeCompare(compare, negated, axes);
    return range.kind == MaskRange::Unknown ? oneSided(predicate, negated, axes)
                                            : range;
  }
  if (isa<arith::CmpFOp>(op)) {
    MaskRange range = separateCompare(op, negated, axes);
    return range.kind == MaskRange::Unknown ? oneSided(predicate, negated, axes)
                                            : range;
  }
  bool isAnd = isa<arith::AndIOp>(op), isOr = isa<arith::OrIOp>(op);
  if (isAnd || isOr) {
    // De Morgan: a negated conjunction is a disjunction of negations.
    MaskRange both{isAnd != negated ? MaskRange::And : MaskRange::Or,
                   {},
                   nullptr,
                   false,
                   {}};
    for (Value operand : op->getOperands())
      both.parts.push_back(analyze(operand, negated, axes));
    return both;
  }
  if (auto exclusive = dyn_cast<arith::XOrIOp>(op))
    if (matchPattern(exclusive.getRhs(), m_One()))
      return analyze(exclusive.getLhs(), !negated, axes);
  return oneSided(predicate, negated, axes);
}

MaskRange attn::analyzeMask(Value predicate, const MaskAxes &axes) {
  return analyze(predicate, /*negated=*/false, axes);
}
