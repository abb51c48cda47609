//===- LowerSimple.cpp - pointwise kernels and softmax over rows ----------===//
//
// Kernels that move memory: a warp owns whole rows, lanes take 16 bytes at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/KeyBounds.h"
#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/OnlineSoftmax.h"
#include "lib/Schedule/ScoreMasks.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// The axes of a grid after its tile axes: one block an index, innermost first.
static void addBatchAxes(SmallVectorImpl<GridFactor> &grid,
                         ArrayRef<std::string> axes,
                         ArrayRef<StringRef> tiled) {
  for (const std::string &axis : llvm::reverse(axes))
    if (!llvm::is_contained(tiled, StringRef(axis)))
      grid.push_back({axis, 1, AxisPlace::Batch});
}

LogicalResult attn::lowerPointwise(const KernelContext &kernel,
                                   ProgramBuilder &p) {
  const TensorInfo &shape = kernel.destinations(0).front();
  size_t rank = shape.axes.size();
  StringRef column = rank > 0 ? StringRef(shape.axes[rank - 1]) : "";
  StringRef row = rank > 1 ? StringRef(shape.axes[rank - 2]) : "";
  p.rows = kernel.schedule.rows;
  p.columns = kernel.schedule.columns;
  SmallVector<GridFactor> grid;
  if (!column.empty())
    grid.push_back({column.str(), p.columns, AxisPlace::Column});
  if (!row.empty())
    grid.push_back({row.str(), p.rows, AxisPlace::Row});
  addBatchAxes(grid, shape.axes, {row, column});
  p.placeBlock(grid);
  setRowsLayout(p, kernel.schedule);
  ElementwiseLowering values(p, kernel.tensorOf);
  return storeResults(kernel, p, values, row, column);
}

/// Whether a kernel's results per key are the probabilities, rounded at most.
/// Others may look at scores and captured tensors where every key is dead.
static bool onlyProbabilities(KernelOp op, SoftmaxOp softmax, StringRef key) {
  for (Value result : op.getResults())
    if (llvm::is_contained(axesOf(result), key) && softmaxBehind(result) != softmax)
      return false;
  return true;
}

