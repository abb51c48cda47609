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
// Tiles that may be done again (tile.redo) are always posted, since only the
// producer knows which comes next. Consumers check a tile at its end, raise its
// flag if it failed and arrive on its signal, `judged`; both are rings of two. When
// all of tile i is under way the producer waits for the verdict on tile i - 1, and
// if its flag was raised brings that tile once more, before any fresh one. At the
// end it waits for the last tile's verdict as well. The flag of i - 1 is read
// before tile i + 1 is posted, so two flags are enough; and the signal of i - 1
// cannot complete again before, so its parity is not missed.
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
  /// `counted`: tiles come from a counter. `redo`: where a tile is checked, or null.
  void makePosted(bool counted, tile::RedoOp redo);

private:
  Value judged, flags; ///< Of tiles that may be done again, two slots each.

  /// What the producer carries from tile to tile. It has few registers, so a tile
  /// that is done again is told by a bit of its number.
  struct Course {
    Value number;      ///< What is posted now.
    Value before = {}; ///< What was posted before; null unless tiles are done again.
    Value count = {};  ///< How many were; the place of the verdict on this one.
    Value fresh = {};  ///< Tiles a grid apart: the last that was begun first.

    SmallVector<Value> flat() const {
      SmallVector<Value> all;
      for (Value value : {number, before, count, fresh})
        if (value)
          all.push_back(value);
      return all;
    }
    static Course from(ValueRange all) {
      Course course{all[0]};
      if (all.size() > 1)
        course.before = all[1], course.count = all[2];
      if (all.size() > 3)
        course.fresh = all[3];
      return course;
    }
  };
  static constexpr int64_t kAgain = 1 << 30; ///< The tiles of a launch are fewer.
  Value tileOf(Value number) {
    return arith::AndIOp::create(b, loc, number, c32(~kAgain));
  }
  Value isAgain(Value number) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, number,
                                 c32(kAgain));
  }
  Value addCounter();
  Value freshAfter(Value tile, Value counter);
  Course afterJudging(const Course &now, Value counter);
  void giveVerdict(tile::RedoOp redo, Value slot);

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

Value Persister::addCounter() {
  Type counterType = tile::PtrType::get(b.getContext(), b.getI32Type());
  unsigned number = program.getNumArguments();
  DictionaryAttr what = b.getDictionaryAttr(
      {b.getNamedAttr(tile::kArgAttr, b.getDictionaryAttr({b.getNamedAttr(
                                          "kind", b.getStringAttr("scheduler"))}))});
  (void)program.insertArgument(number, counterType, what, program.getLoc());
  return program.getArgument(number);
}

/// A tile after `tile` that nobody has begun; there may be none of that number.
Value Persister::freshAfter(Value tile, Value counter) {
  if (counter)
    return tile::NextTileOp::create(b, loc, b.getI32Type(), counter);
  return arith::AddIOp::create(
      b, loc, tile, tile::GridDimOp::create(b, loc, b.getI32Type()));
}

/// What comes after the tile that the producer has just brought. The one before it
/// is judged first: its consumers have had a tile's time, so nobody waits.
Persister::Course Persister::afterJudging(const Course &now, Value counter) {
  // Whether `number`, the tile posted as the count-th, is to be done again. One that
  // was is as right as it can be: NaN stays NaN.
  auto judge = [&](Value count, Value number) -> Value {
    Value slot = arith::AndIOp::create(b, loc, count, c32(1));
    Value round = arith::ShRUIOp::create(b, loc, count, c32(1));
    tile::SignalWaitOp::create(b, loc, judged, slot,
                               arith::AndIOp::create(b, loc, round, c32(1)));
    Value raised = tile::TakeFlagOp::create(b, loc, b.getI1Type(), flags, slot);
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number,
                                        c32(kAgain));
    return arith::AndIOp::create(b, loc, raised, first);
  };
  auto either = [&](Value condition, llvm::function_ref<Value()> yes,
                    llvm::function_ref<Value()> no) -> Value {
    auto in = [&](llvm::function_ref<Value()> branch) {
      return [this, branch](OpBuilder &inner, Location) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(inner.saveInsertionPoint());
        scf::YieldOp::create(b, loc, branch());
      };
    };
    return scf::IfOp::create(b, loc, condition, in(yes), in(no)).getResult(0);
  };
  auto again = [&](Value number) -> Value {
    return arith::OrIOp::create(b, loc, number, c32(kAgain));
  };
  // Before the first tile (count - 1 is -1) nothing was flagged, and a fresh signal
  // has passed the round before its first.
  Value redo = judge(arith::SubIOp::create(b, loc, now.count, c32(1)), now.before);
  Course next;
  if (now.fresh) {
    next.fresh = arith::SelectOp::create(b, loc, redo, now.fresh,
                                         freshAfter(now.fresh, counter));
    next.number = arith::SelectOp::create(b, loc, redo, again(now.before), next.fresh);
  } else {
    next.number = either(
        redo, [&] { return again(now.before); },
        [&] { return freshAfter(Value(), counter); });
  }
  next.before = now.number;
  next.count = arith::AddIOp::create(b, loc, now.count, c32(1));
  // After the last one its own verdict decides.
  Value over = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                     tileOf(next.number), block.getCount());
  next.number = either(
      over,
      [&]() -> Value {
        return arith::SelectOp::create(b, loc, judge(now.count, now.number),
                                       again(now.number), next.number);
      },
      [&] { return next.number; });
  return next;
}

