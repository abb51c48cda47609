//===- LowerSimple.cpp - pointwise kernels and softmax over rows ----------===//
//
// Kernels that move memory: a warp owns whole rows, lanes take 16 bytes at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/OnlineSoftmax.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

  /// The masked scores of the chunk that starts at n0.
  auto scores = [&](Value n0) -> FailureOr<Value> {
    p.places[key] = {AxisPlace::Column, n0};
    ElementwiseLowering values(p, kernel.tensorOf);
    FailureOr<Value> s = values.evaluate(softmax.getScores());
    if (failed(s))
      return failure();
    return online.maskTail(p.expand(*s, p.rows, p.columns), key);
  };

  bool failedInside = false;
  auto first = scf::ForOp::create(
      p.b, at, zero, length, step, ValueRange{start.maximum, start.sum},
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
        scf::YieldOp::create(p.b, loc,
                             ValueRange{step.next.maximum, step.next.sum});
      });
  if (failedInside)
    return failure();
  OnlineSoftmax::State end{first.getResult(0), first.getResult(1)};
  Value shift = online.shift(end.maximum);
  Value inverse = online.inverse(end.sum);

  SmallVector<unsigned> perKey, perRow;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    (llvm::is_contained(axesOf(result), key) ? perKey : perRow).push_back(i);
  if (!perRow.empty()) {
    p.places.erase(key);
    outer.define(softmax.getLse(), online.logSumExp(end));
    if (failed(storeResults(kernel, p, outer, row, "", perRow)))
      return failure();
  }
  if (perKey.empty())
    return success();
  scf::ForOp::create(
      p.b, at, zero, length, step, ValueRange(),
      [&](OpBuilder &inner, Location loc, Value n0, ValueRange) {
        OpBuilder::InsertionGuard guard(p.b);
        p.b.setInsertionPointToEnd(inner.getInsertionBlock());
        FailureOr<Value> s = scores(n0);
        failedInside |= failed(s);
        if (succeeded(s)) {
          Value probability = online.probability(*s, shift);
          probability = arith::MulFOp::create(
              p.b, loc, probability, p.expand(inverse, p.rows, p.columns));
          ElementwiseLowering values(p, kernel.tensorOf);
          values.define(softmax.getProbabilities(), probability);
          if (softmax.getLse())
            values.define(softmax.getLse(), online.logSumExp(end));
          failedInside |=
              failed(storeResults(kernel, p, values, row, key, perKey));
        }
        scf::YieldOp::create(p.b, loc);
      });
  return failure(failedInside);
}
