//===- MeasuredKeys.cpp - live keys of masks that depend on data ----------===//

#include "lib/Schedule/MeasuredKeys.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// What is measured
//===----------------------------------------------------------------------===//

namespace {
/// The tensors and axes that a condition needs.
struct Needs {
  KernelOp kernel;
  llvm::SetVector<StringRef> axes;
  bool available = true; ///< Nothing comes from a product of this kernel.

  void value(Value v) {
    Operation *op = v.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(v);
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<func::FuncOp>(parent))
        return;
      unsigned skipped =
          parent->getNumOperands() - argument.getOwner()->getNumArguments();
      return tensor(parent->getOperand(skipped + argument.getArgNumber()));
    }
    if (auto index = dyn_cast<IndexOp>(op))
      axes.insert(index.getAxis());
    for (Value operand : op->getOperands())
      if (!isa<RankedTensorType>(operand.getType()))
        value(operand);
      else
        available &= !isInside(operand);
  }

private:
  bool isInside(Value tensor) {
    Operation *op = tensor.getDefiningOp();
    return op && op->getParentOp() == kernel;
  }
  void tensor(Value t) {
    if (auto names = dyn_cast_or_null<AxesAttr>(
            cast<RankedTensorType>(t.getType()).getEncoding()))
      for (auto name : names.getNames())
        axes.insert(name.getValue());
    if (!isInside(t))
      return;
    Operation *op = t.getDefiningOp();
    available &= isa<MapOp, RoundOp, CopyOp>(op);
    for (Value operand : op->getOperands())
      tensor(operand);
    op->walk([&](ReadOp read) { available &= !isInside(read.getTensor()); });
  }
};

/// Numbers the conditions that can be measured.
struct Planner {
  MeasuredKeys &keys;
  Needs needs;

  void visit(MaskRange &range) {
    for (MaskRange &part : range.parts)
      visit(part);
    bool room = 4 * static_cast<int64_t>(keys.conditions.size() + 1) <= keys.rows;
    if (range.kind != MaskRange::Separable || !room)
      return;
    Needs own{needs.kernel, needs.axes};
    for (Value side : {range.rowSide, range.keySide})
      if (side)
        own.value(side);
    if (!own.available)
      return;
    needs = own;
    range.measured = keys.conditions.size();
    keys.conditions.push_back(range);
  }
};
} // namespace

FailureOr<MeasuredKeys> attn::planMeasuredKeys(const KernelContext &kernel) {
  FailureOr<FlashParts> parts = findFlashParts(kernel);
  if (failed(parts))
    return failure();
  MeasuredKeys keys;
  keys.masks = collectMasks(kernel, *parts);
  keys.row = parts->row;
  keys.key = parts->keyAxis;
  keys.rows = kernel.schedule.rows;
  if (keys.row.empty())
    return keys;
  Planner planner{keys, {kernel.kernel, {}}};
  for (ScoreMask &mask : keys.masks)
    if (mask.killsKeys)
      planner.visit(mask.range);

  // The innermost axis of a grid goes fastest: the order of the scores.
  const llvm::SetVector<StringRef> &axes = planner.needs.axes;
  auto isPartOf = [&](StringRef axis, StringRef outer) {
    auto info = kernel.axes.find(outer);
    return info != kernel.axes.end() &&
           (info->second.inner == axis || info->second.group == axis);
  };
  SmallVector<std::string> names;
  for (StringRef axis : axes)
    if (axis != keys.row && axis != keys.key &&
        llvm::none_of(axes, [&](StringRef o) { return isPartOf(axis, o); }))
      names.push_back(axis.str());
  names.push_back(keys.row);
  keys.bounds.element = IntegerType::get(KernelOp(kernel.kernel)->getContext(), 32);
  keys.bounds.axes = names;
  keys.bounds.pad = keys.rows;
  return keys;
}

