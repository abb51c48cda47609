//===- SpecializeWarps.cpp - a producer thread and consumer warp groups ---===//
//
// Takes a program that describes one warp group (tile.groups) and divides the
// work of its key loop:
//
//   producer   brings the queries once, then keys and values block by block
//              into rings of stages, as far ahead as the rings allow;
//   consumers  each visit the block's key blocks from the last to the first.
//              Those outside a group's own bounds are handed back unread. The
//              score product of a block is issued together with the value
//              product of the block before it, so that the softmax runs under
//              a product; nothing is in flight over the back edge of a loop.
//
// One step of a consumer, as measured best (toolchain.md says what happens to
// wgmma when this order is disturbed):
//   wait keys; [turn]; S = Q K; wait values; O += P V; [pass turn];
//   S there: free keys; softmax; O there: free values; rescale O; P = round(p).
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/LowerMask.h"
#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// The key loop's body, taken apart.
struct KeyLoop {
  tile::ForKeysOp op;
  tile::LoadBoxOp query, key, value;
  tile::DotOp scores, values;
  tile::RescaleOp rescale; ///< Null without a softmax.
  /// What score functions read of each row and key, brought like the keys.
  SmallVector<tile::LoadMappedOp> captured;
  arith::TruncFOp round;   ///< Probabilities to 16 bits.
  /// From the scores to the probabilities, in order; what the sums and maxima
  /// need as well.
  SmallVector<Operation *> softmax;

  Value start() { return op.getBody().front().getArgument(1); }
  Value carried(unsigned i) { return op.getBody().front().getArgument(2 + i); }
  Operation *yield() { return op.getBody().front().getTerminator(); }
};
} // namespace

static FailureOr<KeyLoop> takeApart(tile::ForKeysOp op) {
  KeyLoop loop;
  loop.op = op;
  auto unfit = [&](const char *what) {
    return op.emitOpError("cannot be specialised: ") << what;
  };
  for (auto dot : op.getBody().getOps<tile::DotOp>())
    (loop.scores ? loop.values : loop.scores) = dot;
  if (!loop.scores || !loop.values)
    return unfit("it must hold the score and the value product");
  loop.query = loop.scores.getA().getDefiningOp<tile::LoadBoxOp>();
  loop.key = loop.scores.getB().getDefiningOp<tile::LoadBoxOp>();
  loop.value = loop.values.getB().getDefiningOp<tile::LoadBoxOp>();
  if (!loop.query || !loop.key || !loop.value)
    return unfit("operands must be read by tile.load_box");
  loop.round = loop.values.getA().getDefiningOp<arith::TruncFOp>();
  if (!loop.round)
    return unfit("probabilities must be rounded to 16 bits");
  loop.rescale = loop.values.getAccumulator().getDefiningOp<tile::RescaleOp>();
  Value accumulated = loop.rescale ? loop.rescale.getValue()
                                   : loop.values.getAccumulator();
  if (accumulated != loop.carried(0) ||
      loop.yield()->getOperand(0) != loop.values.getResult())
    return unfit("the accumulator must be carried first");
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isa<tile::DotOp, tile::LoadBoxOp, tile::RescaleOp>(inner) &&
        &inner != loop.round)
      loop.softmax.push_back(&inner);
  for (auto load : op.getBody().getOps<tile::LoadMappedOp>())
    loop.captured.push_back(load);
  // Operands are 16 bits wide here, so a level that stores the scores rounds them
  // to 2^-9 of their size; the instruction is off by 2^-11, and an index times a
  // slope by 2^-16 of the slope when it is taken apart.
  for (Operation *inner : loop.softmax) {
    if (auto tanh = dyn_cast<math::TanhOp>(inner))
      tanh.setFastmath(arith::FastMathFlags::afn);
    if (auto product = dyn_cast<arith::MulFOp>(inner))
      product.setFastmath(arith::FastMathFlags::reassoc);
  }
  return loop;
}

