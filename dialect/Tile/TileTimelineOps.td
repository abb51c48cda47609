//===- TileTimelineOps.td - a program that records its phases -*- tablegen -*-===//
//
// What `tile-stamp-phases` adds to a program: a lane for each warp group, and in
// it the moment each phase begins. Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TILE_TIMELINE_OPS_TD
#define ATTN_DIALECT_TILE_TIMELINE_OPS_TD

def Tile_OpenLaneOp : Tile_Op<"open_lane", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Every warp group of the block starts a lane of the timeline";
  let description = [{
    `records` is a buffer of `lanes` lanes with room for `steps` stamps each, laid
    out as lib/Bundle/Timeline.h says; a null address records nothing. Warp group
    g of block b writes lane `b * (warp groups of a block) + g`; a lane beyond
    `lanes` is not written, a stamp beyond `steps` is counted and dropped.

    The lane starts in phase `setup`. Stands once, at the top of the program.

    ```mlir
    tile.open_lane %records lanes 1024 steps 8192 : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_PtrType:$records, I64Attr:$lanes, I64Attr:$steps);
  let assemblyFormat = "$records `lanes` $lanes `steps` $steps attr-dict `:` type($records)";
  let hasVerifier = 1;
}

def Tile_StampOp : Tile_Op<"stamp", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "This warp group enters a phase";
  let description = [{
    One thread of the group writes down the clock; the phase before it ends here.
    Needs a `tile.open_lane` before it.

    ```mlir
    tile.stamp softmax
    ```
  }];
  let arguments = (ins Tile_PhaseAttr:$phase);
  let assemblyFormat = "$phase attr-dict";
  let hasVerifier = 1;
}

def Tile_CloseLaneOp : Tile_Op<"close_lane", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The end of the lane of every warp group that comes here";
  let description = [{
    Ends the last phase and writes how many stamps there were.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif
