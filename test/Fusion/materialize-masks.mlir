// RUN: attn-opt %s --attn-materialize-masks | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>

// The mask has only the axes that its predicate depends on.
// CHECK-LABEL: func.func @rows_alone
// CHECK-SAME: (%[[S:.+]]: tensor<?x?xf32, #attn.axes<M, N>> {attn.name = "s"}
// CHECK-NEXT: %[[MASK:.+]] = attn.map {
// CHECK:        %[[KEEP:.+]] = arith.cmpi slt
// CHECK-DAG:    %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:    %[[DEAD:.+]] = arith.constant 0xFF800000 : f32
// CHECK:        %[[E:.+]] = arith.select %[[KEEP]], %[[ZERO]], %[[DEAD]] : f32
// CHECK-NEXT:   attn.yield %[[E]] : f32
// CHECK-NEXT: } -> tensor<?xf32, #attn.axes<M>>
// CHECK-NEXT: %[[SUM:.+]] = attn.map ins(%[[S]], %[[MASK]] : tensor<?x?xf32, #attn.axes<M, N>>, tensor<?xf32, #attn.axes<M>>) {
// CHECK-NEXT: ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32):
// CHECK-NEXT:   %[[C:.+]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:   attn.yield %[[C]] : f32
// CHECK-NEXT: } -> tensor<?x?xf32, #attn.axes<M, N>>
// CHECK-NEXT: return %[[SUM]]
func.func @rows_alone(%s: !s {attn.name = "s"}, %rows: i32 {attn.name = "rows"})
    -> (!s {attn.name = "o"}) attributes {attn.axes = #axes} {
  %0 = attn.mask %s where {
    %m = attn.index "M" : i32
    %keep = arith.cmpi slt, %m, %rows : i32
    attn.yield %keep : i1
  } : !s -> !s
  return %0 : !s
}

// An input's axes count as well; narrow scores are widened before the sum.
// CHECK-LABEL: func.func @of_a_tensor
// CHECK: attn.map ins(%{{.+}} : tensor<?xi1, #attn.axes<N>>) {
// CHECK: } -> tensor<?xf32, #attn.axes<N>>
// CHECK: ^bb0(%[[A:.+]]: f16, %[[B:.+]]: f32):
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[A]] : f16 to f32
// CHECK-NEXT: arith.addf %[[WIDE]], %[[B]] : f32
// CHECK-NOT: attn.mask
func.func @of_a_tensor(%s: !p {attn.name = "s"},
                       %live: tensor<?xi1, #attn.axes<N>> {attn.name = "live"})
    -> (!s {attn.name = "o"}) attributes {attn.axes = #axes} {
  %0 = attn.mask %s where ins(%live : tensor<?xi1, #attn.axes<N>>) {
  ^bb0(%keep: i1):
    attn.yield %keep : i1
  } : !p -> !s
  return %0 : !s
}

// A predicate of neither is a tensor without axes.
// CHECK-LABEL: func.func @of_a_scalar
// CHECK: } -> tensor<f32, #attn.axes<>>
func.func @of_a_scalar(%s: !s {attn.name = "s"}, %keep: i1 {attn.name = "keep"})
    -> (!s {attn.name = "o"}) attributes {attn.axes = #axes} {
  %0 = attn.mask %s where {
    attn.yield %keep : i1
  } : !s -> !s
  return %0 : !s
}
