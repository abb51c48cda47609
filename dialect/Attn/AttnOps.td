//===- AttnOps.td - operations of the attn dialect --------------*- tablegen -*-===//
#ifndef ATTN_DIALECT_ATTN_OPS_TD
#define ATTN_DIALECT_ATTN_OPS_TD

include "dialect/Attn/AttnDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

def Attn_Tensor : Type<
    And<[AnyRankedTensor.predicate,
         CPred<"::llvm::isa_and_nonnull<::attn::AxesAttr>("
               "::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding())">]>,
    "tensor with named axes", "::mlir::RankedTensorType">;

def Attn_Scalar : AnyTypeOf<[F16, BF16, F32, I1, I32, I64]>;

//===----------------------------------------------------------------------===//
// Tensor operations
//===----------------------------------------------------------------------===//

def Attn_MatmulOp : Attn_Op<"matmul", [Pure]> {
  let summary = "Contraction over a named axis";
  let description = [{
    `result[batch, free(a), free(b)] = sum over X of a[..., x] * b[..., x]`,
    accumulated in f32 (C1). Axes both operands have, by name or by nesting, are
    batch axes.

    Constraints:
      - (M1) both operands have the summed axis, the result has not;
      - (M2) the result holds f32 and every other axis of the operands;
      - (M3) operands hold floats.

    ```mlir
    %s = attn.matmul %q, %k over "D" : (tensor<?x?x64xbf16, #attn.axes<B, M, D>>,
        tensor<?x?x64xbf16, #attn.axes<B, N, D>>) -> tensor<?x?x?xf32, #attn.axes<B, M, N>>
    ```
  }];
  let arguments = (ins Attn_Tensor:$a, Attn_Tensor:$b, StrAttr:$over);
  let results = (outs Attn_Tensor:$result);
  let assemblyFormat = "$a `,` $b `over` $over attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

/// Elementwise operations: a region computes one element from elements of `ins`.
class Attn_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat([Pure, SingleBlock], traits)> {
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Attn_Tensor:$result);
  let hasVerifier = 1;
}

