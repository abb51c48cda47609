// RUN: attn-opt %s --attn-fuse-flash --split-input-file --verify-diagnostics | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>
!r = tensor<?xf32, #attn.axes<M>>

// What only feeds an online softmax, and the rounding after it, share its kernel.
// CHECK-LABEL: func.func @online
// CHECK: %[[K:.+]] = attn.kernel "flash" -> tensor<?x64xf16, #attn.axes<M, D>> {
// CHECK-NEXT: attn.matmul
// CHECK-NEXT: attn.scale
// CHECK: attn.online_softmax
// CHECK-NEXT: %[[R:.+]] = attn.round
// CHECK-NEXT: attn.return %[[R]]
// CHECK: return %[[K]]
func.func @online(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!q {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %t = attn.scale %s by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !s -> !s
  %o = attn.online_softmax %t, %v over "N" : (!s, !k) -> !o
  %o16 = attn.round %o : !o -> !q
  return %o16 : !q
}

// A bias that others read too is computed outside and read from memory.
// CHECK-LABEL: func.func @shared_bias
// CHECK: %[[BIAS:.+]] = attn.map {
// CHECK: attn.kernel "flash" -> tensor<?x64xf32, #attn.axes<M, D>> {
// CHECK: attn.map ins(%{{.+}}, %[[BIAS]] :
// CHECK: attn.online_softmax
func.func @shared_bias(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !r {attn.name = "b"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %bias = attn.map {
    %m = attn.index "M" : i32
    %b = arith.sitofp %m : i32 to f32
    attn.yield %b : f32
  } -> !r
  %t = attn.map ins(%s, %bias : !s, !r) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    attn.yield %c : f32
  } -> !s
  %o = attn.online_softmax %t, %v over "N" : (!s, !k) -> !o
  return %o, %bias : !o, !r
}

// Operands that are computed go through memory: each block of keys or values is read
// by many blocks of queries.
// CHECK-LABEL: func.func @computed_operands
// CHECK: %[[Q:.+]] = attn.map
// CHECK: %[[V:.+]] = attn.map
// CHECK: attn.kernel "flash"
// CHECK-NEXT: attn.matmul %[[Q]], %{{.+}}
// CHECK-NEXT: attn.online_softmax %{{.+}}, %[[V]] over
func.func @computed_operands(%p: !q {attn.name = "p"}, %k: !k {attn.name = "k"}, %x: !k {attn.name = "x"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %q = attn.map ins(%p : !q) {
  ^bb0(%a: f16):
    %b = arith.negf %a : f16
    attn.yield %b : f16
  } -> !q
  %v = attn.map ins(%x : !k) {
  ^bb0(%a: f16):
    %b = arith.addf %a, %a : f16
    attn.yield %b : f16
  } -> !k
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %o = attn.online_softmax %s, %v over "N" : (!s, !k) -> !o
  return %o : !o
}

// A body without softmax: two matmuls with pointwise operations between them.
// CHECK-LABEL: func.func @no_softmax
// CHECK: attn.kernel "flash" -> tensor<?x64xf32, #attn.axes<M, D>> {
// CHECK-NEXT: attn.matmul
// CHECK: attn.map
// CHECK: attn.round
// CHECK: attn.matmul
// CHECK-NEXT: attn.return
func.func @no_softmax(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %t = attn.map ins(%s : !s) {
  ^bb0(%e: f32):
    %c = arith.mulf %e, %e : f32
    attn.yield %c : f32
  } -> !s
  %t16 = attn.round %t : !s -> !p
  %o = attn.matmul %t16, %v over "N" : (!p, !k) -> !o
  return %o : !o
}

// Scores that leave the chip anyway keep the matmuls apart.
// CHECK-LABEL: func.func @scores_kept
// CHECK-NOT: attn.kernel
func.func @scores_kept(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !p {attn.name = "s"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %s16 = attn.round %s : !s -> !p
  %o = attn.matmul %s16, %v over "N" : (!p, !k) -> !o
  return %o, %s16 : !o, !p
}

// A matmul summed over an axis that both operands of the first have is no pair
// of queries and keys.
// CHECK-LABEL: func.func @batch_axis
// CHECK-NOT: attn.kernel
func.func @batch_axis(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"},
                      %v: tensor<?xf16, #attn.axes<M>> {attn.name = "v"})
    -> (tensor<f32, #attn.axes<>> {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !q) -> !r
  %s16 = attn.round %s : !r -> tensor<?xf16, #attn.axes<M>>
  %o = attn.matmul %s16, %v over "M"
      : (tensor<?xf16, #attn.axes<M>>, tensor<?xf16, #attn.axes<M>>) -> tensor<f32, #attn.axes<>>
  return %o : tensor<f32, #attn.axes<>>
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>

func.func @no_scores(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  // expected-error @+1 {{scores of an online softmax must come from one matmul that only feeds it}}
  %o = attn.online_softmax %s, %v over "N" : (!s, !k) -> !o
  return %o : !o
}
