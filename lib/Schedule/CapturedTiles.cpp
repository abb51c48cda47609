//===- CapturedTiles.cpp - what score functions read of each row and key --===//
//
// Brought in a ring of its own like the keys, or read straight from memory where the
// launch has no map of the tensor.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/ConsumeKeys.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

void KeyConsumer::fillCaptured(Value keyStart, SmallVectorImpl<Ring> &rings) {
  for (auto [tensor, ring] : llvm::zip_equal(captured, rings)) {
    auto mapped = scf::IfOp::create(b, loc, tensor.load.getMapped(),
                                    /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(mapped.thenBlock());
      tile::SignalWaitOp::create(b, loc, tensor.empty, ring.slot, other(ring.phase));
      copy(tensor.load.getMap(), tensor.load.getAt(), loop.start(), keyStart,
           tensor.slabs, tensor.full, ring.slot);
    }
    ring = advance(ring, stages);
  }
}

Value KeyConsumer::allMapped() {
  Value all;
  for (tile::LoadMappedOp load : loop.captured)
    all = all ? b.createOrFold<arith::AndIOp>(loc, all, load.getMapped())
              : load.getMapped();
  return all;
}

/// This group's rows of a captured tile from its stage, which is then free.
Value KeyConsumer::takeStaged(const CapturedStages &tensor, Ring ring) {
  tile::SignalWaitOp::create(b, loc, tensor.full, ring.slot, ring.phase);
  Value staged =
      tile::SlabLoadOp::create(b, loc, tile::LoadMappedOp(tensor.load).getType(),
                               tensor.slabs, ring.slot, firstRow());
  tile::SignalArriveOp::create(b, loc, tensor.empty, ring.slot, Value());
  return staged;
}

void KeyConsumer::takeAhead(State &state, Value keyStart, bool issued,
                            SmallVectorImpl<Value> &tiles) {
  if (issued != (captures == Captured::Staged))
    return;
  for (auto [tensor, ring] : llvm::zip_equal(captured, state.captured)) {
    if (issued) {
      tiles.push_back(takeStaged(tensor, ring));
    } else {
      IRMapping map;
      map.map(loop.start(), keyStart);
      tile::LoadMappedOp load = tensor.load;
      cloneSlice({load.getView(), load.getRow(), load.getColumn()}, map);
      tiles.push_back(takeCaptured(tensor, ring, map));
    }
    ring = advance(ring, stages);
  }
}

/// This group's rows of a captured tile: from its stage, which is then free, or
/// straight from memory when the launch has no map of the tensor.
Value KeyConsumer::takeCaptured(const CapturedStages &tensor, Ring ring,
                                IRMapping &map) {
  tile::LoadMappedOp load = tensor.load;
  auto either = scf::IfOp::create(b, loc, load.getType(), load.getMapped(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(either.thenBlock());
  scf::YieldOp::create(b, loc, takeStaged(tensor, ring));
  b.setInsertionPointToStart(either.elseBlock());
  Value direct = tile::LoadOp::create(
      b, loc, load.getType(), map.lookupOrDefault(load.getView()),
      map.lookupOrDefault(load.getRow()), map.lookupOrDefault(load.getColumn()));
  scf::YieldOp::create(b, loc, direct);
  return either.getResult(0);
}
