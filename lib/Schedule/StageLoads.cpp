//===- StageLoads.cpp - operands of tile.dot through shared memory --------===//
//
// Copies run ahead of the computation by `stages - 1` iterations. One barrier
// an iteration suffices: it is passed after the wait for this iteration's
// stage, so everybody sees the copies, and before the copy that refills the
// stage read in the last iteration, so nobody still reads it.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_STAGELOADSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True when every use of `load` is a matrix operand of a dot.
static bool feedsDots(tile::LoadOp load) {
  return !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<tile::DotOp>(use.getOwner());
    return dot && use.getOperandNumber() < 2;
  });
}

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static tile::AllocSharedOp allocateStages(func::FuncOp program,
                                          tile::LoadOp load, int64_t stages) {
  OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
  auto tile = cast<RankedTensorType>(load.getType());
  return tile::AllocSharedOp::create(
      b, load.getLoc(),
      tile::BufferType::get(b.getContext(), stages, tile.getDimSize(0),
                            tile.getDimSize(1), tile.getElementType()));
}

/// The stage, read where the load stood.
static void readStage(tile::LoadOp load, Value buffer, Value slot) {
  OpBuilder b(load);
  auto read = tile::SharedReadOp::create(b, load.getLoc(), load.getType(),
                                         buffer, slot);
  load.replaceAllUsesWith(read.getResult());
  load.erase();
}

namespace {
/// A loop seen through what staging needs of it: the loads in it, and the
/// position and existence of a later iteration.
struct StagedLoop {
  Operation *op;
  Block *body;
  Value position; ///< Body argument that loads may use as row or column.
  SmallVector<tile::LoadOp> loads;
  SmallVector<Value> buffers;

  /// Number of this iteration (i32), at the start of the body.
  Value iteration(OpBuilder &b, Location loc) const {
    if (isa<tile::ForKeysOp>(op))
      return body->getArgument(0);
    auto loop = cast<scf::ForOp>(op);
    Value offset =
        arith::SubIOp::create(b, loc, position, loop.getLowerBound());
    Value count = arith::DivUIOp::create(b, loc, offset, loop.getStep());
    return arith::TruncIOp::create(b, loc, b.getI32Type(), count);
  }

  /// Position of iteration `t` (i32) and whether there is such an iteration.
  std::pair<Value, Value> at(OpBuilder &b, Location loc, Value t) const {
    if (auto keys = dyn_cast<tile::ForKeysOp>(op)) {
      KeyBlocks blocks(keys);
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, t,
                                           blocks.total(b, loc));
      return {blocks.start(b, loc, t), exists};
    }
    auto loop = cast<scf::ForOp>(op);
    Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), t);
    Value offset = arith::MulIOp::create(b, loc, wide, loop.getStep());
    Value where =
        arith::AddIOp::create(b, loc, loop.getLowerBound(), offset);
    return {where, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         where, loop.getUpperBound())};
  }

  /// Starts the copies of iteration `t`, if it exists, and closes the group.
  void copy(OpBuilder &b, Location loc, Value t, Value slot) {
    auto [where, exists] = at(b, loc, t);
    Value target = where;
    scf::IfOp::create(b, loc, exists, [&](OpBuilder &b, Location loc) {
      for (auto [load, buffer] : llvm::zip(loads, buffers)) {
        auto moved = [&](Value index) { return index == position ? target : index; };
        tile::CopyAsyncOp::create(b, loc, load.getView(), moved(load.getRow()),
                                  moved(load.getColumn()), buffer, slot);
      }
      scf::YieldOp::create(b, loc);
    });
    tile::CommitOp::create(b, loc);
  }
};
} // namespace

