//===- ProtocolRoles.cpp - what a role does, without data -----------------===//

#include "lib/Analysis/ProtocolRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;
using namespace attn::protocol;

static constexpr int64_t kWarpsPerGroup = 4;
static constexpr size_t kMostEvents = 1 << 20;

Numbers::Numbers(func::FuncOp program) {
  program.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tile::AllocSignalsOp>(op)) {
      signalBase[alloc.getResult()] = static_cast<int64_t>(arrivals.size());
      arrivals.insert(arrivals.end(), static_cast<size_t>(alloc.getType().getCount()),
                      alloc.getType().getArrivals());
    }
    if (auto alloc = dyn_cast<tile::AllocSlabsOp>(op)) {
      stageBase[alloc.getResult()] = stages;
      stages += alloc.getType().getStages();
    }
    if (auto alloc = dyn_cast<tile::AllocFlagsOp>(op)) {
      flagBase[alloc.getResult()] = flags;
      flags += alloc.getType().getCount();
    }
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> Role::number(Value value) {
  auto found = known.find(value);
  if (found == known.end() || !found->second)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(found->second))
    return integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                          : integer.getValue().getSExtValue();
  return std::nullopt;
}

bool Role::need(Operation *op, Value value, int64_t &n) {
  std::optional<int64_t> v = number(value);
  if (!v) {
    op->emitError("the protocol check cannot follow a value that this depends "
                  "on; it knows lengths, scalars and integer arithmetic");
    return false;
  }
  n = *v;
  return true;
}

bool Role::slotOf(Operation *op, Value base, Value slot, int64_t count,
                  const llvm::DenseMap<Value, int64_t> &bases, int64_t &n) {
  int64_t at;
  if (!need(op, slot, at))
    return false;
  if (at < 0 || at >= count) {
    op->emitError("slot ") << at << " of a ring of " << count;
    return false;
  }
  n = bases.lookup(base) + at;
  return true;
}

void Role::pass(ValueRange from, ValueRange to) {
  SmallVector<Attribute> values;
  for (Value v : from)
    values.push_back(known.lookup(v));
  for (auto [v, attribute] : llvm::zip(to, values))
    known[v] = attribute;
}

void Role::setArguments(func::FuncOp program) {
  auto lookUp = [](const std::map<std::string, int64_t> &from,
                   const std::string &name, int64_t otherwise) {
    auto found = from.find(name);
    return found == from.end() ? otherwise : found->second;
  };
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    auto what = program.getArgAttrOfType<DictionaryAttr>(i, tile::kArgAttr);
    Value argument = program.getArgument(i);
    if (!what || !argument.getType().isInteger())
      continue;
    auto text = [&](StringRef key) {
      auto value = what.getAs<StringAttr>(key);
      return value ? value.str() : std::string();
    };
    std::string kind = text("kind");
    set(argument, kind == "length"   ? lookUp(run.lengths, text("axis"), 1)
                  : kind == "scalar" ? lookUp(run.scalars, text("name"), 0)
                  : kind == "stride" ? run.stride
                                     : 1);
  }
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

