//===- Control.cpp - dispatch, loops and conditionals ---------------------===//
//
// scf ops are rebuilt with each tile they carry as its scalars.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

/// Whether the lane's place moves on inside `op`.
static bool stampsWithin(Operation &op) {
  return op.getNumRegions() > 0 &&
         op.walk([](Operation *inner) {
             auto wait = dyn_cast<tile::SignalWaitOp>(inner);
             return isa<tile::StampOp, tile::CloseLaneOp>(inner) ||
                            (wait && wait.getDuring())
                        ? WalkResult::interrupt()
                        : WalkResult::advance();
           }).wasInterrupted();
}

LogicalResult GpuEmitter::emitBlock(Block &block) {
  // Stamps that wait for the place to move on were made in front of an operation
  // whose region has none: it must not move on in there, on one of several ways.
  bool others = stampsAhead > 0;
  for (Operation &op : block.without_terminator()) {
    t.loc = op.getLoc();
    if (stampsWithin(op))
      settleStamps();
    if (failed(emitOp(&op)))
      return failure();
  }
  if (!others)
    settleStamps();
  return success();
}

LogicalResult GpuEmitter::emitOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type))
      if (!isa<tile::SharedReadOp, tile::SlabReadOp>(op) && failed(checkFits(op, tile)))
        return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::BlockIdOp>([&](auto block) {
        scalars[block.getResult()] =
            NVVM::BlockIdXOp::create(t.b, t.loc, t.i32());
        return success();
      })
      .Case<tile::SplatOp, tile::BroadcastOp>([&](auto repeat) {
        tiles[repeat.getResult()] = slotsOf(repeat.getValue());
        return success();
      })
      .Case<tile::CommitOp>([&](auto) {
        NVVM::CpAsyncCommitGroupOp::create(t.b, t.loc);
        return success();
      })
      .Case<tile::WaitOp>([&](auto wait) {
        NVVM::CpAsyncWaitGroupOp::create(t.b, t.loc, wait.getPending());
        return success();
      })
      .Case<tile::BarrierOp>([&](auto) {
        NVVM::Barrier0Op::create(t.b, t.loc);
        return success();
      })
      .Case<scf::ForOp>([&](auto o) { return emitFor(o); })
      .Case<scf::IfOp>([&](auto o) { return emitIf(o); })
      .Case<tile::ViewOp>([&](auto o) { return emitView(o); })
      .Case<tile::LoadOp>([&](auto o) { return emitLoad(o); })
      .Case<tile::StoreOp>([&](auto o) { return emitStore(o); })
      .Case<tile::GatherOp>([&](auto o) { return emitGather(o); })
      .Case<tile::IndexOp>([&](auto o) { return emitIndex(o); })
      .Case<tile::ReduceOp>([&](auto o) { return emitReduce(o); })
      .Case<tile::AllocSharedOp>([&](auto o) { return emitAlloc(o); })
      .Case<tile::CopyAsyncOp>([&](auto o) { return emitCopy(o); })
      .Case<tile::SharedReadOp>([&](auto o) { return emitSharedRead(o); })
      .Case<tile::DotOp>([&](auto o) { return emitDot(o); })
      .Case<tile::GridDimOp>([&](auto grid) {
        scalars[grid.getResult()] = NVVM::GridDimXOp::create(t.b, t.loc, t.i32());
        return success();
      })
      .Case<scf::WhileOp>([&](auto o) { return emitWhile(o); })
      .Case<tile::AllocWordOp>([&](auto o) { return emitAllocWord(o); })
      .Case<tile::PostTileOp>([&](auto o) { return emitPostTile(o); })
      .Case<tile::TakeTileOp>([&](auto o) { return emitTakeTile(o); })
      .Case<tile::AllocFlagsOp>([&](auto o) { return emitAllocFlags(o); })
      .Case<tile::RaiseFlagOp>([&](auto o) { return emitRaiseFlag(o); })
      .Case<tile::TakeFlagOp>([&](auto o) { return emitTakeFlag(o); })
      .Case<tile::NextTileOp>([&](auto o) { return emitNextTile(o); })
      .Case<tile::FinishTilesOp>([&](auto o) { return emitFinishTiles(o); })
      .Case<tile::OpenLaneOp>([&](auto o) { return emitOpenLane(o); })
      .Case<tile::StampOp>([&](auto o) { return emitStamp(o); })
      .Case<tile::CloseLaneOp>([&](auto o) { return emitCloseLane(o); })
      .Case<tile::GroupIdOp>([&](auto group) {
        scalars[group.getResult()] = consumerGroup();
        return success();
      })
      .Case<tile::FirstThreadOp>([&](auto first) {
        scalars[first.getResult()] = t.less(blockThread, t.c32(1));
        return success();
      })
      .Case<tile::AllocSlabsOp>([&](auto o) { return emitAllocSlabs(o); })
      .Case<tile::AllocSignalsOp>([&](auto o) { return emitAllocSignals(o); })
      .Case<tile::SignalWaitOp>([&](auto o) { return emitSignalWait(o); })
      .Case<tile::SignalArriveOp>([&](auto o) { return emitSignalArrive(o); })
      .Case<tile::CopyBoxOp>([&](auto o) { return emitCopyBox(o); })
      .Case<tile::ClusterRankOp>([&](auto o) { return emitClusterRank(o); })
      .Case<tile::ClusterBarrierOp>([&](auto o) { return emitClusterBarrier(o); })
      .Case<tile::SlabReadOp>([&](auto o) { return emitSlabRead(o); })
      .Case<tile::SlabLoadOp>([&](auto o) { return emitSlabLoad(o); })
      .Case<tile::FillOnesOp>([&](auto o) { return emitFillOnes(o); })
      .Case<tile::DotAsyncOp>([&](auto o) { return emitDotAsync(o); })
      .Case<tile::SplitSumsOp>([&](auto o) { return emitSplitSums(o); })
      .Case<tile::DotWaitOp>([&](auto o) { return emitDotWait(o); })
      .Case<tile::SpecializeOp>([&](auto o) { return emitSpecialize(o); })
      .Case<tile::TurnWaitOp>([&](auto o) { return emitTurnWait(o); })
      .Case<tile::TurnPassOp>([&](auto o) { return emitTurnPass(o); })
      .Case<tile::FoldOp>([&](auto o) { return emitFold(o); })
      .Case<tile::UnfoldOp>([&](auto o) { return emitUnfold(o); })
      .Case<tile::BandOp>([&](auto o) { return emitBand(o); })
      .Case<tile::AnyOp>([&](auto o) { return emitAny(o); })
      .Case<tile::Exp2Op>([&](auto o) { return emitExp2(o); })
      .Case<tile::Exp2PackedOp>([&](auto o) { return emitExp2Packed(o); })
      .Case<tile::RoundPackedOp>([&](auto o) { return emitRoundPacked(o); })
      .Case<tile::LoadBoxOp, tile::LoadMappedOp>([&](auto o) {
        return o.emitOpError("must be gone before tile-to-nvvm; run "
                             "tile-specialize-warps first");
      })
      .Case<tile::AgainOp, tile::RedoOp>([&](auto o) {
        return o.emitOpError("must be gone before tile-to-nvvm; run "
                             "tile-persist-tiles first");
      })
      .Case<tile::RunningMaxOp, tile::RescaleOp>([&](auto o) {
        return o.emitOpError("must be gone before tile-to-nvvm; run "
                             "tile-expand-running-max first");
      })
      .Case<arith::ConstantOp>([&](auto o) { return emitConstant(o); })
      .Case<tile::ForKeysOp, tile::MaskOp>([&](auto o) {
        return o.emitOpError("must be gone before tile-to-nvvm; run "
                             "tile-split-key-loop first");
      })
      .Default([&](Operation *o) { return emitElementwise(o); });
}

