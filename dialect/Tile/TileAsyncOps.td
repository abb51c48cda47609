//===- TileAsyncOps.td - asynchronous forms of the tile dialect -*- tablegen -*-===//
//
// What Hopper adds: copies made by an engine, matrix products that run on while
// the warp does something else, warp groups with roles. Included by TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TILE_ASYNC_OPS_TD
#define ATTN_DIALECT_TILE_ASYNC_OPS_TD

//===----------------------------------------------------------------------===//
// Before the asynchronous passes
//===----------------------------------------------------------------------===//

def Tile_GroupIdOp : Tile_Op<"group_id", [Pure]> {
  let summary = "Which of the block's consumer warp groups this is";
  let description = [{
    A program with `tile.groups = W` describes one of W warp groups that share
    the keys of a block; it owns rows `64 * group_id` onward of the block's.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_FirstThreadOp : Tile_Op<"first_thread", [Pure]> {
  let summary = "Whether this is the first thread of the block";
  let description = [{
    For programs without roles (tile.specialize), whose first thread starts the
    copies. Not uniform: only what one thread may do can depend on it.
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_LoadBoxOp : Tile_Op<"load_box", [Pure]> {
  let summary = "Reads a tile through a tensor map; zero outside the tensor";
  let description = [{
    `at` holds the coordinates of the tile's first element, innermost axis
    (columns) first, then rows, then batch axes.
  }];
  let arguments = (ins Tile_MapType:$map, Variadic<I32>:$at);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$map `[` $at `]` attr-dict `:` type($map) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadMappedOp : Tile_Op<"load_mapped", [Pure]> {
  let summary = "tile.load, through a tensor map where the launch has one";
  let description = [{
    Reads the tile of `view` at [row, column]. When `mapped` holds, uniformly over
    the launch, the same elements may be copied through `map` at the coordinates
    `at` (innermost axis first). For tensors whose row length is known only when
    launched: the copy engine takes rows that start at multiples of 16 bytes, and
    others must be right, too.
  }];
  let arguments = (ins I1:$mapped, Tile_MapType:$map, Variadic<I32>:$at,
                       Tile_ViewType:$view, I64:$row, I64:$column);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $view `[` $row `,` $column `]` `if` $mapped `by` $map `[` $at `]` attr-dict
    `:` type($view) `,` type($map) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_RunningMaxOp : Tile_Op<"running_max", [Pure, AttrSizedOperandSegments,
    AllTypesMatch<["maximum", "next", "correction"]>]> {
  let summary = "The maximum that a block's exponentials are taken against";
  let description = [{
    From scores s (R x C f32) and the maximum m of factor * s so far (R x 1,
    minus infinity at the start): the next maximum, what earlier sums are
    multiplied by, 2^(m - next), and whether that may differ from 1 for some row
    of this warp.

      running  next = max(m, factor * row maximum of s)
      vote     next = m unless some score of the warp exceeds it by more than 8
               (in units of the exponent); then as running. Probabilities stay
               at most 2^8.
      keep     next = m: the maximum is frozen. Right only when checked
               afterwards, see tile.redo, or when scores cannot get far from m.

    With `offset` (R x 8 f32) the scores are s + offset, column c of s taking
    column c % 8: what of a score grows evenly along the keys need not be added to
    each. `growth` is by how much offset grows from one key to the next.

    `whole` rounds a maximum that moves up to a whole number, so that corrections
    are powers of two and sums with it lose nothing.

    Made into elementary operations by `tile-expand-running-max`.
  }];
  let arguments = (ins Tile_SoftmaxFormAttr:$form, Tile_Tile:$scores,
                       Tile_Tile:$maximum, Optional<Tile_Tile>:$offset,
                       Optional<F32>:$growth,
                       F32Attr:$factor, UnitAttr:$whole);
  let results = (outs Tile_Tile:$next, Tile_Tile:$correction, I1:$moved);
  let assemblyFormat = [{
    $form $scores `,` $maximum `factor` $factor (`whole` $whole^)?
    (`offset` $offset^)? (`growth` $growth^)? attr-dict
    `:` type($scores) `,` type($maximum) (`,` type($offset)^)?
  }];
  let hasVerifier = 1;
}

def Tile_RescaleOp : Tile_Op<"rescale", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "value x correction where the maximum moved, else value";
  let arguments = (ins Tile_Tile:$value, Tile_Tile:$correction, I1:$moved);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `by` $correction `if` $moved attr-dict `:` type($value) `,` type($correction)";
}

def Tile_FoldOp : Tile_Op<"fold", [Pure]> {
  let summary = "Reduces columns that are 8 apart: R x C to R x 8";
  let description = [{
    Needs no exchange between lanes in the accumulator layout, so a running sum
    is kept in this shape and reduced over the row once, at the end.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_UnfoldOp : Tile_Op<"unfold", [Pure]> {
  let summary = "Repeats 8 columns: R x 8 to R x C, the shapes of tile.fold turned around";
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BandOp : Tile_Op<"band", [Pure]> {
  let summary = "Columns between two limits of each row: low <= c < high";
  let description = [{
    R x C i1 from limits that are R x 1 i32, relative to the tile's first column.
    In the accumulator layout a lane compares constants with its limits, which it
    has moved to its own first column once; `cmpi` of index tiles would compute
    each column.
  }];
  let arguments = (ins Optional<Tile_Tile>:$low, Tile_Tile:$high);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "(`from` $low^ `:` type($low))? `below` $high attr-dict `:` type($high) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "Whether an element is true in any row that this warp owns";
  let description = [{
    Uniform over a warp, not over the block: only operations that stay within a
    warp may depend on it.
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs I1:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Shared memory and its signals
//===----------------------------------------------------------------------===//

def Tile_AllocSlabsOp : Tile_Op<"alloc_slabs", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves stages of swizzled slabs in shared memory";
  let results = (outs Tile_SlabsType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_FillOnesOp : Tile_Op<"fill_ones", [MemoryEffects<[MemWrite]>]> {
  let summary = "Every element of 16 rows of slabs becomes 1";
  let description = [{
    By the block's threads together, before they have roles. Products see it after the
    next barrier of the block, `tile.barrier` or the start of `tile.specialize`.

    ```mlir
    tile.fill_ones %ones : !tile.slabs<1, 16, 64, bf16>
    ```
  }];
  let arguments = (ins Tile_SlabsType:$slabs);
  let assemblyFormat = "$slabs attr-dict `:` type($slabs)";
  let hasVerifier = 1;
}

def Tile_AllocSignalsOp : Tile_Op<"alloc_signals", [MemoryEffects<[MemAlloc, MemWrite]>]> {
  let summary = "Reserves and initialises a ring of memory barriers";
  let results = (outs Tile_SignalsType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_SignalWaitOp : Tile_Op<"signal_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the phase of that parity of a signal has completed";
  let description = [{
    A fresh signal is in phase 0; waiting for parity 1 passes at once, which is
    how a producer finds an unused slot free.

    With `during` and `then` the wait stamps the lane of its warp group (see
    `tile.stamp`) if it has to wait at all: it enters the first phase, and the
    second when it goes on. A signal that is there already costs one test.

    With `acquire` what other blocks of the cluster wrote to this one's shared
    memory before their arrivals (`release`) is seen afterwards.

    ```mlir
    tile.signal_wait %full[%slot] parity %p during load_wait then score : !tile.signals<4, arrivals = 1>
    tile.signal_wait %judged[%slot] parity %p acquire : !tile.signals<2, arrivals = 16>
    ```
  }];
  let arguments = (ins Tile_SignalsType:$signals, I32:$slot, I32:$parity,
                       UnitAttr:$acquire,
                       OptionalAttr<Tile_PhaseAttr>:$during,
                       OptionalAttr<Tile_PhaseAttr>:$then);
  let builders = [OpBuilder<(ins "::mlir::Value":$signals, "::mlir::Value":$slot,
                                 "::mlir::Value":$parity),
                            [{ build($_builder, $_state, signals, slot, parity,
                                     /*acquire=*/false, PhaseAttr(), PhaseAttr()); }]>];
  let assemblyFormat = [{
    $signals `[` $slot `]` `parity` $parity (`acquire` $acquire^)?
    (`during` $during^ `then` $then)? attr-dict `:` type($signals)
  }];
  let hasVerifier = 1;
}

def Tile_SignalArriveOp : Tile_Op<"signal_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One arrival of each warp that executes it";
  let description = [{
    With `if` only when the condition, uniform over the warp, holds.

    With `cluster` on that signal of every block of the cluster: lane i of the warp
    arrives on the signal of block i, which counts the warps of all blocks. This
    alone says that the warp is done reading, as a stage's reuse needs; `release`
    says besides that what it wrote to other blocks (tile.raise_flag) is there, and
    costs a fence over everything that the warp has under way.

    ```mlir
    tile.signal_arrive %empty[%slot] cluster : !tile.signals<2, arrivals = 16>
    tile.signal_arrive %judged[%slot] cluster release : !tile.signals<2, arrivals = 16>
    ```
  }];
  let arguments = (ins Tile_SignalsType:$signals, I32:$slot, Optional<I1>:$condition,
                       UnitAttr:$cluster, UnitAttr:$release);
  let builders = [OpBuilder<(ins "::mlir::Value":$signals, "::mlir::Value":$slot,
                                 "::mlir::Value":$condition),
                            [{ build($_builder, $_state, signals, slot, condition,
                                     /*cluster=*/false, /*release=*/false); }]>];
  let assemblyFormat = [{
    $signals `[` $slot `]` (`if` $condition^)? (`cluster` $cluster^)?
    (`release` $release^)? attr-dict `:` type($signals)
  }];
  let hasVerifier = 1;
}

def Tile_CopyBoxOp : Tile_Op<"copy_box", [AttrSizedOperandSegments,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The copy engine fills a stage and completes a signal";
  let description = [{
    Arrives on the signal announcing the stage's bytes and starts the copies; the
    signal completes when they have landed. Executed by one thread.

    With `part` every block of the cluster executes it for the same tile, each with
    its own rank: it announces the whole stage to its own signal, but brings only its
    part, to that stage of every block at once. A part is some of the slabs where the
    blocks divide their number, else some rows of each, which is then what the map's
    box has (`partRows`). The stage must be free in all blocks.

    ```mlir
    tile.copy_box %map[%c, %n, %h] to %keys signal %full[%slot] part %rank : ...
    ```
  }];
  let arguments = (ins Tile_MapType:$map, Variadic<I32>:$at,
                       Tile_SlabsType:$slabs, Tile_SignalsType:$signals, I32:$slot,
                       Optional<I32>:$part);
  let assemblyFormat = [{
    $map `[` $at `]` `to` $slabs `signal` $signals `[` $slot `]` (`part` $part^)?
    attr-dict `:` type($map) `,` type($slabs) `,` type($signals)
  }];
  let hasVerifier = 1;
}

def Tile_SlabReadOp : Tile_Op<"slab_read", [MemoryEffects<[MemRead]>]> {
  let summary = "A stage, or 64 rows of it, as an operand of tile.dot_async";
  let arguments = (ins Tile_SlabsType:$slabs, I32:$slot, I32:$row);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$slabs `[` $slot `]` `row` $row attr-dict `:` type($slabs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SlabLoadOp : Tile_Op<"slab_load", [MemoryEffects<[MemRead]>]> {
  let summary = "64 rows of a stage, of it the first columns, in registers in the accumulator layout";
  let arguments = (ins Tile_SlabsType:$slabs, I32:$slot, I32:$row);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$slabs `[` $slot `]` `row` $row attr-dict `:` type($slabs) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def Tile_DotAsyncOp : Tile_Op<"dot_async", [MemoryEffects<[MemRead, MemWrite]>,
    AttrSizedOperandSegments]> {
  let summary = "Starts accumulator + a x b and closes a group of products";
  let description = [{
    Without an accumulator the product starts from zero. The result, and `a` when
    it is held in registers, must not be touched until `tile.dot_wait` has given
    the result back. `b` is a stage of shared memory, as KxN or, `transposed`,
    as NxK. With `fence` the tensor cores first see what the warp group has
    written to its registers.

    With `ones`, 16 rows of slabs that tile.fill_ones wrote and that were reserved
    after b's, the result has 8 more columns, each the sum of a's row: b is multiplied
    as if those columns of ones stood beside it, so the tensor cores add.

    ```mlir
    %o = tile.dot_async %p, %v onto %before ones %ones : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x72xf32> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x72xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Optional<Tile_Tile>:$accumulator,
                       Optional<Tile_SlabsType>:$ones,
                       UnitAttr:$transposed, UnitAttr:$fence);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a,
                                 "::mlir::Value":$b, "::mlir::Value":$accumulator,
                                 "bool":$transposed, "bool":$fence),
                            [{ build($_builder, $_state, result, a, b, accumulator,
                                     /*ones=*/::mlir::Value(), transposed, fence); }]>];
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b (`transposed` $transposed^)? (`onto` $accumulator^)? (`ones` $ones^)?
    (`fence` $fence^)? attr-dict `:` type($a) `,` type($b)
    (`,` type($accumulator)^)? (`ones` type($ones)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DotWaitOp : Tile_Op<"dot_wait", [MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "Waits until at most `pending` groups of products are in flight";
  let description = [{
    Gives back the product that is done; `holding` are operands in registers that
    it frees.
  }];
  let arguments = (ins Tile_Tile:$value, Variadic<Tile_Tile>:$holding, I32Attr:$pending);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value (`holding` `(` $holding^ `:` type($holding) `)`)? `pending` $pending attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tile_SpecializeOp : Tile_Op<"specialize", [
    SingleBlockImplicitTerminator<"::attn::tile::RoleEndOp">, RecursiveMemoryEffects]> {
  let summary = "One thread produces, warp groups consume";
  let description = [{
    The block has `groups + 1` warp groups. One thread of the first runs
    `producer`; each of the others runs `consumer`. Registers per thread are
    moved from the producer's group to the consumers'.

    A role's arguments are positions in rings of stages (i32), 0 at the start;
    `tile.role_end` gives them as one tile leaves them, so that a persistent
    block can go on. With `turns` the groups take turns on the tensor cores and
    the first one has it.
  }];
  let arguments = (ins I64Attr:$groups, I64Attr:$producerRegisters,
                       I64Attr:$consumerRegisters, UnitAttr:$turns);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `groups` $groups (`turns` $turns^)? `producer` `registers` $producerRegisters
    $producer `consumer` `registers` $consumerRegisters $consumer attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_RoleEndOp : Tile_Op<"role_end", [Pure, Terminator, ReturnLike,
    ParentOneOf<["SpecializeOp"]>]> {
  let summary = "The end of a role: its positions in the rings";
  let arguments = (ins Variadic<I32>:$positions);
  let assemblyFormat = "($positions^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
}

def Tile_TurnWaitOp : Tile_Op<"turn_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for this warp group's turn on the tensor cores";
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

def Tile_TurnPassOp : Tile_Op<"turn_pass", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Hands the turn to the next warp group";
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "`of` $groups attr-dict";
}

//===----------------------------------------------------------------------===//
// Tiles that are done again
//===----------------------------------------------------------------------===//

def Tile_AgainOp : Tile_Op<"again", [MemoryEffects<[MemRead]>]> {
  let summary = "Whether this tile failed its check and is done again";
  let description = [{
    In a consumer role; made into what `tile.take_tile` says by
    `tile-persist-tiles`.
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_RedoOp : Tile_Op<"redo", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Asks for this tile to be done again when the condition holds";
  let description = [{
    Once in a consumer role, after the last of what the condition tests. Every
    warp comes here; one that asks is enough. The tile then comes once more, with
    `tile.again`, and what it stores the second time is what stays; then nobody
    listens to the condition.

    `tile-persist-tiles` makes it a flag and an arrival on a signal, and a
    producer that brings such a tile's operands again.
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "`if` $condition attr-dict";
}

def Tile_AllocFlagsOp : Tile_Op<"alloc_flags", [MemoryEffects<[MemAlloc, MemWrite]>]> {
  let summary = "Reserves a ring of flags in shared memory, none of them raised";
  let results = (outs Tile_FlagsType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_RaiseFlagOp : Tile_Op<"raise_flag", [MemoryEffects<[MemWrite]>]> {
  let summary = "Raises a flag when the condition, uniform over the warp, holds";
  let description = [{
    Seen by whoever then waits for the signal on which this warp arrives next.

    With `cluster` that flag of every block of the cluster, by the lane that then
    arrives for the block (tile.signal_arrive ... cluster release).
  }];
  let arguments = (ins Tile_FlagsType:$flags, I32:$slot, I1:$condition, UnitAttr:$cluster);
  let builders = [OpBuilder<(ins "::mlir::Value":$flags, "::mlir::Value":$slot,
                                 "::mlir::Value":$condition),
                            [{ build($_builder, $_state, flags, slot, condition,
                                     /*cluster=*/false); }]>];
  let assemblyFormat = [{
    $flags `[` $slot `]` `if` $condition (`cluster` $cluster^)? attr-dict `:` type($flags)
  }];
  let hasVerifier = 1;
}

def Tile_TakeFlagOp : Tile_Op<"take_flag", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Whether a flag was raised; afterwards it is not. One thread";
  let arguments = (ins Tile_FlagsType:$flags, I32:$slot);
  let results = (outs I1:$result);
  let assemblyFormat = "$flags `[` $slot `]` attr-dict `:` type($flags)";
}

//===----------------------------------------------------------------------===//
// Persistent tiles
//===----------------------------------------------------------------------===//

def Tile_GridDimOp : Tile_Op<"grid_dim", [Pure]> {
  let summary = "Number of blocks that were launched";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_AllocWordOp : Tile_Op<"alloc_word", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves words of shared memory that hold tiles' numbers";
  let description = [{
    Two of them, so that a tile can be posted while another is worked on; `at`
    picks one, the first when left out.
  }];
  let results = (outs Tile_WordType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_PostTileOp : Tile_Op<"post_tile", [AttrSizedOperandSegments,
                                             MemoryEffects<[MemWrite]>]> {
  let summary = "The producer says which tile comes next; -1: none";
  let description = [{
    Seen by whoever then waits for the signal that the producer completes next.
    With `again` (when it holds) the tile has been done before and failed its
    check, see tile.redo.
  }];
  let arguments = (ins Tile_WordType:$word, Optional<I32>:$slot, I32:$tile,
                       Optional<I1>:$again);
  let assemblyFormat = "$word (`at` $slot^)? `,` $tile (`again` $again^)? attr-dict `:` type($word)";
}

def Tile_TakeTileOp : Tile_Op<"take_tile", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads the posted tile number, and whether it is done again";
  let arguments = (ins Tile_WordType:$word, Optional<I32>:$slot);
  let results = (outs I32:$tile, I1:$again);
  let assemblyFormat = "$word (`at` $slot^)? attr-dict `:` type($word)";
}

def Tile_NextTileOp : Tile_Op<"next_tile", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Takes the next tile that no block has taken";
  let description = [{
    `counter` is a pair of words in device memory, zero between launches: tiles
    taken beyond the first of each block, and blocks that are done.
  }];
  let arguments = (ins Tile_PtrType:$counter);
  let results = (outs I32:$result);
  let assemblyFormat = "$counter attr-dict `:` type($counter)";
}

def Tile_FinishTilesOp : Tile_Op<"finish_tiles", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "This block takes no more tiles; the last one zeroes the counter";
  let arguments = (ins Tile_PtrType:$counter);
  let assemblyFormat = "$counter attr-dict `:` type($counter)";
}

#endif
