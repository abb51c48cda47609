//===- StampPhases.cpp - attention programs that record their phases ------===//
//
// One rule for every schedule. An operation that waits, copies, multiplies or
// computes on tiles belongs to a phase; a stamp stands before each that belongs
// to another phase than what ran before it. A wait for a signal is a phase only if
// the signal is not there yet: it counts to what it waits for, and stamps itself
// when it has to wait. Scalar code belongs to none. What
// ran before is unknown where a loop's body begins and after a loop or a branch
// that holds stamps. A loop or branch of a single phase is one operation.
//
// A warp group issues products and goes on; a product that is in flight counts
// for whatever the group waits for or does meanwhile. So the lanes show which
// part of a product nothing covers, and their phases never overlap.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <optional>

namespace attn {
#define GEN_PASS_DEF_STAMPPHASESPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using tile::Phase;
using MaybePhase = std::optional<Phase>;

/// P V multiplies what the program computed, Q K what it read.
static Phase productOf(Value left) {
  return left.getDefiningOp<tile::SharedReadOp>() ||
                 left.getDefiningOp<tile::SlabReadOp>() ||
                 left.getDefiningOp<tile::SlabLoadOp>() ||
                 left.getDefiningOp<tile::LoadOp>()
             ? Phase::Score
             : Phase::Value;
}

static bool holdsTile(TypeRange types) {
  return llvm::any_of(types, llvm::IsaPred<RankedTensorType>);
}

static bool isProduct(Operation *op) {
  return isa<tile::DotOp, tile::DotAsyncOp, tile::DotWaitOp>(op);
}

/// Whether only the block's first thread comes to `op`, beside its other work.
static bool forFirstThread(Operation *op) {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>()) {
    Operation *condition = branch.getCondition().getDefiningOp();
    if (condition && isa<arith::AndIOp>(condition))
      for (Value operand : condition->getOperands())
        if (operand.getDefiningOp<tile::FirstThreadOp>())
          return true;
    if (isa_and_nonnull<tile::FirstThreadOp>(condition))
      return true;
  }
  return false;
}

namespace {
class Stamper {
public:
  explicit Stamper(func::FuncOp program) : program(program) {
    program.walk([&](Operation *op) {
      if (!isProduct(op))
        return;
      first = first ? first : op;
      last = op;
      (phaseOf(op) == Phase::Value ? hasValues : hasScores) = true;
    });
  }

  /// An attention program holds both products.
  bool applies() const { return hasScores && hasValues; }
  void run(int64_t lanes, int64_t steps);

private:
  MaybePhase phaseOf(Operation *op);
  MaybePhase phaseOfTileCode(Operation *op);
  MaybePhase phaseOfBarrier(tile::BarrierOp op);
  bool inKeyLoop(Operation *op);
  llvm::SmallSet<Phase, 8> phasesWithin(Operation *op);
  MaybePhase phaseBehind(tile::SignalWaitOp wait);
  MaybePhase stampBlock(Block &block, MaybePhase now);
  void close(Operation *end) {
    OpBuilder b(end);
    tile::CloseLaneOp::create(b, end->getLoc());
  }

  func::FuncOp program;
  Operation *first = nullptr, *last = nullptr; ///< Products, in program order.
  bool hasScores = false, hasValues = false;
};
} // namespace

/// The loop over keys carries tiles; the one over a persistent block's tiles
/// carries positions only.
bool Stamper::inKeyLoop(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (holdsTile(loop.getInitArgs().getTypes()))
      return true;
  return false;
}

/// Whether `a` stands before `b` in the text of the program, where blocks that
/// hold each other count from the outer one's place.
static bool before(Operation *a, Operation *b) {
  Block *common = a->getBlock();
  for (; common; common = common->getParentOp() ? common->getParentOp()->getBlock() : nullptr)
    if (Operation *other = common->findAncestorOpInBlock(*b)) {
      Operation *mine = common->findAncestorOpInBlock(*a);
      return mine != other && mine->isBeforeInBlock(other);
    }
  return false;
}

