//===- GpuEmitter.h - one tile program as one thread's code ---------------===//
//
// Walks a program and keeps, for each of its values, what one thread holds of
// it: a scalar for a uniform value, a grid of slots for a tile, a window for a
// view, an address for a stage of shared memory. One file for each family of
// operations adds its part.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_GPUEMITTER_H
#define ATTN_LIB_CODEGEN_GPU_GPUEMITTER_H

#include "lib/Codegen/Gpu/Layout.h"
#include "lib/Codegen/Gpu/ThreadCode.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace attn::gpu {

/// What a thread holds of a tile: rows x columns slots, row by row. A count of
/// 1 stands for any number of equal slots, so broadcasts cost nothing.
struct Slots {
  int64_t rows = 1, columns = 1;
  SmallVector<Value> values;

  Value at(int64_t row, int64_t column) const {
    return values[(rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column)];
  }
};

/// A tile.view with its operands as this thread's values (i64).
struct Window {
  Type element;
  Value base, offset, rows, columns, rowStride, columnStride;
  int64_t aligned = 0;
};

/// One tile.alloc_shared: where its stages lie.
struct Buffer {
  StageLayout stage;
  int64_t offset = 0; ///< Bytes from the start of dynamic shared memory.
};

/// A tile.shared_read: the stage's address, or, for an operand that stays the
/// same over a loop, its fragments, already in registers.
struct Operand {
  StageLayout stage;
  Type element;
  Value address; ///< i32
  /// [k step][fragment] -> the four registers of operand a.
  SmallVector<SmallVector<SmallVector<Value>>> fragments;
};

/// One tile.alloc_slabs: stages of slabs of 64 columns.
struct SlabRing {
  int64_t rows = 0, slabs = 0;
  int64_t offset = 0; ///< Bytes from the start of dynamic shared memory.

  int64_t slabBytes() const { return rows * 128; }
  int64_t stageBytes() const { return slabs * slabBytes(); }
};

/// A tile.slab_read: where it starts, as the low word of a matrix descriptor
/// without its leading offset.
struct SlabOperand {
  SlabRing ring;
  Value low; ///< i32
};

class GpuEmitter {
public:
  /// `kernel` is empty but for its entry block, with the program's arguments.
  /// `shared` is the module's dynamic shared memory.
  GpuEmitter(func::FuncOp program, LLVM::LLVMFuncOp kernel,
             LLVM::GlobalOp shared);

  LogicalResult emit();
  int64_t threads() const { return layout.threads(); }
  /// Bytes of dynamic shared memory the kernel needs.
  int64_t sharedBytes() const { return allocated; }

private:
  //===--- Control.cpp ------------------------------------------------------===//
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation *op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitWhile(scf::WhileOp op);
  /// The scalars that carry a value of `type`, and back.
  bool travelsPacked(RankedTensorType tile);
  LogicalResult carriedTypes(Operation *op, Type type, SmallVectorImpl<Type> &types);
  LogicalResult flatten(Operation *op, Value value, SmallVectorImpl<Value> &flat);
  void unflatten(Value value, ValueRange flat, unsigned &position);
  /// Emits a region's block with the insertion point inside `block`, then a
  /// yield of what it yields, flattened.
  LogicalResult emitRegion(Block &source, Block &target);

  //===--- Elementwise.cpp --------------------------------------------------===//
  LogicalResult emitElementwise(Operation *op);
  LogicalResult emitConstant(arith::ConstantOp op);
  LogicalResult emitIndex(tile::IndexOp op);
  LogicalResult emitBand(tile::BandOp op);
  void emitTruncPairs(arith::TruncFOp op, const Slots &from, Slots &to);
  void emitExtPairs(const Slots &from, Slots &to);

  //===--- Exponential.cpp --------------------------------------------------===//
  class OffsetSum;
  LogicalResult emitExp2(tile::Exp2Op op);
  LogicalResult emitExp2Packed(tile::Exp2PackedOp op);
  LogicalResult emitRoundPacked(tile::RoundPackedOp op);

  //===--- Reduce.cpp -------------------------------------------------------===//
  LogicalResult emitReduce(tile::ReduceOp op);

