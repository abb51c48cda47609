//===- Rings.cpp - stages in rings, and the copies that fill them ---------===//

#include "lib/Schedule/Rings.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;

Value RingBuilder::c32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}
Value RingBuilder::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value RingBuilder::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value RingBuilder::firstOf(Value count) {
  Value some =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count, c32(0));
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), some);
}
Value RingBuilder::other(Value phase) {
  return arith::XOrIOp::create(b, loc, phase, c32(1));
}

Ring RingBuilder::advance(Ring ring, int64_t stages) {
  if (stages == 1)
    return {ring.slot, other(ring.phase)};
  Value next = add(ring.slot, c32(1));
  Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                      c32(stages));
  Value flip = arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps);
  return {arith::SelectOp::create(b, loc, wraps, c32(0), next),
          arith::XOrIOp::create(b, loc, ring.phase, flip)};
}

Value RingBuilder::slabs(Value load, int64_t count, int64_t rows) {
  auto tile = cast<RankedTensorType>(load.getType());
  return tile::AllocSlabsOp::create(
      b, loc,
      tile::SlabsType::get(b.getContext(), count, rows,
                           llvm::alignTo(tile.getDimSize(1), 64),
                           tile.getElementType()));
}

Value RingBuilder::signals(int64_t count, int64_t arrivals) {
  return tile::AllocSignalsOp::create(
      b, loc, tile::SignalsType::get(b.getContext(), count, arrivals));
}

void RingBuilder::copy(Value from, ValueRange coordinates, Value position,
                       Value at, Value slabs, Value signals, Value slot) {
  IRMapping map;
  if (position)
    map.map(position, at);
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getParentOfType<func::FuncOp>() == program;
  };
  for (Value coordinate : coordinates)
    (void)getBackwardSlice(coordinate, &slice, options);
  for (Operation *op : topologicalSort(slice)) {
    if (isa<tile::GroupIdOp>(op)) {
      map.map(op->getResult(0), c32(0));
      continue;
    }
    bool inside = staged->isAncestor(op);
    bool moves = llvm::any_of(op->getOperands(),
                              [&](Value v) { return map.contains(v); });
    if (inside || moves)
      b.clone(*op, map);
  }
  SmallVector<Value> here;
  for (Value v : coordinates)
    here.push_back(map.lookupOrDefault(v));
  tile::CopyBoxOp::create(b, loc, from, here, slabs, signals, slot, /*part=*/Value());
}

Ring RingBuilder::fill(tile::LoadBoxOp load, Value position, Value at,
                       Value slabs, Value full, Value empty, Ring ring,
                       int64_t stages) {
  tile::SignalWaitOp::create(b, loc, empty, ring.slot, other(ring.phase));
  copy(load, position, at, slabs, full, ring.slot);
  return advance(ring, stages);
}

int64_t attn::programNumber(func::FuncOp program, StringRef name,
                            int64_t otherwise) {
  auto attribute = program->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

std::pair<int64_t, int64_t> attn::registerBudget(int64_t groups) {
  switch (groups) {
  case 1:
    return {56, 248}; // 2 groups: capped by the 255 a thread can name.
  case 2:
    return {40, 232}; // 3 x 168
  case 3:
    return {32, 160}; // 4 x 128
  default:
    return {32, 112}; // 5 x 96
  }
}