void MeasuredKeys::read(ProgramBuilder &p, Value at, unsigned which,
                        Value (&found)[4]) const {
  Location loc = p.program.getLoc();
  Value first = p.mul(p.floorDiv(at, rows), p.constant(rows));
  Value start = p.add(p.batchOffset(bounds), first);
  for (int64_t i = 0; i < 4; ++i) {
    Value offset = p.add(start, p.constant(4 * int64_t(which) + i));
    Value number = tile::GatherOp::create(p.b, loc, bounds.element,
                                          p.pointer(bounds), offset,
                                          p.constant(1, 1));
    found[i] = arith::ExtSIOp::create(p.b, loc, p.b.getI64Type(), number);
  }
}

//===----------------------------------------------------------------------===//
// The measuring kernel
//===----------------------------------------------------------------------===//

/// Keys that are tested at once, by one warp: 16 a lane, all on their way together.
static constexpr int64_t kKeys = 512;

namespace {
/// Least and largest value of the block's rows, 1x1 tiles. Of floats those that are
/// numbers; `anyNan` (i1, 1x1) says that some are not.
struct RowValues {
  Value least, most, anyNan;
};

struct Measurer {
  ProgramBuilder &p;
  const MeasuredKeys &keys;
  const KernelContext &kernel;
  Location loc;
  Value rowStart;

  Measurer(ProgramBuilder &p, const MeasuredKeys &keys,
           const KernelContext &kernel)
      : p(p), keys(keys), kernel(kernel), loc(p.program.getLoc()) {}

  LogicalResult run();

private:
  FailureOr<RowValues> rowValues(const MaskRange &condition);
  LogicalResult measure(const MaskRange &condition, unsigned which, Value out);
  /// (alive for some row, alive for every row), i1 like `key`.
  std::pair<Value, Value> test(const MaskRange &condition, const RowValues &row,
                               Value key);
  FailureOr<Value> side(Value region, ElementwiseLowering &values);

  /// Elementwise operations on values of mixed shape.
  template <typename Op> Value make(Value x, Value y) {
    Value both[] = {x, y};
    p.unify(both);
    return Op::create(p.b, loc, both[0], both[1]);
  }
  Value compare(Order order, Value x, Value y);
  Value select(Value c, Value x, Value y) {
    Value all[] = {c, x, y};
    p.unify(all);
    return arith::SelectOp::create(p.b, loc, all[0], all[1], all[2]);
  }
  Value flip(Value x) { return make<arith::XOrIOp>(x, p.intLike(x, -1)); }
  Value reduce(tile::ReduceKind kind, Value x) {
    return tile::ReduceOp::create(
        p.b, loc, RankedTensorType::get({1, 1}, elementOf(x)), kind, x);
  }
  Value narrow(Value x) {
    return p.b.createOrFold<arith::TruncIOp>(loc, p.b.getI32Type(), x);
  }
};
} // namespace

Value Measurer::compare(Order order, Value x, Value y) {
  using Int = arith::CmpIPredicate;
  using Float = arith::CmpFPredicate;
  static constexpr std::pair<Int, Float> predicates[] = {
      {Int::slt, Float::OLT},
      {Int::sle, Float::OLE},
      {Int::eq, Float::OEQ},
      {Int::sge, Float::OGE},
      {Int::sgt, Float::OGT}};
  auto [ofInts, ofFloats] = predicates[static_cast<int>(order)];
  Value both[] = {x, y};
  p.unify(both);
  if (isa<FloatType>(elementOf(x)))
    return arith::CmpFOp::create(p.b, loc, ofFloats, both[0], both[1]);
  return arith::CmpIOp::create(p.b, loc, ofInts, both[0], both[1]);
}

/// One side of a condition as i32, i64 or f32.
FailureOr<Value> Measurer::side(Value region, ElementwiseLowering &values) {
  if (!region) // It stands for `true`.
    return p.constant(1, 32);
  FailureOr<Value> value = values.evaluateElement(region);
  if (failed(value))
    return failure();
  Type element = elementOf(*value);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(p.b, loc, typeLike(*value, p.b.getI32Type()),
                                  *value)
        .getResult();
  return isa<FloatType>(element) ? p.toF32(*value) : *value;
}

