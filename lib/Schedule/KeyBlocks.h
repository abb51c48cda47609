//===- KeyBlocks.h - where the key block of an iteration starts -----------===//
#ifndef ATTN_LIB_SCHEDULE_KEYBLOCKS_H
#define ATTN_LIB_SCHEDULE_KEYBLOCKS_H

#include "dialect/Tile/Tile.h"

namespace attn {

/// On tile.for_keys: only the end of the keys needs a mask, so there is one block
/// at most on the right and none on the left.
inline constexpr llvm::StringLiteral kTailOnly = "tile.tail_only";

/// The visiting order of a tile.for_keys as arithmetic on its operands: fully
/// live blocks, then those left of them, then those right of them.
class KeyBlocks {
public:
  explicit KeyBlocks(tile::ForKeysOp keys) : keys(keys) {}

  /// Number of iterations, i32.
  mlir::Value total(mlir::OpBuilder &b, mlir::Location loc) const;
  /// First key (i64) of iteration t (i32), any t below total.
  mlir::Value start(mlir::OpBuilder &b, mlir::Location loc, mlir::Value t) const;
  /// The same for t below the number of fully live blocks.
  mlir::Value liveStart(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value t) const;
  /// begin + index * step, i64.
  mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value begin,
                      mlir::Value index) const;

private:
  mutable tile::ForKeysOp keys; ///< Op accessors are not const.
};

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_KEYBLOCKS_H
