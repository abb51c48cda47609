//===- Passes.td - from kernels to tile programs, and schedules -*- tablegen -*-===//
#ifndef ATTN_LIB_SCHEDULE_PASSES_TD
#define ATTN_LIB_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseSchedulePass : Pass<"attn-choose-schedule", "::mlir::ModuleOp"> {
  let summary = "Decide each kernel's tiles, warps and stages";
  let description = [{
    Writes a `schedule` dictionary on every `attn.kernel` that has none, from the
    pure function in Choose.h over the table in MeasuredRows.h. A kernel that already
    carries one is obeyed, so a hand-written schedule in the IR wins. Overrides are
    for flash kernels; one that a target or level does not have is an error that
    says what can be written.

    Precondition: every operation of a function lies in an `attn.kernel`.
    Postcondition: every `attn.kernel` has a `schedule`.

    ```mlir
    attn.kernel "flash" {...}
    // becomes
    attn.kernel "flash" {...} {schedule = {rows = 128, columns = 64, warps = 4, stages = 2}}
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_80\"", "a compile target, such as sm_80">,
    Option<"level", "level", "std::string", "\"flash\"", "fusion level">,
    Option<"overrides", "overrides", "std::string", "\"\"",
           "for every flash kernel, such as rows=64,columns=64,warps=4,stages=2">
  ];
}

def LowerKernelsPass : Pass<"attn-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn each attn.kernel into a tile program";
  let description = [{
    Replaces every function by one tile program for each of its kernels, in
    launch order, and records the tensors that travel between them in the module
    attribute `tile.temporaries`. Score and mask regions become ordinary
    elementwise tile code. A flash kernel whose masks depend on data gets a
    second program before it, which finds their live keys (MeasuredKeys.h).

    Precondition: every `attn.kernel` has a `schedule`.
    Postcondition: only tile programs are left.
  }];
  let options = [
    Option<"tf32", "tf32", "bool", "false", "let f32 matmuls round operands to tf32">,
    Option<"level", "level", "std::string", "\"flash\"", "fusion level, for names">
  ];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

def StageLoadsPass : Pass<"tile-stage-loads", "::mlir::func::FuncOp"> {
  let summary = "Bring operands of tile.dot through shared memory";
  let description = [{
    A load that feeds a dot becomes a copy into a stage of shared memory. With
    one stage a loop copies, waits and computes; with more, the copies of later
    blocks run under the computation of this one, and one barrier an iteration
    is enough: a stage is refilled only after every warp has passed the barrier
    that follows its last use.

    The number of stages is the function attribute `tile.stages`.
    Postcondition: no operand of a dot is a `tile.load`.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect"];
}

def SpecializeWarpsPass : Pass<"tile-specialize-warps", "::mlir::func::FuncOp"> {
  let summary = "One thread brings tiles, warp groups compute";
  let description = [{
    A program with `tile.groups` becomes a `tile.specialize`: a producer that
    fills rings of `tile.stages` stages through tensor maps, and consumer warp
    groups whose score product of one block runs together with the value product
    of the block before. Masked blocks come first, in a loop of their own.
    `tile.turns` orders the groups on the tensor cores. `tile.vote` says how the
    running maximum moves behind a row's first block: 0 always, 1 by vote, 2 in
    masked blocks only. With 2 the consumers check each tile at its end and ask by
    `tile.redo` for one that left the range of numbers to be done again.
    `tile.queries` is the number of stages of queries. Other programs stay as they
    are.

    Precondition: operands of both products are read by `tile.load_box`; with
    `tile.vote = 2`, `tile.persistent` is not 0.
    Postcondition: no `tile.for_keys`, `tile.load_box` or `tile.mask` is left in
    a program with `tile.groups`.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def SpecializeMatmulPass : Pass<"tile-specialize-matmul", "::mlir::func::FuncOp"> {
  let summary = "One thread brings operands, warp groups multiply";
  let description = [{
    A program with `tile.groups` and no key loop becomes a `tile.specialize`: a
    producer that fills a ring of `tile.stages` stages, one for each step along
    the summed axis, through tensor maps, and consumer warp groups that multiply
    and then do what follows the product. Other programs stay as they are.

    Precondition: the program's one product reads its operands by
    `tile.load_box`.
    Postcondition: no `tile.dot` and no `tile.load_box` is left in it.

    ```mlir
    %a = tile.load_box %ma[%k, %m]
    %b = tile.load_box %mb[%k, %n]
    %c = tile.dot %a, %b transposed, %zero
    // becomes
    tile.specialize groups 2 producer registers 40 {
      tile.signal_wait %empty[%slot] ...
      tile.copy_box %ma[%k, %m] to %sa signal %full[%slot]
      tile.copy_box %mb[%k, %n] to %sb signal %full[%slot]
    } consumer registers 232 {
      tile.signal_wait %full[%slot] ...
      %c = tile.dot_async ...
    }
    ```
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def PipelineKeysPass : Pass<"tile-pipeline-keys", "::mlir::func::FuncOp"> {
  let summary = "Warp groups compute while their first thread brings tiles";
  let description = [{
    A program with `tile.groups` and `tile.producer = 0` gets rings of
    `tile.stages` stages that the block's first thread fills through tensor maps,
    `stages - 1` blocks ahead, and asynchronous products. With `tile.rotate` the
    score product of a block is issued together with the value product of the
    block before. Masked blocks come first, in a loop of their own; `tile.vote`
    moves the running maximum by vote in live blocks. Other programs stay as they
    are.

    Precondition: operands of both products are read by `tile.load_box`; the
    bounds of the key loop are the same for all groups.
    Postcondition: no `tile.for_keys`, `tile.load_box` or `tile.mask` is left in
    such a program.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def PersistTilesPass : Pass<"tile-persist-tiles", "::mlir::func::FuncOp"> {
  let summary = "A block works on one tile after the other";
  let description = [{
    Puts a loop over tiles around each role of a `tile.specialize`: with
    `tile.persistent = 1` tiles a grid apart, with 2 tiles taken from a counter in
    device memory, which becomes the program's last argument. The rings of stages
    run on, so the next tile's loads run under this tile's end.

    Where consumers ask for tiles to be done again the producer posts every tile's
    number, and after the tile that is under way posts one that was flagged:

    ```mlir
    tile.redo if %failed
    // becomes
    tile.raise_flag %flags[%slot] if %failed
    tile.signal_arrive %judged[%slot]
    // and in the producer, when the loads of the next tile have been issued
    tile.signal_wait %judged[%before] parity %phase
    %redo = tile.take_flag %flags[%before]
    ```

    Precondition: `tile.block_id` names the number of tiles.
    Postcondition: no `tile.again` and no `tile.redo` is left.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def ClusterBlocksPass : Pass<"tile-cluster-blocks", "::mlir::func::FuncOp"> {
  let summary = "Two blocks of a cluster load each tile of keys and values once";
  let description = [{
    In a program with `tile.cluster` neighbouring blocks work on neighbouring rows of
    one tile. What their producers bring for the same coordinates, keys and values,
    is brought in parts, each to all blocks at once; a stage is free when the consumers
    of all blocks have handed it back. Blocks count as one when tiles are dealt out. A
    tile that fails its check (tile.redo) in one block is done again by all, so that
    they go on asking for the same keys.

    ```mlir
    tile.signal_wait %empty[%slot] parity %p : !tile.signals<2, arrivals = 8>
    tile.copy_box %map[%c, %n] to %keys signal %full[%slot]
    // and in the consumers
    tile.signal_arrive %empty[%slot]
    // becomes
    tile.signal_wait %empty[%slot] parity %p : !tile.signals<2, arrivals = 16>
    tile.copy_box %map[%c, %n] to %keys signal %full[%slot] part %rank
    tile.signal_arrive %empty[%slot] cluster
    ```

    Blocks meet before the first of these (tile.cluster_barrier), since signals of
    another block must be there, and at the end, since a block's shared memory must
    outlive what others still send to it.

    Precondition: `tile.persistent = 1`, tiles a grid apart; each copy of the producer
    stands behind the wait for its stage.
    Postcondition: at least one copy has a part.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def CheckProtocolPass : Pass<"tile-check-protocol", "::mlir::func::FuncOp"> {
  let summary = "Run the roles of a specialised program against each other";
  let description = [{
    An abstract machine without data (lib/Analysis/Protocol.h) for given lengths:
    an error when a role can wait for ever, a stage is refilled while it is still
    read or read before its copy has landed, or a tile that fails its check is not
    done again exactly once. Changes nothing.
  }];
  let options = [
    Option<"lengths", "lengths", "std::string", "\"\"",
           "axis lengths and scalars, such as M=64;N=300">,
    Option<"block", "block", "int64_t", "0", "the block that is run">,
    Option<"launched", "launched", "int64_t", "1", "blocks of the launch">,
    Option<"orders", "orders", "int64_t", "20", "interleavings tried">,
    Option<"doubt", "doubt", "int64_t", "30",
           "of 100 tests on data (tile.any), how many hold">,
    Option<"stride", "stride", "int64_t", "8",
           "stride of every axis in elements; multiples of 8 let optional maps be">,
    Option<"seed", "seed", "uint64_t", "1", "of interleavings and unknown integers">
  ];
}

def ExpandRunningMaxPass : Pass<"tile-expand-running-max", "::mlir::func::FuncOp"> {
  let summary = "Turn tile.running_max and tile.rescale into elementary operations";
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandTanhPass : Pass<"tile-expand-tanh", "::mlir::func::FuncOp"> {
  let summary = "A tanh that may be approximate, by a polynomial where arguments are small";
  let description = [{
    `math.tanh fastmath<afn>` of a tile becomes a branch of the warp: a polynomial
    where all its arguments are small, the instruction otherwise. It spares the
    special-function unit, which head dimension 64 waits for. Only in programs with
    `tile.tanh`, which the schedule decides.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ContractMultiplyAddPass : Pass<"tile-contract-multiply-add", "::mlir::func::FuncOp"> {
  let summary = "x y + z of f32 as one operation, rounded once";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SplitKeyLoopPass : Pass<"tile-split-key-loop", "::mlir::func::FuncOp"> {
  let summary = "Split the key loop into fully live and partly masked blocks";
  let description = [{
    `tile.for_keys` becomes two `scf.for`: the first over the key blocks in which
    every key is alive, without mask code, the second over the rest. Dead blocks
    are in neither. Masks that stay become `arith.select`.

    Postcondition: no `tile.for_keys` and no `tile.mask` is left.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def CountStepsPass : Pass<"tile-count-steps", "::mlir::func::FuncOp"> {
  let summary = "What the softmax of a block of keys costs, into the prediction";
  let description = [{
    Counts, for each score of a fully live and of a masked block, what the finished
    consumer loops of a `wgmma` program compute: `slots` of the f32 pipe and results of
    the special-function unit (`special`). Masks, votes, slopes and contracted products are then
    in the prediction as they are in the code. Loops were marked `tile.blocks` when they
    were written; a tile that is done again, and a row's first block, are not counted.

    ```mlir
    // adds to tile.prediction
    {blocks = "live", slots = 3.125 : f64, special = 1.0 : f64, what = "step"}
    ```
  }];
}

def StampPhasesPass : Pass<"tile-stamp-phases", "::mlir::func::FuncOp"> {
  let summary = "An attention program that records when each phase begins";
  let description = [{
    Every warp group gets a lane of the timeline, and a stamp stands wherever it
    goes from one phase to another: waiting for operands, for a free stage or for
    its turn, starting copies, the score product, the softmax, the value product,
    the epilogue. A wait for a signal stamps itself, and only when it has to wait; it
    then counts to what it is for. The buffer becomes the program's last argument, of kind
    `timeline`; `tile.timeline` says what the block's lanes are. Programs that do
    not hold both products stay as they are.

    Runs last: the passes before it neither see nor move stamps.

    ```mlir
    tile.wait 0
    tile.barrier
    %s = tile.dot %q, %k transposed, %zero : ...
    // becomes
    tile.stamp load_wait
    tile.wait 0
    tile.barrier
    tile.stamp score
    %s = tile.dot %q, %k transposed, %zero : ...
    ```
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "1024", "lanes of the buffer">,
    Option<"steps", "steps", "int64_t", "8192", "stamps that a lane has room for">
  ];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

#endif
