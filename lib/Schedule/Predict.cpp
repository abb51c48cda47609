//===- Predict.cpp - what a kernel will do, said beforehand ---------------===//

#include "lib/Schedule/MeasuredKeys.h"
#include "lib/Schedule/Predict.h"

#include "dialect/Attn/Attn.h"
#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

namespace {
struct Terms {
  OpBuilder b;
  SmallVector<Attribute> list;

  void add(StringRef what, double coefficient, ArrayRef<std::string> axes,
           bool live = false) {
    SmallVector<Attribute> names;
    for (const std::string &axis : axes)
      names.push_back(b.getStringAttr(axis));
    SmallVector<NamedAttribute> fields{
        b.getNamedAttr("what", b.getStringAttr(what)),
        b.getNamedAttr("coefficient", b.getF64FloatAttr(coefficient)),
        b.getNamedAttr("axes", b.getArrayAttr(names))};
    if (live)
      fields.push_back(b.getNamedAttr("live", b.getUnitAttr()));
    list.push_back(b.getDictionaryAttr(fields));
  }
};
} // namespace

static double bytesOf(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

static SmallVector<std::string> joined(ArrayRef<std::string> axes,
                                       ArrayRef<std::string> more) {
  SmallVector<std::string> all(axes);
  for (const std::string &axis : more)
    if (!llvm::is_contained(all, axis))
      all.push_back(axis);
  return all;
}

bool attn::isSpecial(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::TanhOp, math::RsqrtOp,
             math::SqrtOp>(op);
}

/// Operations of a pointwise op: (arithmetic, special functions) per element.
static std::pair<double, double> countRegion(Operation *op) {
  double plain = isa<ScaleOp, MaskOp, RoundOp>(op) ? 1 : 0, special = 0;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      if (isSpecial(inner))
        special += 1;
      else if (!isa<IndexOp, LengthOp>(inner) &&
               !inner->hasTrait<OpTrait::IsTerminator>() &&
               !inner->hasTrait<OpTrait::ConstantLike>())
        plain += 1;
    });
  return {plain, special};
}

/// Bytes of the measured bounds, a row of the scores.
static double boundsBytes(const MeasuredKeys &keys) {
  return 16.0 * double(keys.conditions.size()) / double(keys.rows);
}

ArrayAttr attn::predict(const KernelContext &context, KernelKind kind,
                        func::FuncOp program) {
  KernelOp kernel = context.kernel;
  Terms terms{OpBuilder(kernel.getContext()), {}};

  // Every tensor from outside once, whoever reads it.
  llvm::SetVector<Value> read;
  kernel.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) &&
          !kernel->isAncestor(operand.getParentRegion()->getParentOp()))
        read.insert(operand);
  });
  // A tensor over both axes of the dead pairs is not read there.
  auto liveAxes = program->getAttrOfType<ArrayAttr>("tile.live");
  auto passesOver = [&](ArrayRef<std::string> axes) {
    return liveAxes && llvm::all_of(liveAxes, [&](Attribute axis) {
             return llvm::is_contained(axes, cast<StringAttr>(axis).str());
           });
  };
  for (Value tensor : read)
    terms.add("bytesRead", bytesOf(context.tensorOf(tensor).element),
              axesOf(tensor), passesOver(axesOf(tensor)));
  for (unsigned i = 0; i < kernel->getNumResults(); ++i)
    for (const TensorInfo &tensor : context.destinations(i))
      terms.add("bytesWritten", bytesOf(tensor.element), tensor.axes);

  if (context.measured && !context.measured->empty())
    terms.add("bytesRead", boundsBytes(*context.measured),
              context.measured->bounds.axes);

  bool live = liveAxes || (kind == KernelKind::Flash &&
                           !kernel.getBody().getOps<MaskOp>().empty());
  std::string unit;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      terms.add("tensorFlops", 2,
                joined(axesOf(matmul.getResult()), {matmul.getOver().str()}),
                live);
      Type element =
          cast<RankedTensorType>(matmul.getA().getType()).getElementType();
      unit = context.schedule.groups > 0 ? "wgmma.f16"
             : !element.isF32()          ? "mma.f16"
             : context.tf32              ? "mma.tf32"
                                         : "fma.f32";
    } else if (auto softmax = dyn_cast<OnlineSoftmaxOp>(op)) {
      SmallVector<std::string> axes = axesOf(softmax.getScores());
      terms.add("tensorFlops", 2, joined(axes, axesOf(softmax.getResult())),
                live);
      if (context.schedule.sums) // Columns of ones, multiplied like values.
        terms.add("tensorFlops", 2 * tile::kSumColumns, axes, live);
      terms.add("scalarFlops", 5, axes, live); // max, fma (2), sum, round
      terms.add("exponentials", 1, axes, live);
    } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
      SmallVector<std::string> axes = axesOf(softmax.getScores());
      terms.add("scalarFlops", 8, axes, live); // two passes
      terms.add("exponentials", 2, axes, live);
    } else {
      auto [plain, special] = countRegion(&op);
      SmallVector<std::string> axes = axesOf(op.getResult(0));
      if (plain > 0)
        terms.add("scalarFlops", plain, axes, live);
      if (special > 0)
        terms.add("exponentials", special, axes, live);
    }
  }
  if (!unit.empty())
    terms.list.push_back(terms.b.getDictionaryAttr(
        {terms.b.getNamedAttr("what", terms.b.getStringAttr("tensorUnit")),
         terms.b.getNamedAttr("unit", terms.b.getStringAttr(unit))}));
  return terms.b.getArrayAttr(terms.list);
}

ArrayAttr attn::predictMeasuredKeys(const KernelContext &context,
                                    const MeasuredKeys &keys) {
  KernelOp kernel = context.kernel;
  Terms terms{OpBuilder(kernel.getContext()), {}};
  llvm::SetVector<Value> read;
  auto visit = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (!isa<func::FuncOp>(parent))
        read.insert(parent->getOperand(parent->getNumOperands() -
                                       argument.getOwner()->getNumArguments() +
                                       argument.getArgNumber()));
      return;
    }
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        read.insert(operand);
      else
        self(self, operand);
  };
  double tests = 0;
  for (const MaskRange &condition : keys.conditions) {
    for (Value side : {condition.rowSide, condition.keySide})
      if (side)
        visit(visit, side);
    tests += 9; // Two comparisons, five carried values, the tail.
  }
  for (Value tensor : read)
    terms.add("bytesRead", bytesOf(cast<RankedTensorType>(tensor.getType())
                                       .getElementType()),
              axesOf(tensor));
  terms.add("bytesWritten", boundsBytes(keys), keys.bounds.axes);
  terms.add("scalarFlops", tests / double(keys.rows),
            joined(keys.bounds.axes, {keys.key}));
  return terms.b.getArrayAttr(terms.list);
}
