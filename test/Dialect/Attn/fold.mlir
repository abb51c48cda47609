// RUN: attn-opt %s --canonicalize | FileCheck %s

!s = tensor<?x?xf32, #attn.axes<M, N>>
#axes = [#attn.axis<"M">, #attn.axis<"N">]

// CHECK-LABEL: @scale_by_one
// CHECK-SAME: (%[[S:.+]]: tensor<?x?xf32, #attn.axes<M, N>> {attn.name = "s"})
// CHECK-NEXT: return %[[S]]
func.func @scale_by_one(%s: !s {attn.name = "s"}) -> (!s {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %0 = attn.scale %s by {
    %c = arith.constant 1.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  return %0 : !s
}

// Any other factor stays, and so does one that widens.
// CHECK-LABEL: @other_scales
// CHECK: attn.scale
// CHECK: attn.scale
// CHECK: attn.scale
func.func @other_scales(%s: !s {attn.name = "s"},
                        %h: tensor<?x?xf16, #attn.axes<M, N>> {attn.name = "h"},
                        %c: f32 {attn.name = "c"})
    -> (!s {attn.name = "a"}, !s {attn.name = "b"}, !s {attn.name = "d"})
    attributes {attn.axes = #axes} {
  %0 = attn.scale %s by {
    %two = arith.constant 2.0 : f32
    attn.yield %two : f32
  } : !s -> !s
  %1 = attn.scale %s by {
    attn.yield %c : f32
  } : !s -> !s
  %2 = attn.scale %h by {
    %one = arith.constant 1.0 : f32
    attn.yield %one : f32
  } : tensor<?x?xf16, #attn.axes<M, N>> -> !s
  return %0, %1, %2 : !s, !s, !s
}

// CHECK-LABEL: @round_to_itself
// CHECK-SAME: (%[[S:.+]]: tensor<?x?xf32, #attn.axes<M, N>> {attn.name = "s"})
// CHECK-NEXT: return %[[S]]
func.func @round_to_itself(%s: !s {attn.name = "s"}) -> (!s {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %0 = attn.round %s : !s -> !s
  return %0 : !s
}

// A round that reorders moves memory and stays.
// CHECK-LABEL: @round_that_reorders
// CHECK: attn.round
func.func @round_that_reorders(%s: !s {attn.name = "s"})
    -> (tensor<?x?xf32, #attn.axes<N, M>> {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %0 = attn.round %s : !s -> tensor<?x?xf32, #attn.axes<N, M>>
  return %0 : tensor<?x?xf32, #attn.axes<N, M>>
}

// Unused work goes, kernels and all.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%s: !s {attn.name = "s"}) attributes {attn.axes = #axes} {
  %0 = attn.kernel "softmax" -> !s {
    %p = attn.softmax %s over "N" : (!s) -> !s
    attn.return %p : !s
  }
  return
}
