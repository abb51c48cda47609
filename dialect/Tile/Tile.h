//===- Tile.h - C++ face of the tile dialect ------------------------------===//
#ifndef ATTN_DIALECT_TILE_TILE_H
#define ATTN_DIALECT_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileDialect.h.inc"
#include "dialect/Tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

namespace attn::tile {

/// Names of the attributes that make a func.func a tile program.
inline constexpr llvm::StringLiteral kLayoutAttr = "tile.layout";
inline constexpr llvm::StringLiteral kGridAttr = "tile.grid";
inline constexpr llvm::StringLiteral kArgAttr = "tile.arg";
/// Of a program that records its phases: the roles of a block's lanes.
inline constexpr llvm::StringLiteral kTimelineAttr = "tile.timeline";
/// Of a program whose blocks work on a tile together: how many they are.
inline constexpr llvm::StringLiteral kClusterAttr = "tile.cluster";

/// Blocks of a cluster of the program that holds `op`; 1: there are no clusters.
int64_t clusterOf(mlir::Operation *op);

/// Rows of the box of a part of a stage of `rows` rows and `columns` columns: all of
/// them where the `blocks` of a cluster can divide its slabs of 64 columns.
inline int64_t partRows(int64_t rows, int64_t columns, int64_t blocks) {
  return (columns + 63) / 64 % blocks == 0 ? rows : rows / blocks;
}

/// Columns that row sums take beside a product: the least that wgmma can add.
inline constexpr int64_t kSumColumns = 8;

} // namespace attn::tile

#endif // ATTN_DIALECT_TILE_TILE_H
