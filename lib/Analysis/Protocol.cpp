//===- Protocol.cpp - the warp groups' hand-over, run as an abstract machine =//

#include "lib/Analysis/Protocol.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <deque>
#include <random>
#include <set>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// What a role does, without data
//===----------------------------------------------------------------------===//

namespace {
constexpr int64_t kWarpsPerGroup = 4;
constexpr size_t kMostEvents = 1 << 20;

struct Event {
  enum Kind {
    Wait, Arrive, Copy, Read, Dot, DotWait, TurnWait, TurnPass, Raise, Take
  } kind;
  /// Wait, Arrive, Copy: number of the memory barrier. Raise, Take: of the flag.
  int64_t signal = -1;
  /// Wait: parity. Arrive: arrivals. DotWait: pending. Take: what was followed.
  int64_t count = 0;
  std::vector<int64_t> stages; ///< Copy: the one filled. Read, Dot: those read.
  Operation *op = nullptr;
};

/// A tile that the producer announced.
struct Posted {
  int64_t tile;
  bool again;
};

/// What the consumers flag: the place of the tile in the order of announcements,
/// and the number of the flag.
using Flagged = std::set<std::pair<size_t, int64_t>>;

/// Executes the scalars of one role and records its events.
struct Role {
  const ProtocolRun &run;
  int64_t group; ///< 0 the producer, then the groups that compute.
  std::vector<Event> events;
  std::vector<Posted> *posted; ///< In order.
  Flagged *flagged;            ///< By the consumers followed so far.
  Flagged believed;            ///< By the producer; those not taken yet.
  size_t taken = 0;
  int64_t nextTile = 0;
  std::mt19937_64 random;
  llvm::DenseMap<Value, Attribute> known;
  /// First number of a ring's barriers, of slabs' stages.
  llvm::DenseMap<Value, int64_t> *signalBase, *stageBase, *flagBase;
  llvm::DenseMap<Value, int64_t> stageOf; ///< slab_read results.
  std::string trouble;

  std::optional<int64_t> number(Value value) {
    auto found = known.find(value);
    if (found == known.end() || !found->second)
      return std::nullopt;
    if (auto integer = dyn_cast<IntegerAttr>(found->second))
      return integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                            : integer.getValue().getSExtValue();
    return std::nullopt;
  }
  void set(Value value, int64_t n) {
    known[value] = IntegerAttr::get(value.getType(), n);
  }
  bool need(Operation *op, Value value, int64_t &n) {
    std::optional<int64_t> v = number(value);
    if (!v) {
      op->emitError("the protocol check cannot follow a value that this depends "
                    "on; it knows lengths, scalars and integer arithmetic");
      return false;
    }
    n = *v;
    return true;
  }
  void add(Event event) { events.push_back(std::move(event)); }

  LogicalResult block(Block &block);
  LogicalResult operation(Operation *op);
  LogicalResult loop(scf::ForOp op);
  LogicalResult loop(scf::WhileOp op);
  LogicalResult branch(scf::IfOp op);
  void pass(ValueRange from, ValueRange to) {
    SmallVector<Attribute> values;
    for (Value v : from)
      values.push_back(known.lookup(v));
    for (auto [v, attribute] : llvm::zip(to, values))
      known[v] = attribute;
  }
};
} // namespace

