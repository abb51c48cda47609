//===- PersistTiles.cpp - a block works on one tile after the other -------===//
//
// Each role of a tile.specialize gets a loop over tiles around it; what was
// computed from the block's number is computed from the tile's instead, inside.
// The rings run on from tile to tile, so the producer fetches the next tile's
// first stages while the consumers still finish this one.
//
//   static   tile = block, block + blocks launched, ...
//   dynamic  the producer takes tiles from a counter in device memory and posts
//            the number in shared memory under the queries' signal. A block
//            that got long tiles takes fewer.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Rings.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_PERSISTTILESPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct Persister {
  func::FuncOp program;
  tile::SpecializeOp roles;
  tile::BlockIdOp block;
  OpBuilder b;
  Location loc;
  SmallVector<Operation *> placement; ///< Depends on the block's number.

  Persister(func::FuncOp program, tile::SpecializeOp roles, tile::BlockIdOp block)
      : program(program), roles(roles), block(block), b(roles),
        loc(roles.getLoc()) {}

  LogicalResult findPlacement();
  void makeStatic(Block &role);
  void makeDynamic();

private:
  Value c32(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }
  /// Moves a role's operations to the insertion point, for `tile` and with these
  /// positions in the rings; gives the positions after it.
  SmallVector<Value> place(Block &role, ArrayRef<Operation *> work, Value tile,
                           ValueRange positions);
  static SmallVector<Operation *> workOf(Block &role) {
    SmallVector<Operation *> work;
    for (Operation &op : role.without_terminator())
      work.push_back(&op);
    return work;
  }
  void finish(Block &role, ValueRange positions);
};
} // namespace

LogicalResult Persister::findPlacement() {
  SetVector<Operation *> slice;
  ForwardSliceOptions options;
  options.filter = [&](Operation *op) { return op->getParentOp() == program; };
  getForwardSlice(block.getOperation(), &slice, options);
  for (Operation &op : program.getBody().front()) {
    if (!slice.contains(&op) || &op == roles)
      continue;
    if (!isMemoryEffectFree(&op))
      return op.emitOpError("depends on the block's number and cannot be done "
                            "once for each tile");
    placement.push_back(&op);
  }
  return success();
}

SmallVector<Value> Persister::place(Block &role, ArrayRef<Operation *> work,
                                    Value tile, ValueRange positions) {
  IRMapping map;
  map.map(block.getResult(), tile);
  for (Operation *op : placement)
    b.clone(*op, map);
  for (auto [argument, position] : llvm::zip(role.getArguments(), positions))
    argument.replaceAllUsesWith(position);
  Operation *end = role.getTerminator();
  Block *target = b.getInsertionBlock();
  for (Operation *op : work) {
    op->moveBefore(target, b.getInsertionPoint());
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        operand.set(map.lookupOrDefault(operand.get()));
    });
  }
  SmallVector<Value> after;
  for (Value position : end->getOperands())
    after.push_back(map.lookupOrDefault(position));
  return after;
}

void Persister::finish(Block &role, ValueRange positions) {
  Operation *end = role.getTerminator();
  end->setOperands(positions);
}

void Persister::makeStatic(Block &role) {
  SmallVector<Operation *> work = workOf(role);
  b.setInsertionPointToStart(&role);
  Value first = tile::BlockIdOp::create(b, loc, b.getI32Type(), Value());
  Value step = tile::GridDimOp::create(b, loc, b.getI32Type());
  SmallVector<Value> zeros(role.getNumArguments(), c32(0));
  auto loop = scf::ForOp::create(b, loc, first, block.getCount(), step, zeros);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> after =
      place(role, work, loop.getInductionVar(), loop.getRegionIterArgs());
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, after);
  finish(role, loop.getResults());
}