FailureOr<RowValues> Measurer::rowValues(const MaskRange &condition) {
  p.columns = llvm::alignTo(keys.rows, 32);
  p.places[keys.row] = {AxisPlace::Column, rowStart, nullptr};
  ElementwiseLowering values(p, kernel.tensorOf);
  FailureOr<Value> value = side(condition.rowSide, values);
  if (failed(value))
    return failure();
  Value x = p.expand(*value, 1, p.columns);
  Value row = p.index(keys.row, p.b.getI32Type());
  Value end = p.min(p.add(rowStart, p.constant(keys.rows)), p.length(keys.row));
  Value inside = compare(Order::Less, row, narrow(end));
  p.places.erase(keys.row);

  RowValues result;
  if (isa<FloatType>(elementOf(x))) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Value isNan = arith::CmpFOp::create(p.b, loc, arith::CmpFPredicate::UNO, x, x);
    Value nan = make<arith::AndIOp>(isNan, inside);
    Value ones = arith::ExtUIOp::create(
        p.b, loc, typeLike(nan, p.b.getI32Type()), nan);
    Value some = reduce(tile::ReduceKind::MaxInt, ones);
    result.anyNan = compare(Order::Equal, some, p.intLike(some, 1));
    Value usable = make<arith::AndIOp>(flip(isNan), inside);
    Value lowest = p.floatLike(x, -kInfinity);
    result.most = reduce(tile::ReduceKind::Max, select(usable, x, lowest));
    Value opposite = arith::NegFOp::create(p.b, loc, x);
    result.least = arith::NegFOp::create(
        p.b, loc, reduce(tile::ReduceKind::Max, select(usable, opposite, lowest)));
    return result;
  }
  // -1 - x turns the order around without overflow.
  unsigned width = elementOf(x).getIntOrFloatBitWidth();
  Value lowest = p.intLike(x, llvm::APInt::getSignedMinValue(width).getSExtValue());
  result.most = reduce(tile::ReduceKind::MaxInt, select(inside, x, lowest));
  result.least =
      flip(reduce(tile::ReduceKind::MaxInt, select(inside, flip(x), lowest)));
  return result;
}

std::pair<Value, Value> Measurer::test(const MaskRange &condition,
                                       const RowValues &row, Value key) {
  Value some, every;
  switch (condition.order) {
  case Order::Less:
  case Order::LessEqual:
    some = compare(condition.order, row.least, key);
    every = compare(condition.order, row.most, key);
    break;
  case Order::Greater:
  case Order::GreaterEqual:
    some = compare(condition.order, row.most, key);
    every = compare(condition.order, row.least, key);
    break;
  case Order::Equal:
    some = make<arith::AndIOp>(compare(Order::LessEqual, row.least, key),
                               compare(Order::GreaterEqual, row.most, key));
    every = make<arith::AndIOp>(compare(Order::Equal, row.least, key),
                                compare(Order::Equal, row.most, key));
    break;
  }
  if (row.anyNan)
    every = make<arith::AndIOp>(every, flip(row.anyNan));
  if (!condition.negated)
    return {some, every};
  return {flip(every), flip(some)};
}