/// Whether an operation, or one inside it, takes part in the protocol.
static bool takesPart(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<tile::SignalWaitOp, tile::SignalArriveOp, tile::CopyBoxOp,
                   tile::SlabLoadOp,
                   tile::DotAsyncOp, tile::DotWaitOp, tile::TurnWaitOp,
                   tile::TurnPassOp, tile::PostTileOp, tile::TakeTileOp,
                   tile::NextTileOp, tile::RaiseFlagOp, tile::TakeFlagOp>(inner)
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
  auto slotOf = [&](Operation *op, Value base, Value slot, int64_t count,
                    llvm::DenseMap<Value, int64_t> &bases, int64_t &n) {
    int64_t at;
    if (!need(op, slot, at))
      return false;
    if (at < 0 || at >= count) {
      op->emitError("slot ") << at << " of a ring of " << count;
      return false;
    }
    n = bases.lookup(base) + at;
    return true;
  };
  if (auto wait = dyn_cast<tile::SignalWaitOp>(op)) {
    Event e{Event::Wait, -1, 0, {}, op};
    if (!slotOf(op, wait.getSignals(), wait.getSlot(),
                wait.getSignals().getType().getCount(), *signalBase, e.signal) ||
        !need(op, wait.getParity(), e.count))
      return failure();
    add(e);
    return success();
  }
  if (auto arrive = dyn_cast<tile::SignalArriveOp>(op)) {
    int64_t really = 1;
    if (arrive.getCondition() && !need(op, arrive.getCondition(), really))
      return failure();
    Event e{Event::Arrive, -1, group == 0 ? 1 : kWarpsPerGroup, {}, op};
    if (!slotOf(op, arrive.getSignals(), arrive.getSlot(),
                arrive.getSignals().getType().getCount(), *signalBase, e.signal))
      return failure();
    if (really)
      add(e);
    return success();
  }
  if (auto copy = dyn_cast<tile::CopyBoxOp>(op)) {
    Event e{Event::Copy, -1, 0, {0}, op};
    if (!slotOf(op, copy.getSignals(), copy.getSlot(),
                copy.getSignals().getType().getCount(), *signalBase, e.signal) ||
        !slotOf(op, copy.getSlabs(), copy.getSlot(),
                copy.getSlabs().getType().getStages(), *stageBase, e.stages[0]))
      return failure();
    add(e);
    return success();
  }
  if (auto read = dyn_cast<tile::SlabReadOp>(op)) {
    int64_t stage;
    if (!slotOf(op, read.getSlabs(), read.getSlot(),
                read.getSlabs().getType().getStages(), *stageBase, stage))
      return failure();
    stageOf[read.getResult()] = stage;
    return success();
  }
  if (auto read = dyn_cast<tile::SlabLoadOp>(op)) {
    Event e{Event::Read, -1, 0, {0}, op};
    if (!slotOf(op, read.getSlabs(), read.getSlot(),
                read.getSlabs().getType().getStages(), *stageBase, e.stages[0]))
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
  if (auto post = dyn_cast<tile::PostTileOp>(op)) {
    int64_t tile;
    if (!need(op, post.getTile(), tile))
      return failure();
    int64_t again = 0;
    if (post.getAgain() && !need(op, post.getAgain(), again))
      return failure();
    posted->push_back({tile, again != 0});
    if (tile >= 0 && llvm::count_if(*posted, [&](const Posted &other) {
          return other.tile == tile;
        }) > 2) {
      trouble = "tile " + std::to_string(tile) + " is done again more than once";
      return failure();
    }
    return success();
  }
  if (auto take = dyn_cast<tile::TakeTileOp>(op)) {
    if (taken >= posted->size()) {
      trouble = "a consumer takes a tile that nobody posts";
      return failure();
    }
    const Posted &next = (*posted)[taken++];
    set(take.getTile(), next.tile);
    set(take.getAgain(), next.again);
    return success();
  }
  if (auto raise = dyn_cast<tile::RaiseFlagOp>(op)) {
    int64_t really;
    Event e{Event::Raise, -1, 0, {}, op};
    if (!need(op, raise.getCondition(), really) ||
        !slotOf(op, raise.getFlags(), raise.getSlot(),
                raise.getFlags().getType().getCount(), *flagBase, e.signal))
      return failure();
    if (really) {
      flagged->insert({taken - 1, e.signal});
      add(e);
    }
    return success();
  }
  if (auto take = dyn_cast<tile::TakeFlagOp>(op)) {
    Event e{Event::Take, -1, 0, {}, op};
    if (!slotOf(op, take.getFlags(), take.getSlot(),
                take.getFlags().getType().getCount(), *flagBase, e.signal))
      return failure();
    for (auto it = believed.begin(); it != believed.end();) {
      bool here = it->first < posted->size() && it->second == e.signal;
      e.count |= here;
      it = here ? believed.erase(it) : std::next(it);
    }
    set(take.getResult(), e.count);
    add(e);
    return success();
  }
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
    set(op->getResult(0), run.block);
    return success();
  }
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

LogicalResult Role::block(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(operation(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

namespace {
/// A memory barrier: `left` arrivals and `bytes` copies complete its phase.
struct Signal {
  int64_t arrivals = 0, left = 0, copies = 0, phase = 0;
  void settle() {
    if (left == 0 && copies == 0) {
      ++phase;
      left = arrivals;
    }
  }
};

struct Machine {
  std::vector<Signal> signals;
  std::vector<char> landed;     ///< Stages that hold what was copied.
  std::vector<int64_t> readers; ///< Products in flight that read a stage.
  const std::vector<Role> &roles;
  std::vector<size_t> at;
  std::vector<std::deque<const Event *>> inFlight; ///< Of each role.
  std::vector<std::pair<int64_t, int64_t>> copies; ///< (signal, stage) under way.
  std::vector<int64_t> turns; ///< Passed to a group and not yet taken.
  std::vector<const Event *> flags; ///< Who raised them.
  std::mt19937_64 random;

  Machine(std::vector<Signal> signals, size_t stages, size_t flagCount,
          const std::vector<Role> &roles, bool takeTurns, uint64_t seed)
      : signals(std::move(signals)), landed(stages, 0), readers(stages, 0),
        roles(roles), at(roles.size(), 0), inFlight(roles.size()),
        turns(roles.size(), 0), flags(flagCount, nullptr), random(seed) {
    if (takeTurns && roles.size() > 1)
      turns[1] = 1;
  }

  static std::string place(const Event &event) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << event.op->getName() << " at " << event.op->getLoc();
    return text;
  }
  std::string who(size_t role) const {
    return role == 0 ? "the producer" : "consumer " + std::to_string(role - 1);
  }

  bool ready(size_t role) const {
    if (at[role] >= roles[role].events.size())
      return false;
    const Event &e = roles[role].events[at[role]];
    if (e.kind == Event::Wait) // Parity p has completed when the phase's is not p.
      return (signals[e.signal].phase & 1) != (e.count & 1);
    if (e.kind == Event::TurnWait)
      return turns[role] > 0;
    return true;
  }

  std::string step(size_t role) {
    const Event &e = roles[role].events[at[role]++];
    switch (e.kind) {
    case Event::Wait:
      return "";
    case Event::Arrive: {
      Signal &s = signals[e.signal];
      if (s.left < e.count)
        return who(role) + " arrives more often than the signal counts: " + place(e);
      s.left -= e.count;
      s.settle();
      return "";
    }
    case Event::Copy: {
      int64_t stage = e.stages[0];
      if (readers[stage] > 0)
        return who(role) + " refills a stage that a product still reads: " + place(e);
      Signal &s = signals[e.signal];
      if (s.left < 1)
        return who(role) + " arrives more often than the signal counts: " + place(e);
      landed[stage] = 0;
      ++s.copies;
      --s.left;
      copies.push_back({e.signal, stage});
      return "";
    }
    case Event::Read:
      if (!landed[e.stages[0]])
        return who(role) + " reads a stage before its copy has landed: " + place(e);
      return "";
    case Event::Dot:
      for (int64_t stage : e.stages) {
        if (!landed[stage])
          return who(role) + " reads a stage before its copy has landed: " + place(e);
        ++readers[stage];
      }
      inFlight[role].push_back(&e);
      return "";
    case Event::DotWait:
      while (static_cast<int64_t>(inFlight[role].size()) > e.count) {
        for (int64_t stage : inFlight[role].front()->stages)
          --readers[stage];
        inFlight[role].pop_front();
      }
      return "";
    case Event::Raise:
      flags[e.signal] = &e;
      return "";
    case Event::Take:
      if ((flags[e.signal] != nullptr) != (e.count != 0))
        return who(role) + " takes a flag before all have had their say: " + place(e);
      flags[e.signal] = nullptr;
      return "";
    case Event::TurnWait:
      --turns[role];
      return "";
    case Event::TurnPass: {
      size_t next = role + 1 < roles.size() ? role + 1 : 1;
      if (++turns[next] > 1)
        return who(role) + " passes a turn to one that still has it: " + place(e);
      return "";
    }
    }
    return "";
  }

  void land(size_t which) {
    auto [signal, stage] = copies[which];
    copies.erase(copies.begin() + static_cast<ptrdiff_t>(which));
    landed[stage] = 1;
    --signals[signal].copies;
    signals[signal].settle();
  }

  /// Runs to the end in one random order. `late`: copies land only when nothing
  /// else can happen.
  std::string go(bool late) {
    while (true) {
      std::vector<size_t> able;
      for (size_t role = 0; role < roles.size(); ++role)
        if (ready(role))
          able.push_back(role);
      size_t choices = able.size() + (late && !able.empty() ? 0 : copies.size());
      if (choices == 0)
        break;
      size_t pick = random() % choices;
      if (pick >= able.size()) {
        land(pick - able.size());
        continue;
      }
      std::string wrong = step(able[pick]);
      if (!wrong.empty())
        return wrong;
    }
    for (size_t role = 0; role < roles.size(); ++role) {
      if (at[role] < roles[role].events.size())
        return who(role) + " waits for ever: " + place(roles[role].events[at[role]]);
      if (!inFlight[role].empty())
        return who(role) + " ends with a product that nobody waited for: " +
               place(*inFlight[role].front());
    }
    for (const Event *raised : flags)
      if (raised)
        return "nobody takes a flag that was raised: " + place(*raised);
    return "";
  }
};
} // namespace

/// Whether a wait ends the product `dot` of its block: at most as many groups may stay
/// in flight as were closed in between.
static bool ends(tile::DotWaitOp wait, tile::DotAsyncOp dot) {
  if (wait.getValue() != dot.getResult() || wait->getBlock() != dot->getBlock())
    return false;
  int64_t between = 0;
  for (Operation *op = dot->getNextNode(); op && op != wait; op = op->getNextNode())
    between += isa<tile::DotAsyncOp>(op);
  return static_cast<int64_t>(wait.getPending()) <= between;
}

/// Operands in registers belong to the product until a wait holds them: between
/// the two nothing else may come that ends the loop's turn. Static: each product
/// with an operand in registers has a later wait of its block that names it.
static std::string checkHeldOperands(func::FuncOp program) {
  std::string wrong;
  program.walk([&](tile::DotAsyncOp dot) {
    if (dot.getA().getDefiningOp<tile::SlabReadOp>() || !wrong.empty())
      return;
    for (Operation *user : dot.getA().getUsers())
      if (auto wait = dyn_cast<tile::DotWaitOp>(user))
        if (ends(wait, dot) && llvm::is_contained(wait.getHolding(), dot.getA()))
          return;
    llvm::raw_string_ostream(wrong)
        << "operands in registers are not held until the product's wait: "
        << dot->getName() << " at " << dot.getLoc();
  });
  return wrong;
}

/// Ones are written by all threads together, and products read them only behind a
/// barrier: the roles begin with one. Static: both are at the top of the program.
static std::string checkOnes(func::FuncOp program, tile::SpecializeOp roles) {
  std::string wrong;
  Block &top = program.getBody().front();
  auto barriersBehind = [&](Operation *fill, Operation *reader) {
    for (Operation *op = fill->getNextNode(); op; op = op->getNextNode())
      if (op == roles ? roles->isAncestor(reader)
                      : isa<tile::BarrierOp>(op) && op != reader &&
                            op->isBeforeInBlock(top.findAncestorOpInBlock(*reader)))
        return true;
    return false;
  };
  program.walk([&](tile::DotAsyncOp dot) {
    if (!dot.getOnes() || !wrong.empty())
      return;
    for (Operation *user : dot.getOnes().getUsers())
      if (isa<tile::FillOnesOp>(user) && user->getBlock() == &top &&
          barriersBehind(user, dot))
        return;
    llvm::raw_string_ostream(wrong)
        << "a product reads ones before they are written and a barrier has passed: "
        << dot->getName() << " at " << dot.getLoc();
  });
  return wrong;
}

FailureOr<std::string> attn::checkProtocol(func::FuncOp program,
                                           const ProtocolRun &run) {
  tile::SpecializeOp roles;
  bool signalled = false;
  program.walk([&](Operation *op) {
    if (auto specialize = dyn_cast<tile::SpecializeOp>(op))
      roles = specialize;
    signalled |= isa<tile::AllocSignalsOp>(op);
  });
  if (!signalled)
    return std::string();
  // Without roles every group runs the whole program and nobody else anything.
  auto groupCount = program->getAttrOfType<IntegerAttr>("tile.groups");
  int64_t groups = roles ? static_cast<int64_t>(roles.getGroups())
                         : groupCount ? groupCount.getInt() : 1;
  std::string held = checkHeldOperands(program);
  if (held.empty())
    held = checkOnes(program, roles);
  if (!held.empty())
    return held;

  llvm::DenseMap<Value, int64_t> signalBase, stageBase, flagBase;
  std::vector<Signal> signals;
  int64_t stages = 0, flags = 0;
  program.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<tile::AllocSignalsOp>(op)) {
      signalBase[alloc.getResult()] = static_cast<int64_t>(signals.size());
      Signal signal;
      signal.arrivals = signal.left = alloc.getType().getArrivals();
      signals.insert(signals.end(), static_cast<size_t>(alloc.getType().getCount()),
                     signal);
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

  std::vector<Posted> posted;
  std::vector<Role> all;
  Flagged believed, flagged;
  std::string trouble;
  auto follow = [&]() -> LogicalResult {
    posted.clear(), all.clear(), flagged.clear();
    for (int64_t group = 0; group <= groups; ++group) {
      Role role{run, group, {}, &posted, &flagged, believed, 0, 0,
                std::mt19937_64(run.seed + 7 * static_cast<uint64_t>(group)),
                llvm::DenseMap<Value, Attribute>(), &signalBase, &stageBase, &flagBase,
                llvm::DenseMap<Value, int64_t>(), ""};
      for (unsigned i = 0; i < program.getNumArguments(); ++i) {
        auto what = program.getArgAttrOfType<DictionaryAttr>(i, tile::kArgAttr);
        Value argument = program.getArgument(i);
        if (!what || !argument.getType().isInteger())
          continue;
        auto text = [&](StringRef key) {
          auto value = what.getAs<StringAttr>(key);
          return value ? value.str() : std::string();
        };
        auto lookUp = [](const std::map<std::string, int64_t> &from,
                         const std::string &name, int64_t otherwise) {
          auto found = from.find(name);
          return found == from.end() ? otherwise : found->second;
        };
        std::string kind = text("kind");
        role.set(argument, kind == "length"   ? lookUp(run.lengths, text("axis"), 1)
                           : kind == "scalar" ? lookUp(run.scalars, text("name"), 0)
                           : kind == "stride" ? run.stride
                                              : 1);
      }
      LogicalResult followed = success();
      for (Operation &op : program.getBody().front().without_terminator())
        if (&op != roles && succeeded(followed) && (roles || group > 0))
          followed = role.operation(&op);
      if (roles && succeeded(followed)) {
        Region &region = group == 0 ? roles.getProducer() : roles.getConsumer();
        for (BlockArgument position : region.front().getArguments())
          role.set(position, 0);
        followed = role.block(region.front());
      }
      if (failed(followed)) {
        if (role.trouble.empty())
          return failure();
        trouble = role.trouble;
        return success();
      }
      all.push_back(std::move(role));
    }
    return success();
  };
  // Each round settles at least one more verdict: up to the first that the producer
  // took for another than it is, what was posted is right.
  while (true) {
    if (failed(follow()))
      return failure();
    if (!trouble.empty())
      return trouble;
    auto [own, real] = std::mismatch(believed.begin(), believed.end(),
                                     flagged.begin(), flagged.end());
    if (own == believed.end() && real == flagged.end())
      break;
    size_t differs = std::min(own == believed.end() ? SIZE_MAX : own->first,
                              real == flagged.end() ? SIZE_MAX : real->first);
    believed.clear();
    for (auto verdict : flagged)
      if (verdict.first <= differs)
        believed.insert(verdict);
  }
  for (auto [place, flag] : flagged) {
    int64_t tile = posted[place].tile;
    if (!posted[place].again && !llvm::any_of(ArrayRef(posted).drop_front(place + 1), [&](const Posted &later) {
          return later.again && later.tile == tile;
        }))
      return "tile " + std::to_string(tile) + " fails its check and is not done again";
  }
  for (int64_t i = 0; i < run.orders; ++i) {
    Machine machine(signals, static_cast<size_t>(stages), static_cast<size_t>(flags),
                    all, roles && roles.getTurns(), run.seed * 1000003 + static_cast<uint64_t>(i));
    std::string wrong = machine.go(/*late=*/i % 2 == 1);
    if (!wrong.empty())
      return wrong;
  }
  return std::string();
}
