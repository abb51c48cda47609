//===- CpuEmitter.h - one tile program as host code -----------------------===//
//
// Values of the program come in three forms: scalars map to scalars; tiles held
// in memory are Buffers; all other tiles are expressions, evaluated vector by
// vector where something that must be held needs them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_CPU_CPUEMITTER_H
#define ATTN_LIB_CODEGEN_CPU_CPUEMITTER_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace attn::cpu {

/// f32 lanes of one vector: a 512-bit register, or two of 256 bits.
inline constexpr int64_t kLanes = 16;

/// Where a lazily evaluated vector stands in its tile.
struct Place {
  enum Kind {
    Tile,   ///< row `row`, columns `column` .. + width
    Rows,   ///< an Rx1 value: rows `row` .. + width
    Columns ///< a 1xC value: columns `column` .. + width
  } kind;
  mlir::Value row, column; ///< index
  int64_t width;
};

class CpuEmitter {
public:
  /// `registers` is how many vector registers the host has: 32 of 512 bits or
  /// 16 of 256.
  CpuEmitter(mlir::OpBuilder builder, mlir::func::FuncOp program,
             unsigned registers);

  /// Emits `func @name(slots, first, last)` before the program.
  mlir::LogicalResult run();

private:
  // Control.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult checkTypes(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  void holdOutsideValues(mlir::Operation *op);
  mlir::LogicalResult emitScalar(mlir::Operation *op);

  // Buffers. Rank 1 memrefs, row-major; narrow floats are held as f32, i1 as
  // i8.
  mlir::Value allocate(mlir::RankedTensorType tile);
  mlir::Type storageType(mlir::Type element);
  /// A buffer that holds the tile (evaluated into a new one if need be).
  mlir::Value materialize(mlir::Value tile);
  void evaluateInto(mlir::Value tile, mlir::Value buffer);
  bool mustHold(mlir::Operation *op);
  void moveLargeScratch(mlir::Operation *end);

  // Lazy evaluation.
  mlir::Value evaluate(mlir::Value tile, const Place &place);
  mlir::Value readBuffer(mlir::Value tile, mlir::Value buffer,
                         const Place &place, mlir::Type element);
  void writeBuffer(mlir::Value vector, mlir::Value buffer,
                   mlir::RankedTensorType tile, const Place &place);
  /// Loops over a tile of this type, one vector a step.
  void forEachVector(mlir::RankedTensorType tile,
                     const std::function<void(const Place &)> &body);

  // Memory and matmul.
  void emitLoad(tile::LoadOp load);
  void emitStore(tile::StoreOp store);
  mlir::Value emitGather(tile::GatherOp gather, const Place &place);
  void emitReduce(tile::ReduceOp reduce);
  void emitDot(tile::DotOp dot);
  /// The buffer of b, an NxK tile, turned to KxN; once where it is loaded once.
  mlir::Value transposedOperand(mlir::Value tile);
  mlir::Value transposeBuffer(mlir::Value buffer, int64_t rows,
                              int64_t columns);
  struct View {
    mlir::Value base, rows, columns, rowStride, columnStride;
    mlir::Type element;
    bool contiguous;     ///< Columns are neighbours in memory.
    bool rowsContiguous; ///< Rows are.
  };
  View view(mlir::Value value);
  mlir::Value address(mlir::Value base, mlir::Value offset, mlir::Type element);
  mlir::Type memoryType(mlir::Type element);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  void readWindow(const View &view, mlir::Value row, mlir::Value column,
                  mlir::RankedTensorType tile, mlir::Value buffer);
  mlir::Value lanesInside(mlir::Value rowInside, mlir::Value column,
                          mlir::Value columns, int64_t width);
  mlir::Value allInside(mlir::Value column, mlir::Value columns, int64_t width);

  // Small builders.
  mlir::Value index(int64_t v);
  mlir::Value i64(int64_t v);
  mlir::Value toI64(mlir::Value indexValue);
  mlir::Value linear(mlir::Value row, mlir::Value column, int64_t columns);
  mlir::Value lookUp(mlir::Value scalar) {
    return scalars.lookupOrDefault(scalar);
  }
  void loop(int64_t count, int64_t step,
            const std::function<void(mlir::Value)> &body);
  /// condition ? first() : second(). Without values when they return null.
  mlir::Value choose(mlir::Value condition,
                     const std::function<mlir::Value()> &first,
                     const std::function<mlir::Value()> &second = nullptr);
  mlir::Value zeroOf(mlir::Type type);

  mlir::OpBuilder b;
  mlir::func::FuncOp program;
  mlir::Location loc;
  /// Rows and vectors of one matmul step that stays in registers.
  int64_t microTall, microWide;
  mlir::Block *current = nullptr; ///< Of the program, being emitted.
  mlir::Block *entry = nullptr;   ///< Scratch is allocated here, once a call.
  mlir::Value block;              ///< Number of the block, i32.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> transposed; ///< Buffers turned over.
  llvm::SmallVector<mlir::memref::AllocaOp> scratch;
};

} // namespace attn::cpu

#endif // ATTN_LIB_CODEGEN_CPU_CPUEMITTER_H