MaybePhase Stamper::phaseOfTileCode(Operation *op) {
  bool tiles = holdsTile(op->getOperandTypes()) || holdsTile(op->getResultTypes());
  if (!tiles || op->getNumRegions() > 0 ||
      isa<arith::ConstantOp, tile::SharedReadOp, tile::SlabReadOp, tile::IndexOp,
          tile::SplatOp, tile::BroadcastOp>(op) || // No work of a tile's size.
      op->hasTrait<OpTrait::IsTerminator>())
    return std::nullopt;
  if (inKeyLoop(op))
    return Phase::Softmax;
  if (!before(first, op)) // Row numbers and the like, computed once.
    return std::nullopt;
  return before(last, op) ? Phase::Epilogue : Phase::Softmax;
}

/// After a wait for copies it makes everybody's copies seen; else it waits until
/// nobody reads the stage that is filled next. Before all products it does neither.
MaybePhase Stamper::phaseOfBarrier(tile::BarrierOp op) {
  if (isa_and_nonnull<tile::WaitOp>(op->getPrevNode()))
    return Phase::LoadWait;
  if (!inKeyLoop(op) && !before(first, op))
    return std::nullopt;
  return Phase::SlotWait;
}

MaybePhase Stamper::phaseOf(Operation *op) {
  auto role = op->getParentOfType<tile::SpecializeOp>();
  bool produces = role ? role.getProducer().isAncestor(op->getParentRegion())
                       : forFirstThread(op);
  return llvm::TypeSwitch<Operation *, MaybePhase>(op)
      .Case<tile::SignalWaitOp>(
          [&](auto) { return produces ? Phase::SlotWait : Phase::LoadWait; })
      .Case<tile::WaitOp>([](auto) { return Phase::LoadWait; })
      .Case<tile::BarrierOp>([&](auto barrier) { return phaseOfBarrier(barrier); })
      .Case<tile::TurnWaitOp>([](auto) { return Phase::TurnWait; })
      .Case<tile::NextTileOp>([](auto) { return Phase::NextTile; })
      .Case<tile::CopyBoxOp, tile::CopyAsyncOp>([](auto) { return Phase::Copy; })
      .Case<tile::StoreOp>([](auto) { return Phase::Epilogue; })
      .Case<tile::DotOp>([](auto dot) { return productOf(dot.getA()); })
      .Case<tile::DotWaitOp>([](auto wait) {
        auto dot = wait.getValue().template getDefiningOp<tile::DotAsyncOp>();
        return dot ? productOf(dot.getA()) : Phase::Value;
      })
      .Case<tile::DotAsyncOp>([&](auto dot) -> MaybePhase {
        // What the group next waits for, so that issuing a second product does
        // not break up the first.
        for (Operation *next = dot->getNextNode(); next; next = next->getNextNode())
          if (isa<tile::DotWaitOp>(next))
            return phaseOf(next);
        return productOf(dot.getA());
      })
      .Default([&](Operation *other) { return phaseOfTileCode(other); });
}

llvm::SmallSet<Phase, 8> Stamper::phasesWithin(Operation *op) {
  llvm::SmallSet<Phase, 8> phases;
  op->walk([&](Operation *inner) {
    if (MaybePhase phase = phaseOf(inner))
      phases.insert(*phase);
  });
  return phases;
}

/// What a wait is for: the phase of what comes next in its block, if one does.
MaybePhase Stamper::phaseBehind(tile::SignalWaitOp wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    if (isa<tile::SignalWaitOp>(op))
      continue;
    llvm::SmallSet<Phase, 8> within = phasesWithin(op);
    if (within.size() > 1)
      return std::nullopt;
    if (within.size() == 1)
      return *within.begin();
  }
  return std::nullopt;
}

