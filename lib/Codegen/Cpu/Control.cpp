//===- Control.cpp - program, loops and scalars on the CPU ----------------===//

#include "lib/Codegen/Cpu/CpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

CpuEmitter::CpuEmitter(OpBuilder builder, func::FuncOp program,
                       unsigned registers)
    : b(builder), program(program), loc(program.getLoc()),
      microTall(registers >= 32 ? 8 : 4), microWide(registers >= 32 ? 2 : 1) {}

Value CpuEmitter::index(int64_t v) {
  return arith::ConstantIndexOp::create(b, loc, v);
}
Value CpuEmitter::i64(int64_t v) {
  return arith::ConstantIntOp::create(b, loc, v, 64);
}
Value CpuEmitter::toI64(Value v) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
}
Value CpuEmitter::linear(Value row, Value column, int64_t columns) {
  return arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, row, index(columns)), column);
}
Value CpuEmitter::zeroOf(Type type) {
  return arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
}

void CpuEmitter::loop(int64_t count, int64_t step,
                      const std::function<void(Value)> &body) {
  if (count <= step)
    return body(index(0));
  auto loop = scf::ForOp::create(b, loc, index(0), index(count), index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

Value CpuEmitter::choose(Value condition, const std::function<Value()> &first,
                         const std::function<Value()> &second) {
  // Nested builders of scf.if have a builder of their own; everything here
  // emits through `b`.
  auto branch = [&](const std::function<Value()> &emit) {
    return [this, &emit](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(inner.getInsertionBlock());
      Value value = emit();
      scf::YieldOp::create(b, loc, value ? ValueRange(value) : ValueRange());
    };
  };
  scf::IfOp choice =
      second
          ? scf::IfOp::create(b, loc, condition, branch(first), branch(second))
          : scf::IfOp::create(b, loc, condition, branch(first));
  return choice.getNumResults() ? choice.getResult(0) : Value();
}

LogicalResult CpuEmitter::run() {
  Type i64Type = b.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto host =
      func::FuncOp::create(b, loc, program.getName(),
                           b.getFunctionType({pointer, i64Type, i64Type}, {}));
  entry = host.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  Value slots = entry->getArgument(0);
  for (auto [i, argument] : llvm::enumerate(program.getArguments())) {
    if (!isa<tile::PtrType>(argument.getType()) &&
        !argument.getType().isIntOrFloat())
      return program.emitError("argument ")
             << i << " is " << argument.getType()
             << "; a slot holds a pointer, an integer or a float";
    Type type = isa<tile::PtrType>(argument.getType()) ? pointer
                : argument.getType().isInteger(1)      ? b.getI8Type()
                                                       : argument.getType();
    Value slot = LLVM::GEPOp::create(b, loc, pointer, i64Type, slots,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value value = LLVM::LoadOp::create(b, loc, type, slot);
    if (argument.getType().isInteger(1))
      value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                    zeroOf(type));
    scalars.map(argument, value);
  }
  auto blocks = scf::ForOp::create(b, loc, entry->getArgument(1),
                                   entry->getArgument(2), i64(1));
  auto end = func::ReturnOp::create(b, loc);
  b.setInsertionPoint(blocks.getBody()->getTerminator());
  block =
      arith::TruncIOp::create(b, loc, b.getI32Type(), blocks.getInductionVar());
  if (failed(emitBlock(program.getBody().front())))
    return failure();
  // Scratch was allocated at the start of the entry block, so a call takes the
  // same memory however many blocks and keys it visits.
  moveLargeScratch(end);
  return success();
}

LogicalResult CpuEmitter::emitBlock(Block &block) {
  Block *outer = current;
  current = &block;
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  current = outer;
  return success();
}

LogicalResult CpuEmitter::emitScalar(Operation *op) {
  if (op->getNumRegions() != 0)
    return op->emitError("has no form on the CPU");
  b.clone(*op, scalars);
  return success();
}

/// Tiles hold f32, f16, bf16 or integers here; reductions are of f32 (C2) or of
/// integers that fill their storage.
LogicalResult CpuEmitter::checkTypes(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile)
      continue;
    Type element = tile.getElementType();
    if (!element.isF32() && !element.isF16() && !element.isBF16() &&
        !element.isInteger(1) && !element.isInteger(8) &&
        !element.isInteger(16) && !element.isInteger(32) &&
        !element.isInteger(64))
      return op->emitError("tiles of ")
             << element << " do not exist on the CPU; cast to f32";
    if (isa<tile::ReduceOp>(op) && !element.isF32() && !element.isInteger(32) &&
        !element.isInteger(64))
      return op->emitError("reduces ") << element << "; widen the tile to f32";
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isTile(constant.getType()) &&
      !isa<SplatElementsAttr>(constant.getValue()))
    return op->emitError(
        "tile constants hold one value; load others from memory");
  return success();
}

