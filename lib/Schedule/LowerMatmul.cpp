//===- LowerMatmul.cpp - one matmul, and what rides on its result ---------===//

#include "lib/Schedule/KeyBounds.h"
#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/MatmulAxes.h"
#include "lib/Schedule/ScoreMasks.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// Keys that the tile's probabilities can differ from 0 at, when an operand comes
/// from a kernel that both masks and normalises along the summed axis: half open,
/// the first a multiple of `step`. All of them otherwise. `places` must be those of
/// the whole block.
static FailureOr<LiveKeys> liveKeys(const KernelContext &kernel, ProgramBuilder &p,
                                    MatmulOp matmul, const MatmulAxes &axes,
                                    int64_t blockRows, int64_t step) {
  Value zero = p.constant(0), length = p.length(axes.contracted);
  for (bool left : {true, false}) {
    SoftmaxOp softmax = softmaxBehind(left ? matmul.getA() : matmul.getB());
    if (!softmax || softmax.getOver() != axes.contracted)
      continue;
    const std::string &row = left ? axes.row : axes.column;
    SmallVector<ScoreMask> masks = collectMasks(
        cast<KernelOp>(softmax->getParentOp()), softmax.getScores(),
        maskAxes(row, axes.contracted, kernel.axes));
    if (masks.empty())
      continue;
    Value firstRow = row.empty() ? zero : p.places[row].start, lastRow = firstRow;
    if (!row.empty()) {
      Value end = p.add(firstRow, p.constant(left ? blockRows : p.columns));
      lastRow = p.sub(p.min(end, p.length(row)), p.constant(1));
    }
    ElementwiseLowering values(p, kernel.tensorOf);
    FailureOr<LiveKeys> live =
        emitLiveKeys(p, values, masks, firstRow, lastRow, length);
    if (failed(live))
      return failure();
    LiveKeys keys{p.mul(p.floorDiv(live->low, step), p.constant(step)), live->high};
    if (!row.empty() && (keys.high != length || !matchPattern(keys.low, m_Zero())))
      sayLive(p, row, axes.contracted);
    return keys;
  }
  return LiveKeys{zero, length};
}

LogicalResult attn::lowerMatmul(const KernelContext &kernel,
                                ProgramBuilder &p) {
  KernelOp op = kernel.kernel;
  MatmulOp matmul = *op.getBody().getOps<MatmulOp>().begin();
  Location loc = matmul.getLoc();
  const Schedule &s = kernel.schedule;
  MatmulAxes axes = matmulAxes(matmul, kernel.axes);
  TensorInfo a = kernel.tensorOf(matmul.getA());
  TensorInfo b = kernel.tensorOf(matmul.getB());
  if (a.element != b.element)
    return matmul.emitOpError("operands of ")
           << a.element << " and " << b.element
           << " must be brought to one type first";

  const bool grouped = s.groups > 0;
  p.rows = s.rows;
  p.columns = s.columns;
  const int64_t blockRows = s.rows * std::max<int64_t>(1, s.groups);
  SmallVector<GridFactor> grid;
  if (!axes.column.empty())
    grid.push_back({axes.column, s.columns, AxisPlace::Column});
  // Masked rows differ in length: the longest first, neighbours of a length.
  SoftmaxOp softmax = softmaxBehind(matmul.getA());
  bool uneven = grouped && softmax && softmax.getOver() == axes.contracted &&
                !cast<KernelOp>(softmax->getParentOp()).getBody().getOps<MaskOp>().empty();
  if (!axes.row.empty())
    grid.insert(uneven ? grid.begin() : grid.end(),
                GridFactor{axes.row, blockRows, AxisPlace::Row});
  SmallVector<std::string> resultAxes = axesOf(matmul.getResult());
  for (const std::string &axis : llvm::reverse(resultAxes))
    if (axis != axes.row && axis != axes.column)
      grid.push_back({axis, 1, AxisPlace::Batch});
  if (grouped)
    p.placeTiles(grid, uneven ? p.mul(p.length(axes.contracted),
                                      p.constant(s.columns * 2))
                              : Value());
  else
    p.placeBlock(grid);
  setAccumulatorLayout(p, s);

  Value zero = p.constant(0);
  auto start = [&](const std::string &axis) {
    return axis.empty() ? zero : p.places[axis].start;
  };
  FailureOr<LiveKeys> live = liveKeys(kernel, p, matmul, axes, blockRows, s.depth);
  if (failed(live))
    return failure();
  Value columnStart = start(axes.column);
  Value rowStart = grouped ? placeGroup(p, axes.row, s.rows) : start(axes.row);
  bool transposed = b.axes.back() == axes.contracted || axes.column.empty();
  StringRef bRows = transposed ? axes.column : axes.contracted;
  StringRef bColumns = transposed ? axes.contracted : axes.column;
  Type f32 = p.b.getF32Type();
  auto aType = RankedTensorType::get({s.rows, s.depth}, a.element);
  auto bType = transposed ? RankedTensorType::get({s.columns, s.depth}, b.element)
                          : RankedTensorType::get({s.depth, s.columns}, b.element);
  auto cType = RankedTensorType::get({s.rows, s.columns}, f32);
  Value aView, bView;
  if (!grouped) {
    aView = p.view(a, axes.row, axes.contracted);
    bView = p.view(b, bRows, bColumns);
  }
  Value accumulator = arith::ConstantOp::create(
      p.b, loc, DenseElementsAttr::get(cType, p.b.getF32FloatAttr(0)));

  auto step = [&](Value k0, Value sum) -> Value {
    Value bRow = transposed ? columnStart : k0;
    Value bColumn = transposed ? k0 : columnStart;
    Value aTile, bTile;
    if (grouped) {
      aTile = p.loadBox(a, axes.row, axes.contracted, s.rows * s.groups, aType,
                        rowStart, k0);
      bTile = p.loadBox(b, bRows, bColumns, bType.getDimSize(0), bType, bRow,
                        bColumn);
    } else {
      aTile = tile::LoadOp::create(p.b, loc, aType, aView, rowStart, k0);
      bTile = tile::LoadOp::create(p.b, loc, bType, bView, bRow, bColumn);
    }
    bool tf32 = kernel.tf32 && a.element.isF32();
    return tile::DotOp::create(p.b, loc, cType, aTile, bTile, sum, transposed,
                               tf32);
  };
  auto found = kernel.axes.find(axes.contracted);
  int64_t extent = found == kernel.axes.end() ? 0 : found->second.extent;
  if (extent > 0 && extent <= s.depth) {
    accumulator = step(zero, accumulator);
  } else {
    auto loop = scf::ForOp::create(
        p.b, loc, live->low, live->high, p.constant(s.depth),
        ValueRange{accumulator},
        [&](OpBuilder &inner, Location loc, Value k0, ValueRange carried) {
          OpBuilder::InsertionGuard guard(p.b);
          p.b.setInsertionPointToEnd(inner.getInsertionBlock());
          scf::YieldOp::create(p.b, loc, step(k0, carried[0]));
        });
    accumulator = loop.getResult(0);
  }
  ElementwiseLowering values(p, kernel.tensorOf);
  values.define(matmul.getResult(), accumulator);
  return storeResults(kernel, p, values, axes.row, axes.column);
}
