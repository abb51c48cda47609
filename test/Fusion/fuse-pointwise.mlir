// RUN: attn-opt %s --attn-fuse-pointwise | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>
!r = tensor<?xf32, #attn.axes<M>>

// Before the softmax, and the rounding after it.
// CHECK-LABEL: func.func @around_softmax
// CHECK: %[[S:.+]] = attn.matmul
// CHECK-NEXT: %[[P:.+]] = attn.kernel "softmax" -> tensor<?x?xf16, #attn.axes<M, N>> {
// CHECK-NEXT: attn.scale %[[S]]
// CHECK: attn.mask
// CHECK: attn.softmax
// CHECK-NEXT: attn.round
// CHECK-NEXT: attn.return
// CHECK: attn.matmul %[[P]], %{{.+}} over "N"
func.func @around_softmax(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %keep: i1 {attn.name = "keep"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %t = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  %u = attn.mask %t where {
    attn.yield %keep : i1
  } : !s -> !s
  %p = attn.softmax %u over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o : !o
}

// Scores with another reader are results of the matmul alone: the reader's
// kernel and the softmax's each take what is theirs.
// CHECK-LABEL: func.func @scores_read_twice
// CHECK: %[[T:.+]] = attn.scale
// CHECK: attn.kernel "softmax" -> tensor<?x?xf32, #attn.axes<M, N>> {
// CHECK-NEXT: attn.softmax %[[T]]
// CHECK: return %{{.+}}, %[[T]]
func.func @scores_read_twice(%s: !s {attn.name = "s"})
    -> (!s {attn.name = "p"}, !s {attn.name = "t"}) attributes {attn.axes = #axes} {
  %t = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  %p = attn.softmax %t over "N" : (!s) -> !s
  return %p, %t : !s, !s
}

// A chain on the same axes is one kernel; one on fewer axes stays outside.
// CHECK-LABEL: func.func @chain
// CHECK: %[[ROW:.+]] = attn.map {
// CHECK: attn.kernel "map" -> tensor<?x?xf16, #attn.axes<M, N>> {
// CHECK-NEXT: attn.map ins(%{{.+}}, %[[ROW]] :
// CHECK: attn.scale
// CHECK: attn.round
// CHECK-NEXT: attn.return
func.func @chain(%s: !s {attn.name = "s"}) -> (!p {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %row = attn.map {
    %m = attn.index "M" : i32
    %b = arith.sitofp %m : i32 to f32
    attn.yield %b : f32
  } -> !r
  %t = attn.map ins(%s, %row : !s, !r) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    attn.yield %c : f32
  } -> !s
  %u = attn.scale %t by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  %o = attn.round %u : !s -> !p
  return %o : !p
}