void Persister::makePosted(bool counted, tile::RedoOp redo) {
  Value counter = counted ? addCounter() : Value();
  b.setInsertionPointToStart(&program.getBody().front());
  Value word = tile::AllocWordOp::create(b, loc,
                                         tile::WordType::get(b.getContext()));
  if (redo) {
    int64_t warps = 4 * static_cast<int64_t>(roles.getGroups());
    judged = tile::AllocSignalsOp::create(
        b, loc, tile::SignalsType::get(b.getContext(), 2, warps));
    flags = tile::AllocFlagsOp::create(b, loc,
                                       tile::FlagsType::get(b.getContext(), 2));
  }

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
  Value zero = c32(0);
  Course start{first};
  if (redo)
    start = {first, first, zero, counted ? Value() : first};
  SmallVector<Value> inits = start.flat();
  const size_t steering = inits.size();
  inits.append(producer.getNumArguments(), zero);
  auto loop = scf::WhileOp::create(b, loc, ValueRange(inits).getTypes(), inits);
  auto region = [&](Region &r, TypeRange types) {
    Block *block = b.createBlock(&r);
    for (Type type : types)
      block->addArgument(type, loc);
    return block;
  };
  Block *before = region(loop.getBefore(), loop.getResultTypes());
  Value more = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::slt,
      redo ? tileOf(before->getArgument(0)) : before->getArgument(0), block.getCount());
  scf::ConditionOp::create(b, loc, more, before->getArguments());
  Block *body = region(loop.getAfter(), loop.getResultTypes());
  ValueRange carried = body->getArguments();
  Course now = Course::from(carried.take_front(steering));
  Value tile = redo ? tileOf(now.number) : now.number;
  SmallVector<Value> after =
      place(producer, production, tile, carried.drop_front(steering));
  b.setInsertionPoint(query);
  tile::PostTileOp::create(b, loc, word, several ? query.getSlot() : Value(), tile,
                           redo ? isAgain(now.number) : Value());
  b.setInsertionPointToEnd(body);
  SmallVector<Value> yielded =
      (redo ? afterJudging(now, counter) : Course{freshAfter(now.number, counter)})
          .flat();
  yielded.append(after);
  scf::YieldOp::create(b, loc, yielded);
  // No more tiles: say so once the queries' stage is free.
  b.setInsertionPointAfter(loop);
  ValueRange left = loop.getResults().drop_front(steering);
  Value parity = arith::XOrIOp::create(b, loc, left[0], c32(1));
  Value slot = several ? left.back() : Value();
  Value stage = several ? slot : c32(0);
  tile::SignalWaitOp::create(b, loc, queryEmpty.getSignals(), stage, parity);
  tile::PostTileOp::create(b, loc, word, slot, c32(-1), Value());
  tile::SignalArriveOp::create(b, loc, query.getSignals(), stage, Value());
  if (counter)
    tile::FinishTilesOp::create(b, loc, counter);
  finish(producer, left);

  // The consumers.
  Block &consumer = roles.getConsumer().front();
  SmallVector<Operation *> consumption = workOf(consumer);
  const size_t positions = consumer.getNumArguments();
  b.setInsertionPointToStart(&consumer);
  SmallVector<Value> zeros(positions, c32(0));
  SmallVector<Type> passedTypes{b.getI32Type()};
  passedTypes.append(zeros.size(), b.getI32Type());
  if (redo)
    passedTypes.push_back(b.getI1Type());
  auto tiles = scf::WhileOp::create(b, loc, passedTypes, zeros);
  Block *ask = region(tiles.getBefore(), ValueRange(zeros).getTypes());
  Value at = several ? Value(ask->getArguments().back()) : Value();
  tile::SignalWaitOp::create(b, loc, query.getSignals(), several ? at : c32(0),
                             ask->getArgument(0));
  auto taken =
      tile::TakeTileOp::create(b, loc, b.getI32Type(), b.getI1Type(), word, at);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                     taken.getTile(), c32(0));
  SmallVector<Value> passed{taken.getTile()};
  passed.append(ask->getArguments().begin(), ask->getArguments().end());
  if (redo)
    passed.push_back(taken.getAgain());
  scf::ConditionOp::create(b, loc, some, passed);
  Block *work = region(tiles.getAfter(), passedTypes);
  ValueRange here = work->getArguments();
  SmallVector<Value> next =
      place(consumer, consumption, here[0], here.slice(1, positions));
  if (redo) {
    // What alternates from tile to tile: the queries' slot or, with one stage of
    // them, the parity of its phase.
    giveVerdict(redo, several ? here[positions] : here[1]);
    work->walk([&](tile::AgainOp again) {
      again.replaceAllUsesWith(here.back());
      again.erase();
    });
  }
  b.setInsertionPointToEnd(work);
  scf::YieldOp::create(b, loc, next);
  finish(consumer, tiles.getResults().slice(1, positions));
}

/// Where the tile is checked: raises its flag if need be and says that the flag
/// can be read.
void Persister::giveVerdict(tile::RedoOp redo, Value slot) {
  b.setInsertionPoint(redo);
  tile::RaiseFlagOp::create(b, loc, flags, slot, redo.getCondition());
  tile::SignalArriveOp::create(b, loc, judged, slot, Value());
  redo.erase();
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
    tile::RedoOp redo;
    roles[0].getConsumer().walk([&](tile::RedoOp op) { redo = op; });
    if (form.getInt() == 1 && !redo) {
      persister.makeStatic(roles[0].getProducer().front());
      persister.makeStatic(roles[0].getConsumer().front());
    } else {
      persister.makePosted(/*counted=*/form.getInt() == 2, redo);
    }
    // Placement is dead now; canonicalisation removes it.
  }
};
} // namespace