void Persister::makeDynamic() {
  // The counter is an argument of its own.
  Type counterType = tile::PtrType::get(b.getContext(), b.getI32Type());
  unsigned number = program.getNumArguments();
  DictionaryAttr what = b.getDictionaryAttr(
      {b.getNamedAttr(tile::kArgAttr, b.getDictionaryAttr({b.getNamedAttr(
                                          "kind", b.getStringAttr("scheduler"))}))});
  (void)program.insertArgument(number, counterType, what, program.getLoc());
  Value counter = program.getArgument(number);
  b.setInsertionPointToStart(&program.getBody().front());
  Value word = tile::AllocWordOp::create(b, loc,
                                         tile::WordType::get(b.getContext()));

  // With several stages of queries the slot is the last position of a role.
  Block &producer = roles.getProducer().front();
  tile::CopyBoxOp query;
  for (auto copy : producer.getOps<tile::CopyBoxOp>())
    if (copy->hasAttr(kQueryCopy))
      query = copy;
  bool several = query.getSlabs().getType().getStages() > 1;
  tile::SignalWaitOp queryEmpty;
  for (Operation *op = query->getPrevNode(); op; op = op->getPrevNode())
    if (auto wait = dyn_cast<tile::SignalWaitOp>(op)) {
      queryEmpty = wait;
      break;
    }
  SmallVector<Operation *> production = workOf(producer);
  b.setInsertionPointToStart(&producer);
  Value first = tile::BlockIdOp::create(b, loc, b.getI32Type(), Value());
  SmallVector<Value> inits{first};
  Value zero = c32(0);
  inits.append(producer.getNumArguments(), zero);
  SmallVector<Type> carried(inits.size(), b.getI32Type());
  auto loop = scf::WhileOp::create(b, loc, carried, inits);
  auto region = [&](Region &r, size_t count) {
    Block *block = b.createBlock(&r);
    for (size_t i = 0; i < count; ++i)
      block->addArgument(b.getI32Type(), loc);
    return block;
  };
  Block *before = region(loop.getBefore(), carried.size());
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), block.getCount());
  scf::ConditionOp::create(b, loc, more, before->getArguments());
  Block *body = region(loop.getAfter(), carried.size());
  Value tile = body->getArgument(0);
  SmallVector<Value> after =
      place(producer, production, tile, ValueRange(body->getArguments()).drop_front());
  b.setInsertionPoint(query);
  tile::PostTileOp::create(b, loc, word, several ? query.getSlot() : Value(), tile);
  b.setInsertionPointToEnd(body);
  SmallVector<Value> yielded{tile::NextTileOp::create(b, loc, b.getI32Type(), counter)};
  yielded.append(after);
  scf::YieldOp::create(b, loc, yielded);
  // No more tiles: say so once the queries' stage is free.
  b.setInsertionPointAfter(loop);
  Value parity = arith::XOrIOp::create(b, loc, loop.getResult(1), c32(1));
  Value slot = several ? loop.getResults().back() : Value();
  Value stage = several ? slot : c32(0);
  tile::SignalWaitOp::create(b, loc, queryEmpty.getSignals(), stage, parity);
  tile::PostTileOp::create(b, loc, word, slot, c32(-1));
  tile::SignalArriveOp::create(b, loc, query.getSignals(), stage, Value());
  tile::FinishTilesOp::create(b, loc, counter);
  finish(producer, loop.getResults().drop_front());

  Block &consumer = roles.getConsumer().front();
  SmallVector<Operation *> consumption = workOf(consumer);
  size_t positions = consumer.getNumArguments();
  b.setInsertionPointToStart(&consumer);
  Value start = c32(0);
  SmallVector<Value> zeros(positions, start);
  SmallVector<Type> results(positions + 1, b.getI32Type());
  auto tiles = scf::WhileOp::create(b, loc, results, zeros);
  Block *ask = region(tiles.getBefore(), positions);
  Value at = several ? Value(ask->getArguments().back()) : Value();
  tile::SignalWaitOp::create(b, loc, query.getSignals(), several ? at : c32(0),
                             ask->getArgument(0));
  Value taken = tile::TakeTileOp::create(b, loc, b.getI32Type(), word, at);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, taken, c32(0));
  SmallVector<Value> passed{taken};
  passed.append(ask->getArguments().begin(), ask->getArguments().end());
  scf::ConditionOp::create(b, loc, some, passed);
  Block *work = region(tiles.getAfter(), positions + 1);
  SmallVector<Value> left = place(consumer, consumption, work->getArgument(0),
                                  ValueRange(work->getArguments()).drop_front());
  b.setInsertionPointToEnd(work);
  scf::YieldOp::create(b, loc, left);
  finish(consumer, tiles.getResults().drop_front());
}

namespace {
struct PersistTiles : attn::impl::PersistTilesPassBase<PersistTiles> {
  using PersistTilesPassBase::PersistTilesPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    auto form = program->getAttrOfType<IntegerAttr>("tile.persistent");
    if (!form || form.getInt() == 0)
      return;
    SmallVector<tile::SpecializeOp> roles;
    SmallVector<tile::BlockIdOp> blocks;
    program.walk([&](Operation *op) {
      if (auto role = dyn_cast<tile::SpecializeOp>(op))
        roles.push_back(role);
      if (auto block = dyn_cast<tile::BlockIdOp>(op))
        blocks.push_back(block);
    });
    if (roles.size() != 1 || blocks.size() != 1 || !blocks[0].getCount()) {
      program.emitError("'tile.persistent' needs one tile.specialize and one "
                        "tile.block_id of a count");
      return signalPassFailure();
    }
    Persister persister(program, roles[0], blocks[0]);
    if (failed(persister.findPlacement()))
      return signalPassFailure();
    if (form.getInt() == 1) {
      persister.makeStatic(roles[0].getProducer().front());
      persister.makeStatic(roles[0].getConsumer().front());
    } else {
      persister.makeDynamic();
    }
    // Placement is dead now; canonicalisation removes it.
  }
};
} // namespace