  //===--- Memory.cpp -------------------------------------------------------===//
  LogicalResult emitView(tile::ViewOp op);
  LogicalResult emitLoad(tile::LoadOp op);
  LogicalResult emitStore(tile::StoreOp op);
  LogicalResult emitGather(tile::GatherOp op);
  void storeQuads(const Window &view, Value row, Value column,
                  const Slots &from, int64_t rows, int64_t columns);

  //===--- StagedStore.cpp --------------------------------------------------===//
  LogicalResult emitStagedStore(tile::StoreOp op);
  /// Waits until the copies of this thread's staged stores have read them.
  void drainStagedStores();

  //===--- Shared.cpp -------------------------------------------------------===//
  LogicalResult emitAlloc(tile::AllocSharedOp op);
  LogicalResult emitCopy(tile::CopyAsyncOp op);
  void copyChunks(const Window &view, Value row, Value column,
                  const StageLayout &stage, Value address);
  void copyElements(const Window &view, Value row, Value column,
                    const StageLayout &stage, Value address);
  LogicalResult emitSharedRead(tile::SharedReadOp op);
  Value stageAddress(const Buffer &buffer, Value slot);
  /// Byte offset of an element of a stage, both given at run time.
  Value stageOffset(const StageLayout &stage, Value row, Value chunk);

  //===--- Dot.cpp ----------------------------------------------------------===//
  LogicalResult emitDot(tile::DotOp op);
  /// The operand's fragments of k step `step` (16 bytes x 2 deep): four
  /// registers for each fragment of this warp.
  SmallVector<SmallVector<Value>> fragmentsOfA(const Operand &a, int64_t step);
  bool holdInRegisters(tile::SharedReadOp op);
  LogicalResult emitTensorDot(tile::DotOp op, Slots &c);
  LogicalResult emitScalarDot(tile::DotOp op, Slots &c);

  //===--- Async.cpp --------------------------------------------------------===//
  LogicalResult emitAllocSlabs(tile::AllocSlabsOp op);
  LogicalResult emitAllocSignals(tile::AllocSignalsOp op);
  LogicalResult emitSignalWait(tile::SignalWaitOp op);
  LogicalResult emitSignalArrive(tile::SignalArriveOp op);
  LogicalResult emitCopyBox(tile::CopyBoxOp op);
  /// Copies `count` boxes of 64 columns each to slabs from `target` on, to the blocks
  /// of the cluster whose bits `blocks` has (0: to this one alone).
  void copyBoxes(tile::CopyBoxOp op, Value target, Value column, Value row,
                 int64_t count, int64_t blocks);
  LogicalResult emitSlabRead(tile::SlabReadOp op);
  LogicalResult emitSlabLoad(tile::SlabLoadOp op);
  LogicalResult emitSpecialize(tile::SpecializeOp op);
  LogicalResult emitTurnWait(tile::TurnWaitOp op);
  LogicalResult emitTurnPass(tile::TurnPassOp op);
  LogicalResult emitFold(tile::FoldOp op);
  LogicalResult emitUnfold(tile::UnfoldOp op);
  LogicalResult emitAny(tile::AnyOp op);
  Value signalAddress(Value signals, Value slot);
  LogicalResult emitAllocWord(tile::AllocWordOp op);
  Value wordAddress(Value word, Value slot);
  LogicalResult emitPostTile(tile::PostTileOp op);
  LogicalResult emitTakeTile(tile::TakeTileOp op);
  LogicalResult emitAllocFlags(tile::AllocFlagsOp op);
  LogicalResult emitRaiseFlag(tile::RaiseFlagOp op);
  LogicalResult emitTakeFlag(tile::TakeFlagOp op);
  LogicalResult emitNextTile(tile::NextTileOp op);
  LogicalResult emitFinishTiles(tile::FinishTilesOp op);

  //===--- Cluster.cpp ------------------------------------------------------===//
  LogicalResult emitClusterRank(tile::ClusterRankOp op);
  LogicalResult emitClusterBarrier(tile::ClusterBarrierOp op);
  void copyPart(tile::CopyBoxOp op, const SlabRing &ring, Value stage);
  LogicalResult arriveInCluster(tile::SignalArriveOp op);
  LogicalResult raiseInCluster(tile::RaiseFlagOp op);

