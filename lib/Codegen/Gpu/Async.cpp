//===- Async.cpp - Hopper: copy engine, signals, warp groups --------------===//
//
// Instructions are written as PTX text, one volatile statement each; names and
// operand forms are those of the PTX manual. Products are in DotAsync.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

/// Bit of a posted tile's number; the tiles of a launch are fewer.
static constexpr int64_t kDoneAgain = 1 << 30;
/// Threads that meet at a turn: two warp groups.
static const std::string kTurnThreads = "256";

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult GpuEmitter::emitAllocSlabs(tile::AllocSlabsOp op) {
  tile::SlabsType type = op.getType();
  SlabRing ring;
  ring.rows = type.getRows();
  ring.slabs = type.getColumns() / 64;
  allocated = llvm::alignTo(allocated, 1024);
  ring.offset = allocated;
  allocated += type.getStages() * ring.stageBytes();
  slabRings[op.getResult()] = ring;
  return success();
}

LogicalResult GpuEmitter::emitAllocSignals(tile::AllocSignalsOp op) {
  tile::SignalsType type = op.getType();
  allocated = llvm::alignTo(allocated, 8);
  int64_t offset = allocated;
  allocated += 8 * type.getCount();
  signalOffsets[op.getResult()] = offset;
  auto first = scf::IfOp::create(
      t.b, t.loc, t.less(blockThread, t.c32(1)), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(first.thenBlock());
  for (int64_t i = 0; i < type.getCount(); ++i)
    t.assembly({}, {t.add(sharedBase, offset + 8 * i), t.c32(type.getArrivals())},
               "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}", true);
  // The copy engine sees them; other threads after the next barrier.
  t.assembly({}, {}, "fence.mbarrier_init.release.cluster;", "~{memory}", true);
  return success();
}

Value GpuEmitter::signalAddress(Value signals, Value slot) {
  return t.add(t.add(sharedBase, signalOffsets.lookup(signals)),
               t.mul(scalar(slot), 8));
}

LogicalResult GpuEmitter::emitSignalWait(tile::SignalWaitOp op) {
  // What arrives from other blocks is seen by a wait of their scope.
  std::string parity = op.getAcquire() ? "parity.acquire.cluster" : "parity";
  if (op.getDuring()) {
    // The test does not suspend the thread, so that what is a wait shows as one.
    auto phase = [](tile::Phase phase) { return static_cast<uint32_t>(phase); };
    t.assembly({},
               {signalAddress(op.getSignals(), op.getSlot()), scalar(op.getParity()),
                scalar(lanes.getRecords())},
               "{\n\t.reg .pred done;\n\t"
               "mbarrier.test_wait." + parity + ".shared::cta.b64 done, [$0], $1;\n\t"
               "@done bra DONE;\n\t" +
                   stampText(phase(*op.getDuring()), stampsAhead) +
                   "\nAGAIN:\n\t"
                   "mbarrier.try_wait." + parity + ".shared::cta.b64 done, [$0], $1;\n\t"
                   "@done bra CAME;\n\t"
                   "bra AGAIN;\n"
                   "CAME:\n\t" +
                   stampText(phase(*op.getThen()), stampsAhead + 1) + "\n\t" +
                   advanceText(2, 2) + "\nDONE:\n\t}",
               "r,r,l,~{memory}", true);
    return success();
  }
  t.assembly({}, {signalAddress(op.getSignals(), op.getSlot()), scalar(op.getParity())},
             "{\n\t.reg .pred done;\n"
             "AGAIN:\n\t"
             "mbarrier.try_wait." + parity + ".shared::cta.b64 done, [$0], $1;\n\t"
             "@done bra DONE;\n\t"
             "bra AGAIN;\n"
             "DONE:\n\t}",
             "r,r,~{memory}", true);
  return success();
}

LogicalResult GpuEmitter::emitSignalArrive(tile::SignalArriveOp op) {
  if (op.getCluster())
    return arriveInCluster(op);
  Value one = t.less(lane, t.c32(1));
  Value signal = signalAddress(op.getSignals(), op.getSlot());
  if (!op.getCondition()) {
    t.assembly({}, {one, signal}, "@$0 mbarrier.arrive.shared::cta.b64 _, [$1];",
               "b,r,~{memory}", true);
    return success();
  }
  // Joined here: LLVM would keep the lane and the condition in one register, for as
  // long as the condition stays the same.
  t.assembly({}, {one, scalar(op.getCondition()), signal},
             "{\n\t.reg .pred both;\n\tand.pred both, $0, $1;\n\t"
             "@both mbarrier.arrive.shared::cta.b64 _, [$2];\n\t}",
             "b,b,r,~{memory}", true);
  return success();
}

LogicalResult GpuEmitter::emitCopyBox(tile::CopyBoxOp op) {
  const SlabRing ring = slabRings.lookup(op.getSlabs());
  Value signal = signalAddress(op.getSignals(), op.getSlot());
  t.assembly({}, {signal, t.c32(ring.stageBytes())},
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
             "r,r,~{memory}", true);
  Value stage = t.add(t.add(sharedBase, ring.offset),
                      t.mul(scalar(op.getSlot()), ring.stageBytes()));
  if (op.getPart())
    copyPart(op, ring, stage);
  else
    copyBoxes(op, stage, scalar(op.getAt()[0]), scalar(op.getAt()[1]), ring.slabs,
              /*blocks=*/0);
  return success();
}

void GpuEmitter::copyBoxes(tile::CopyBoxOp op, Value target, Value column, Value row,
                           int64_t count, int64_t blocks) {
  Value signal = signalAddress(op.getSignals(), op.getSlot());
  int64_t slabBytes = slabRings.lookup(op.getSlabs()).slabBytes();
  for (int64_t slab = 0; slab < count; ++slab) {
    SmallVector<Value> operands{t.add(target, slab * slabBytes), scalar(op.getMap()),
                                signal};
    std::string text, constraints = "r,l,r";
    for (auto [i, at] : llvm::enumerate(op.getAt())) {
      operands.push_back(i == 0   ? t.add(column, 64 * slab)
                         : i == 1 ? row
                                  : scalar(at));
      text += (i ? ", $" : "$") + std::to_string(3 + i);
      constraints += ",r";
    }
    std::string way, mask;
    if (blocks) {
      way = ".multicast::cluster";
      mask = ", $" + std::to_string(operands.size());
      operands.push_back(t.integer(blocks, t.b.getI16Type()));
      constraints += ",h";
    }
    t.assembly({}, operands,
               "cp.async.bulk.tensor." + std::to_string(op.getAt().size()) +
                   "d.shared::cluster.global.mbarrier::complete_tx::bytes" + way +
                   " [$0], [$1, {" + text + "}], [$2]" + mask + ";",
               constraints + ",~{memory}", true);
  }
}

LogicalResult GpuEmitter::emitSlabRead(tile::SlabReadOp op) {
  const SlabRing ring = slabRings.lookup(op.getSlabs());
  SlabOperand operand;
  operand.ring = ring;
  Value base = t.shiftRight(t.bitAnd(t.add(sharedBase, ring.offset), 0x3FFFF), 4);
  Value place = t.add(base, t.mul(scalar(op.getSlot()), ring.stageBytes() / 16));
  operand.low = t.add(place, t.mul(scalar(op.getRow()), 128 / 16));
  slabOperands[op.getResult()] = operand;
  return success();
}

/// A quarter of a warp names the rows of each 8 x 8 matrix that ldmatrix brings;
/// a lane then holds of them what the accumulator layout wants. Matrices: rows
/// 0-7 and 8-15 of the warp's 16, of one chunk of 8 columns, then of the next. The
/// swizzle makes the rows of a matrix lie in different banks.
LogicalResult GpuEmitter::emitSlabLoad(tile::SlabLoadOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  if (!layout.accumulator || layout.fragments != 1)
    return op.emitOpError("needs #tile.accumulator with one fragment a warp");
  const SlabRing ring = slabRings.lookup(op.getSlabs());
  Value row = t.add(t.bitAnd(lane, 15), t.mul(warp, 16));
  Value line = t.add(t.add(sharedBase, ring.offset),
                     t.mul(scalar(op.getSlot()), ring.stageBytes()));
  line = t.add(line, t.mul(t.add(scalar(op.getRow()), row), 128));
  Value swizzle = t.mul(t.bitAnd(lane, 7), 16);
  Value second = t.mul(t.shiftRight(lane, 4), 16); // 16 bytes: the next chunk.
  // Lines start at multiples of 128 bytes, so pairs of chunks differ by bits.
  line = t.add(line, arith::XOrIOp::create(t.b, t.loc, second, swizzle));
  int64_t chunks = tile.getDimSize(1) / 8;
  Slots to;
  to.rows = 2;
  to.columns = columnSlots(tile);
  to.values.resize(2 * to.columns);
  Type twoElements = VectorType::get({2}, tile.getElementType());
  for (int64_t chunk = 0; chunk < chunks; chunk += 2) {
    Value pair = line;
    if (chunk % 8)
      pair = arith::XOrIOp::create(t.b, t.loc, line, t.c32(chunk % 8 * 16));
    SmallVector<Value> words = t.loadMatrices(
        pair, chunk / 8 * ring.slabBytes(), /*transpose=*/false);
    for (int64_t matrix = 0; matrix < 4; ++matrix) {
      Value both = t.bitcast(words[matrix], twoElements);
      for (int64_t k = 0; k < 2; ++k)
        to.values[matrix % 2 * to.columns + 2 * (chunk + matrix / 2) + k] =
            LLVM::ExtractElementOp::create(t.b, t.loc, both, t.c32(k));
    }
  }
  tiles[op.getResult()] = to;
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult GpuEmitter::emitSpecialize(tile::SpecializeOp op) {
  // Signals are initialised above; now everybody sees them.
  NVVM::Barrier0Op::create(t.b, t.loc);
  auto setRegisters = [&](const char *way, int64_t count) {
    t.assembly({}, {}, std::string("setmaxnreg.") + way + ".sync.aligned.u32 " +
                           std::to_string(count) + ";",
               "", true);
  };
  for (Region *role : {&op.getProducer(), &op.getConsumer()})
    for (BlockArgument position : role->front().getArguments())
      scalars[position] = t.c32(0);
  auto roles = scf::IfOp::create(t.b, t.loc, t.less(roleGroup, t.c32(1)),
                                 /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(roles.thenBlock());
    setRegisters("dec", op.getProducerRegisters());
    auto one = scf::IfOp::create(t.b, t.loc, t.less(blockThread, t.c32(1)),
                                 /*withElse=*/false);
    t.b.setInsertionPointToStart(one.thenBlock());
    // An optional map may be empty.
    for (BlockArgument argument : program.getArguments())
      if (auto what = program.getArgAttrOfType<DictionaryAttr>(
              argument.getArgNumber(), tile::kArgAttr);
          isa<tile::MapType>(argument.getType()) && what && !what.contains("optional"))
        t.assembly({}, {scalar(argument)}, "prefetch.tensormap [$0];",
                   "l,~{memory}", true);
    if (failed(emitBlock(op.getProducer().front())))
      return failure();
  }
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(roles.elseBlock());
  setRegisters("inc", op.getConsumerRegisters());
  if (op.getTurns()) { // Somebody has to hand the first group its first turn.
    Value lastGroup = arith::CmpIOp::create(
        t.b, t.loc, arith::CmpIPredicate::eq, roleGroup,
        t.c32(static_cast<int64_t>(op.getGroups())));
    t.assembly({}, {lastGroup, t.c32(1)}, "@$0 bar.arrive $1, " + kTurnThreads + ";",
               "b,r,~{memory}", true);
  }
  return emitBlock(op.getConsumer().front());
}

LogicalResult GpuEmitter::emitTurnWait(tile::TurnWaitOp op) {
  t.assembly({}, {roleGroup}, "bar.sync $0, " + kTurnThreads + ";", "r,~{memory}", true);
  return success();
}

LogicalResult GpuEmitter::emitTurnPass(tile::TurnPassOp op) {
  int64_t groups = op.getGroups();
  Value lastGroup = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                          roleGroup, t.c32(groups));
  Value next = t.select(lastGroup, t.c32(1), t.add(roleGroup, 1));
  t.assembly({}, {next}, "bar.arrive $0, " + kTurnThreads + ";", "r,~{memory}", true);
  return success();
}

//===----------------------------------------------------------------------===//
// Persistent tiles
//===----------------------------------------------------------------------===//

LogicalResult GpuEmitter::emitAllocWord(tile::AllocWordOp op) {
  allocated = llvm::alignTo(allocated, 8);
  signalOffsets[op.getResult()] = allocated;
  allocated += 8;
  return success();
}

Value GpuEmitter::wordAddress(Value word, Value slot) {
  Value first = t.add(sharedBase, signalOffsets.lookup(word));
  return slot ? t.add(first, t.mul(scalar(slot), 4)) : first;
}

LogicalResult GpuEmitter::emitPostTile(tile::PostTileOp op) {
  Value number = scalar(op.getTile());
  if (op.getAgain())
    number = t.add(number, t.select(scalar(op.getAgain()), t.c32(kDoneAgain), t.c32(0)));
  t.assembly({}, {wordAddress(op.getWord(), op.getSlot()), number},
             "st.shared.u32 [$0], $1;", "r,r,~{memory}", true);
  return success();
}

/// Lane 0 reads for its warp. It is also the lane that hands the word back, so its
/// own program order keeps the read in front of the next number.
LogicalResult GpuEmitter::emitTakeTile(tile::TakeTileOp op) {
  Value number = t.assembly(
      {t.i32()}, {t.less(lane, t.c32(1)), wordAddress(op.getWord(), op.getSlot())},
      "mov.b32 $0, 0;\n\t@$1 ld.shared.u32 $0, [$2];", "=&r,b,r,~{memory}", true)[0];
  number = t.shuffleFrom(number, t.c32(0));
  scalars[op.getTile()] = number;
  if (!op.getAgain().use_empty()) { // -1 stays negative.
    scalars[op.getTile()] = t.bitAnd(number, ~kDoneAgain);
    scalars[op.getAgain()] = arith::CmpIOp::create(
        t.b, t.loc, arith::CmpIPredicate::ne, t.bitAnd(number, kDoneAgain), t.c32(0));
  }
  return success();
}

LogicalResult GpuEmitter::emitNextTile(tile::NextTileOp op) {
  Value taken = t.assembly({t.i32()}, {scalar(op.getCounter())},
                           "atom.global.add.u32 $0, [$1], 1;", "=r,l,~{memory}",
                           true)[0];
  scalars[op.getResult()] =
      t.add(taken, NVVM::GridDimXOp::create(t.b, t.loc, t.i32()));
  return success();
}

LogicalResult GpuEmitter::emitFinishTiles(tile::FinishTilesOp op) {
  Value counter = scalar(op.getCounter());
  Value done = t.assembly({t.i32()}, {counter},
                          "atom.acq_rel.gpu.global.add.u32 $0, [$1+4], 1;",
                          "=r,l,~{memory}", true)[0];
  Value all = t.sub(NVVM::GridDimXOp::create(t.b, t.loc, t.i32()), t.c32(1));
  Value last =
      arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, done, all);
  t.assembly({}, {last, counter},
             "{\n\t.reg .b32 zero;\n\tmov.b32 zero, 0;\n\t"
             "@$0 st.global.u32 [$1], zero;\n\t@$0 st.global.u32 [$1+4], zero;\n\t}",
             "b,l,~{memory}", true);
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles that are done again
//===----------------------------------------------------------------------===//

LogicalResult GpuEmitter::emitAllocFlags(tile::AllocFlagsOp op) {
  allocated = llvm::alignTo(allocated, 8);
  signalOffsets[op.getResult()] = allocated;
  auto first = scf::IfOp::create(t.b, t.loc, t.less(blockThread, t.c32(1)),
                                 /*withElse=*/false);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(first.thenBlock());
  for (int64_t i = 0; i < op.getType().getCount(); ++i)
    t.assembly({}, {t.add(sharedBase, allocated + 8 * i), t.c32(0)},
               "st.shared.u32 [$0], $1;", "r,r,~{memory}", true);
  allocated += 8 * op.getType().getCount();
  return success();
}

/// By the lane that then arrives for the warp, so that its arrival releases it.
LogicalResult GpuEmitter::emitRaiseFlag(tile::RaiseFlagOp op) {
  if (op.getCluster())
    return raiseInCluster(op);
  Value raises = t.both(t.less(lane, t.c32(1)), scalar(op.getCondition()));
  t.assembly({}, {raises, signalAddress(op.getFlags(), op.getSlot()), t.c32(1)},
             "@$0 st.shared.u32 [$1], $2;", "b,r,r,~{memory}", true);
  return success();
}

LogicalResult GpuEmitter::emitTakeFlag(tile::TakeFlagOp op) {
  Value address = signalAddress(op.getFlags(), op.getSlot());
  Value raised = t.assembly({t.i32()}, {address, t.c32(0)},
                            "ld.shared.u32 $0, [$1];\n\tst.shared.u32 [$1], $2;",
                            "=&r,r,r,~{memory}", true)[0];
  scalars[op.getResult()] = arith::CmpIOp::create(
      t.b, t.loc, arith::CmpIPredicate::ne, raised, t.c32(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Within a warp
//===----------------------------------------------------------------------===//

LogicalResult GpuEmitter::emitFold(tile::FoldOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  if (!layout.accumulator)
    return op.emitOpError("needs #tile.accumulator");
  Slots from = expanded(op.getValue()), to;
  to.rows = from.rows;
  to.columns = 2;
  auto combine = [&](Value x, Value y) -> Value {
    switch (op.getKind()) {
    case tile::ReduceKind::Max:
      return arith::MaxNumFOp::create(t.b, t.loc, x, y);
    case tile::ReduceKind::MaxInt:
      return arith::MaxSIOp::create(t.b, t.loc, x, y);
    case tile::ReduceKind::Add:
      return arith::AddFOp::create(t.b, t.loc, x, y);
    }
    llvm_unreachable("all kinds handled");
  };
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t parity = 0; parity < 2; ++parity) {
      Value sum = from.at(i, parity);
      for (int64_t k = 2 + parity; k < columnSlots(tile); k += 2)
        sum = combine(sum, from.at(i, k));
      to.values.push_back(sum);
    }
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitUnfold(tile::UnfoldOp op) {
  if (!layout.accumulator)
    return op.emitOpError("needs #tile.accumulator");
  Slots from = expanded(op.getValue()), to;
  to.rows = from.rows;
  to.columns = columnSlots(op.getType());
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t k = 0; k < to.columns; ++k)
      to.values.push_back(from.at(i, k % 2));
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitAny(tile::AnyOp op) {
  Slots from = slotsOf(op.getValue());
  Value some = from.values[0];
  for (Value value : ArrayRef<Value>(from.values).drop_front())
    some = arith::OrIOp::create(t.b, t.loc, some, value);
  scalars[op.getResult()] =
      LLVM::CallIntrinsicOp::create(t.b, t.loc, t.i1(),
                                    t.b.getStringAttr("llvm.nvvm.vote.any.sync"),
                                    ValueRange{t.c32(-1), some})
          .getResult(0);
  return success();
}
