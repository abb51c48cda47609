//===- LowerFlash.cpp - both matmuls in one kernel ------------------------===//
//
// A block of rows walks over the keys: scores, score modifications, online
// softmax (or none), values. The score matrix never leaves the registers.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/FlashParts.h"
#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/KeyBounds.h"
#include "lib/Schedule/KeyOffset.h"
#include "lib/Schedule/MeasuredKeys.h"
#include "lib/Schedule/OnlineSoftmax.h"
#include "lib/Schedule/RowLimits.h"
#include "lib/Schedule/ScoreBound.h"
#include "lib/Schedule/ScoreMasks.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace attn;

/// Takes a positive constant factor off scores that nothing uses yet but masks:
/// masking commutes with it, and the softmax has it in its exponent. Gives the
/// factor.
static double takeFactor(Value &scores) {
  tile::MaskOp above;
  Value at = scores;
  auto unshared = [&] { return above ? at.hasOneUse() : at.use_empty(); };
  while (auto mask = at.getDefiningOp<tile::MaskOp>()) {
    if (mask.getZero() || !unshared())
      return 1;
    above = mask;
    at = mask.getValue();
  }
  auto product = at.getDefiningOp<arith::MulFOp>();
  double factor = product ? constantOf(product.getRhs()).value_or(0) : 0;
  if (!unshared() || !(factor > 1e-30 && factor < 1e30))
    return 1;
  if (above)
    above.getValueMutable().assign(product.getLhs());
  else
    scores = product.getLhs();
  product.erase();
  return factor * takeFactor(scores);
}

