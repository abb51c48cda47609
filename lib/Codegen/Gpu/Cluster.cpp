//===- Cluster.cpp - blocks that reach each other's shared memory ---------===//
//
// A block's own shared memory has the same offsets in every block of its cluster.
// A copy to several blocks takes this block's addresses of stage and signal and puts
// both at these offsets in each; `mapa` gives the address of another block's word.
// Addresses of a block's own memory may have bits of its rank above the 18 that an
// offset has, which matrix descriptors must not see (emitSlabRead masks them).
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

LogicalResult GpuEmitter::emitClusterRank(tile::ClusterRankOp op) {
  scalars[op.getResult()] = NVVM::ClusterId::create(t.b, t.loc, t.i32());
  return success();
}

/// Not the `aligned` form: the producer's thread comes from where its warp did not go.
LogicalResult GpuEmitter::emitClusterBarrier(tile::ClusterBarrierOp) {
  t.assembly({}, {}, "barrier.cluster.arrive;\n\tbarrier.cluster.wait;", "~{memory}",
             true);
  return success();
}

/// This block's part of a stage, into all blocks: slabs if they can be divided, else
/// rows of each. Their signals were told of the whole stage by their own blocks.
void GpuEmitter::copyPart(tile::CopyBoxOp op, const SlabRing &ring, Value stage) {
  int64_t blocks = tile::clusterOf(program);
  int64_t rows = tile::partRows(ring.rows, 64 * ring.slabs, blocks);
  bool bySlabs = rows == ring.rows;
  int64_t count = bySlabs ? ring.slabs / blocks : ring.slabs;
  int64_t bytes = bySlabs ? count * ring.slabBytes() : rows * 128;
  Value part = scalar(op.getPart());
  Value column = scalar(op.getAt()[0]), row = scalar(op.getAt()[1]);
  if (bySlabs)
    column = t.add(column, t.mul(part, 64 * count));
  else
    row = t.add(row, t.mul(part, rows));
  copyBoxes(op, t.add(stage, t.mul(part, bytes)), column, row, count,
            (int64_t(1) << blocks) - 1);
}

/// Lane i arrives in block i. Without `release` no scope is named: a release at
/// cluster scope was seen to cost a fifth of a kernel's time when each block of keys
/// had one (shared/design/hopper.md), and reads of a stage are done before it.
LogicalResult GpuEmitter::arriveInCluster(tile::SignalArriveOp op) {
  Value reaches = t.less(lane, t.c32(tile::clusterOf(program)));
  std::string scope = op.getRelease() ? ".release.cluster" : "";
  t.assembly({}, {reaches, signalAddress(op.getSignals(), op.getSlot()), lane},
             "{\n\t.reg .b32 there;\n\t"
             "@$0 mapa.shared::cluster.u32 there, $1, $2;\n\t"
             "@$0 mbarrier.arrive" + scope + ".shared::cluster.b64 _, [there];\n\t}",
             "b,r,r,~{memory}", true);
  return success();
}

/// By the lane that then arrives in that block, so that its arrival releases it.
LogicalResult GpuEmitter::raiseInCluster(tile::RaiseFlagOp op) {
  Value raises = t.both(t.less(lane, t.c32(tile::clusterOf(program))),
                        scalar(op.getCondition()));
  t.assembly({}, {raises, signalAddress(op.getFlags(), op.getSlot()), lane, t.c32(1)},
             "{\n\t.reg .b32 there;\n\t"
             "@$0 mapa.shared::cluster.u32 there, $1, $2;\n\t"
             "@$0 st.shared::cluster.u32 [there], $3;\n\t}",
             "b,r,r,r,~{memory}", true);
  return success();
}
