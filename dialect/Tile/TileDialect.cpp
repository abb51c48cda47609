//===- TileDialect.cpp - registration, types and attributes ---------------===//

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

#include "dialect/Tile/TileDialect.cpp.inc"
#include "dialect/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileOps.cpp.inc"
      >();
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kLayoutAttr) {
    if (!isa<func::FuncOp>(op))
      return op->emitError() << "'" << name << "' belongs on a func.func";
    if (auto layout = dyn_cast<AccumulatorAttr>(attribute.getValue())) {
      if (layout.getWarps() < 1 || layout.getWarps() > 32 ||
          layout.getFragments() < 1 || layout.getFragments() > 8)
        return op->emitError("'tile.layout' needs 1 to 32 warps and 1 to 8 "
                             "fragments");
      return success();
    }
    if (auto layout = dyn_cast<RowsAttr>(attribute.getValue())) {
      int64_t vector = layout.getVector();
      if (layout.getWarps() < 1 || layout.getWarps() > 32 || vector < 1 ||
          vector > 8 || (vector & (vector - 1)))
        return op->emitError("'tile.layout' needs 1 to 32 warps and a vector "
                             "of 1, 2, 4 or 8");
      return success();
    }
    return op->emitError("'tile.layout' must be #tile.accumulator or "
                         "#tile.rows");
  }
  if (name == kClusterAttr) {
    auto blocks = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<func::FuncOp>(op) || !blocks || blocks.getInt() != 2)
      return op->emitError("'tile.cluster' belongs on a func.func and is 2: two "
                           "blocks share what they load");
  }
  if (name == kGridAttr) {
    auto grid = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!grid || !llvm::all_of(grid, [](Attribute factor) {
          auto g = dyn_cast<GridAttr>(factor);
          return g && g.getTile() > 0;
        }))
      return op->emitError("'tile.grid' must be an array of #tile.grid with "
                           "positive tiles");
  }
  return success();
}
