//===- TileClusterOps.td - blocks that share what they load ----*- tablegen -*-===//
//
// Blocks of a cluster reach each other's shared memory. What `tile-cluster-blocks`
// adds to a program besides attributes of copies, signals and flags
// (TileAsyncOps.td). Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TILE_CLUSTER_OPS_TD
#define ATTN_DIALECT_TILE_CLUSTER_OPS_TD

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "Which of its cluster's blocks this is";
  let description = [{
    A program with `tile.cluster = C` describes one of C neighbouring blocks,
    0 to C - 1, that work on one tile of the grid together. What does not depend on
    the rank is the same for all of them, and may be brought for all at once.

    ```mlir
    %rank = tile.cluster_rank : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_ClusterBarrierOp : Tile_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All threads of all blocks of the cluster meet";
  let description = [{
    What any of them wrote to shared memory is seen by all. It stands twice: no block
    may reach a signal of another that has not made it yet, and none may end while
    another may still write to its shared memory.

    ```mlir
    tile.cluster_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif
