//===- StagedStore.cpp - results written by the copy engine ---------------===//
//
// A warp of the accumulator layout holds 16 rows, but of each row a lane holds
// two neighbouring columns of eight: stores from registers would touch memory in
// pieces of 32 bytes. So the warp lays its rows out in shared memory of its own
// and one lane a row starts a copy of the whole row. Nothing is waited for until
// the warp stores again, so the next tile's product runs under the copies.
//
// Rows in shared memory are 8 elements longer than the tile's. A lane writes a
// pair at row g = lane / 4, column 2 (lane mod 4): with elements of 4 bytes half
// a warp covers 4 rows, which then lie 8 banks apart; with 2 bytes a warp covers
// 8 rows, 4 banks apart. Either way every bank is met once.
//
// What is stored this way is larger than the L2 cache at the lengths that matter, and
// lines that wait to be written push out the operands, which are read again. So it
// goes first when the cache needs room.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

/// Rows of a warp.
static constexpr int64_t kWarpRows = 16;

/// All lanes of the warp are here, and see what the others wrote.
static void meetInWarp(ThreadCode &t) {
  t.assembly({}, {}, "bar.warp.sync 0xffffffff;", "~{memory}", true);
}

void GpuEmitter::drainStagedStores() {
  t.assembly({}, {}, "cp.async.bulk.wait_group.read 0;", "~{memory}", true);
}

LogicalResult GpuEmitter::emitStagedStore(tile::StoreOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  const Window view = windows.lookup(op.getView());
  int64_t size = byteSize(view.element), columns = tile.getDimSize(1);
  if (!layout.accumulator || layout.fragments != 1 || tile.getDimSize(0) == 1 ||
      columns % 8 || !program->hasAttr("tile.groups"))
    return op.emitOpError("staged needs whole tiles of warp groups, a multiple of "
                          "8 columns");
  if (!isMultiple(op.getColumn(), view.aligned))
    return op.emitOpError("staged needs a column that is a multiple of ")
           << view.aligned;

  // Each warp of the block has a place of its own.
  int64_t pitch = (columns + 8) * size, bytes = kWarpRows * pitch;
  int64_t groups = program->getAttrOfType<IntegerAttr>("tile.groups").getInt();
  int64_t warps = layout.warps * groups;
  if (stagingBytes < warps * bytes) {
    allocated = llvm::alignTo(allocated, 16);
    stagingOffset = allocated;
    stagingBytes = warps * bytes;
    allocated += stagingBytes;
  }
  Value warpOfBlock = t.add(t.mul(consumerGroup(), layout.warps), warp);
  Value place = t.add(t.add(sharedBase, stagingOffset), t.mul(warpOfBlock, bytes));

  // The last store's copies have read the place.
  drainStagedStores();
  meetInWarp(t);
  Slots from = expanded(op.getValue());
  Value own = t.add(place, t.mul(t.shiftRight(lane, 2), pitch));
  own = t.add(own, t.mul(t.bitAnd(lane, 3), 2 * size));
  Type word = t.b.getIntegerType(8 * size);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t k = 0; k < columns / 4; k += 2) {
      int64_t at = layout.rowDelta(i) * pitch + layout.columnDelta(k) * size;
      Value both = t.pair(t.bitcast(from.at(i, k), word),
                          t.bitcast(from.at(i, k + 1), word));
      LLVM::StoreOp::create(t.b, t.loc, both, t.sharedAt(own, at),
                            /*alignment=*/static_cast<unsigned>(2 * size));
    }
  t.assembly({}, {}, "fence.proxy.async.shared::cta;", "~{memory}", true);
  meetInWarp(t);

  // Lane l copies row l as far as the view goes.
  Value row = t.add(scalar(op.getRow()),
                    t.wide(t.add(t.mul(warp, kWarpRows), lane)));
  Value left = t.narrow(t.sub(view.columns, scalar(op.getColumn())));
  left = t.max(t.min(left, t.c32(columns)), t.c32(0));
  left = t.bitAnd(t.add(left, view.aligned - 1), -view.aligned);
  Value mine = t.both(t.less(lane, t.c32(kWarpRows)), t.less(row, view.rows));
  mine = t.both(mine, t.less(t.c32(0), left));
  Value offset = t.add(view.offset, t.mul(row, view.rowStride));
  Value to = t.element(view.base, t.add(offset, scalar(op.getColumn())), view.element);
  t.assembly({}, {mine, to, t.add(place, t.mul(lane, pitch)), t.mul(left, size)},
             "{\n\t.reg .b64 once;\n\t"
             "createpolicy.fractional.L2::evict_first.b64 once, 1.0;\n\t"
             "@$0 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
             "[$1], [$2], $3, once;\n\t}",
             "b,l,r,r,~{memory}", true);
  t.assembly({}, {}, "cp.async.bulk.commit_group;", "~{memory}", true);
  return success();
}