LogicalResult attn::lowerFlash(const KernelContext &kernel, ProgramBuilder &p) {
  FailureOr<FlashParts> found = findFlashParts(kernel);
  if (failed(found))
    return failure();
  FlashParts &parts = *found;
  KernelOp op = kernel.kernel;
  Location loc = op.getLoc();
  const Schedule &s = kernel.schedule;
  TensorInfo query = kernel.tensorOf(parts.query);
  TensorInfo key = kernel.tensorOf(parts.key);
  TensorInfo value = kernel.tensorOf(parts.value);
  if (query.element != key.element)
    return op.emitError("no schedule: query is ") << query.element << " but key is "
                                     << key.element << "; cast one of them";
  auto contracted = kernel.axes.find(parts.contracted);
  int64_t depth = contracted == kernel.axes.end() ? 0 : contracted->second.extent;
  if (depth == 0)
    return op.emitError("axis '") << parts.contracted
           << "' must have a known length; add it to the where clause or pass "
              "--bind " << parts.contracted << "=LENGTH";
  depth = llvm::alignTo(depth, 16);

  // Where the block stands.
  p.rows = s.rows;
  SmallVector<GridFactor> grid;
  auto outExtent = kernel.axes.find(parts.out);
  bool wholeOut = outExtent != kernel.axes.end() &&
                  outExtent->second.extent > 0 &&
                  outExtent->second.extent <= s.outColumns;
  if (!parts.out.empty() && !wholeOut)
    grid.push_back({parts.out, s.outColumns, AxisPlace::Column});
  // A cluster's blocks share a tile of the grid, a part of its rows each.
  const int64_t blockRows = s.rows * std::max<int64_t>(1, s.groups);
  const int64_t tileRows = blockRows * s.cluster;
  if (s.cluster > 1 && parts.row.empty())
    return op.emitError("a cluster shares the keys of neighbouring rows, and there is "
                        "no axis of rows; use cluster=1");
  if (!parts.row.empty())
    grid.push_back({parts.row, tileRows, AxisPlace::Row, /*reversed=*/true});
  SmallVector<std::string> batch = axesOf(parts.probabilities);
  for (const std::string &axis : axesOf(parts.value))
    if (!llvm::is_contained(batch, axis) && axis != parts.out)
      batch.push_back(axis); // An axis only the values have.
  for (const std::string &axis : llvm::reverse(batch))
    if (axis != parts.row && axis != parts.keyAxis &&
        p.reachedThrough(axis).empty()) {
      bool nestedLater = llvm::any_of(batch, [&](const std::string &o) {
        const AxisInfo &info = kernel.axes.find(o)->second;
        return info.inner == axis || info.group == axis;
      });
      if (!nestedLater)
        grid.push_back({axis, 1, AxisPlace::Batch});
    }
  if (s.groups > 0) {
    // Masked tiles differ in length; others stay in the order of memory.
    bool uneven = !op.getBody().getOps<MaskOp>().empty();
    int64_t perKey = (depth + s.outColumns) * 2;
    p.placeTiles(grid, uneven ? p.mul(p.length(parts.keyAxis), p.constant(perKey))
                              : Value());
  } else {
    p.placeBlock(grid);
  }
  setAccumulatorLayout(p, s);

  // With warp groups the program is one group's: its rows start further down.
  const bool grouped = s.groups > 0;
  Value zero = p.constant(0);
  Value tileStart = parts.row.empty() ? zero : p.places[parts.row].start;
  Value blockStart =
      s.cluster > 1 ? placeInCluster(p, parts.row, blockRows) : tileStart;
  Value rowStart = blockStart;
  if (grouped) {
    rowStart = placeGroup(p, parts.row, s.rows);
  }
  Value outStart = zero;
  if (p.places.contains(parts.out)) {
    outStart = p.places[parts.out].start;
    p.places.erase(parts.out);
  }
  Type f32 = p.b.getF32Type();
  auto queryType = RankedTensorType::get({s.rows, depth}, query.element);
  Value queryTile, keyView, valueView;
  if (grouped) {
    queryTile = p.loadBox(query, parts.row, parts.contracted, blockRows, queryType,
                          rowStart, zero);
  } else {
    Value queryView = p.view(query, parts.row, parts.contracted);
    keyView = p.view(key, parts.keyAxis, parts.contracted);
    valueView = p.view(value, parts.keyAxis, parts.out);
    queryTile = tile::LoadOp::create(p.b, loc, queryType, queryView, rowStart, zero);
  }

  // Which keys.
  auto lastOf = [&](Value first, int64_t rows) {
    if (parts.row.empty())
      return first;
    return p.sub(p.min(p.add(first, p.constant(rows)), p.length(parts.row)),
                 p.constant(1));
  };
  // A group of a ragged last block may have no row at all; it then takes the
  // last row's keys.
  Value firstRow = rowStart, lastRow = lastOf(rowStart, s.rows);
  if (grouped && !s.producer) { // All groups visit the block's keys.
    firstRow = blockStart;
    lastRow = lastOf(blockStart, blockRows);
  } else if (grouped && s.groups * s.cluster > 1) {
    firstRow = p.min(rowStart, p.sub(p.length(parts.row), p.constant(1)));
  }
  ElementwiseLowering outer(p, kernel.tensorOf);
  MeasuredKeys unmeasured;
  if (!kernel.measured)
    unmeasured.masks = collectMasks(kernel, parts);
  const MeasuredKeys &masks = kernel.measured ? *kernel.measured : unmeasured;
  Value keys = p.length(parts.keyAxis);
  FailureOr<KeyBounds> bounds =
      emitKeyBounds(p, outer, masks, firstRow, lastRow, keys, s.columns,
                    grouped && !s.producer ? s.groups : 1);
  if (failed(bounds))
    return failure();
  KeyHull hull{zero, p.constant(1, 32)};
  if (grouped) {
    FailureOr<KeyHull> all =
        emitKeyHull(p, outer, masks, tileStart, lastOf(tileStart, tileRows), keys,
                    s.columns, s.groups * s.cluster);
    if (failed(all))
      return failure();
    hull = *all;
    bounds = atLeastOneBlock(p, *bounds, hull);
  }

  // What is carried.
  const bool sums = s.sums != 0;
  int64_t accumulated = s.outColumns + (sums ? tile::kSumColumns : 0);
  auto outType = RankedTensorType::get({s.rows, accumulated}, f32);
  SmallVector<Value> inits{arith::ConstantOp::create(
      p.b, loc, DenseElementsAttr::get(outType, p.b.getF32FloatAttr(0)))};
  OnlineSoftmax online(p);
  online.polynomial = s.polynomial;
  online.packed = s.packed;
  if (grouped && parts.softmax)
    online.fixed = fixedReference(parts.softmax);
  if (parts.softmax) {
    bool exponents = parts.softmax.getLse() && !parts.softmax.getLse().use_empty();
    // The product's sums are of rounded probabilities.
    if (!sums && outlivesRounding(op, parts.out, value.element))
      online.weight = value.element;
    online.summed = !sums || exponents;
    FailureOr<Value> sink = Value();
    if (parts.softmax.getSink()) {
      sink = outer.evaluate(parts.softmax.getSink());
      if (failed(sink))
        return failure();
    }
    OnlineSoftmax::State start =
        grouped ? online.startFolded(*sink) : online.start(*sink);
    if (online.weight && exponents)
      start.weights = start.sum;
    if (sums)
      inits[0] = online.startProduct(*sink, s.outColumns);
    inits.append(start.flat());
  }

  // The loop.
  auto loop = tile::ForKeysOp::create(
      p.b, loc, ValueRange(inits).getTypes(), bounds->fullBegin,
      bounds->fullCount, bounds->leftBegin, bounds->leftCount,
      bounds->rightBegin, bounds->rightCount, hull.begin, hull.count, s.columns,
      inits);
  if (masks.masks.empty())
    loop->setAttr(kTailOnly, p.b.getUnitAttr());
  Block *body = p.b.createBlock(&loop.getBody());
  body->addArgument(p.b.getI32Type(), loc);
  Value n0 = body->addArgument(p.b.getI64Type(), loc);
  SmallVector<Value> carried;
  for (Value init : inits)
    carried.push_back(body->addArgument(init.getType(), loc));

  p.columns = s.columns;
  p.places[parts.keyAxis] = {AxisPlace::Column, n0, Value()};
  bool tf32 = kernel.tf32 && query.element.isF32();
  // Without keys a map still covers one row; reading past it gives zeros.
  Value boxRow = n0;
  if (grouped) {
    Value none = arith::CmpIOp::create(p.b, loc, arith::CmpIPredicate::eq, keys,
                                       p.constant(0));
    boxRow = p.add(n0, arith::ExtUIOp::create(p.b, loc, p.b.getI64Type(), none));
  }
  auto keyType = RankedTensorType::get({s.columns, depth}, key.element);
  // Each block of a cluster brings a part of a tile of keys (values).
  auto boxRows = [&](int64_t width) {
    return tile::partRows(s.columns, width, s.cluster);
  };
  Value keyTile =
      grouped ? p.loadBox(key, parts.keyAxis, parts.contracted, boxRows(depth), keyType,
                          boxRow, zero)
              : tile::LoadOp::create(p.b, loc, keyType, keyView, n0, zero);
  auto scoreType = RankedTensorType::get({s.rows, s.columns}, f32);
  Value none = arith::ConstantOp::create(
      p.b, loc, DenseElementsAttr::get(scoreType, p.b.getF32FloatAttr(0)));
  Value dot = tile::DotOp::create(p.b, loc, scoreType, queryTile, keyTile, none,
                                  /*transposed=*/true, tf32);
  if (grouped && s.producer && s.columns % 64 == 0) // Whole slabs.
    p.boxRows = blockRows;
  ElementwiseLowering inLoop(p, kernel.tensorOf);
  inLoop.define(parts.scores.getResult(), dot);
  // Warp groups apply the last masks together, behind everything else.
  SmallVector<MaskOp> last;
  if (grouped && parts.softmax)
    last = lastMasks(parts);
  for (MaskOp mask : last)
    inLoop.leaveOut(mask);
  FailureOr<Value> scores = inLoop.evaluate(parts.probabilities);
  if (failed(scores))
    return failure();
  p.boxRows = 0;
  Value tailed = p.toF32(p.expand(*scores, s.rows, s.columns));
  if (parts.softmax)
    online.factor = kOneOverLn2 * takeFactor(tailed);
  KeyOffset offset;
  if (grouped && parts.softmax) {
    offset = takeKeyOffset(p, tailed, online.factor);
    FailureOr<Value> alive =
        emitAlive(p, inLoop, last,
                  maskAxes(parts.row, parts.keyAxis, kernel.axes));
    if (failed(alive))
      return failure();
    tailed = tile::MaskOp::create(p.b, loc, scoreType, tailed, *alive,
                                  /*zero=*/false);
  } else {
    tailed = online.maskTail(tailed, parts.keyAxis, /*zero=*/!parts.softmax);
  }

  SmallVector<Value> next;
  Value probability = tailed, accumulator = carried[0];
  ValueRange before = ValueRange(carried).drop_front();
  if (parts.softmax && grouped) {
    OnlineSoftmax::FoldedStep step =
        online.stepFolded(OnlineSoftmax::State::from(before), tailed, offset);
    probability = step.probability;
    accumulator = tile::RescaleOp::create(p.b, loc, outType, accumulator,
                                          step.correction, step.moved);
    next = step.next.flat();
  } else if (parts.softmax) {
    OnlineSoftmax::Step step =
        online.step(OnlineSoftmax::State::from(before), tailed);
    probability = step.probability;
    accumulator = arith::MulFOp::create(
        p.b, loc, accumulator,
        p.expand(step.correction, s.rows, s.outColumns));
    next = step.next.flat();
  }
  if (elementOf(probability) != value.element)
    probability = online.rounded(probability, value.element);
  auto valueType =
      RankedTensorType::get({s.columns, s.outColumns}, value.element);
  Value valueTile =
      grouped ? p.loadBox(value, parts.keyAxis, parts.out, boxRows(s.outColumns),
                          valueType, boxRow, zero)
              : tile::LoadOp::create(p.b, loc, valueType, valueView, n0, outStart);
  accumulator =
      tile::DotOp::create(p.b, loc, outType, probability, valueTile, accumulator,
                          /*transposed=*/false, tf32, sums);
  next.insert(next.begin(), accumulator);
  tile::YieldOp::create(p.b, loc, next);
  p.b.setInsertionPointAfter(loop);
  p.places.erase(parts.keyAxis);

  // The results.
  Value output = loop.getResult(0);
  ElementwiseLowering after(p, kernel.tensorOf);
  SmallVector<unsigned> perOut, perRow;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    (llvm::is_contained(axesOf(result), parts.out) || !parts.softmax ? perOut
                                                                     : perRow)
        .push_back(i);
  if (parts.softmax) {
    auto end = OnlineSoftmax::State::from(loop.getResults().drop_front());
    if (grouped)
      end = online.reduceSum(end);
    Value divisor = end.divisor();
    if (sums) {
      auto apart = tile::SplitSumsOp::create(
          p.b, loc, RankedTensorType::get({s.rows, s.outColumns}, f32),
          RankedTensorType::get({s.rows, 1}, f32), output);
      output = apart.getProduct();
      divisor = apart.getSums();
    }
    output = arith::MulFOp::create(
        p.b, loc, output,
        p.expand(online.inverse(divisor), s.rows, s.outColumns));
    after.define(parts.softmax.getResult(), output);
    if (parts.softmax.getLse())
      after.define(parts.softmax.getLse(), online.logSumExp(end));
  } else {
    after.define(parts.values.getResult(), output);
  }
  if (!perRow.empty() &&
      failed(storeResults(kernel, p, after, parts.row, "", perRow)))
    return failure();
  p.columns = s.outColumns;
  if (!parts.out.empty())
    p.places[parts.out] = {AxisPlace::Column, outStart, Value()};
  if (perOut.empty())
    return success();
  return storeResults(kernel, p, after, parts.row, parts.out, perOut);
}