/// Whether an operation, or one inside it, takes part in the protocol.
static bool takesPart(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<tile::SignalWaitOp, tile::SignalArriveOp, tile::CopyBoxOp,
                   tile::SlabLoadOp,
                   tile::DotAsyncOp, tile::DotWaitOp, tile::TurnWaitOp,
                   tile::TurnPassOp, tile::PostTileOp, tile::TakeTileOp,
                   tile::NextTileOp, tile::RaiseFlagOp, tile::TakeFlagOp,
                   tile::ClusterBarrierOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult Role::loop(scf::ForOp op) {
  if (!takesPart(op))
    return success();
  int64_t from, to, step;
  if (!need(op, op.getLowerBound(), from) || !need(op, op.getUpperBound(), to) ||
      !need(op, op.getStep(), step))
    return failure();
  pass(op.getInitArgs(), op.getRegionIterArgs());
  for (int64_t i = from; i < to; i += step) {
    set(op.getInductionVar(), i);
    if (failed(block(*op.getBody())))
      return failure();
    pass(op.getBody()->getTerminator()->getOperands(), op.getRegionIterArgs());
  }
  pass(op.getRegionIterArgs(), op.getResults());
  return success();
}

LogicalResult Role::loop(scf::WhileOp op) {
  pass(op.getInits(), op.getBeforeArguments());
  while (true) {
    if (failed(block(*op.getBeforeBody())))
      return failure();
    scf::ConditionOp condition = op.getConditionOp();
    int64_t more;
    if (!need(op, condition.getCondition(), more))
      return failure();
    if (!more) {
      pass(condition.getArgs(), op.getResults());
      return success();
    }
    pass(condition.getArgs(), op.getAfterArguments());
    if (failed(block(*op.getAfterBody())))
      return failure();
    pass(op.getAfterBody()->getTerminator()->getOperands(), op.getBeforeArguments());
  }
}

LogicalResult Role::branch(scf::IfOp op) {
  if (!takesPart(op) && (op.getNumResults() == 0 || !number(op.getCondition())))
    return success();
  int64_t taken;
  if (!need(op, op.getCondition(), taken))
    return failure();
  Block *chosen = taken ? op.thenBlock() : op.elseBlock();
  if (!chosen)
    return success();
  if (failed(block(*chosen)))
    return failure();
  pass(chosen->getTerminator()->getOperands(), op.getResults());
  return success();
}

LogicalResult Role::operation(Operation *op) {
  if (events.size() > kMostEvents)
    return op->emitError("the protocol check gives up after ")
           << kMostEvents << " events; use shorter lengths";
  if (auto wait = dyn_cast<tile::SignalWaitOp>(op)) {
    Event e{Event::Wait, -1, 0, {}, op};
    if (!slotOf(op, wait.getSignals(), wait.getSlot(),
                wait.getSignals().getType().getCount(), numbers.signalBase, e.signal) ||
        !need(op, wait.getParity(), e.count))
      return failure();
    e.ordered = wait.getAcquire();
    add(e);
    return success();
  }
  if (auto arrive = dyn_cast<tile::SignalArriveOp>(op)) {
    int64_t really = 1;
    if (arrive.getCondition() && !need(op, arrive.getCondition(), really))
      return failure();
    Event e{Event::Arrive, -1, group == 0 ? 1 : kWarpsPerGroup, {}, op};
    if (!slotOf(op, arrive.getSignals(), arrive.getSlot(),
                arrive.getSignals().getType().getCount(), numbers.signalBase, e.signal))
      return failure();
    e.everywhere = arrive.getCluster();
    e.ordered = arrive.getRelease();
    if (really)
      add(e);
    return success();
  }
  if (auto copyOp = dyn_cast<tile::CopyBoxOp>(op))
    return copy(copyOp);
  if (auto read = dyn_cast<tile::SlabReadOp>(op)) {
    int64_t stage;
    if (!slotOf(op, read.getSlabs(), read.getSlot(),
                read.getSlabs().getType().getStages(), numbers.stageBase, stage))
      return failure();
    stageOf[read.getResult()] = stage;
    return success();
  }
  if (auto read = dyn_cast<tile::SlabLoadOp>(op)) {
    Event e{Event::Read, -1, 0, {0}, op};
    if (!slotOf(op, read.getSlabs(), read.getSlot(),
                read.getSlabs().getType().getStages(), numbers.stageBase, e.stages[0]))
      return failure();
    add(e);
    return success();
  }
  if (auto dot = dyn_cast<tile::DotAsyncOp>(op)) {
    Event e{Event::Dot, -1, 0, {}, op};
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto stage = stageOf.find(operand); stage != stageOf.end())
        e.stages.push_back(stage->second);
    add(e);
    return success();
  }
  if (auto wait = dyn_cast<tile::DotWaitOp>(op)) {
    add({Event::DotWait, -1, wait.getPending(), {}, op});
    return success();
  }
  if (isa<tile::TurnWaitOp, tile::TurnPassOp>(op)) {
    add({isa<tile::TurnWaitOp>(op) ? Event::TurnWait : Event::TurnPass, -1, 0, {}, op});
    return success();
  }
  if (auto postOp = dyn_cast<tile::PostTileOp>(op))
    return post(postOp);
  if (auto take = dyn_cast<tile::TakeTileOp>(op)) {
    if (taken >= own().posted.size()) {
      trouble = "a consumer takes a tile that nobody posts";
      return failure();
    }
    const Posted &next = own().posted[taken++];
    set(take.getTile(), next.tile);
    set(take.getAgain(), next.again);
    return success();
  }
  if (auto raise = dyn_cast<tile::RaiseFlagOp>(op)) {
    int64_t really;
    Event e{Event::Raise, -1, 0, {}, op};
    if (!need(op, raise.getCondition(), really) ||
        !slotOf(op, raise.getFlags(), raise.getSlot(),
                raise.getFlags().getType().getCount(), numbers.flagBase, e.signal))
      return failure();
    e.everywhere = raise.getCluster();
    if (really) {
      for (BlockTalk &block : talk)
        if (e.everywhere || &block == &own())
          block.flagged.insert({taken - 1, e.signal});
      add(e);
    }
    return success();
  }
  if (auto take = dyn_cast<tile::TakeFlagOp>(op))
    return takeFlag(take);
  if (isa<tile::AnyOp>(op)) {
    set(op->getResult(0), static_cast<int64_t>(random() % 100) < run.doubt);
    return success();
  }
  if (auto next = dyn_cast<tile::NextTileOp>(op)) {
    // Other blocks take some in between.
    nextTile += 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(run.launched));
    set(next.getResult(), run.launched + nextTile - 1);
    return success();
  }
  if (auto loopOp = dyn_cast<scf::ForOp>(op))
    return loop(loopOp);
  if (auto loopOp = dyn_cast<scf::WhileOp>(op))
    return loop(loopOp);
  if (auto ifOp = dyn_cast<scf::IfOp>(op))
    return branch(ifOp);
  if (isa<tile::BlockIdOp>(op)) {
    set(op->getResult(0), run.block + rank);
    return success();
  }
  if (isa<tile::ClusterRankOp>(op)) {
    set(op->getResult(0), rank);
    return success();
  }
  if (isa<tile::ClusterBarrierOp>(op)) {
    add({Event::Meet, -1, 0, {}, op});
    return success();
  }
  if (isa<tile::AllocSignalsOp>(op) && group == 0 && events.empty())
    add({Event::Begin, -1, 0, {}, op});
  if (isa<tile::GridDimOp>(op)) {
    set(op->getResult(0), run.launched);
    return success();
  }
  if (isa<tile::GroupIdOp>(op)) {
    set(op->getResult(0), group - 1);
    return success();
  }
  if (isa<tile::FirstThreadOp>(op)) {
    // What one thread does, its whole group does here; its other warps run ahead
    // in truth, which only lets more happen before they wait.
    set(op->getResult(0), group == 1);
    return success();
  }
  if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    // An integer read from a tensor: something of the size of the lengths. Every
    // role must see the same at the same place.
    if (gather.getResult().getType().isInteger()) {
      std::mt19937_64 same(run.seed + 7919 * static_cast<uint64_t>(
                                           number(gather.getOffset()).value_or(0)));
      set(gather.getResult(), static_cast<int64_t>(same() % 512));
    }
    return success();
  }
  // Anything else on integers is folded; what does not fold stays unknown.
  if (op->getNumResults() == 0 || op->getNumRegions() != 0)
    return success();
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(known.lookup(operand));
  SmallVector<OpFoldResult> folded;
  if (llvm::all_of(op->getResultTypes(), [](Type t) { return t.isIntOrIndex(); }) &&
      succeeded(op->fold(operands, folded)))
    for (auto [result, value] : llvm::zip(op->getResults(), folded))
      known[result] = isa<Attribute>(value) ? cast<Attribute>(value)
                                            : known.lookup(cast<Value>(value));
  return success();
}

