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
//              With a frozen maximum they check the tile at its end and ask for
//              it to be done again (FrozenMaximum.h, PersistTiles.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/ConsumeKeys.h"
#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Divides the work between the two roles.
struct Specializer : KeyConsumer {
  using KeyConsumer::KeyConsumer;

  void run();

private:
  void produce(Block *role);
  void consume(Block *role);
  void handBack(State &state, Value count);
  void rotatedEither(State &state, Value total);
  Ring queryAt(Block *role);
  ValueRange positionsOf(Block *role);
  void endRole(Ring query, const State &state);
};
} // namespace

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

void Specializer::produce(Block *role) {
  tile::ForKeysOp keys = loop.op;
  Value last = sub(keys.getBlockCount(), c32(1));
  auto startOf = [&](Value index) { return blockStart(keys.getBlockBegin(), index); };
  Ring query = queryAt(role);
  State at;
  at.move(positionsOf(role));
  at.key = fillKeys(startOf(last), at.key);
  query = fill(loop.query, nullptr, nullptr, querySlabs, queryFull, queryEmpty,
               query, queries);
  tile::CopyBoxOp copied;
  for (auto copy : role->getOps<tile::CopyBoxOp>())
    copied = copy;
  copied->setAttr(kQueryCopy, b.getUnitAttr());
  fillCaptured(startOf(last), at.captured);
  // Keys run one block ahead of values, as the consumers take them.
  auto blocks = scf::ForOp::create(
      b, loc, c32(0), last, c32(1), at.positions(),
      [&](OpBuilder &inner, Location, Value i, ValueRange positions) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State now;
        now.move(positions);
        Value block = sub(last, i);
        Value next = startOf(sub(block, c32(1)));
        now.key = fillKeys(next, now.key);
        now.value = fillValues(startOf(block), now.value);
        fillCaptured(next, now.captured);
        scf::YieldOp::create(b, loc, now.positions());
      });
  at.move(blocks.getResults());
  at.value = fillValues(startOf(c32(0)), at.value);
  endRole(query, at);
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Blocks that other groups (of other blocks of the cluster, too) need: returned unread.
/// Every group takes and passes its turn once for each block but its first.
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

void Specializer::consume(Block *role) {
  tile::ForKeysOp keys = loop.op;
  Value total = KeyBlocks(keys).total(b, loc);
  // Neighbours: left, full, right; so the group's first block is left's.
  Value offset = arith::DivUIOp::create(
      b, loc, sub(keys.getLeftBegin(), keys.getBlockBegin()),
      arith::ConstantIntOp::create(b, loc, static_cast<int64_t>(keys.getStep()), 64));
  Value below = arith::TruncIOp::create(b, loc, b.getI32Type(), offset);
  Value above = sub(keys.getBlockCount(), add(below, total));

  State state;
  state.query = queryAt(role);
  state.move(positionsOf(role));
  state.accumulator = keys.getInits()[0];
  state.sums.assign(keys.getInits().begin() + 1, keys.getInits().end());
  bool alone = groups * tile::clusterOf(program) == 1;
  if (!alone)
    handBack(state, above);
  takeQueries(state.query);
  // Masks take the registers that a second copy of the steps would need.
  if (captured.empty() || !keys->hasAttr(kTailOnly))
    rotated(state, total);
  else
    rotatedEither(state, total);
  if (freezes())
    tile::RedoOp::create(b, loc, failsCheck(state));
  if (!alone)
    handBack(state, below);

  SmallVector<Value> results{state.accumulator};
  results.append(state.sums);
  keys.replaceAllUsesWith(results);
  endRole(advance(state.query, queries), state);
}

/// Two copies of the steps: without a choice in them, what is captured can be read
/// while the scores are still being made. The other copy is the slow way and is kept
/// small, without a vote: both share the registers.
void Specializer::rotatedEither(State &state, Value total) {
  State before = state;
  const tile::SoftmaxForm asked = form;
  SmallVector<Type> types;
  for (Value value : state.flat())
    types.push_back(value.getType());
  auto branch = scf::IfOp::create(b, loc, types, allMapped(), /*withElse=*/true);
  for (auto [block, how] : {std::pair{branch.thenBlock(), Captured::Staged},
                            std::pair{branch.elseBlock(), Captured::Either}}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    State own = before;
    captures = how;
    form = how == Captured::Staged ? asked : tile::SoftmaxForm::Running;
    rotated(own, total);
    own.probability = nullptr; // Used up.
    scf::YieldOp::create(b, loc, own.flat());
  }
  captures = Captured::Either;
  form = asked;
  state = State::from(before, branch.getResults());
}

//===----------------------------------------------------------------------===//
// Positions that run on from tile to tile
//===----------------------------------------------------------------------===//

// The phase of the queries, the rings of keys, values and captured tensors; the
// queries' slot where they have more than one.

Ring Specializer::queryAt(Block *role) {
  Value slot = queries > 1 ? Value(role->getArguments().back()) : c32(0);
  return {slot, role->getArgument(0)};
}

ValueRange Specializer::positionsOf(Block *role) {
  ValueRange all = role->getArguments();
  return (queries > 1 ? all.drop_back() : all).drop_front();
}

void Specializer::endRole(Ring query, const State &state) {
  SmallVector<Value> end{query.phase};
  end.append(state.positions());
  if (queries > 1)
    end.push_back(query.slot);
  tile::RoleEndOp::create(b, loc, end);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void Specializer::run() {
  Operation *tail = loop.op->getNextNode();
  reserve(/*queryAgain=*/true);
  auto [producerRegisters, consumerRegisters] = registerBudget(groups);
  auto roles = tile::SpecializeOp::create(b, loc, groups, producerRegisters,
                                          consumerRegisters, turns != 0);
  auto beginRole = [&](Region &region) {
    Block *role = b.createBlock(&region);
    size_t positions = 5 + 2 * captured.size() + (queries > 1 ? 1 : 0);
    for (size_t i = 0; i < positions; ++i)
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
      return programNumber(program, name, otherwise);
    };
    int64_t groups = number("tile.groups", 0);
    if (groups == 0 || number("tile.producer", 1) == 0)
      return; // The groups bring their tiles themselves: tile-pipeline-keys.
    SmallVector<tile::ForKeysOp> loops;
    program.walk([&](tile::ForKeysOp op) { loops.push_back(op); });
    if (loops.empty())
      return; // One product: tile-specialize-matmul.
    if (loops.size() != 1 || loops[0]->getParentOp() != program) {
      program.emitError("'tile.groups' needs one tile.for_keys at the top of the "
                        "program");
      return signalPassFailure();
    }
    FailureOr<KeyLoop> loop = takeApart(loops[0]);
    if (failed(loop))
      return signalPassFailure();
    // 0, 1, 2: in every block, by vote, not at all.
    auto form = static_cast<tile::SoftmaxForm>(number("tile.vote", 0));
    if (form == tile::SoftmaxForm::Keep && number("tile.persistent", 0) == 0) {
      program.emitError("'tile.vote = 2', a frozen maximum, needs 'tile.persistent' "
                        "1 or 2: a tile that fails its check is done again");
      return signalPassFailure();
    }
    Specializer specializer(program, *loop, groups, number("tile.stages", 2),
                            number("tile.turns", 0), form);
    specializer.queries = number("tile.queries", 1);
    specializer.run();
  }
};
} // namespace