/// 16-bit floats are carried two a register, as products want them.
bool GpuEmitter::travelsPacked(RankedTensorType tile) {
  Type element = tile.getElementType();
  return (element.isF16() || element.isBF16()) && tile.getDimSize(1) != 1 &&
         columnSlots(tile) % 2 == 0;
}

LogicalResult GpuEmitter::carriedTypes(Operation *op, Type type,
                                       SmallVectorImpl<Type> &types) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) {
    types.push_back(type);
    return success();
  }
  if (failed(checkFits(op, tile)))
    return failure();
  int64_t slots = rowSlots(tile) * columnSlots(tile);
  if (travelsPacked(tile))
    types.append(slots / 2, t.i32());
  else
    types.append(slots, tile.getElementType());
  return success();
}

LogicalResult GpuEmitter::flatten(Operation *op, Value value,
                                  SmallVectorImpl<Value> &flat) {
  if (!isa<RankedTensorType>(value.getType())) {
    flat.push_back(scalar(value));
    return success();
  }
  if (!tiles.contains(value))
    return op->emitError("cannot carry a stage of shared memory");
  Slots slots = expanded(value);
  if (!travelsPacked(cast<RankedTensorType>(value.getType()))) {
    llvm::append_range(flat, slots.values);
    return success();
  }
  for (size_t i = 0; i < slots.values.size(); i += 2)
    flat.push_back(
        t.bitcast(t.pair(slots.values[i], slots.values[i + 1]), t.i32()));
  return success();
}

