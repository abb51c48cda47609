// RUN: attn-opt %s --split-input-file --verify-diagnostics

// One program for every message of the attn dialect's verifiers.

// Attributes.
// expected-error @+1 {{axis 'M' must be named once}}
func.func private @repeated_axis(tensor<?x?xf32, #attn.axes<M, M>>)

// -----

// expected-error @+1 {{axis '' must be named once}}
func.func private @unnamed_axis(tensor<?xf32, #attn.axes<"">>)

// -----

// expected-error @+1 {{axis needs a name}}
func.func private @nameless() attributes {attn.axes = [#attn.axis<"">]}

// -----

// expected-error @+1 {{length of axis 'D' must lie in 0 .. 2^30}}
func.func private @negative() attributes {attn.axes = [#attn.axis<"D", extent = -1>]}

// -----

// expected-error @+1 {{length of axis 'D' must lie in 0 .. 2^30}}
func.func private @too_long() attributes {attn.axes = [#attn.axis<"D", extent = 1073741825>]}

// -----

// expected-error @+1 {{axis 'H' needs both group and inner, or neither}}
func.func private @half_nested() attributes {attn.axes = [#attn.axis<"H", group = "G">]}

// -----

// Programs.
// expected-error @+1 {{'attn.axes' must be an array of #attn.axis on a func.func}}
func.func private @no_array() attributes {attn.axes = "M"}

// -----

// expected-error @+1 {{'attn.axes' must be an array of #attn.axis on a func.func}}
func.func private @no_axis() attributes {attn.axes = ["M"]}

// -----

// expected-error @+1 {{'attn.axes' must be an array of #attn.axis on a func.func}}
module attributes {attn.axes = []} {}

// -----

// expected-error @+1 {{argument 1 needs a string 'attn.name'}}
func.func @nameless_argument(%a: f32 {attn.name = "a"}, %b: f32) attributes {attn.axes = []} {
  return
}

// -----

// expected-error @+1 {{argument 0 needs a string 'attn.name'}}
func.func @numbered_argument(%a: f32 {attn.name = 1}) attributes {attn.axes = []} {
  return
}

// -----

// expected-error @+1 {{result 0 needs a string 'attn.name'}}
func.func @nameless_result(%a: tensor<f32, #attn.axes<>> {attn.name = "a"})
    -> tensor<f32, #attn.axes<>> attributes {attn.axes = []} {
  return %a : tensor<f32, #attn.axes<>>
}

// -----

// expected-error @+1 {{the name "a" is given twice}}
func.func @twice(%a: f32 {attn.name = "a"}, %b: i32 {attn.name = "a"})
    attributes {attn.axes = []} {
  return
}

// -----

// expected-error @+1 {{the name "a" is given twice}}
func.func @result_named_as_argument(%a: tensor<f32, #attn.axes<>> {attn.name = "a"})
    -> (tensor<f32, #attn.axes<>> {attn.name = "a"}) attributes {attn.axes = []} {
  return %a : tensor<f32, #attn.axes<>>
}

// -----

// expected-error @+1 {{tensors of a program need #attn.axes, one name for each dimension, and elements of f16, bf16, f32, i1, i32 or i64; 'tensor<4xf32>' is none}}
func.func @plain_tensor(%a: tensor<4xf32> {attn.name = "a"})
    attributes {attn.axes = [#attn.axis<"M">]} {
  return
}

// -----

// expected-error @+1 {{tensors of a program need #attn.axes, one name for each dimension, and elements of f16, bf16, f32, i1, i32 or i64; 'tensor<?x?xf32, #attn.axes<M>>' is none}}
func.func @unranked_tensor(%a: tensor<?x?xf32, #attn.axes<M>> {attn.name = "a"})
    attributes {attn.axes = [#attn.axis<"M">]} {
  return
}

// -----

// expected-error @+1 {{tensors of a program need #attn.axes, one name for each dimension, and elements of f16, bf16, f32, i1, i32 or i64; 'tensor<?xf64, #attn.axes<M>>' is none}}
func.func @double_tensor(%a: tensor<?xf64, #attn.axes<M>> {attn.name = "a"})
    attributes {attn.axes = [#attn.axis<"M">]} {
  return
}

// -----

// expected-error @+1 {{tensors of a program need #attn.axes, one name for each dimension, and elements of f16, bf16, f32, i1, i32 or i64; 'f32' is none}}
func.func @scalar_result(%a: f32 {attn.name = "a"}) -> (f32 {attn.name = "b"})
    attributes {attn.axes = []} {
  return %a : f32
}

// -----

// expected-error @+1 {{argument 0 is 'index'; a program takes tensors and scalars of f32, i1, i32 or i64}}
func.func @index_argument(%a: index {attn.name = "a"}) attributes {attn.axes = []} {
  return
}

// -----

// expected-error @+1 {{axis 'Z' of the signature is not in 'attn.axes'}}
func.func @unlisted_parameter(%a: tensor<?xf32, #attn.axes<Z>> {attn.name = "a"})
    attributes {attn.axes = []} {
  return
}

// -----

// expected-error @+1 {{length of axis 'D' in the signature differs from 'attn.axes'}}
func.func @short_parameter(%a: tensor<32xf32, #attn.axes<D>> {attn.name = "a"})
    attributes {attn.axes = [#attn.axis<"D", extent = 64>]} {
  return
}

// -----

// expected-error @+1 {{axis 'M' is listed twice in 'attn.axes'}}
func.func @listed_twice() attributes {attn.axes = [#attn.axis<"M">, #attn.axis<"M">]} {
  return
}

// -----

// expected-error @+1 {{axis 'H' must nest two other axes of 'attn.axes' that do not nest themselves}}
func.func @nests_unlisted_part()
    attributes {attn.axes = [#attn.axis<"H", group = "G", inner = "K">, #attn.axis<"G">]} {
  return
}

// -----

// expected-error @+1 {{axis 'H' must nest two other axes of 'attn.axes' that do not nest themselves}}
func.func @nests_itself()
    attributes {attn.axes = [#attn.axis<"H", group = "G", inner = "K">, #attn.axis<"G", group = "H", inner = "K">, #attn.axis<"K">]} {
  return
}

// -----

func.func @tensor_has_nest_and_part(%q: tensor<?x?x8xf32, #attn.axes<H, G, D>> {attn.name = "q"})
    attributes {attn.axes = [#attn.axis<"H", group = "G", inner = "K">, #attn.axis<"G">, #attn.axis<"K">, #attn.axis<"D", extent = 8>]} {
  // expected-error @+1 {{axis 'H' nests 'G', which the tensor has too}}
  %0 = attn.copy %q : tensor<?x?x8xf32, #attn.axes<H, G, D>> -> tensor<?x?x8xf32, #attn.axes<H, G, D>>
  return
}

// -----

// A fuzzer's find: the sum over D left a result that still ran over D.
func.func @sums_over_a_part(%q: tensor<?x?x8xf32, #attn.axes<H, M, D>> {attn.name = "q"}, %k: tensor<?x?x8xf32, #attn.axes<K, N, D>> {attn.name = "k"})
    attributes {attn.axes = [#attn.axis<"H", group = "D", inner = "K">, #attn.axis<"M">, #attn.axis<"D", extent = 8>, #attn.axis<"K">, #attn.axis<"N">]} {
  // expected-error @+1 {{axis 'H' nests 'D', which the tensor has too}}
  %0 = attn.matmul %q, %k over "D" : (tensor<?x?x8xf32, #attn.axes<H, M, D>>, tensor<?x?x8xf32, #attn.axes<K, N, D>>) -> tensor<?x?x?xf32, #attn.axes<H, M, N>>
  return
}

// -----

// expected-error @+1 {{axis 'H' must nest two other axes of 'attn.axes' that do not nest themselves}}
func.func @nests_a_square()
    attributes {attn.axes = [#attn.axis<"H", group = "G", inner = "G">, #attn.axis<"G">]} {
  return
}

// -----

// expected-error @+1 {{length of axis 'H' must be the product of those it nests, 8}}
func.func @no_product()
    attributes {attn.axes = [#attn.axis<"H", extent = 9, group = "G", inner = "K">,
                             #attn.axis<"G", extent = 4>, #attn.axis<"K", extent = 2>]} {
  return
}

// -----

// expected-error @+1 {{a program has a body of one block that returns}}
func.func private @declared() attributes {attn.axes = []}

// -----

// expected-error @+1 {{a program has a body of one block that returns}}
func.func @two_blocks() attributes {attn.axes = []} {
  cf.br ^next
^next:
  return
}

// -----

func.func @memory(%m: i32 {attn.name = "m"}) attributes {attn.axes = []} {
  // expected-error @+1 {{does not belong here in a program}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @vectors(%m: i32 {attn.name = "m"}) attributes {attn.axes = []} {
  // expected-error @+1 {{does not belong here in a program}}
  %0 = arith.constant dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @index_outside() attributes {attn.axes = [#attn.axis<"M">]} {
  // expected-error @+1 {{does not belong here in a program}}
  %0 = attn.index "M" : i32
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @tensor_in_a_region(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  %0 = attn.map {
    // expected-error @+1 {{does not belong here in a program}}
    %t = attn.copy %s : !s -> !s
    %c = arith.constant 1.0 : f32
    attn.yield %c : f32
  } -> !s
  return
}

// -----

// Axes of an operand or a result.
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @rank()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{tensor of rank 2 names 1 axes}}
  %0 = attn.map {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } -> tensor<?x64xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @double(%a: tensor<?xf32, #attn.axes<M>> {attn.name = "a"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{tensor holds 'f64'; known are f16, bf16, f32, i1, i32 and i64}}
  %0 = attn.round %a : tensor<?xf32, #attn.axes<M>> -> tensor<?xf64, #attn.axes<M>>
  return
}

// -----

func.func @outside_a_program(%a: tensor<?xf32, #attn.axes<M>>) {
  // expected-error @+1 {{belongs in a func.func with 'attn.axes'}}
  %0 = attn.copy %a : tensor<?xf32, #attn.axes<M>> -> tensor<?xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @unlisted_axis()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{axis 'Z' is not in 'attn.axes'}}
  %0 = attn.map {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } -> tensor<?xf32, #attn.axes<Z>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @wrong_length()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{length of axis 'D' differs from 'attn.axes'}}
  %0 = attn.map {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } -> tensor<32xf32, #attn.axes<D>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @length_made_dynamic()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{length of axis 'D' differs from 'attn.axes'}}
  %0 = attn.map {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } -> tensor<?xf32, #attn.axes<D>>
  return
}

// -----

func.func @plain_operand(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be tensor with named axes}}
  %0 = attn.copy %a : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// attn.matmul
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @matmul_of_integers(%q: tensor<?x64xi32, #attn.axes<M, D>> {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{operands must hold floats (M3)}}
  %0 = attn.matmul %q, %k over "D" : (tensor<?x64xi32, #attn.axes<M, D>>, !k) -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @matmul_over_one_operand(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{both operands must have the summed axis 'N' (M1)}}
  %0 = attn.matmul %q, %k over "N" : (!q, !k) -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
func.func @matmul_keeps_summed_axis(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result must not have the summed axis 'D' (M1)}}
  %0 = attn.matmul %q, %k over "D" : (!q, !k) -> tensor<?x?x64xf32, #attn.axes<M, N, D>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
func.func @matmul_to_half(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result must hold f32 (M2)}}
  %0 = attn.matmul %q, %k over "D" : (!q, !k) -> tensor<?x?xf16, #attn.axes<M, N>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
func.func @matmul_loses_axis(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result lacks axis 'N' (M2)}}
  %0 = attn.matmul %q, %k over "D" : (!q, !k) -> tensor<?xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>, #attn.axis<"B">]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
func.func @matmul_invents_axis(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{no operand has axis 'B' (M2)}}
  %0 = attn.matmul %q, %k over "D" : (!q, !k) -> tensor<?x?x?xf32, #attn.axes<B, M, N>>
  return
}

// -----

// Elementwise operations.
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @too_few_elements(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region takes 0 elements but there are 1 inputs (E1)}}
  %0 = attn.map ins(%s : !s) {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @wrong_element(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region argument of type 'f16' stands for 'f32' (E1)}}
  %0 = attn.map ins(%s : !s) {
  ^bb0(%e: f16):
    %c = arith.extf %e : f16 to f32
    attn.yield %c : f32
  } -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @no_yield(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region must end in attn.yield (E2)}}
  %0 = attn.map {
    llvm.unreachable
  } -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @map_yields_half()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region must yield 'f32' (E2)}}
  %0 = attn.map {
    %c = arith.constant 0.0 : f16
    attn.yield %c : f16
  } -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @scale_yields_index(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region must yield 'f32' (E2)}}
  %0 = attn.scale %s by {
    %m = attn.index "M" : i32
    attn.yield %m : i32
  } : !s -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @mask_yields_float(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{region must yield 'i1' (E2)}}
  %0 = attn.mask %s where {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @map_drops_axis(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result lacks axis 'N' of an operand (E3)}}
  %0 = attn.map ins(%s : !s) {
  ^bb0(%e: f32):
    attn.yield %e : f32
  } -> tensor<?xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @foreign_index(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  %0 = attn.mask %s where {
    // expected-error @+1 {{axis 'D' is not an axis of the result (E3)}}
    %d = attn.index "D" : i32
    %c = arith.constant 3 : i32
    %p = arith.cmpi slt, %d, %c : i32
    attn.yield %p : i1
  } : !s -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @scale_of_integers(%s: tensor<?xi32, #attn.axes<M>> {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{scales floats to f32 (S1)}}
  %0 = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : tensor<?xi32, #attn.axes<M>> -> tensor<?xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @scale_to_half(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{scales floats to f32 (S1)}}
  %0 = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> tensor<?x?xf16, #attn.axes<M, N>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @mask_to_half(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{masks floats to f32 (K1)}}
  %0 = attn.mask %s where {
    %c = arith.constant true
    attn.yield %c : i1
  } : !s -> tensor<?x?xf16, #attn.axes<M, N>>
  return
}

// -----

// attn.round and attn.copy
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @round_of_integers(%a: tensor<?xi32, #attn.axes<M>> {attn.name = "a"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{must round a float to a float (R1)}}
  %0 = attn.round %a : tensor<?xi32, #attn.axes<M>> -> tensor<?xf16, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @round_loses_axis(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{must keep the set of axes (R1)}}
  %0 = attn.round %s : !s -> tensor<?xf16, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @round_changes_axis(%a: tensor<?xf32, #attn.axes<N>> {attn.name = "a"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{must keep the set of axes (R1)}}
  %0 = attn.round %a : tensor<?xf32, #attn.axes<N>> -> tensor<?xf16, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @copy_rounds(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{must keep the element type (R1)}}
  %0 = attn.copy %s : !s -> tensor<?x?xf16, #attn.axes<M, N>>
  return
}

// -----

// attn.softmax
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @softmax_over_missing_axis(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{scores lack the axis 'D' (X1)}}
  %0 = attn.softmax %s over "D" : (!s) -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @softmax_of_integers(%s: tensor<?xi32, #attn.axes<N>> {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{scores must hold floats (X1)}}
  %0 = attn.softmax %s over "N" : (tensor<?xi32, #attn.axes<N>>) -> tensor<?xf32, #attn.axes<N>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @softmax_reorders(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{probabilities must be 'tensor<?x?xf32, #attn.axes<M, N>>' (X2)}}
  %0 = attn.softmax %s over "N" : (!s) -> tensor<?x?xf32, #attn.axes<N, M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @lse_keeps_axis(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{log-sum-exp must be f32 with the other axes of the scores (X3)}}
  %0, %1 = attn.softmax %s over "N" : (!s) -> (!s, tensor<?xf32, #attn.axes<N>>)
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @lse_of_half(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{log-sum-exp must be f32 with the other axes of the scores (X3)}}
  %0, %1 = attn.softmax %s over "N" : (!s) -> (!s, tensor<?xf16, #attn.axes<M>>)
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @sink_with_summed_axis(%s: !s {attn.name = "s"}, %e: tensor<?xf32, #attn.axes<N>> {attn.name = "e"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{sink must be a float with none but the other axes of the scores (X4)}}
  %0 = attn.softmax %s over "N" sink %e : (!s, tensor<?xf32, #attn.axes<N>>) -> !s
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @integer_sink(%s: !s {attn.name = "s"}, %e: tensor<?xi32, #attn.axes<M>> {attn.name = "e"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{sink must be a float with none but the other axes of the scores (X4)}}
  %0 = attn.softmax %s over "N" sink %e : (!s, tensor<?xi32, #attn.axes<M>>) -> !s
  return
}

// -----

// attn.online_softmax
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @online_over_missing_axis(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{scores lack the axis 'D' (X1)}}
  %0 = attn.online_softmax %s, %v over "D" : (!s, !k) -> tensor<?x64xf32, #attn.axes<M, D>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @values_lack_axis(%s: !s {attn.name = "s"}, %v: !q {attn.name = "v"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{values lack the axis 'N' (M1)}}
  %0 = attn.online_softmax %s, %v over "N" : (!s, !q) -> tensor<?x64xf32, #attn.axes<M, D>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @online_keeps_axis(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result must be f32 without the axis 'N' (M2)}}
  %0 = attn.online_softmax %s, %v over "N" : (!s, !k) -> tensor<?x?xf32, #attn.axes<M, N>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @online_to_half(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{result must be f32 without the axis 'N' (M2)}}
  %0 = attn.online_softmax %s, %v over "N" : (!s, !k) -> tensor<?x64xf16, #attn.axes<M, D>>
  return
}

// -----

// Kernels.
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @no_return()
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{must end in attn.return}}
  attn.kernel "k" {
    llvm.unreachable
  }
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @returns_other_type(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  %0 = attn.kernel "k" -> tensor<?xf32, #attn.axes<M>> {
    // expected-error @+1 {{must return the kernel's result types}}
    attn.return %s : !s
  }
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @nested()
    attributes {attn.axes = #axes} {
  attn.kernel "outer" {
    // expected-error @+1 {{kernels do not nest}}
    attn.kernel "inner" {
      attn.return
    }
    attn.return
  }
  return
}

// -----

#axes = [#attn.axis<"M">]
func.func @no_result() attributes {attn.axes = #axes} {
  // expected-error @+1 {{must have a result}}
  attn.kernel "k" {
    attn.return
  }
  return
}

// -----

func.func @stray_return() {
  // expected-error @+1 {{expects parent op 'attn.kernel'}}
  attn.return
}

// -----

func.func @stray_yield(%c: f32) {
  // expected-error @+1 {{expects parent op to be one of 'attn.map, attn.scale, attn.mask'}}
  attn.yield %c : f32
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @kernel_reads_its_own(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  %0 = attn.kernel "k" -> !s {
    %t = attn.copy %s : !s -> !s
    %u = attn.map {
      %m = attn.index "M" : i32
      %n = attn.index "N" : i32
      // expected-error @+1 {{reads a tensor that its own kernel computes}}
      %e = attn.read %t[%m, %n] : (!s, i32, i32) -> f32
      attn.yield %e : f32
    } -> !s
    attn.return %u : !s
  }
  return
}

// -----

// attn.read
#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
func.func @read_with_one_index(%s: !s {attn.name = "s"})
    attributes {attn.axes = #axes} {
  %0 = attn.map {
    %m = attn.index "M" : i32
    // expected-error @+1 {{needs one index for each axis (D1)}}
    %e = attn.read %s[%m] : (!s, i32) -> f32
    attn.yield %e : f32
  } -> tensor<?xf32, #attn.axes<M>>
  return
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @read_converts(%a: tensor<?xf16, #attn.axes<N>> {attn.name = "a"})
    attributes {attn.axes = #axes} {
  %0 = attn.map {
    %m = attn.index "M" : i32
    // expected-error @+1 {{result must be 'f16' (D2)}}
    %e = attn.read %a[%m] : (tensor<?xf16, #attn.axes<N>>, i32) -> f32
    attn.yield %e : f32
  } -> tensor<?xf32, #attn.axes<M>>
  return
}
