//===- ClusterBlocks.cpp - blocks that load keys and values together ------===//
//
// A cluster's blocks have neighbouring rows of one tile and walk over the same keys
// (LowerFlash.cpp places them). Here they stop loading them twice:
//
//   copies    whose coordinates do not depend on the block's rank are brought in
//             parts, each producer its own, to every block at once. Each block's
//             signal still announces the whole stage: parts of both complete it,
//             and one that comes before the announcement is counted all the same,
//             since the phase lacks the announcing arrival.
//   stages    are free when the consumers of every block have handed them back, so
//             the signals that say so count all of them.
//   tiles     are dealt out to clusters: block and grid are counted in clusters.
//   verdicts  A failed tile is flagged in every block, by whoever finds it, and the
//             verdict counts all consumers. Producers then agree on what comes next.
//             No flag is raised for tile i + 2 before every producer has read that
//             of tile i: it takes keys that this producer brings only afterwards.
//
// The queries, what is captured row by row, and posted tiles stay a block's own.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Rings.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_CLUSTERBLOCKSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The wait in front of `op` in its block; null when there is none.
static tile::SignalWaitOp waitBefore(Operation *op) {
  for (op = op->getPrevNode(); op; op = op->getPrevNode())
    if (auto wait = dyn_cast<tile::SignalWaitOp>(op))
      return wait;
  return nullptr;
}

namespace {
struct Clusterer {
  func::FuncOp program;
  tile::SpecializeOp roles;
  int64_t blocks; ///< Of a cluster.

  LogicalResult run();

private:
  void countClusters();
  LogicalResult shareCopies();
  void shareVerdicts();
  void meet();

  /// Makes `signals` count the arrivals of all blocks, and their consumers arrive in
  /// all blocks.
  void countAll(Value signals, bool release);
};
} // namespace

/// Block and grid numbers in front of which tiles are dealt out are those of clusters.
void Clusterer::countClusters() {
  SmallVector<Operation *> numbers;
  program.walk([&](Operation *op) {
    if (isa<tile::BlockIdOp, tile::GridDimOp>(op))
      numbers.push_back(op);
  });
  for (Operation *op : numbers) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Value size = arith::ConstantIntOp::create(b, op->getLoc(), blocks, 32);
    Value cluster =
        arith::DivUIOp::create(b, op->getLoc(), op->getResult(0), size);
    op->getResult(0).replaceAllUsesExcept(cluster, cluster.getDefiningOp());
  }
}

void Clusterer::countAll(Value signals, bool release) {
  auto type = cast<tile::SignalsType>(signals.getType());
  signals.setType(tile::SignalsType::get(type.getContext(), type.getCount(),
                                         type.getArrivals() * blocks));
  for (Operation *user : signals.getUsers())
    if (auto arrive = dyn_cast<tile::SignalArriveOp>(user)) {
      arrive.setCluster(true);
      arrive.setRelease(release);
    }
}

LogicalResult Clusterer::shareCopies() {
  SetVector<Operation *> own;
  ForwardSliceOptions options;
  options.inclusive = true;
  program.walk([&](tile::ClusterRankOp rank) {
    getForwardSlice(rank.getOperation(), &own, options);
  });
  SetVector<Value> shared, alone; // Signals of free stages.
  SmallVector<tile::CopyBoxOp> copies;
  bool placed = true;
  roles.getProducer().walk([&](tile::CopyBoxOp copy) {
    tile::SignalWaitOp free = waitBefore(copy);
    if (!free) {
      placed = false;
      copy.emitOpError("stands behind no wait for its stage, which a cluster needs "
                       "to know");
      return;
    }
    bool same = llvm::none_of(copy.getAt(), [&](Value at) {
      return at.getDefiningOp() && own.contains(at.getDefiningOp());
    });
    (same ? shared : alone).insert(free.getSignals());
    if (same)
      copies.push_back(copy);
  });
  if (!placed)
    return failure();
  if (copies.empty())
    return program.emitError("'tile.cluster': no copy is the same for all blocks of "
                             "a cluster; remove it");
  for (Value signals : shared)
    if (alone.contains(signals))
      return program.emitError("'tile.cluster': a stage holds a copy that blocks share "
                               "and one that they do not");
  OpBuilder b(roles);
  Value rank = tile::ClusterRankOp::create(b, roles.getLoc(), b.getI32Type());
  for (tile::CopyBoxOp copy : copies)
    copy.getPartMutable().assign(rank);
  for (Value signals : shared)
    countAll(signals, /*release=*/false);
  return success();
}

void Clusterer::shareVerdicts() {
  SetVector<Value> judged;
  roles.getProducer().walk([&](tile::TakeFlagOp take) {
    if (tile::SignalWaitOp wait = waitBefore(take)) {
      wait.setAcquire(true);
      judged.insert(wait.getSignals());
    }
  });
  roles.getConsumer().walk([](tile::RaiseFlagOp raise) { raise.setCluster(true); });
  for (Value signals : judged)
    countAll(signals, /*release=*/true);
}

void Clusterer::meet() {
  OpBuilder b(roles);
  tile::ClusterBarrierOp::create(b, roles.getLoc());
  b.setInsertionPointAfter(roles);
  tile::ClusterBarrierOp::create(b, roles.getLoc());
}

LogicalResult Clusterer::run() {
  countClusters();
  if (failed(shareCopies()))
    return failure();
  shareVerdicts();
  meet();
  return success();
}

namespace {
struct ClusterBlocks : attn::impl::ClusterBlocksPassBase<ClusterBlocks> {
  using ClusterBlocksPassBase::ClusterBlocksPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    int64_t blocks = tile::clusterOf(program);
    if (blocks == 1)
      return;
    SmallVector<tile::SpecializeOp> roles;
    program.walk([&](tile::SpecializeOp op) { roles.push_back(op); });
    if (roles.size() != 1 || roles[0]->getParentOp() != program) {
      program.emitError("'tile.cluster' needs one tile.specialize at the top of the "
                        "program");
      return signalPassFailure();
    }
    if (programNumber(program, "tile.persistent", 0) != 1) {
      program.emitError("'tile.cluster' needs 'tile.persistent' 1: tiles in an order "
                        "that all blocks of a cluster know");
      return signalPassFailure();
    }
    if (failed(Clusterer{program, roles[0], blocks}.run()))
      signalPassFailure();
  }
};
} // namespace
