// RUN: attn-opt %s --attn-isolate-ops --attn-verify-kernels | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>

// Each operation a kernel named for it; a round rides with its producer.
// CHECK-LABEL: func.func @each
// CHECK: attn.kernel "matmul"
// CHECK: attn.kernel "scale"
// CHECK: attn.kernel "copy"
// CHECK: attn.kernel "mask"
// CHECK: attn.kernel "map"
// CHECK: attn.kernel "softmax" -> tensor<?x?xf16, #attn.axes<M, N>> {
// CHECK-NEXT: attn.softmax
// CHECK-NEXT: attn.round
// CHECK: attn.kernel "matmul"
// CHECK-NOT: attn.kernel
func.func @each(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"}, %keep: i1 {attn.name = "keep"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %t = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  %copy = attn.copy %t : !s -> !s
  %u = attn.mask %copy where {
    attn.yield %keep : i1
  } : !s -> !s
  %w = attn.map ins(%u : !s) {
  ^bb0(%e: f32):
    %c = math.tanh %e : f32
    attn.yield %c : f32
  } -> !s
  %p = attn.softmax %w over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o : !o
}

// A round of an argument, or of what others read unrounded, is a kernel itself.
// CHECK-LABEL: func.func @rounds
// CHECK: attn.kernel "round"
// CHECK: attn.kernel "matmul" -> tensor<?x?xf32, #attn.axes<M, N>> {
// CHECK: attn.kernel "round"
func.func @rounds(%a: !s {attn.name = "a"}, %q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!p {attn.name = "x"}, !p {attn.name = "y"}, !s {attn.name = "z"})
    attributes {attn.axes = #axes} {
  %x = attn.round %a : !s -> !p
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %y = attn.round %s : !s -> !p
  return %x, %y, %s : !p, !p, !s
}

// What lies in a kernel already is left alone.
// CHECK-LABEL: func.func @kept
// CHECK: attn.kernel "mine"
// CHECK-NOT: attn.kernel
func.func @kept(%s: !s {attn.name = "s"}) -> (!s {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %0 = attn.kernel "mine" -> !s {
    %p = attn.softmax %s over "N" : (!s) -> !s
    attn.return %p : !s
  }
  return %0 : !s
}

// What nobody uses gets no kernel, whole chains of it.
// CHECK-LABEL: func.func @unused
// CHECK: attn.kernel "softmax"
// CHECK-NOT: attn.kernel
func.func @unused(%s: !s {attn.name = "s"}) -> (!s {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %0 = attn.copy %s : !s -> !s
  %1 = attn.round %0 : !s -> !p
  %2 = attn.softmax %s over "N" : (!s) -> !s
  return %2 : !s
}
