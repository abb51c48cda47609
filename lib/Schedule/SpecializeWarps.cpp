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
};
} // namespace

//===----------------------------------------------------------------------===//
// Producer
//===----------------------------------------------------------------------===//

void Specializer::produce(Block *role) {
  tile::ForKeysOp keys = loop.op;
  Value last = sub(keys.getBlockCount(), c32(1));
  auto startOf = [&](Value index) { return blockStart(keys.getBlockBegin(), index); };
  Ring query{c32(0), role->getArgument(0)};
  Ring key{role->getArgument(1), role->getArgument(2)};
  Ring value{role->getArgument(3), role->getArgument(4)};
  key = fillKeys(startOf(last), key);
  query = fill(loop.query, nullptr, nullptr, querySlabs, queryFull, queryEmpty,
               query, 1);
  // Keys run one block ahead of values, as the consumers take them.
  auto blocks = scf::ForOp::create(
      b, loc, c32(0), last, c32(1),
      ValueRange{key.slot, key.phase, value.slot, value.phase},
      [&](OpBuilder &inner, Location, Value i, ValueRange rings) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Value block = sub(last, i);
        Ring k = fillKeys(startOf(sub(block, c32(1))), {rings[0], rings[1]});
        Ring v = fillValues(startOf(block), {rings[2], rings[3]});
        scf::YieldOp::create(b, loc,
                             ValueRange{k.slot, k.phase, v.slot, v.phase});
      });
  value = fillValues(startOf(c32(0)), {blocks.getResult(2), blocks.getResult(3)});
  tile::RoleEndOp::create(b, loc,
                          ValueRange{query.phase, blocks.getResult(0),
                                     blocks.getResult(1), value.slot, value.phase});
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

/// Blocks that other groups need: returned unread. Every group takes and passes
/// its turn once for each block but its first.
void Specializer::handBack(State &state, Value count) {
  auto all = scf::ForOp::create(
      b, loc, c32(0), count, c32(1),
      ValueRange{state.key.slot, state.key.phase, state.value.slot,
                 state.value.phase},
      [&](OpBuilder &inner, Location, Value, ValueRange rings) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Ring k{rings[0], rings[1]}, v{rings[2], rings[3]};
        tile::SignalWaitOp::create(b, loc, keyFull, k.slot, k.phase);
        tile::SignalArriveOp::create(b, loc, keyEmpty, k.slot, Value());
        tile::SignalWaitOp::create(b, loc, valueFull, v.slot, v.phase);
        tile::SignalArriveOp::create(b, loc, valueEmpty, v.slot, Value());
        if (turns) {
          tile::TurnWaitOp::create(b, loc, groups);
          tile::TurnPassOp::create(b, loc, groups);
        }
        k = advance(k, stages);
        v = advance(v, stages);
        scf::YieldOp::create(b, loc,
                             ValueRange{k.slot, k.phase, v.slot, v.phase});
      });
  state.key = {all.getResult(0), all.getResult(1)};
  state.value = {all.getResult(2), all.getResult(3)};
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
  state.query = {c32(0), role->getArgument(0)};
  state.key = {role->getArgument(1), role->getArgument(2)};
  state.value = {role->getArgument(3), role->getArgument(4)};
  state.accumulator = keys.getInits()[0];
  state.sums.assign(keys.getInits().begin() + 1, keys.getInits().end());
  bool alone = groups == 1;
  if (!alone)
    handBack(state, above);
  tile::SignalWaitOp::create(b, loc, queryFull, c32(0), state.query.phase);
  rotated(state, total);
  if (!alone)
    handBack(state, below);

  SmallVector<Value> results{state.accumulator};
  results.append(state.sums);
  keys.replaceAllUsesWith(results);
  tile::RoleEndOp::create(b, loc,
                          ValueRange{other(state.query.phase), state.key.slot,
                                     state.key.phase, state.value.slot,
                                     state.value.phase});
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
    for (int64_t i = 0; i < 5; ++i) // Query phase, key and value rings.
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
    Specializer(program, *loop, groups, number("tile.stages", 2),
                number("tile.turns", 0), number("tile.vote", 0) != 0)
        .run();
  }
};
} // namespace