namespace {
/// A position in a ring of stages: slot, and the parity of its round.
struct Ring {
  Value slot, phase;
};

/// The stages of one captured tensor, each with a block's rows of the tile.
struct Captured {
  tile::LoadMappedOp load;
  Value slabs, full, empty;
};

/// Everything both roles need.
struct Specializer {
  func::FuncOp program;
  KeyLoop loop;
  int64_t groups, stages, turns;
  bool vote;
  OpBuilder b;
  Location loc;

  Value querySlabs, keySlabs, valueSlabs;
  Value queryFull, queryEmpty, keyFull, keyEmpty, valueFull, valueEmpty;
  SmallVector<Captured> captured;

  Specializer(func::FuncOp program, KeyLoop loop, int64_t groups, int64_t stages,
              int64_t turns, bool vote)
      : program(program), loop(loop), groups(groups), stages(stages),
        turns(groups > 1 ? turns : 0), vote(vote), b(loop.op),
        loc(loop.op.getLoc()) {}

  void run();

private:
  Value c32(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value firstOf(Value count) { // 1 when count > 0, else 0
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, count,
                                       c32(0));
    return arith::ExtUIOp::create(b, loc, b.getI32Type(), some);
  }
  /// begin + index * step, i64.
  Value blockStart(Value begin, Value index) {
    return KeyBlocks(loop.op).advance(b, loc, begin, index);
  }
  /// This group's first row within the block's.
  Value firstRow() {
    return b.createOrFold<arith::MulIOp>(
        loc, tile::GroupIdOp::create(b, loc, b.getI32Type()), c32(64));
  }
  static SmallVector<Ring> rings(ValueRange positions) {
    SmallVector<Ring> all;
    for (size_t i = 0; i < positions.size(); i += 2)
      all.push_back({positions[i], positions[i + 1]});
    return all;
  }
  Ring advance(Ring ring, int64_t stages) {
    if (stages == 1)
      return {ring.slot, other(ring.phase)};
    Value next = add(ring.slot, c32(1));
    Value wraps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next,
                                        c32(stages));
    Value flip = arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps);
    return {arith::SelectOp::create(b, loc, wraps, c32(0), next),
            arith::XOrIOp::create(b, loc, ring.phase, flip)};
  }
  Value other(Value phase) {
    return arith::XOrIOp::create(b, loc, phase, c32(1));
  }
  Value slabs(Value load, int64_t count, int64_t rows) {
    auto tile = cast<RankedTensorType>(load.getType());
    return tile::AllocSlabsOp::create(
        b, loc,
        tile::SlabsType::get(b.getContext(), count, rows,
                             llvm::alignTo(tile.getDimSize(1), 64),
                             tile.getElementType()));
  }
  Value signals(int64_t count, int64_t arrivals) {
    return tile::AllocSignalsOp::create(
        b, loc, tile::SignalsType::get(b.getContext(), count, arrivals));
  }

  // Producer.
  void produce(Block *role);
  void copy(Value map, ValueRange coordinates, Value keyStart, Value slabs,
            Value signals, Value slot);
  SmallVector<Ring> fillCaptured(Value keyStart, ArrayRef<Ring> rings);
  Ring fill(tile::LoadBoxOp load, Value keyStart, Value slabs, Value full,
            Value empty, Ring ring, int64_t stages);

  // Consumers.
  struct State {
    Ring query, key, value;
    SmallVector<Ring> captured;
    Value accumulator, probability;
    SmallVector<Value> sums; ///< What the loop carries beside the accumulator.

    SmallVector<Value> flat() const {
      SmallVector<Value> all = positions();
      all.append({accumulator, probability});
      all.append(sums);
      return all;
    }
    /// In the rings of keys, values and captured tensors.
    SmallVector<Value> positions() const {
      SmallVector<Value> all{key.slot, key.phase, value.slot, value.phase};
      for (Ring ring : captured)
        all.append({ring.slot, ring.phase});
      return all;
    }
    void move(ValueRange positions) {
      key = {positions[0], positions[1]};
      value = {positions[2], positions[3]};
      captured = rings(positions.drop_front(4));
    }
    static State from(const State &before, ValueRange all) {
      State s;
      s.query = before.query;
      size_t positions = 4 + 2 * before.captured.size();
      s.move(all.take_front(positions));
      s.accumulator = all[positions];
      s.probability = all[positions + 1];
      s.sums.assign(all.begin() + positions + 2, all.end());
      return s;
    }
  };
  struct Softmaxed {
    Value probability; ///< f32
    SmallVector<Value> sums;
    IRMapping map;
  };
  void consume(Block *role);
  void handBack(State &state, Value count);
  Value issueScores(const State &state);
  void scoresDone(State &state, Value keyStart);
  Value issueValues(const State &state, bool fence);
  Value valuesDone(State &state, Value accumulator);
  Softmaxed softmax(State &state, Value keyStart, Value scores, bool live);
  Value takeCaptured(const Captured &tensor, Ring ring, IRMapping &map);
  Value rounded(Value probability);
  void first(State &state, Value keyStart);
  void step(State &state, Value keyStart, bool live);
  void steps(State &state, Value begin, Value count, bool live);
  void last(State &state);
};
} // namespace

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

/// Copies of a box for the key block at `keyStart` (null: no key axis).
/// Coordinates are computed anew where the copy stands, for warp group 0.
void Specializer::copy(Value from, ValueRange coordinates, Value keyStart,
                       Value slabs, Value signals, Value slot) {
  IRMapping map;
  if (keyStart)
    map.map(loop.start(), keyStart);
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getParentOfType<func::FuncOp>() == program; };
  for (Value at : coordinates)
    (void)getBackwardSlice(at, &slice, options);
  SmallVector<Value> at;
  for (Operation *op : topologicalSort(slice)) {
    if (isa<tile::GroupIdOp>(op)) {
      map.map(op->getResult(0), c32(0));
      continue;
    }
    bool inside = loop.op->isAncestor(op);
    bool moves = llvm::any_of(op->getOperands(), [&](Value v) {
      return map.contains(v);
    });
    if (inside || moves)
      b.clone(*op, map);
  }
  for (Value v : coordinates)
    at.push_back(map.lookupOrDefault(v));
  tile::CopyBoxOp::create(b, loc, from, at, slabs, signals, slot);
}

/// Waits until the slot is free, fills it and moves on.
Ring Specializer::fill(tile::LoadBoxOp load, Value keyStart, Value slabs,
                       Value full, Value empty, Ring ring, int64_t stages) {
  tile::SignalWaitOp::create(b, loc, empty, ring.slot, other(ring.phase));
  copy(load.getMap(), load.getAt(), keyStart, slabs, full, ring.slot);
  return advance(ring, stages);
}

/// The same for captured tensors, where the launch has maps of them.
SmallVector<Ring> Specializer::fillCaptured(Value keyStart, ArrayRef<Ring> rings) {
  SmallVector<Ring> next;
  for (auto [tensor, ring] : llvm::zip_equal(captured, rings)) {
    auto mapped = scf::IfOp::create(b, loc, tensor.load.getMapped(),
                                    /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(mapped.thenBlock());
      tile::SignalWaitOp::create(b, loc, tensor.empty, ring.slot, other(ring.phase));
      copy(tensor.load.getMap(), tensor.load.getAt(), keyStart, tensor.slabs,
           tensor.full, ring.slot);
    }
    next.push_back(advance(ring, stages));
  }
  return next;
}