//===----------------------------------------------------------------------===//
// What takes more than an event
//===----------------------------------------------------------------------===//

LogicalResult Role::copy(tile::CopyBoxOp op) {
  Event e{Event::Copy, -1, 0, {0}, op};
  if (!slotOf(op, op.getSignals(), op.getSlot(), op.getSignals().getType().getCount(),
              numbers.signalBase, e.signal) ||
      !slotOf(op, op.getSlabs(), op.getSlot(), op.getSlabs().getType().getStages(),
              numbers.stageBase, e.stages[0]))
    return failure();
  if (op.getPart()) {
    int64_t part;
    if (!need(op, op.getPart(), part))
      return failure();
    if (part != rank) {
      op.emitError("block ") << rank << " of its cluster brings part " << part;
      return failure();
    }
    e.everywhere = true;
    for (Value at : op.getAt())
      e.at.push_back(number(at));
  }
  add(e);
  return success();
}

LogicalResult Role::post(tile::PostTileOp op) {
  int64_t tile, again = 0;
  if (!need(op, op.getTile(), tile) || (op.getAgain() && !need(op, op.getAgain(), again)))
    return failure();
  std::vector<Posted> &posted = own().posted;
  posted.push_back({tile, again != 0});
  if (tile >= 0 && llvm::count_if(posted, [&](const Posted &other) {
        return other.tile == tile;
      }) > 2) {
    trouble = "tile " + std::to_string(tile) + " is done again more than once";
    return failure();
  }
  return success();
}

LogicalResult Role::takeFlag(tile::TakeFlagOp op) {
  Event e{Event::Take, -1, 0, {}, op};
  if (!slotOf(op, op.getFlags(), op.getSlot(), op.getFlags().getType().getCount(),
              numbers.flagBase, e.signal))
    return failure();
  for (auto it = believed.begin(); it != believed.end();) {
    bool here = it->first < own().posted.size() && it->second == e.signal;
    e.count |= here;
    it = here ? believed.erase(it) : std::next(it);
  }
  set(op.getResult(), e.count);
  add(e);
  return success();
}

LogicalResult Role::block(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(operation(&op)))
      return failure();
  return success();
}

LogicalResult Role::follow(func::FuncOp program, tile::SpecializeOp roles) {
  setArguments(program);
  if (!roles && group == 0)
    return success(); // Every group runs the whole program and nobody else anything.
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (&op != roles) {
      if (failed(operation(&op)))
        return failure();
      continue;
    }
    Region &region = group == 0 ? roles.getProducer() : roles.getConsumer();
    for (BlockArgument position : region.front().getArguments())
      set(position, 0);
    if (failed(block(region.front())))
      return failure();
  }
  return success();
}
