//===- TileDialect.td - the tile dialect ------------------------*- tablegen -*-===//
#ifndef ATTN_DIALECT_TILE_DIALECT_TD
#define ATTN_DIALECT_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attn::tile";
  let summary = "How one block computes its part of a kernel";
  let description = [{
    A tile program is a `func.func` that one thread block runs. Its values are
    tiles: builtin tensors of static shape and rank 2, `tensor<RxCxT>` (a whole
    tile), `tensor<Rx1xT>` (a value a row) or `tensor<1xCxT>` (a value a
    column), on which `arith` and `math` work directly; scalars are uniform
    over the block. How a tile is spread over threads is one decision for the
    whole program, the function attribute `tile.layout`.

    Function attributes of a program:
      - `tile.layout`: `#tile.accumulator<...>` or `#tile.rows<...>`;
      - `tile.grid`: array of `#tile.grid<axis, tile>`, first fastest;
      - each argument carries `tile.arg`, a dictionary that says what the
        runner passes in that slot (see lib/Bundle/Manifest.h);
      - `tile.timeline`, of a program that records its phases: what the warp
        groups of a block are, as an array of strings.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

#endif