static LogicalResult stageLoop(func::FuncOp program, StagedLoop &loop,
                               int64_t stages) {
  Location loc = loop.op->getLoc();
  for (tile::LoadOp load : loop.loads) {
    for (Value operand : load->getOperands())
      if (operand != loop.position &&
          operand.getParentRegion()->isAncestor(loop.body->getParent()) &&
          operand.getParentBlock() == loop.body)
        return load.emitOpError("cannot be staged: its position is computed "
                                "inside the loop");
    loop.buffers.push_back(allocateStages(program, load, stages));
  }
  // Prologue: the first stages are on their way before the loop starts.
  OpBuilder before(loop.op);
  for (int64_t t = 0; t + 1 < stages; ++t) {
    Value number = constant(before, loc, t);
    loop.copy(before, loc, number, number);
  }
  OpBuilder b = OpBuilder::atBlockBegin(loop.body);
  Value t = loop.iteration(b, loc);
  Value count = constant(b, loc, stages);
  Value slot = stages == 1 ? constant(b, loc, 0)
                           : arith::RemUIOp::create(b, loc, t, count).getResult();
  if (stages == 1) {
    tile::BarrierOp::create(b, loc);
    loop.copy(b, loc, t, slot);
    tile::WaitOp::create(b, loc, 0);
    tile::BarrierOp::create(b, loc);
  } else {
    tile::WaitOp::create(b, loc, stages - 2);
    tile::BarrierOp::create(b, loc);
    Value ahead = arith::AddIOp::create(b, loc, t, constant(b, loc, stages - 1));
    Value free = arith::RemUIOp::create(b, loc, ahead, count);
    loop.copy(b, loc, ahead, free);
  }
  for (auto [load, buffer] : llvm::zip(loop.loads, loop.buffers))
    readStage(load, buffer, slot);
  return success();
}

/// Loads outside any loop are copied once, and read before `reader` (a staged
/// loop whose first `inFlight` groups of copies were started since), or at once
/// when there is no loop.
static void stageStraight(func::FuncOp program, ArrayRef<tile::LoadOp> loads,
                          Operation *reader, int64_t inFlight) {
  if (loads.empty())
    return;
  SmallVector<std::pair<tile::LoadOp, Value>> staged;
  for (tile::LoadOp load : loads) {
    Value buffer = allocateStages(program, load, 1);
    OpBuilder b(load);
    Value slot = constant(b, load.getLoc(), 0);
    tile::CopyAsyncOp::create(b, load.getLoc(), load.getView(), load.getRow(),
                              load.getColumn(), buffer, slot);
    staged.push_back({load, buffer});
  }
  tile::LoadOp last = loads.back();
  OpBuilder after(last);
  tile::CommitOp::create(after, last.getLoc());
  OpBuilder b(reader ? reader : last.getOperation());
  tile::WaitOp::create(b, last.getLoc(), reader ? inFlight : 0);
  tile::BarrierOp::create(b, last.getLoc());
  for (auto [load, buffer] : staged) {
    // Every user comes after the last load (it takes all of them, or is in or
    // after the loop), so the reads may move down to where the copies are seen.
    load->moveBefore(reader ? reader : last.getOperation());
    OpBuilder at(load);
    readStage(load, buffer, constant(at, load.getLoc(), 0));
  }
}

namespace {
struct StageLoads : attn::impl::StageLoadsPassBase<StageLoads> {
  using StageLoadsPassBase::StageLoadsPassBase;

  void runOnOperation() override {
    func::FuncOp program = getOperation();
    auto attribute = program->getAttrOfType<IntegerAttr>("tile.stages");
    int64_t stages = attribute ? attribute.getInt() : 1;
    if (stages < 1 || stages > 8) {
      program.emitError("'tile.stages' must be 1 to 8");
      return signalPassFailure();
    }
    SmallVector<tile::LoadOp> straight;
    SmallVector<StagedLoop> loops;
    program.walk([&](tile::LoadOp load) {
      if (!feedsDots(load))
        return;
      Operation *parent = load->getParentOp();
      if (parent == program)
        return straight.push_back(load);
      for (StagedLoop &loop : loops)
        if (loop.op == parent)
          return loop.loads.push_back(load);
      StagedLoop loop{parent, load->getBlock(), nullptr, {load}, {}};
      if (isa<tile::ForKeysOp>(parent))
        loop.position = load->getBlock()->getArgument(1);
      else if (auto f = dyn_cast<scf::ForOp>(parent))
        loop.position = f.getInductionVar();
      loops.push_back(loop);
    });
    for (StagedLoop &loop : loops)
      if (!loop.position) {
        loop.op->emitOpError("holds loads that cannot be staged");
        return signalPassFailure();
      }
    for (StagedLoop &loop : loops)
      if (failed(stageLoop(program, loop, stages)))
        return signalPassFailure();
    stageStraight(program, straight, loops.empty() ? nullptr : loops.front().op,
                  stages - 1);
  }
};
} // namespace