/// Stamps a block that is entered in phase `now`; gives the phase it is left in.
MaybePhase Stamper::stampBlock(Block &block, MaybePhase now) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto roles = dyn_cast<tile::SpecializeOp>(op)) {
      for (Region *role : {&roles.getProducer(), &roles.getConsumer()}) {
        stampBlock(role->front(), Phase::Setup);
        close(role->front().getTerminator());
      }
      return std::nullopt;
    }
    MaybePhase phase = phaseOf(&op);
    if (op.getNumRegions() > 0) {
      llvm::SmallSet<Phase, 8> within = phasesWithin(&op);
      if (within.size() > 1) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            stampBlock(inner, isa<LoopLikeOpInterface>(op) ? std::nullopt : now);
        now = std::nullopt;
        continue;
      }
      if (within.size() == 1)
        phase = *within.begin();
    }
    auto wait = dyn_cast<tile::SignalWaitOp>(op);
    MaybePhase during = phase;
    if (wait && phase)
      phase = phaseBehind(wait) ? phaseBehind(wait) : now ? now : phase;
    if (wait && phase != during) {
      wait.setDuring(during);
      wait.setThen(phase);
    }
    if (!phase || phase == now)
      continue;
    OpBuilder b(&op);
    tile::StampOp::create(b, op.getLoc(), *phase);
    now = phase;
  }
  return now;
}

void Stamper::run(int64_t lanes, int64_t steps) {
  Block &top = program.getBody().front();
  Operation *end = top.getTerminator();
  bool specialised = !top.getOps<tile::SpecializeOp>().empty();
  stampBlock(top, Phase::Setup);
  if (!specialised)
    close(end);

  // The buffer is an argument of its own.
  OpBuilder b = OpBuilder::atBlockBegin(&top);
  auto what = b.getDictionaryAttr({b.getNamedAttr(
      tile::kArgAttr, b.getDictionaryAttr({b.getNamedAttr(
                          "kind", b.getStringAttr("timeline"))}))});
  unsigned number = program.getNumArguments();
  (void)program.insertArgument(
      number, tile::PtrType::get(b.getContext(), b.getI32Type()), what,
      program.getLoc());
  tile::OpenLaneOp::create(b, program.getLoc(), program.getArgument(number), lanes,
                           steps);

  SmallVector<Attribute> roles;
  if (specialised) {
    auto groups = (*top.getOps<tile::SpecializeOp>().begin()).getGroups();
    roles.push_back(b.getStringAttr("producer"));
    for (uint64_t i = 1; i <= groups; ++i)
      roles.push_back(b.getStringAttr("consumer " + Twine(i)));
  } else {
    // Groups of four warps, the last may be smaller.
    auto layout = program->getAttrOfType<tile::AccumulatorAttr>(tile::kLayoutAttr);
    int64_t warps = layout ? layout.getWarps()
                           : program->getAttrOfType<tile::RowsAttr>(tile::kLayoutAttr)
                                 .getWarps();
    if (auto groups = program->getAttrOfType<IntegerAttr>("tile.groups"))
      warps *= groups.getInt(); // The layout is that of one.
    for (int64_t w = 0; w < warps; w += 4)
      roles.push_back(b.getStringAttr("warps " + Twine(w) + "-" +
                                      Twine(std::min(w + 4, warps) - 1)));
  }
  program->setAttr(tile::kTimelineAttr, b.getArrayAttr(roles));
}

namespace {
struct StampPhases : attn::impl::StampPhasesPassBase<StampPhases> {
  using StampPhasesPassBase::StampPhasesPassBase;
  void runOnOperation() override {
    if (lanes < 1 || steps < 1 || lanes * steps >= int64_t(1) << 30) {
      getOperation().emitError("lanes and steps must be positive, their product "
                               "below 2^30");
      return signalPassFailure();
    }
    if (getOperation()->hasAttr(tile::kTimelineAttr)) {
      getOperation().emitError("records its phases already");
      return signalPassFailure();
    }
    Stamper stamper(getOperation());
    if (stamper.applies())
      stamper.run(lanes, steps);
  }
};
} // namespace
