//===- ProgramBuilder.h - building one tile program -----------------------===//
//
// What every kind of kernel needs while its tile program is written: arguments
// made on demand, axis lengths and strides, the position of the block in each
// axis, views of tensors, and elementwise arithmetic on values of mixed shape.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_PROGRAMBUILDER_H
#define ATTN_LIB_SCHEDULE_PROGRAMBUILDER_H

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace attn {

/// A tensor in device memory, by name.
struct TensorInfo {
  std::string name;
  mlir::Type element;
  llvm::SmallVector<std::string> axes; ///< Outermost first.
  int64_t pad = 1; ///< Innermost length is rounded up to this (temporaries).
};

/// Facts of one axis: a fixed length, or its factors when it nests.
struct AxisInfo {
  std::string name;
  int64_t extent = 0; ///< 0: known at run time.
  std::string group, inner;
};

using AxisTable = llvm::StringMap<AxisInfo>;

/// Where a block stands in an axis. `start` (i64) is the index itself for Batch,
/// the first of the tile's indices for Row and Column.
struct AxisPlace {
  enum Kind { Batch, Row, Column } kind;
  mlir::Value start;
  mlir::Value loadEnd; ///< Column: i64, loads see no further; null: the length.
};

/// One factor of the launch grid, see #tile.grid. Empty axis: length 1.
struct GridFactor {
  std::string axis;
  int64_t tile;
  AxisPlace::Kind kind;
  bool reversed = false; ///< Last tile first: the longest under a causal mask.
};

/// The float that every element of `value`, a scalar or a tile, is known to be.
std::optional<double> constantOf(mlir::Value value);

class ProgramBuilder {
public:
  ProgramBuilder(mlir::OpBuilder builder, mlir::func::FuncOp program,
                 const AxisTable &axes)
      : b(builder), program(program), axes(axes) {}

  mlir::OpBuilder b;
  mlir::func::FuncOp program;
  const AxisTable &axes;
  llvm::StringMap<AxisPlace> places;
  int64_t rows = 1;    ///< Tile rows.
  int64_t columns = 1; ///< Tile columns of score-like tiles.
  /// Rows of the block when the copy engine may bring what score functions read
  /// of each row and column (tile.load_mapped); 0: it may not.
  int64_t boxRows = 0;

  /// Finds the block's place in every factor (fastest first) from its number
  /// and writes `tile.grid` down.
  void placeBlock(llvm::ArrayRef<GridFactor> factors);
  /// The same for the tiles of warp groups, the first factor being the rows. With
  /// `keyBytes` (i64: what a head's keys and values take; null: plain order)
  /// heads are visited in sections whose keys and values fit the L2 cache, and in
  /// a section the tiles of all heads go longest first.
  void placeTiles(llvm::ArrayRef<GridFactor> factors, mlir::Value keyBytes);

  // Arguments, made when first asked for.
  mlir::Value pointer(const TensorInfo &tensor);
  mlir::Value stride(const TensorInfo &tensor, llvm::StringRef axis);
  mlir::Value length(llvm::StringRef axis);
  mlir::Value scalar(llvm::StringRef name, mlir::Type type);
  /// A tensor map whose boxes are `boxRows` along `rowAxis` and 64 along
  /// `columnAxis`; the tensor's other axes follow in its order, innermost first.
  /// An `optional` map is left empty by a launch whose strides do not allow it.
  mlir::Value map(const TensorInfo &tensor, llvm::StringRef rowAxis,
                  llvm::StringRef columnAxis, int64_t boxRows,
                  bool optional = false);
  /// The tile whose first element is at (row, column), both i64, read through
  /// that map.
  mlir::Value loadBox(const TensorInfo &tensor, llvm::StringRef rowAxis,
                      llvm::StringRef columnAxis, int64_t boxRows,
                      mlir::RankedTensorType type, mlir::Value row,
                      mlir::Value column);

  // Scalar arithmetic on i64.
  mlir::Value constant(int64_t value, unsigned width = 64);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  /// Rounds towards minus infinity; the divisor is a positive constant.
  mlir::Value floorDiv(mlir::Value x, int64_t divisor);
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);

  /// Index of `axis` as a scalar, row value or column value of `type` (i32 or
  /// i64); follows nesting. Null when the axis has no place here.
  mlir::Value index(llvm::StringRef axis, mlir::Type type);
  /// The axis through which `axis` is reached in `places`: itself, or the outer
  /// axis it nests in. Empty when there is none.
  llvm::StringRef reachedThrough(llvm::StringRef axis);

  /// Elements to add to a tensor's base for the batch indices of this block.
  mlir::Value batchOffset(const TensorInfo &tensor);
  /// A window whose rows run along `rowAxis` and columns along `columnAxis`
  /// (either may be empty: length 1). With `loading` columns end at their place's
  /// `loadEnd`.
  mlir::Value view(const TensorInfo &tensor, llvm::StringRef rowAxis,
                   llvm::StringRef columnAxis, bool loading = false);
  /// The tensor's elements for this block, broadcast by axis name: a scalar, a
  /// row value, a column value or a whole tile.
  mlir::Value load(const TensorInfo &tensor);
  /// Element (or tile of elements) at indices, clamped into range; 0 where an
  /// axis is empty. Indices are scalars or tiles of i32 or i64.
  mlir::Value gather(const TensorInfo &tensor, mlir::ValueRange indices);

  /// Broadcasts `values` to their common shape. Scalars stay when all are.
  void unify(llvm::MutableArrayRef<mlir::Value> values);
  /// `value` as a tile of rows x columns elements.
  mlir::Value expand(mlir::Value value, int64_t rows, int64_t columns);
  /// A tile or scalar of floats as f32.
  mlir::Value toF32(mlir::Value value);
  /// A float constant shaped and typed like `like`.
  mlir::Value floatLike(mlir::Value like, double value);
  /// `like`'s shape filled with an integer.
  mlir::Value intLike(mlir::Value like, int64_t value);

  /// Writes the function type and argument attributes down.
  void finish();

private:
  /// Coordinates of (row, column) in a map, i32, innermost axis first.
  llvm::SmallVector<mlir::Value> coordinates(const TensorInfo &tensor,
                                             llvm::StringRef rowAxis,
                                             llvm::StringRef columnAxis,
                                             mlir::Value row, mlir::Value column);
  /// Whether a launch can make the tensor's optional map (i1).
  mlir::Value mapped(const TensorInfo &tensor);
  /// Number of tiles along a factor (i32).
  mlir::Value tilesAlong(const GridFactor &factor);
  void writeGrid(llvm::ArrayRef<GridFactor> factors);
  /// Splits `rest` (i32) into places, first factor fastest.
  void split(mlir::Value rest, llvm::ArrayRef<GridFactor> factors);
  mlir::Value argument(const std::string &key, mlir::Type type,
                       mlir::DictionaryAttr what);
  mlir::DictionaryAttr describe(llvm::StringRef kind, llvm::StringRef name,
                                llvm::StringRef axis);
  int64_t alignment(const TensorInfo &tensor, llvm::StringRef columnAxis);

  llvm::StringMap<mlir::Value> arguments;
  llvm::SmallVector<mlir::Attribute> argumentAttrs;
};

/// Shape of a value: {0, 0} for a scalar.
std::pair<int64_t, int64_t> shapeOf(mlir::Value value);
/// Element type of a tile, or the type of a scalar.
mlir::Type elementOf(mlir::Value value);
/// `element` in the shape of `like`.
mlir::Type typeLike(mlir::Value like, mlir::Type element);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_PROGRAMBUILDER_H