  //===--- DotAsync.cpp -----------------------------------------------------===//
  LogicalResult emitFillOnes(tile::FillOnesOp op);
  LogicalResult emitDotAsync(tile::DotAsyncOp op);
  LogicalResult emitDotWait(tile::DotWaitOp op);
  LogicalResult emitSplitSums(tile::SplitSumsOp op);

  //===--- Timeline.cpp -----------------------------------------------------===//
  LogicalResult emitOpenLane(tile::OpenLaneOp op);
  LogicalResult emitStamp(tile::StampOp op);
  LogicalResult emitCloseLane(tile::CloseLaneOp op);
  void emitStampOf(uint32_t phase);
  /// A store of the clock and `phase`, `ahead` stamps behind the lane's place.
  std::string stampText(uint32_t phase, int64_t ahead);
  uint64_t headerBytes();
  /// Moves the lane's place on by `made` stamps; $`records` is the buffer.
  std::string advanceText(int64_t made, int records);
  /// Before a place that several ways lead to: stamps made so far move the
  /// lane's place on.
  void settleStamps();

  //===--- GpuEmitter.cpp ---------------------------------------------------===//
  Value scalar(Value value) { return scalars.lookup(value); }
  /// The slots of a tile, or of a scalar as a tile of one.
  Slots slotsOf(Value value);
  /// As many slots as `value`'s type has, repeating what is held once.
  Slots expanded(Value value);
  /// Slot counts of a tile type; a diagnostic on `op` when it does not fit.
  LogicalResult checkFits(Operation *op, RankedTensorType type);
  int64_t rowSlots(Type type) {
    return layout.rowSlots(cast<RankedTensorType>(type).getDimSize(0));
  }
  int64_t columnSlots(Type type) {
    return layout.columnSlots(cast<RankedTensorType>(type).getDimSize(1));
  }
  /// The thread's first row (column) in a tile: 0 for a column (row) value.
  Value rowBase(RankedTensorType type);
  Value columnBase(RankedTensorType type);
  /// Byte offset that a lane adds to a stage's address to name its row of a
  /// 16-row, 2-chunk block to ldmatrix; computed once, in the entry block.
  Value matrixOffset(const StageLayout &stage, MatrixOrder order);
  /// True when `value` is known to be a multiple of `factor`.
  static bool isMultiple(Value value, int64_t factor);

  func::FuncOp program;
  LLVM::LLVMFuncOp kernel;
  LLVM::GlobalOp shared;
  ThreadCode t;
  ThreadLayout layout;

  /// tile.group_id: groups of the block that compute, from 0.
  Value consumerGroup() { return hasRoles ? t.sub(roleGroup, t.c32(1)) : roleGroup; }

  /// Computed once in the entry block (i32).
  Value thread, lane, warp, threadRow, threadColumn, sharedBase;
  Value blockThread; ///< Thread of the block; `thread` is that of the program.
  Value roleGroup;   ///< Warp group of the block, with roles 0 for the producer.
  bool hasRoles = false; ///< The program holds a tile.specialize.
  Operation *entryEnd = nullptr; ///< Per-thread constants go before this.
  std::map<std::tuple<int64_t, int>, Value> matrixOffsets;

  llvm::DenseMap<Value, Value> scalars;
  llvm::DenseMap<Value, Slots> tiles;
  llvm::DenseMap<Value, Window> windows;
  llvm::DenseMap<Value, Buffer> buffers;
  llvm::DenseMap<Value, Operand> operands;
  llvm::DenseMap<Value, SlabRing> slabRings;
  llvm::DenseMap<Value, SlabOperand> slabOperands;
  llvm::DenseMap<Value, int64_t> signalOffsets;
  tile::OpenLaneOp lanes; ///< Null in a program that records nothing.
  int64_t stampsAhead = 0; ///< Made since the lane's place moved on.
  int64_t allocated = 0;
  int64_t stagingOffset = 0, stagingBytes = 0; ///< Of staged stores; 0: none.
};

} // namespace attn::gpu

#endif // ATTN_LIB_CODEGEN_GPU_GPUEMITTER_H
