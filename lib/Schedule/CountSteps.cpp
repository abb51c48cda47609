//===- CountSteps.cpp - what the softmax of a block of keys costs ---------===//
//
// How many instructions a score takes follows from the form its maximum has, from
// masks that a live block is spared, from products that sums contract and from what
// a slope shares between columns. All that stands in the finished program, so it is
// counted there and not in the spec:
//
//   slot     the time that an addition of an element takes on the f32 pipe
//   special  a result of the special-function unit
//
// Rates for each multiprocessor and clock are those of compute capability 9.0 (CUDA
// C++ Programming Guide, "Arithmetic Instructions"): 128 additions, multiplications
// and multiply-adds of f32; 64 comparisons, selections, minima, maxima, operations
// on integers and conversions. Signs, absolute values and copies of a row's value
// are free: they are modifiers or names of operands.
//
// A branch is taken the cheaper way. Votes are: where the maximum need not move,
// nothing is done.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/ConsumeKeys.h"
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Predict.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_COUNTSTEPSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Of the 128 threads of a warp group.
struct Work {
  double slots = 0, special = 0;

  Work &operator+=(Work more) {
    slots += more.slots;
    special += more.special;
    return *this;
  }
  Work times(double factor) const { return {slots * factor, special * factor}; }
  /// In clocks of a multiprocessor: 128 slots, 16 special functions.
  double clocks() const { return slots / 128 + special / 16; }
};

constexpr double kSlow = 2; ///< Slots of what a clock does 64 of.
constexpr double kQuarterLanes = 4; ///< Lanes that hold a value of a row each.
constexpr double kColumnLanes = 32; ///< ... a value of a column.
constexpr double kPolynomialSlots = 6; ///< See lib/Codegen/Gpu/Exp2Polynomial.h.
/// See lib/Codegen/Gpu/Exp2Packed.h: a cut an element; join, mask and three
/// multiply-adds a pair.
constexpr double kPackedSlots = kSlow + (2 * kSlow + 3) / 2;
} // namespace

/// Elements that the lanes of a warp group compute for a tile; what all of a row or
/// of a column share is computed by each lane that needs it.
static double elements(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile || tile.getRank() != 2)
    return 0; // Loop counters and addresses: a few, beside the tile.
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
  if (rows == 1)
    return columns == 1 ? 0 : kColumnLanes * double(columns);
  return double(rows) * (columns == 1 ? kQuarterLanes : double(columns));
}

static Work workOf(Block &block);

/// To add one more element to a reduction.
static double slotsOf(tile::ReduceKind kind) {
  // The maximum of three integers is one instruction (VIMNMX3, in what ptxas 13
  // makes of a vote), that of floats is of two.
  return kind == tile::ReduceKind::Max      ? kSlow
         : kind == tile::ReduceKind::MaxInt ? kSlow / 2
                                            : 1;
}

static Work workOf(Operation &op) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Work taken = workOf(branch.getThenRegion().front()), other;
    if (!branch.getElseRegion().empty())
      other = workOf(branch.getElseRegion().front());
    return other.clocks() < taken.clocks() ? other : taken;
  }
  if (auto power = dyn_cast<tile::Exp2PackedOp>(op)) {
    double all = elements(power.getValue().getType());
    double spared = double(power.getShare()) / 8;
    double cut = power.getChecked() ? 0 : kSlow; // From below, see there.
    return {all * spared * (kPackedSlots + cut), all * (1 - spared)};
  }
  if (op.getNumRegions() > 0 || op.getNumResults() != 1)
    return {};
  double results = elements(op.getResult(0).getType());
  double operands = op.getNumOperands() > 0 ? elements(op.getOperand(0).getType()) : 0;
  if (auto fold = dyn_cast<tile::FoldOp>(op))
    return {operands * slotsOf(fold.getKind()), 0};
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return {operands * slotsOf(reduce.getKind()), 0};
  if (isa<tile::AnyOp>(op))
    return {operands * kSlow, 0};
  if (isa<tile::BandOp>(op))
    return {results * kSlow * op.getNumOperands(), 0};
  if (auto power = dyn_cast<tile::Exp2Op>(op)) {
    double spared = double(power.getPolynomial()) / 8;
    return {results * spared * kPolynomialSlots, results * (1 - spared)};
  }
  // Two conversions to 16 bits are one instruction.
  if (isa<arith::TruncFOp, tile::RoundPackedOp>(op))
    return {results * kSlow / 2, 0};
  if (isa<tile::TileDialect>(op.getDialect()))
    return {}; // Products and copies run elsewhere.
  if (isSpecial(&op))
    return {0, results};
  if (isa<arith::DivFOp>(op)) // A reciprocal, and what makes it exact.
    return {4 * results, results};
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::NegFOp, math::AbsFOp>(op))
    return {};
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op))
    return {results, 0};
  if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
    return {results * kSlow, 0};
  return {};
}

static Work workOf(Block &block) {
  Work sum;
  for (Operation &op : block)
    sum += workOf(op);
  return sum;
}

/// Without what is the same in every step; code generation moves that out.
static Work workOf(scf::ForOp loop) {
  Work sum;
  DenseSet<Value> same;
  for (Operation &op : *loop.getBody()) {
    bool invariant =
        op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand) || same.contains(operand);
        });
    if (invariant)
      same.insert(op.getResults().begin(), op.getResults().end());
    else
      sum += workOf(op);
  }
  return sum;
}

/// Scores of a step: the result of the product that nothing is added to.
static double scoresOf(scf::ForOp loop) {
  for (auto dot : loop.getBody()->getOps<tile::DotAsyncOp>())
    if (!dot.getAccumulator())
      return elements(dot.getType());
  return 0;
}

namespace {
struct CountSteps : attn::impl::CountStepsPassBase<CountSteps> {
  using CountStepsPassBase::CountStepsPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    OpBuilder b(program);
    SmallVector<Attribute> list;
    if (auto terms = program->getAttrOfType<ArrayAttr>("tile.prediction"))
      list.assign(terms.begin(), terms.end());
    llvm::StringSet<> told;
    program.walk([&](scf::ForOp loop) {
      auto blocks = loop->getAttrOfType<StringAttr>(kBlocksAttr);
      if (!blocks)
        return;
      loop->removeAttr(kBlocksAttr);
      double scores = scoresOf(loop);
      // A window's masked blocks are on both sides, and alike.
      if (scores == 0 || !told.insert(blocks.getValue()).second)
        return;
      Work work = workOf(loop).times(1 / scores);
      list.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("what", b.getStringAttr("step")),
           b.getNamedAttr("blocks", blocks),
           b.getNamedAttr("slots", b.getF64FloatAttr(work.slots)),
           b.getNamedAttr("special", b.getF64FloatAttr(work.special))}));
    });
    if (!told.empty())
      program->setAttr("tile.prediction", b.getArrayAttr(list));
  }
};
} // namespace