LogicalResult Measurer::measure(const MaskRange &condition, unsigned which,
                                Value out) {
  FailureOr<RowValues> row = rowValues(condition);
  if (failed(row))
    return failure();
  p.columns = kKeys;
  Value length = p.length(keys.key), end = narrow(length);
  Type i32 = p.b.getI32Type();
  auto type = RankedTensorType::get({1, kKeys}, i32);
  auto fill = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(
        p.b, loc, DenseElementsAttr::get(type, p.b.getI32IntegerAttr(n)));
  };
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  Value lowest = fill(kLowest), before = fill(-1), zero = fill(0), one = fill(1);

  // Carried, a column each: -1 - first and last key that is alive for some row,
  // the same for every row, and how many those are.
  bool failedInside = false;
  auto loop = scf::ForOp::create(
      p.b, loc, p.constant(0), length, p.constant(kKeys),
      ValueRange{lowest, before, lowest, before, zero},
      [&](OpBuilder &inner, Location, Value n0, ValueRange carried) {
        OpBuilder::InsertionGuard guard(p.b);
        p.b.setInsertionPointToEnd(inner.getInsertionBlock());
        p.places[keys.key] = {AxisPlace::Column, n0, nullptr};
        ElementwiseLowering values(p, kernel.tensorOf);
        FailureOr<Value> key = side(condition.keySide, values);
        failedInside |= failed(key);
        if (failed(key)) {
          scf::YieldOp::create(p.b, loc, carried);
          return;
        }
        Value n = p.index(keys.key, i32);
        Value inside = compare(Order::Less, n, end);
        auto [some, every] =
            test(condition, *row, p.expand(*key, 1, kKeys));
        some = make<arith::AndIOp>(some, inside);
        every = make<arith::AndIOp>(every, inside);
        SmallVector<Value> next;
        for (unsigned i : {0u, 1u}) {
          Value alive = i == 0 ? some : every;
          next.push_back(make<arith::MaxSIOp>(carried[2 * i],
                                              select(alive, flip(n), lowest)));
          next.push_back(make<arith::MaxSIOp>(carried[2 * i + 1],
                                              select(alive, n, before)));
        }
        next.push_back(
            make<arith::AddIOp>(carried[4], select(every, one, zero)));
        scf::YieldOp::create(p.b, loc, next);
      });
  p.places.erase(keys.key);
  if (failedInside)
    return failure();

  Value found[4];
  for (unsigned i : {0u, 1u}) {
    found[2 * i] = flip(reduce(tile::ReduceKind::MaxInt, loop.getResult(2 * i)));
    Value last = reduce(tile::ReduceKind::MaxInt, loop.getResult(2 * i + 1));
    found[2 * i + 1] = make<arith::AddIOp>(last, p.intLike(last, 1));
  }
  // Keys that are alive for every row make a range only when none is missing.
  Value count = reduce(tile::ReduceKind::Add, loop.getResult(4));
  Value unbroken = compare(Order::Equal, count,
                           make<arith::SubIOp>(found[3], found[2]));
  for (unsigned i : {2u, 3u})
    found[i] = select(unbroken, found[i], p.intLike(found[i], 0));
  for (int64_t i = 0; i < 4; ++i)
    tile::StoreOp::create(
        p.b, loc, found[i], out, p.constant(0),
        p.add(rowStart, p.constant(4 * int64_t(which) + i)));
  return success();
}

LogicalResult Measurer::run() {
  p.rows = 1;
  SmallVector<GridFactor> grid{{keys.row, keys.rows, AxisPlace::Column}};
  for (const std::string &axis : llvm::reverse(keys.bounds.axes))
    if (axis != keys.row)
      grid.push_back({axis, 1, AxisPlace::Batch});
  p.placeBlock(grid);
  Schedule layout;
  layout.warps = layout.vector = 1;
  setRowsLayout(p, layout);
  rowStart = p.places[keys.row].start;
  Value one = p.constant(1);
  Value columns = p.mul(p.ceilDiv(p.length(keys.row), keys.rows),
                        p.constant(keys.rows));
  Value out = tile::ViewOp::create(
      p.b, loc, tile::ViewType::get(p.b.getContext(), keys.bounds.element),
      p.pointer(keys.bounds), p.batchOffset(keys.bounds), one, columns,
      p.constant(0), one, p.b.getI64IntegerAttr(0));
  p.places.erase(keys.row);
  for (auto [i, condition] : llvm::enumerate(keys.conditions))
    if (failed(measure(condition, i, out)))
      return failure();
  return success();
}

LogicalResult attn::lowerMeasuredKeys(const KernelContext &kernel,
                                      const MeasuredKeys &keys,
                                      ProgramBuilder &p) {
  return Measurer(p, keys, kernel).run();
}
