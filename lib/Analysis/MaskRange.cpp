//===- MaskRange.cpp - which keys a mask can leave alive ------------------===//

#include "lib/Analysis/MaskRange.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static bool varies(llvm::StringRef axis, const MaskAxes &axes) {
  return axis == axes.row || axis == axes.key ||
         llvm::is_contained(axes.nested, axis.str());
}

/// A region argument is an element of the operand it stands for.
static bool isUniformElement(BlockArgument argument, const MaskAxes &axes) {
  Operation *op = argument.getOwner()->getParentOp();
  if (!isa<MaskOp, MapOp, ScaleOp>(op))
    return true; // An argument of the function: a scalar.
  unsigned skipped = op->getNumOperands() - argument.getOwner()->getNumArguments();
  auto tensor = cast<RankedTensorType>(
      op->getOperand(skipped + argument.getArgNumber()).getType());
  auto names = dyn_cast_or_null<AxesAttr>(tensor.getEncoding());
  return names && llvm::none_of(names.getNames(), [&](auto name) {
           return varies(name.getValue(), axes);
         });
}

bool attn::isUniform(Value value, const MaskAxes &axes) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isUniformElement(cast<BlockArgument>(value), axes);
  if (auto index = dyn_cast<IndexOp>(op))
    return !varies(index.getAxis(), axes);
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) || isUniform(operand, axes);
  });
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

/// left - right + offset <= 0.
static MaskRange atMost(const Affine &left, const Affine &right,
                        int64_t offset) {
  MaskRange range{MaskRange::NonPositive, left, nullptr, false, {}};
  if (!accumulate(range.affine, right, -1) ||
      llvm::AddOverflow(range.affine.constant, offset, range.affine.constant))
    return {MaskRange::Unknown, {}, nullptr, false, {}};
  return range;
}

static MaskRange unknown() { return {MaskRange::Unknown, {}, nullptr, false, {}}; }

static MaskRange analyzeCompare(arith::CmpIOp compare, bool negated,
                                const MaskAxes &axes) {
  auto left = decompose(compare.getLhs(), axes);
  auto right = decompose(compare.getRhs(), axes);
  if (!left || !right)
    return unknown();
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
    return unknown();
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
    return unknown();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return analyzeCompare(compare, negated, axes);
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
  return unknown();
}

MaskRange attn::analyzeMask(Value predicate, const MaskAxes &axes) {
  return analyze(predicate, /*negated=*/false, axes);
}
