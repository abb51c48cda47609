//===- TileOps.td - operations of the tile dialect --------------*- tablegen -*-===//
#ifndef ATTN_DIALECT_TILE_OPS_TD
#define ATTN_DIALECT_TILE_OPS_TD

include "dialect/Tile/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Tile : Type<
    And<[AnyStaticShapeTensor.predicate, HasAnyRankOfPred<[2]>]>,
    "tile (tensor of static shape and rank 2)", "::mlir::RankedTensorType">;

//===----------------------------------------------------------------------===//
// Where the block stands, and what it sees of memory
//===----------------------------------------------------------------------===//

def Tile_BlockIdOp : Tile_Op<"block_id", [Pure]> {
  let summary = "Linear index of this block in the grid";
  let description = [{
    `of` is the number of blocks in the grid, for a program that may be made
    persistent: it then works on several tiles, each in the place of a block.

    ```mlir
    %b = tile.block_id : i32
    %c = tile.block_id of %count : i32
    ```
  }];
  let arguments = (ins Optional<I32>:$count);
  let results = (outs I32:$result);
  let assemblyFormat = "(`of` $count^)? attr-dict `:` type($result)";
}

def Tile_ViewOp : Tile_Op<"view", [Pure,
    TypesMatchWith<"view has the pointer's element type", "base", "result",
      "::attn::tile::ViewType::get($_self.getContext(), ::llvm::cast<::attn::tile::PtrType>($_self).getElement())">]> {
  let summary = "A window of a tensor: offset, lengths, strides";
  let description = [{
    Element (r, c) lives at `base + offset + r * rowStride + c * columnStride`
    (elements, 64-bit). `aligned` promises that columnStride is 1 and that every
    row starts at a multiple of that many elements from a 16-byte aligned base;
    0 promises nothing. Rows of an aligned view may be read up to the next
    multiple of `aligned` columns without a fault.

    ```mlir
    %v = tile.view %q[%off] size [%M, %D] stride [%sm, %one] aligned 8 : !tile.ptr<bf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, I64:$offset, I64:$rows, I64:$columns,
                       I64:$rowStride, I64:$columnStride, I64Attr:$aligned);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $base `[` $offset `]` `size` `[` $rows `,` $columns `]`
    `stride` `[` $rowStride `,` $columnStride `]` `aligned` $aligned
    attr-dict `:` type($base)
  }];
}

def Tile_LoadOp : Tile_Op<"load", [Pure]> {
  let summary = "Reads a tile; elements outside the view are zero";
  let description = [{
    Pure: a program never writes what it reads, outputs are tensors of their own.
  }];
  let arguments = (ins Tile_ViewType:$view, I64:$row, I64:$column);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$view `[` $row `,` $column `]` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes the part of a tile that lies inside the view";
  let description = [{
    With `staged` each warp lays its rows out in shared memory and the copy engine
    writes them, whole rows of the tile at a time, while the warp goes on. The
    view must be aligned to 16 bytes; its last row piece is written up to the next
    multiple of `aligned` columns, which the tensor's padding holds.
  }];
  let arguments = (ins Tile_Tile:$value, Tile_ViewType:$view, I64:$row, I64:$column,
                       UnitAttr:$staged);
  let assemblyFormat = [{
    $value `,` $view `[` $row `,` $column `]` (`staged` $staged^)? attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "Reads elements at computed offsets";
  let description = [{
    `result = valid ? base[offset] : 0`, elementwise over a scalar or tile of
    offsets (elements, i64), which the program keeps inside the tensor. `valid`
    is uniform: false when the tensor is empty.
  }];
  let arguments = (ins Tile_PtrType:$base, AnyTypeOf<[I64, Tile_Tile]>:$offset, I1:$valid);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$base `[` $offset `]` `if` $valid attr-dict `:` type($base) `,` type($offset) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def Tile_IndexOp : Tile_Op<"index", [Pure]> {
  let summary = "Row or column numbers: base + 0, 1, 2, ...";
  let description = [{
    ```mlir
    %m = tile.index %m0 : tensor<128x1xi32>   // row numbers
    %n = tile.index %n0 : tensor<1x64xi32>    // column numbers
    ```
    The base is truncated to the element type, which the importer's interval
    analysis proved wide enough.
  }];
  let arguments = (ins I64:$base);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$base attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure,
    TypesMatchWith<"scalar has the tile's element type", "result", "value",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "A tile whose every element is a scalar";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a row value over columns or a column value over rows";
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Reduces each row to one value, in a fixed order";
  let description = [{
    `tensor<RxCxT> -> tensor<Rx1xT>`: `max` of f32, its identity true minus
    infinity (C2), `add` of f32 or integers, `max_int` of signed integers.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Mathematics
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a x b, f32 accumulation (C1)";
  let description = [{
    `a: MxK`, `b: KxN` (or `NxK` with `transposed`), `accumulator: MxNxf32`.
    Operands are f16, bf16 or f32, alike; `tf32` lets f32 operands be rounded to
    tf32 on tensor cores.

    With `sums` the accumulator is `Mx(N+8)xf32`: to each of the last 8 columns is
    added the sum of a's row, as if b had 8 more columns of ones. Of warp groups only
    (tile.dot_async ... ones); tile.split_sums takes the two apart.

    ```mlir
    %o = tile.dot %p, %v, %before sums : tensor<64x128xbf16>, tensor<128x64xbf16>, tensor<64x72xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$accumulator,
                       UnitAttr:$transposed, UnitAttr:$tf32, UnitAttr:$sums);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b (`transposed` $transposed^)? `,` $accumulator (`tf32` $tf32^)?
    (`sums` $sums^)? attr-dict `:` type($a) `,` type($b) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Tile_SplitSumsOp : Tile_Op<"split_sums", [Pure]> {
  let summary = "A product with row sums, taken apart";
  let description = [{
    `Rx(C+8) -> RxC, Rx1`: the product, and one of the last 8 columns, which must be
    alike (tile.dot ... sums). Each lane of a row holds the sum, so nothing is
    exchanged.

    ```mlir
    %o, %l = tile.split_sums %c : tensor<64x72xf32> -> tensor<64x64xf32>, tensor<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$product, Tile_Tile:$sums);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($product) `,` type($sums)";
  let hasVerifier = 1;
}

def Tile_Exp2Op : Tile_Op<"exp2", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "2^x, a share of it without the special-function unit";
  let description = [{
    Of every eight pairs of neighbouring columns that a thread holds, `polynomial`
    are computed with multiplications and additions: within 1.2e-4 of the result,
    2^-127 and below as 0, NaN as NaN. The others are exact to the last place but
    one, as `math.exp2`. x must be below 128, as scores against their maximum are;
    `unbounded` lifts that, and what is too large becomes infinite. When x is a
    fused a b + c with c alike along each row, c must be whole (tile.running_max)
    or at most 2^8 in size: the polynomial's own offset is added to it beforehand.

    ```mlir
    %p = tile.exp2 %x polynomial 4 : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, I64Attr:$polynomial, UnitAttr:$unbounded);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `polynomial` $polynomial (`unbounded` $unbounded^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_Exp2PackedOp : Tile_Op<"exp2_packed", [Pure,
    AllTypesMatch<["value", "exact"]>, AllTypesMatch<["power", "bend"]>]> {
  let summary = "2^x for bf16, a share of it in packed bf16";
  let description = [{
    Of every eight pairs of neighbouring columns that a thread holds, `share` are
    computed two elements at once, without the special-function unit: a straight
    line between powers of two, `power`, and what 2^x lies below it, `bend`, both
    as the bits that tile.round_packed adds. The others are in `exact`, as
    `math.exp2` has them. Where one has an element the others' is of no meaning.

    x is rounded to 2^-7 and the result to bf16: 2.3e-3 of it in the mean, where
    rounding 2^x to bf16 is 1.6e-3. Whole x are exact, -127 and below are 0, 128 and
    above and NaN are infinite. With `checked` x from -196736 to -98432 may be
    infinite as well: somebody looks for that afterwards (tile.redo). When x is a
    fused a b + c with c alike along each row, c must be whole (tile.running_max):
    an offset is added to it beforehand.

    ```mlir
    %e, %y, %w = tile.exp2_packed %x share 3 : tensor<64x64xf32> -> tensor<64x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Tile:$value, I64Attr:$share, UnitAttr:$checked);
  let results = (outs Tile_Tile:$exact, Tile_Tile:$power, Tile_Tile:$bend);
  let assemblyFormat = [{
    $value `share` $share (`checked` $checked^)? attr-dict `:` type($value) `->` type($power)
  }];
  let hasVerifier = 1;
}

def Tile_RoundPackedOp : Tile_Op<"round_packed", [Pure,
    AllTypesMatch<["power", "bend", "result"]>]> {
  let summary = "The bf16 tile of what tile.exp2_packed gives";
  let description = [{
    Rounds the elements that are in `exact` and adds up the others. An operation of its
    own because it must come after the wait that frees the registers of the last
    probabilities (tile.dot_wait), and what is not rounded is made before that.

    ```mlir
    %p = tile.round_packed %e, %y, %w share 3 : tensor<64x64xf32>, tensor<64x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Tile:$exact, Tile_Tile:$power, Tile_Tile:$bend, I64Attr:$share);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $exact `,` $power `,` $bend `share` $share attr-dict `:` type($exact) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_MaskOp : Tile_Op<"mask", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "Keeps elements where the predicate holds, minus infinity (or zero) elsewhere";
  let description = [{
    Marks what `tile-split-key-loop` may drop in key blocks that the range
    analysis proves fully live. That pass makes the rest `arith.select`, so code
    generation never sees it.
  }];
  let arguments = (ins Tile_Tile:$value, Tile_Tile:$predicate, UnitAttr:$zero);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `,` $predicate (`zero` $zero^)? attr-dict `:` type($value) `,` type($predicate)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The key loop
//===----------------------------------------------------------------------===//

def Tile_ForKeysOp : Tile_Op<"for_keys", [
    SingleBlockImplicitTerminator<"::attn::tile::YieldOp">,
    RecursiveMemoryEffects,
    RangedTypesMatchWith<"results have the types of the initial values", "inits",
                         "results", "::llvm::to_vector($_self)">]> {
  let summary = "Loop over key blocks: fully live ones first, then partly masked ones";
  let description = [{
    Visits block starts `fullBegin + i * step` for i < fullCount, in which every
    key is alive, then `leftBegin + i * step` for i < leftCount and
    `rightBegin + i * step` for i < rightCount, in which masks decide. All other
    keys are dead for the whole block of rows. The body sees the iteration
    number t (i32), the start of its key block n0 (i64) and the carried values.

    `of` names the key blocks that the whole thread block visits, a superset:
    warp groups of a block (tile.group_id) share their keys but each has bounds
    of its own. Left, full and right are neighbours, in this order along the keys.

    `tile-split-key-loop` turns it into two `scf.for`, the first without masks.
  }];
  let arguments = (ins I64:$fullBegin, I32:$fullCount, I64:$leftBegin, I32:$leftCount,
                       I64:$rightBegin, I32:$rightCount, I64:$blockBegin,
                       I32:$blockCount, I64Attr:$step, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `full` $fullBegin `x` $fullCount `left` $leftBegin `x` $leftCount
    `right` $rightBegin `x` $rightCount
    `of` $blockBegin `x` $blockCount `step` $step
    (`init` `(` $inits^ `:` type($inits) `)`)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["::attn::tile::ForKeysOp"]>]> {
  let summary = "Hands the carried values to the next key block";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
}

//===----------------------------------------------------------------------===//
// Shared memory (made by tile-stage-loads; GPU only)
//===----------------------------------------------------------------------===//

def Tile_AllocSharedOp : Tile_Op<"alloc_shared", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves stages of tiles in shared memory";
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_CopyAsyncOp : Tile_Op<"copy_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts copying a tile to a stage; elements outside the view become zero";
  let description = [{
    Performed by all threads. Uses 16-byte asynchronous copies where the view is
    aligned, element loads and stores otherwise. Readable after `tile.wait` and
    `tile.barrier`.
  }];
  let arguments = (ins Tile_ViewType:$view, I64:$row, I64:$column,
                       Tile_BufferType:$buffer, I32:$slot);
  let assemblyFormat = "$view `[` $row `,` $column `]` `to` $buffer `[` $slot `]` attr-dict `:` type($view) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_Op<"commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Closes a group of asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most `pending` groups of this thread's copies are in flight";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "All threads of the block meet; shared memory is seen by all";
  let assemblyFormat = "attr-dict";
}

def Tile_SharedReadOp : Tile_Op<"shared_read", [MemoryEffects<[MemRead]>]> {
  let summary = "A stage as an operand of tile.dot";
  let description = [{
    Names the stage; the dot fetches fragments from it as it needs them, so the
    stage must stay untouched until the dots that use it have been passed by a
    `tile.barrier`.
  }];
  let arguments = (ins Tile_BufferType:$buffer, I32:$slot);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$buffer `[` $slot `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

include "dialect/Tile/TileAsyncOps.td"
include "dialect/Tile/TileClusterOps.td"
include "dialect/Tile/TileTimelineOps.td"

#endif
