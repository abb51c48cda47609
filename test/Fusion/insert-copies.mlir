// RUN: attn-opt %s --attn-insert-copies | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>

// One copy before each mask, none elsewhere.
// CHECK-LABEL: func.func @two_masks
// CHECK-SAME: (%[[S:.+]]: tensor<?x?xf32, #attn.axes<M, N>>
// CHECK-NEXT: %[[C1:.+]] = attn.copy %[[S]] : tensor<?x?xf32, #attn.axes<M, N>> -> tensor<?x?xf32, #attn.axes<M, N>>
// CHECK-NEXT: %[[M1:.+]] = attn.mask %[[C1]] where
// CHECK: %[[C2:.+]] = attn.copy %[[M1]]
// CHECK-NEXT: %[[M2:.+]] = attn.mask %[[C2]] where
// CHECK: attn.scale %[[M2]] by
// CHECK-NOT: attn.copy
func.func @two_masks(%s: !s {attn.name = "s"}, %keep: i1 {attn.name = "keep"})
    -> (!s {attn.name = "o"}) attributes {attn.axes = #axes} {
  %0 = attn.mask %s where {
    attn.yield %keep : i1
  } : !s -> !s
  %1 = attn.mask %0 where {
    attn.yield %keep : i1
  } : !s -> !s
  %2 = attn.scale %1 by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  return %2 : !s
}