void Specializer::produce(Block *role) {
  tile::ForKeysOp keys = loop.op;
  Value last = sub(keys.getBlockCount(), c32(1));
  auto startOf = [&](Value index) { return blockStart(keys.getBlockBegin(), index); };
  Ring query{c32(0), role->getArgument(0)};
  Ring key{role->getArgument(1), role->getArgument(2)};
  Ring value{role->getArgument(3), role->getArgument(4)};
  SmallVector<Ring> others = rings(role->getArguments().drop_front(5));
  key = fill(loop.key, startOf(last), keySlabs, keyFull, keyEmpty, key, stages);
  query = fill(loop.query, nullptr, querySlabs, queryFull, queryEmpty, query, 1);
  others = fillCaptured(startOf(last), others);
  // Keys run one block ahead of values, as the consumers take them.
  State at;
  at.key = key;
  at.value = value;
  at.captured = others;
  auto blocks = scf::ForOp::create(
      b, loc, c32(0), last, c32(1), at.positions(),
      [&](OpBuilder &inner, Location, Value i, ValueRange positions) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State now;
        now.move(positions);
        Value block = sub(last, i);
        Value nextStart = startOf(sub(block, c32(1)));
        now.key = fill(loop.key, nextStart, keySlabs, keyFull, keyEmpty, now.key,
                       stages);
        now.value = fill(loop.value, startOf(block), valueSlabs, valueFull,
                         valueEmpty, now.value, stages);
        now.captured = fillCaptured(nextStart, now.captured);
        scf::YieldOp::create(b, loc, now.positions());
      });
  at.move(blocks.getResults());
  at.value = fill(loop.value, startOf(c32(0)), valueSlabs, valueFull, valueEmpty,
                  at.value, stages);
  SmallVector<Value> end{query.phase};
  end.append(at.positions());
  tile::RoleEndOp::create(b, loc, end);
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Blocks that other groups need: returned unread. Every group takes and passes
/// its turn once for each block but its first.
void Specializer::handBack(State &state, Value count) {
  auto all = scf::ForOp::create(
      b, loc, c32(0), count, c32(1), state.positions(),
      [&](OpBuilder &inner, Location, Value, ValueRange positions) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State now;
        now.move(positions);
        auto handBackOne = [&](Value full, Value empty, Ring &ring) {
          tile::SignalWaitOp::create(b, loc, full, ring.slot, ring.phase);
          tile::SignalArriveOp::create(b, loc, empty, ring.slot, Value());
        };
        handBackOne(keyFull, keyEmpty, now.key);
        handBackOne(valueFull, valueEmpty, now.value);
        for (auto [tensor, ring] : llvm::zip_equal(captured, now.captured)) {
          auto mapped = scf::IfOp::create(b, loc, tensor.load.getMapped(),
                                          /*withElseRegion=*/false);
          OpBuilder::InsertionGuard inside(b);
          b.setInsertionPointToStart(mapped.thenBlock());
          handBackOne(tensor.full, tensor.empty, ring);
        }
        if (turns) {
          tile::TurnWaitOp::create(b, loc, groups);
          tile::TurnPassOp::create(b, loc, groups);
        }
        now.key = advance(now.key, stages);
        now.value = advance(now.value, stages);
        for (Ring &ring : now.captured)
          ring = advance(ring, stages);
        scf::YieldOp::create(b, loc, now.positions());
      });
  state.move(all.getResults());
}

/// The keys' stage is free; after a group's lowest block the queries are, too.
void Specializer::scoresDone(State &state, Value keyStart) {
  tile::SignalArriveOp::create(b, loc, keyEmpty, state.key.slot, Value());
  Value lowest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, keyStart,
                                       loop.op.getLeftBegin());
  tile::SignalArriveOp::create(b, loc, queryEmpty, c32(0), lowest);
  state.key = advance(state.key, stages);
}

/// Waits for the values' stage and starts O += P V.
Value Specializer::issueValues(const State &state, bool fence) {
  tile::SignalWaitOp::create(b, loc, valueFull, state.value.slot,
                             state.value.phase);
  Value value = tile::SlabReadOp::create(b, loc, loop.value.getType(), valueSlabs,
                                         state.value.slot, c32(0));
  return tile::DotAsyncOp::create(b, loc, state.accumulator.getType(),
                                  state.probability, value, state.accumulator,
                                  /*transposed=*/false, fence);
}