def Attn_MapOp : Attn_ElementwiseOp<"map"> {
  let summary = "Elementwise function of tensors and indices";
  let description = [{
    `result[i...] = f(ins[i...], i...)`, operands broadcast by axis name. The
    region has one argument for each operand, its element; `attn.index`,
    `attn.length` and `attn.read` are legal in it, as are scalar arguments of the
    function.

    Constraints:
      - (E1) region arguments are the elements of the operands;
      - (E2) the region yields the result's element;
      - (E3) operand axes are axes of the result, by name or by nesting.
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$inputs);
  let assemblyFormat = "(`ins` `(` $inputs^ `:` type($inputs) `)`)? $body attr-dict `->` type($result)";
}

def Attn_ScaleOp : Attn_ElementwiseOp<"scale"> {
  let summary = "c * s for any real c";
  let description = [{
    The region yields the factor (f32); its arguments are elements of `inputs`.
    (S1) The result has the axes of s, f32. Otherwise as attn.map.
  }];
  let arguments = (ins Attn_Tensor:$scores, Variadic<Attn_Tensor>:$inputs);
  let assemblyFormat = [{
    $scores `by` (`ins` `(` $inputs^ `:` type($inputs) `)`)? $body attr-dict
    `:` type($scores) `->` type($result)
  }];
  let hasFolder = 1;
}

def Attn_MaskOp : Attn_ElementwiseOp<"mask"> {
  let summary = "s where a predicate holds, minus infinity elsewhere";
  let description = [{
    The region yields i1. (K1) The result is f32 and has the axes of s (more when
    the predicate has more). Otherwise as attn.map.
  }];
  let arguments = (ins Attn_Tensor:$scores, Variadic<Attn_Tensor>:$inputs);
  let assemblyFormat = [{
    $scores `where` (`ins` `(` $inputs^ `:` type($inputs) `)`)? $body attr-dict
    `:` type($scores) `->` type($result)
  }];
}

def Attn_RoundOp : Attn_Op<"round", [Pure]> {
  let summary = "Rounds to a narrower float, ties to even";
  let description = [{
    Inserted before a matmul whose other operand is narrower (C1) and before a
    result. (R1) Both hold floats; axes are alike as sets: a result's order is
    its order in memory.
  }];
  let arguments = (ins Attn_Tensor:$value);
  let results = (outs Attn_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Attn_CopyOp : Attn_Op<"copy", [Pure]> {
  let summary = "Another tensor with the same elements";
  let description = [{(R1) of attn.round holds, and the element type stays.}];
  let arguments = (ins Attn_Tensor:$value);
  let results = (outs Attn_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_SoftmaxOp : Attn_Op<"softmax", [Pure]> {
  let summary = "Normalised exponentials over an axis";
  let description = [{
    `p = exp(s - m) / (sum exp(s - m) + exp(sink - m))`, m the largest logit;
    `lse = m + log(...)`. A row without a live key gives p = 0 and lse = -inf (C3).

    (X1) s has the axis; (X2) p has the type of s in f32; (X3) lse has its other
    axes; (X4) the sink has none but those.
  }];
  let arguments = (ins Attn_Tensor:$scores, Optional<Attn_Tensor>:$sink, StrAttr:$over);
  let results = (outs Attn_Tensor:$probabilities, Optional<Attn_Tensor>:$lse);
  let assemblyFormat = [{
    $scores `over` $over (`sink` $sink^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Attn_OnlineSoftmaxOp : Attn_Op<"online_softmax", [Pure]> {
  let summary = "Softmax and the matmul after it in one pass over the keys";
  let description = [{
    `result = matmul(round(softmax(s)), v)` over the key axis, with a running
    maximum and sum, so that no row of probabilities is ever held. Made by
    `attn-online-softmax`. Constraints as attn.softmax and attn.matmul.
  }];
  let arguments = (ins Attn_Tensor:$scores, Attn_Tensor:$values,
                       Optional<Attn_Tensor>:$sink, StrAttr:$over);
  let results = (outs Attn_Tensor:$result, Optional<Attn_Tensor>:$lse);
  let assemblyFormat = [{
    $scores `,` $values `over` $over (`sink` $sink^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Attn_KernelOp : Attn_Op<"kernel", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "Operations that one launch performs";
  let description = [{
    Fusion moves operations between kernels. Tensors from outside are read from
    device memory, results are written to it, anything else stays on chip.

    ```mlir
    %s2 = attn.kernel "scale" -> tensor<...> {
      %0 = attn.scale %s by {...} : tensor<...> -> tensor<...>
      attn.return %0 : tensor<...>
    }
    ```
  }];
  let arguments = (ins StrAttr:$label);
  let results = (outs Variadic<Attn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$label attr-dict-with-keyword (`->` type($results)^)? $body";
  let hasVerifier = 1;
}

def Attn_ReturnOp : Attn_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"::attn::KernelOp">]> {
  let summary = "Results of an attn.kernel";
  let arguments = (ins Variadic<Attn_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["::attn::MapOp", "::attn::ScaleOp", "::attn::MaskOp"]>]> {
  let summary = "The element a region computes";
  let arguments = (ins Attn_Scalar:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Inside regions
//===----------------------------------------------------------------------===//

def Attn_IndexOp : Attn_Op<"index", [Pure]> {
  let summary = "Index along an axis, 0 up to its length";
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Attn_LengthOp : Attn_Op<"length", [Pure]> {
  let summary = "Length of an axis";
  let arguments = (ins StrAttr:$axis);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Attn_ReadOp : Attn_Op<"read", [Pure]> {
  let summary = "An element of a captured tensor";
  let description = [{
    Each index is clamped into the tensor; an empty tensor reads as 0.
    (D1) one index for each axis, (D2) the result is the element type.
  }];
  let arguments = (ins Attn_Tensor:$tensor, Variadic<AnyTypeOf<[I32, I64]>>:$indices);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