LogicalResult attn::lowerRows(const KernelContext &kernel, ProgramBuilder &p) {
  KernelOp op = kernel.kernel;
  SoftmaxOp softmax = *op.getBody().getOps<SoftmaxOp>().begin();
  Location loc = softmax.getLoc();
  std::string key = softmax.getOver().str();
  SmallVector<std::string> axes = axesOf(softmax.getScores());
  std::string row;
  for (const std::string &axis : axes)
    if (axis != key)
      row = axis; // The innermost other axis.
  p.rows = kernel.schedule.rows;
  p.columns = kernel.schedule.columns;
  SmallVector<GridFactor> grid;
  if (!row.empty())
    grid.push_back({row, p.rows, AxisPlace::Row});
  addBatchAxes(grid, axes, {row, key});
  p.placeBlock(grid);
  setRowsLayout(p, kernel.schedule);

  Value zero = p.constant(0), step = p.constant(p.columns);
  Value length = p.length(key);
  Location at = loc;
  FailureOr<Value> sink = Value();
  ElementwiseLowering outer(p, kernel.tensorOf);
  if (softmax.getSink()) {
    sink = outer.evaluate(softmax.getSink());
    if (failed(sink))
      return failure();
  }
  OnlineSoftmax online(p);
  OnlineSoftmax::State start = online.start(*sink);

  // Keys that masks of this kernel make dead for every row of the block are not
  // read; chunks of them have probability 0.
  Value begin = zero, end = length, loadEnd;
  SmallVector<ScoreMask> masks =
      collectMasks(op, softmax.getScores(), maskAxes(row, key, kernel.axes));
  if (!masks.empty() && onlyProbabilities(op, softmax, key)) {
    Value firstRow = row.empty() ? zero : p.places[row].start;
    Value lastRow =
        row.empty() ? zero
                    : p.sub(p.min(p.add(firstRow, p.constant(p.rows)), p.length(row)),
                            p.constant(1));
    FailureOr<LiveKeys> live =
        emitLiveKeys(p, outer, masks, firstRow, lastRow, length);
    if (failed(live))
      return failure();
    begin = p.mul(p.floorDiv(live->low, p.columns), step);
    end = live->high;
    if (!row.empty() && (end != length || !matchPattern(begin, m_Zero())))
      sayLive(p, row, key);
    if (end != length) // Whole pieces, so that a lane's loads stay together.
      loadEnd = p.min(length, p.mul(p.ceilDiv(end, 16), p.constant(16)));
  }

  /// The masked scores of the chunk that starts at n0.
  auto scores = [&](Value n0) -> FailureOr<Value> {
    p.places[key] = {AxisPlace::Column, n0, loadEnd};
    ElementwiseLowering values(p, kernel.tensorOf);
    FailureOr<Value> s = values.evaluate(softmax.getScores());
    if (failed(s))
      return failure();
    return online.maskTail(p.expand(p.toF32(*s), p.rows, p.columns), key);
  };

  bool failedInside = false;
  auto first = scf::ForOp::create(
      p.b, at, begin, end, step,
      ValueRange{start.maximum, start.sum, online.start(Value()).maximum},
      [&](OpBuilder &inner, Location loc, Value n0, ValueRange carried) {
        OpBuilder::InsertionGuard guard(p.b);
        p.b.setInsertionPointToEnd(inner.getInsertionBlock());
        FailureOr<Value> s = scores(n0);
        failedInside |= failed(s);
        if (failed(s)) {
          scf::YieldOp::create(p.b, loc, carried);
          return;
        }
        OnlineSoftmax::Step step =
            online.step(OnlineSoftmax::State{carried[0], carried[1]}, *s);
        Value largest =
            arith::MaxNumFOp::create(p.b, loc, carried[2], step.largest);
        scf::YieldOp::create(
            p.b, loc, ValueRange{step.next.maximum, step.next.sum, largest});
      });
  if (failedInside)
    return failure();
  OnlineSoftmax::State state{first.getResult(0), first.getResult(1)};
  OnlineSoftmax::Line line = online.line(state.maximum, first.getResult(2));
  Value inverse = online.inverse(state.sum);

  SmallVector<unsigned> perKey, perRow;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    (llvm::is_contained(axesOf(result), key) ? perKey : perRow).push_back(i);
  if (!perRow.empty()) {
    p.places.erase(key);
    outer.define(softmax.getLse(), online.logSumExp(state));
    if (failed(storeResults(kernel, p, outer, row, "", perRow)))
      return failure();
  }
  if (perKey.empty())
    return success();
  /// Stores what `probability` (of the chunk's place, in its chunk) gives for the
  /// chunks that start in [from, to).
  auto store = [&](Value from, Value to,
                   llvm::function_ref<FailureOr<Value>(Value)> probability) {
    scf::ForOp::create(
        p.b, at, from, to, step, ValueRange(),
        [&](OpBuilder &inner, Location loc, Value n0, ValueRange) {
          OpBuilder::InsertionGuard guard(p.b);
          p.b.setInsertionPointToEnd(inner.getInsertionBlock());
          FailureOr<Value> made = probability(n0);
          failedInside |= failed(made);
          if (succeeded(made)) {
            ElementwiseLowering values(p, kernel.tensorOf);
            values.define(softmax.getProbabilities(), *made);
            if (softmax.getLse())
              values.define(softmax.getLse(), online.logSumExp(state));
            failedInside |=
                failed(storeResults(kernel, p, values, row, key, perKey));
          }
          scf::YieldOp::create(p.b, loc);
        });
  };
  auto dead = [&](Value n0) -> FailureOr<Value> {
    p.places[key] = {AxisPlace::Column, n0, Value()};
    auto type = RankedTensorType::get({p.rows, p.columns}, p.b.getF32Type());
    return arith::ConstantOp::create(
               p.b, loc, DenseElementsAttr::get(type, p.b.getF32FloatAttr(0)))
        .getResult();
  };
  store(begin, end, [&](Value n0) -> FailureOr<Value> {
    FailureOr<Value> s = scores(n0);
    if (failed(s))
      return failure();
    Value probability = online.probability(*s, line);
    return arith::MulFOp::create(p.b, loc, probability,
                                 p.expand(inverse, p.rows, p.columns))
        .getResult();
  });
  if (!matchPattern(begin, m_Zero()))
    store(zero, begin, dead);
  if (end != length) {
    Value visited = p.max(p.sub(end, begin), zero);
    Value after = p.mul(p.ceilDiv(visited, p.columns), step);
    store(p.add(begin, after), length, dead);
  }
  return failure(failedInside);
}