/// Waits for that product, which frees the probabilities, and frees the stage.
Value Specializer::valuesDone(State &state, Value accumulator) {
  Value done = tile::DotWaitOp::create(b, loc, accumulator.getType(), accumulator,
                                       ValueRange{state.probability}, 0);
  tile::SignalArriveOp::create(b, loc, valueEmpty, state.value.slot, Value());
  state.value = advance(state.value, stages);
  return done;
}

Value Specializer::issueScores(const State &state) {
  Value query = tile::SlabReadOp::create(b, loc, loop.query.getType(), querySlabs,
                                         c32(0), firstRow());
  Value key = tile::SlabReadOp::create(b, loc, loop.key.getType(), keySlabs,
                                       state.key.slot, c32(0));
  return tile::DotAsyncOp::create(b, loc, loop.scores.getType(), query, key,
                                  /*accumulator=*/Value(), /*transposed=*/true,
                                  /*fence=*/true);
}

/// This group's rows of a captured tile: from its stage, which is then free, or
/// straight from memory when the launch has no map of the tensor.
Value Specializer::takeCaptured(const Captured &tensor, Ring ring, IRMapping &map) {
  tile::LoadMappedOp load = tensor.load;
  auto either = scf::IfOp::create(b, loc, load.getType(), load.getMapped(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(either.thenBlock());
  tile::SignalWaitOp::create(b, loc, tensor.full, ring.slot, ring.phase);
  Value staged = tile::SlabLoadOp::create(b, loc, load.getType(), tensor.slabs,
                                          ring.slot, firstRow());
  tile::SignalArriveOp::create(b, loc, tensor.empty, ring.slot, Value());
  scf::YieldOp::create(b, loc, staged);
  b.setInsertionPointToStart(either.elseBlock());
  Value direct = tile::LoadOp::create(
      b, loc, load.getType(), map.lookupOrDefault(load.getView()),
      map.lookupOrDefault(load.getRow()), map.lookupOrDefault(load.getColumn()));
  scf::YieldOp::create(b, loc, direct);
  return either.getResult(0);
}

Specializer::Softmaxed Specializer::softmax(State &state, Value keyStart,
                                            Value scores, bool live) {
  Softmaxed result;
  IRMapping &map = result.map;
  Block &body = loop.op.getBody().front();
  map.map(body.getArgument(0), c32(0));
  map.map(loop.start(), keyStart);
  map.map(loop.scores.getResult(), scores);
  for (auto [i, value] : llvm::enumerate(state.sums))
    map.map(loop.carried(1 + i), value);
  SmallVector<tile::MaskOp> masks;
  size_t next = 0;
  for (Operation *op : loop.softmax) {
    if (isa<tile::LoadMappedOp>(op)) {
      Ring &ring = state.captured[next];
      map.map(op->getResult(0), takeCaptured(captured[next++], ring, map));
      ring = advance(ring, stages);
      continue;
    }
    Operation *copy = b.clone(*op, map);
    if (auto mask = dyn_cast<tile::MaskOp>(copy))
      masks.push_back(mask);
    if (auto maximum = dyn_cast<tile::RunningMaxOp>(copy))
      maximum.setForm(live && vote ? tile::SoftmaxForm::Vote
                                   : tile::SoftmaxForm::Running);
  }
  for (auto value : loop.yield()->getOperands().drop_front())
    result.sums.push_back(map.lookupOrDefault(value));
  result.probability = map.lookupOrDefault(loop.round.getIn());
  // A mask that ends the chain is replaced, so look through it.
  for (tile::MaskOp mask : masks) {
    Value before = mask.getResult();
    Value after = lowerMask(mask, live);
    if (result.probability == before)
      result.probability = after;
    for (Value &sum : result.sums)
      if (sum == before)
        sum = after;
  }
  return result;
}

Value Specializer::rounded(Value probability) {
  return arith::TruncFOp::create(b, loc, loop.round.getType(), probability);
}

void Specializer::first(State &state, Value keyStart) {
  tile::SignalWaitOp::create(b, loc, keyFull, state.key.slot, state.key.phase);
  Value scores = issueScores(state);
  scores = tile::DotWaitOp::create(b, loc, scores.getType(), scores, ValueRange(), 0);
  scoresDone(state, keyStart);
  Softmaxed done = softmax(state, keyStart, scores, /*live=*/false);
  state.sums = done.sums;
  state.probability = rounded(done.probability);
}

void Specializer::step(State &state, Value keyStart, bool live) {
  tile::SignalWaitOp::create(b, loc, keyFull, state.key.slot, state.key.phase);
  if (turns)
    tile::TurnWaitOp::create(b, loc, groups);
  Value scores = issueScores(state);
  // The scores' fence covers these operands, too.
  Value accumulator = issueValues(state, /*fence=*/false);
  if (turns == 1)
    tile::TurnPassOp::create(b, loc, groups);
  scores = tile::DotWaitOp::create(b, loc, scores.getType(), scores, ValueRange(), 1);
  if (turns == 2)
    tile::TurnPassOp::create(b, loc, groups);
  scoresDone(state, keyStart);
  Softmaxed done = softmax(state, keyStart, scores, live);
  accumulator = valuesDone(state, accumulator);
  if (loop.rescale) {
    auto moved = done.map.lookup(loop.rescale.getMoved());
    accumulator = tile::RescaleOp::create(
        b, loc, accumulator.getType(), accumulator,
        done.map.lookup(loop.rescale.getCorrection()), moved);
  }
  state.accumulator = accumulator;
  state.sums = done.sums;
  // Only here: until the wait the product reads the old probabilities.
  state.probability = rounded(done.probability);
}

/// `count` blocks from `begin` on, the last first.
void Specializer::steps(State &state, Value begin, Value count, bool live) {
  if (matchPattern(count, m_Zero()))
    return;
  Value top = sub(count, c32(1));
  auto blocks = scf::ForOp::create(
      b, loc, c32(0), count, c32(1), state.flat(),
      [&](OpBuilder &inner, Location, Value i, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State now = State::from(state, carried);
        step(now, blockStart(begin, sub(top, i)), live);
        scf::YieldOp::create(b, loc, now.flat());
      });
  state = State::from(state, blocks.getResults());
}

void Specializer::last(State &state) {
  state.accumulator = valuesDone(state, issueValues(state, /*fence=*/true));
}

void Specializer::consume(Block *role) {
  tile::ForKeysOp keys = loop.op;
  Value left = keys.getLeftCount(), full = keys.getFullCount(),
        right = keys.getRightCount();
  Value total = KeyBlocks(keys).total(b, loc);
  // Neighbours: left, full, right; so the group's first block is left's.
  Value offset = arith::DivUIOp::create(
      b, loc, sub(keys.getLeftBegin(), keys.getBlockBegin()),
      arith::ConstantIntOp::create(b, loc, static_cast<int64_t>(keys.getStep()), 64));
  Value below = arith::TruncIOp::create(b, loc, b.getI32Type(), offset);
  Value above = sub(keys.getBlockCount(), add(below, total));

  State state;
  state.query = {c32(0), role->getArgument(0)};
  state.key = {role->getArgument(1), role->getArgument(2)};
  state.value = {role->getArgument(3), role->getArgument(4)};
  state.captured = rings(role->getArguments().drop_front(5));
  state.accumulator = keys.getInits()[0];
  state.sums.assign(keys.getInits().begin() + 1, keys.getInits().end());
  bool alone = groups == 1;
  if (!alone)
    handBack(state, above);
  tile::SignalWaitOp::create(b, loc, queryFull, c32(0), state.query.phase);
  first(state, blockStart(keys.getLeftBegin(), sub(total, c32(1))));
  // The first block was the last of right, else of full, else of left.
  Value fromRight = firstOf(right);
  right = sub(right, fromRight);
  Value rest = sub(c32(1), fromRight);
  Value fromFull = arith::MinSIOp::create(b, loc, rest, firstOf(full));
  full = sub(full, fromFull);
  bool noLeft = matchPattern(left, m_Zero());
  if (!noLeft)
    left = sub(left, sub(rest, fromFull));
  steps(state, keys.getRightBegin(), right, /*live=*/false);
  if (!matchPattern(keys.getFullCount(), m_Zero()))
    steps(state, keys.getFullBegin(), full, /*live=*/true);
  if (!noLeft)
    steps(state, keys.getLeftBegin(), left, /*live=*/false);
  last(state);
  if (!alone)
    handBack(state, below);

  SmallVector<Value> results{state.accumulator};
  results.append(state.sums);
  keys.replaceAllUsesWith(results);
  SmallVector<Value> end{other(state.query.phase)};
  end.append(state.positions());
  tile::RoleEndOp::create(b, loc, end);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Registers a thread gets: the pool is what the launch gives every thread, a
/// multiple of 8, times the number of warp groups.
static std::pair<int64_t, int64_t> registerBudget(int64_t groups) {
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

void Specializer::run() {
  Operation *tail = loop.op->getNextNode();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&program.getBody().front());
    auto keyType = cast<RankedTensorType>(loop.key.getType());
    querySlabs = slabs(loop.query, 1, 64 * groups);
    keySlabs = slabs(loop.key, stages, keyType.getDimSize(0));
    valueSlabs = slabs(loop.value, stages, keyType.getDimSize(0));
    queryFull = signals(1, 1);
    queryEmpty = signals(1, 4 * groups);
    keyFull = signals(stages, 1);
    valueFull = signals(stages, 1);
    keyEmpty = signals(stages, 4 * groups);
    valueEmpty = signals(stages, 4 * groups);
    for (tile::LoadMappedOp load : loop.captured)
      captured.push_back({load, slabs(load, stages, 64 * groups),
                          signals(stages, 1), signals(stages, 4 * groups)});
  }
  auto [producerRegisters, consumerRegisters] = registerBudget(groups);
  auto roles = tile::SpecializeOp::create(b, loc, groups, producerRegisters,
                                          consumerRegisters, turns != 0);
  auto beginRole = [&](Region &region) {
    Block *role = b.createBlock(&region);
    // Query phase, the rings of keys, values and captured tensors.
    for (size_t i = 0; i < 5 + 2 * captured.size(); ++i)
      role->addArgument(b.getI32Type(), loc);
    return role;
  };
  produce(beginRole(roles.getProducer()));
  Block *consumer = beginRole(roles.getConsumer());
  consume(consumer);
  // What follows the key loop is the consumers' work.
  Operation *terminator = program.getBody().front().getTerminator();
  for (Operation *op = tail; op != terminator;) {
    Operation *next = op->getNextNode();
    op->moveBefore(consumer->getTerminator());
    op = next;
  }
  loop.op->erase();
  loop.query->erase();
}

namespace {
struct SpecializeWarps : attn::impl::SpecializeWarpsPassBase<SpecializeWarps> {
  using SpecializeWarpsPassBase::SpecializeWarpsPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    auto number = [&](const char *name, int64_t otherwise) {
      auto attribute = program->getAttrOfType<IntegerAttr>(name);
      return attribute ? attribute.getInt() : otherwise;
    };
    int64_t groups = number("tile.groups", 0);
    if (groups == 0)
      return;
    SmallVector<tile::ForKeysOp> loops;
    program.walk([&](tile::ForKeysOp op) { loops.push_back(op); });
    if (loops.size() != 1 || loops[0]->getParentOp() != program) {
      program.emitError("'tile.groups' needs one tile.for_keys at the top of the "
                        "program");
      return signalPassFailure();
    }
    FailureOr<KeyLoop> loop = takeApart(loops[0]);
    if (failed(loop))
      return signalPassFailure();
    Specializer(program, *loop, groups, number("tile.stages", 2),
                number("tile.turns", 0), number("tile.vote", 0) != 0)
        .run();
  }
};
} // namespace