LogicalResult CpuEmitter::emitOp(Operation *op) {
  if (failed(checkTypes(op)))
    return failure();
  if (isa<tile::BlockIdOp>(op)) {
    scalars.map(op->getResult(0), block);
    return success();
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return emitLoad(load), success();
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return emitStore(store), success();
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    if (dot.getSums())
      return dot.emitOpError("has row sums, which only tile.dot_async computes");
    return emitDot(dot), success();
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return emitReduce(reduce), success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (isa<tile::ViewOp>(op))
    return success(); // Read through its definition.
  if (isa<tile::ForKeysOp, tile::AllocSharedOp, tile::CopyAsyncOp,
          tile::SharedReadOp, tile::MaskOp>(op))
    return op->emitError("has no form on the CPU; run the schedule passes for "
                         "target cpu");
  if (auto gather = dyn_cast<tile::GatherOp>(op);
      gather && !isTile(gather.getResult().getType())) {
    Place nowhere{Place::Tile, nullptr, nullptr, 1};
    scalars.map(gather.getResult(), emitGather(gather, nowhere));
    return success();
  }
  bool tiles = llvm::any_of(op->getResultTypes(), isTile);
  if (!tiles)
    return emitScalar(op);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitError("has no form on the CPU");
  if (mustHold(op))
    materialize(op->getResult(0));
  return success();
}

/// Evaluates once, before `op`, what its regions would evaluate again and
/// again.
void CpuEmitter::holdOutsideValues(Operation *op) {
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands()) {
      if (!isTile(operand.getType()) ||
          op->isAncestor(operand.getParentBlock()->getParentOp()))
        continue;
      Value at = operand;
      while (auto broadcast = at.getDefiningOp<tile::BroadcastOp>())
        at = broadcast.getValue();
      Operation *source = at.getDefiningOp();
      if (!buffers.count(at) && source &&
          !isa<tile::SplatOp, tile::IndexOp>(source) &&
          !source->hasTrait<OpTrait::ConstantLike>())
        materialize(at);
    }
  });
}

LogicalResult CpuEmitter::emitIf(scf::IfOp source) {
  holdOutsideValues(source);
  SmallVector<Value> held;
  SmallVector<Type> scalarTypes;
  for (Value result : source.getResults()) {
    bool tile = isTile(result.getType());
    held.push_back(tile ? allocate(cast<RankedTensorType>(result.getType()))
                        : Value());
    if (!tile)
      scalarTypes.push_back(result.getType());
  }
  auto target =
      scf::IfOp::create(b, loc, scalarTypes, lookUp(source.getCondition()),
                        !source.getElseRegion().empty());
  auto emitBranch = [&](Region &from, Region &to) -> LogicalResult {
    if (from.empty())
      return success();
    OpBuilder::InsertionGuard guard(b);
    if (scalarTypes.empty())
      b.setInsertionPoint(to.front().getTerminator());
    else
      b.setInsertionPointToEnd(&to.front());
    if (failed(emitBlock(from.front())))
      return failure();
    SmallVector<Value> yielded;
    for (auto [value, buffer] :
         llvm::zip(from.front().getTerminator()->getOperands(), held))
      if (buffer)
        evaluateInto(value, buffer);
      else
        yielded.push_back(lookUp(value));
    if (!scalarTypes.empty())
      scf::YieldOp::create(b, loc, yielded);
    return success();
  };
  if (failed(emitBranch(source.getThenRegion(), target.getThenRegion())) ||
      failed(emitBranch(source.getElseRegion(), target.getElseRegion())))
    return failure();
  unsigned next = 0;
  for (auto [result, buffer] : llvm::zip(source.getResults(), held))
    if (buffer)
      buffers[result] = buffer;
    else
      scalars.map(result, target.getResult(next++));
  return success();
}

LogicalResult CpuEmitter::emitFor(scf::ForOp source) {
  holdOutsideValues(source);
  // Carried tiles live in one buffer each for the whole loop.
  SmallVector<Value> carriedBuffers, inits;
  for (Value init : source.getInitArgs()) {
    if (!isTile(init.getType())) {
      inits.push_back(lookUp(init));
      carriedBuffers.push_back(nullptr);
      continue;
    }
    Value buffer = allocate(cast<RankedTensorType>(init.getType()));
    evaluateInto(init, buffer);
    carriedBuffers.push_back(buffer);
  }
  auto target = scf::ForOp::create(b, loc, lookUp(source.getLowerBound()),
                                   lookUp(source.getUpperBound()),
                                   lookUp(source.getStep()), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = target.getBody();
    if (inits.empty())
      b.setInsertionPoint(body->getTerminator());
    else
      b.setInsertionPointToEnd(body);
    scalars.map(source.getInductionVar(), target.getInductionVar());
    unsigned next = 0;
    for (auto [argument, buffer] :
         llvm::zip(source.getRegionIterArgs(), carriedBuffers))
      if (buffer)
        buffers[argument] = buffer;
      else
        scalars.map(argument, target.getRegionIterArg(next++));
    if (failed(emitBlock(*source.getBody())))
      return failure();
    // All new values are held before any old one is overwritten.
    SmallVector<Value> values, yielded;
    for (auto [value, buffer] :
         llvm::zip(source.getBody()->getTerminator()->getOperands(),
                   carriedBuffers)) {
      if (!buffer) {
        yielded.push_back(lookUp(value));
        values.push_back(nullptr);
        continue;
      }
      Value held = buffers.lookup(value);
      if (!held ||
          (held != buffer && llvm::is_contained(carriedBuffers, held))) {
        Value copy = allocate(cast<RankedTensorType>(value.getType()));
        evaluateInto(value, copy);
        held = copy;
      }
      values.push_back(held);
    }
    for (auto [value, held, buffer] :
         llvm::zip(source.getBody()->getTerminator()->getOperands(), values,
                   carriedBuffers)) {
      if (!buffer || held == buffer)
        continue;
      auto type = cast<RankedTensorType>(value.getType());
      Value tile = value, from = held, to = buffer;
      forEachVector(type, [&](const Place &place) {
        writeBuffer(readBuffer(tile, from, place, type.getElementType()), to,
                    type, place);
      });
    }
    if (!inits.empty())
      scf::YieldOp::create(b, loc, yielded);
  }
  unsigned next = 0;
  for (auto [result, buffer] : llvm::zip(source.getResults(), carriedBuffers))
    if (buffer)
      buffers[result] = buffer;
    else
      scalars.map(result, target.getResult(next++));
  return success();
}