void GpuEmitter::unflatten(Value value, ValueRange flat, unsigned &position) {
  if (!isa<RankedTensorType>(value.getType())) {
    scalars[value] = flat[position++];
    return;
  }
  Slots slots;
  slots.rows = rowSlots(value.getType());
  slots.columns = columnSlots(value.getType());
  auto tile = cast<RankedTensorType>(value.getType());
  if (travelsPacked(tile)) {
    Type pair = VectorType::get({2}, tile.getElementType());
    for (int64_t i = 0; i < slots.rows * slots.columns / 2; ++i) {
      Value both = t.bitcast(flat[position++], pair);
      for (int64_t k = 0; k < 2; ++k)
        slots.values.push_back(
            LLVM::ExtractElementOp::create(t.b, t.loc, both, t.c32(k)));
    }
  } else {
    for (int64_t i = 0; i < slots.rows * slots.columns; ++i)
      slots.values.push_back(flat[position++]);
  }
  tiles[value] = slots;
}

LogicalResult GpuEmitter::emitRegion(Block &source, Block &target) {
  OpBuilder::InsertionGuard guard(t.b);
  if (!target.empty() && target.back().hasTrait<OpTrait::IsTerminator>())
    target.back().erase();
  t.b.setInsertionPointToEnd(&target);
  if (failed(emitBlock(source)))
    return failure();
  SmallVector<Value> flat;
  for (Value value : source.getTerminator()->getOperands())
    if (failed(flatten(source.getTerminator(), value, flat)))
      return failure();
  scf::YieldOp::create(t.b, t.loc, flat);
  return success();
}

LogicalResult GpuEmitter::emitFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs())
    if (failed(flatten(op, init, inits)))
      return failure();
  auto loop = scf::ForOp::create(t.b, t.loc, scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()), inits);
  scalars[op.getInductionVar()] = loop.getInductionVar();
  unsigned position = 0;
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    for (Value argument : op.getRegionIterArgs())
      unflatten(argument, loop.getRegionIterArgs(), position);
  }
  if (failed(emitRegion(*op.getBody(), *loop.getBody())))
    return failure();
  position = 0;
  for (Value result : op.getResults())
    unflatten(result, loop.getResults(), position);
  return success();
}

/// Scalars only: what persistent tiles carry.
LogicalResult GpuEmitter::emitWhile(scf::WhileOp op) {
  for (ValueRange values : {ValueRange(op.getInits()), ValueRange(op.getResults())})
    for (Type type : values.getTypes())
      if (isa<RankedTensorType>(type))
        return op.emitOpError("may not carry tiles");
  SmallVector<Value> inits;
  for (Value init : op.getInits())
    inits.push_back(scalar(init));
  auto loop = scf::WhileOp::create(t.b, t.loc, op.getResultTypes(), inits);
  for (auto [from, to] : {std::pair{&op.getBefore(), &loop.getBefore()},
                          std::pair{&op.getAfter(), &loop.getAfter()}}) {
    OpBuilder::InsertionGuard guard(t.b);
    Block *block = t.b.createBlock(to);
    for (BlockArgument argument : from->front().getArguments())
      scalars[argument] = block->addArgument(argument.getType(), t.loc);
    if (failed(emitBlock(from->front())))
      return failure();
    SmallVector<Value> passed;
    Operation *end = from->front().getTerminator();
    for (Value value : end->getOperands())
      passed.push_back(scalar(value));
    if (isa<scf::ConditionOp>(end))
      scf::ConditionOp::create(t.b, t.loc, passed[0],
                               ValueRange(passed).drop_front());
    else
      scf::YieldOp::create(t.b, t.loc, passed);
  }
  for (auto [from, to] : llvm::zip(op.getResults(), loop.getResults()))
    scalars[from] = to;
  return success();
}

LogicalResult GpuEmitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(carriedTypes(op, type, types)))
      return failure();
  bool hasElse = op.elseBlock() != nullptr;
  auto branch =
      scf::IfOp::create(t.b, t.loc, types, scalar(op.getCondition()), hasElse);
  if (failed(emitRegion(*op.thenBlock(), *branch.thenBlock())))
    return failure();
  if (hasElse && failed(emitRegion(*op.elseBlock(), *branch.elseBlock())))
    return failure();
  unsigned position = 0;
  for (Value result : op.getResults())
    unflatten(result, branch.getResults(), position);
  return success();
}
