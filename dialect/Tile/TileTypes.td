//===- TileTypes.td - types and attributes of the tile dialect --*- tablegen -*-===//
#ifndef ATTN_DIALECT_TILE_TYPES_TD
#define ATTN_DIALECT_TILE_TYPES_TD

include "dialect/Tile/TileDialect.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "Address of a tensor's first element in device memory";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "A two-dimensional window of a tensor in device memory";
  let description = [{
    Base address, length and stride of rows and columns. Elements outside the
    lengths read as zero and are never written (C6).
  }];
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "Stages of tiles in shared memory, swizzled by code generation";
  let parameters = (ins "int64_t":$stages, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$element);
  let assemblyFormat = "`<` $stages `,` $rows `,` $columns `,` $element `>`";
}

def Tile_MapType : Tile_Type<"Map", "map"> {
  let summary = "A tensor map: shape and strides of a tensor, and a box to copy";
  let description = [{
    What the copy engine of Hopper and later reads. The runner encodes it from
    the argument's `tile.arg`: the axes, innermost first, and the box along
    them. A box is 64 columns wide, so that its rows take 128 bytes.
  }];
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Tile_SlabsType : Tile_Type<"Slabs", "slabs"> {
  let summary = "Stages of 16-bit tiles as the copy engine writes and wgmma reads them";
  let description = [{
    A stage of R x C elements is ceil(C / 64) slabs of R rows of 128 bytes, with
    the 128-byte swizzle: chunk c (16 bytes) of row r lies at chunk c ^ (r mod 8).
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$element);
  let assemblyFormat = "`<` $stages `,` $rows `,` $columns `,` $element `>`";
}

def Tile_SignalsType : Tile_Type<"Signals", "signals"> {
  let summary = "A ring of memory barriers, each completed by a number of arrivals";
  let parameters = (ins "int64_t":$count, "int64_t":$arrivals);
  let assemblyFormat = "`<` $count `,` `arrivals` `=` $arrivals `>`";
}

def Tile_WordType : Tile_Type<"Word", "word"> {
  let summary = "A word of shared memory";
}

def Tile_FlagsType : Tile_Type<"Flags", "flags"> {
  let summary = "A ring of words of shared memory, each raised or not; at first not";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_AccumulatorAttr : Tile_Attr<"Accumulator", "accumulator"> {
  let summary = "The matrix-accumulator fragment of mma.sync, warps stacked along rows";
  let description = [{
    A tile of R rows belongs to `warps` warps; warp w owns rows
    `w * 16 * fragments` onward, R = 16 * fragments * warps. Within a 16 x 8
    fragment lane `4 g + t` holds (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
    A row value is held by the four lanes that share the row; a column value by
    every lane that holds the column. Probabilities become the next operand by
    packing registers.
  }];
  let parameters = (ins "int64_t":$warps, "int64_t":$fragments);
  let assemblyFormat = "`<` `warps` `=` $warps `,` `fragments` `=` $fragments `>`";
}

def Tile_RowsAttr : Tile_Attr<"Rows", "rows"> {
  let summary = "Blocked: a warp owns whole rows, lanes own short runs of columns";
  let description = [{
    Row r belongs to warp `r mod warps`; in a row, lane l holds columns
    `(l + 32 j) * vector + v` for v < vector and all j. A tile of C columns
    needs C to be a multiple of 32 * vector.
  }];
  let parameters = (ins "int64_t":$warps, "int64_t":$vector);
  let assemblyFormat = "`<` `warps` `=` $warps `,` `vector` `=` $vector `>`";
}

def Tile_GridAttr : Tile_Attr<"Grid", "grid"> {
  let summary = "One factor of the launch grid: ceil(length(axis) / tile) blocks";
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$tile);
  let assemblyFormat = "`<` $axis `,` $tile `>`";
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "row reduction", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Add", 1, "add">,
    I32EnumAttrCase<"MaxInt", 2, "max_int">]> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}

def Tile_SoftmaxForm : I32EnumAttr<"SoftmaxForm", "how the running maximum moves", [
    I32EnumAttrCase<"Running", 0, "running">, I32EnumAttrCase<"Vote", 1, "vote">,
    I32EnumAttrCase<"Keep", 2, "keep">]> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}

/// The bundle's manifest lists these names in the order of their numbers. What
/// ends in `_wait` is time in which the warp group does nothing.
def Tile_Phase : I32EnumAttr<"Phase", "what a warp group is at", [
    I32EnumAttrCase<"Setup", 0, "setup">,
    I32EnumAttrCase<"LoadWait", 1, "load_wait">,
    I32EnumAttrCase<"SlotWait", 2, "slot_wait">,
    I32EnumAttrCase<"TurnWait", 3, "turn_wait">,
    I32EnumAttrCase<"NextTile", 4, "next_tile">,
    I32EnumAttrCase<"Copy", 5, "copy">,
    I32EnumAttrCase<"Score", 6, "score">,
    I32EnumAttrCase<"Softmax", 7, "softmax">,
    I32EnumAttrCase<"Value", 8, "value">,
    I32EnumAttrCase<"Epilogue", 9, "epilogue">]> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}

def Tile_PhaseAttr : EnumAttr<Tile_Dialect, Tile_Phase, "phase"> {
  let assemblyFormat = "$value";
}

def Tile_SoftmaxFormAttr : EnumAttr<Tile_Dialect, Tile_SoftmaxForm, "form"> {
  let assemblyFormat = "$value";
}

def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "kind"> {
  let assemblyFormat = "$value";
}

#endif
