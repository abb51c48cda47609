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

LogicalResult GpuEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    t.loc = op.getLoc();
    if (failed(emitOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult GpuEmitter::emitOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type))
      if (!isa<tile::SharedReadOp>(op) && failed(checkFits(op, tile)))
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
      .Case<arith::ConstantOp>([&](auto o) { return emitConstant(o); })
      .Case<tile::ForKeysOp, tile::MaskOp>([&](auto o) {
        return o.emitOpError("must be gone before tile-to-nvvm; run "
                             "tile-split-key-loop first");
      })
      .Default([&](Operation *o) { return emitElementwise(o); });
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
  types.append(rowSlots(tile) * columnSlots(tile), tile.getElementType());
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
  llvm::append_range(flat, expanded(value).values);
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
  for (int64_t i = 0; i < slots.rows * slots.columns; ++i)
    slots.values.push_back(flat[position++]);
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
  for (Value argument : op.getRegionIterArgs())
    unflatten(argument, loop.getRegionIterArgs(), position);
  if (failed(emitRegion(*op.getBody(), *loop.getBody())))
    return failure();
  position = 0;
  for (Value result : op.getResults())
    unflatten(result, loop.getResults(), position);
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
