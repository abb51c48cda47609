// RUN: attn-opt %s --attn-online-softmax --verify-diagnostics | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>
!r = tensor<?xf32, #attn.axes<M>>

// Through pointwise operations; the rounding of the probabilities moves inside.
// CHECK-LABEL: func.func @attention
// CHECK: %[[S:.+]] = attn.matmul %{{.+}}, %{{.+}} over "D"
// CHECK: %[[MASKED:.+]] = attn.mask %[[S]] where
// CHECK: %[[O:.+]], %[[LSE:.+]] = attn.online_softmax %[[MASKED]], %{{.+}} over "N" sink %{{.+}} : (tensor<?x?xf32, #attn.axes<M, N>>, tensor<?x64xf16, #attn.axes<N, D>>, tensor<?xf32, #attn.axes<M>>) -> (tensor<?x64xf32, #attn.axes<M, D>>, tensor<?xf32, #attn.axes<M>>)
// CHECK-NEXT: return %[[O]], %[[LSE]]
func.func @attention(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"},
                     %sink: !r {attn.name = "sink"}, %keep: i1 {attn.name = "keep"})
    -> (!o {attn.name = "o"}, !r {attn.name = "lse"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %masked = attn.mask %s where {
    attn.yield %keep : i1
  } : !s -> !s
  %p, %lse = attn.softmax %masked over "N" sink %sink : (!s, !r) -> (!s, !r)
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o, %lse : !o, !r
}

// The values may be the first operand.
// CHECK-LABEL: func.func @values_first
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<?x64xf16, #attn.axes<N, D>> {attn.name = "v"})
// CHECK: attn.online_softmax %{{.+}}, %[[V]] over "N"
func.func @values_first(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %v, %p16 over "N" : (!k, !p) -> !o
  return %o : !o
}

// What it cannot take stays, and it says why.
// CHECK-LABEL: func.func @probabilities_kept
// CHECK: attn.softmax
func.func @probabilities_kept(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !s {attn.name = "p"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{softmax stays a kernel of its own: its probabilities have more than one use}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o, %p : !o, !s
}

// CHECK-LABEL: func.func @rounded_probabilities_kept
// CHECK: attn.softmax
func.func @rounded_probabilities_kept(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !p {attn.name = "p"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{its probabilities have more than one use}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o, %p16 : !o, !p
}

// CHECK-LABEL: func.func @no_matmul_follows
// CHECK: attn.softmax
func.func @no_matmul_follows(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!p {attn.name = "p"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{no matmul over the same axis follows}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  return %p16 : !p
}

// CHECK-LABEL: func.func @matmul_over_rows
// CHECK: attn.softmax
func.func @matmul_over_rows(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (tensor<?x64xf32, #attn.axes<N, D>> {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{no matmul over the same axis follows}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %q over "M" : (!p, !q) -> tensor<?x64xf32, #attn.axes<N, D>>
  return %o : tensor<?x64xf32, #attn.axes<N, D>>
}

// CHECK-LABEL: func.func @by_itself
// CHECK: attn.softmax
func.func @by_itself(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!r {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{its probabilities have more than one use}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %p16 over "N" : (!p, !p) -> !r
  return %o : !r
}

// CHECK-LABEL: func.func @scores_given
// CHECK: attn.softmax
func.func @scores_given(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  // expected-remark @+1 {{its scores do not come from one matmul of queries and keys}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @scores_used_twice
// CHECK: attn.softmax
func.func @scores_used_twice(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !s {attn.name = "s"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{its scores do not come from one matmul of queries and keys}}
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o, %s : !o, !s
}

// CHECK-LABEL: func.func @lse_used_early
// CHECK: attn.softmax
func.func @lse_used_early(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}, !r {attn.name = "e"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // expected-remark @+1 {{its log-sum-exp is used before the matmul}}
  %p, %lse = attn.softmax %s over "N" : (!s) -> (!s, !r)
  %e = attn.scale %lse by {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  } : !r -> !r
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  return %o, %e : !o, !r
}

// The keys nest the queries: a block of keys has a query for each key.
!nq = tensor<?x?x64xbf16, #attn.axes<B, M, D>>
!nk = tensor<?x?x64xbf16, #attn.axes<B, N, D>>
!ns = tensor<?x?xf32, #attn.axes<B, N>>
!np = tensor<?x?xbf16, #attn.axes<B, N>>
!no = tensor<?x64xf32, #attn.axes<B, D>>
// CHECK-LABEL: func.func @keys_nest_queries
// CHECK: attn.softmax
func.func @keys_nest_queries(%q: !nq {attn.name = "q"}, %k: !nk {attn.name = "k"}, %v: !nk {attn.name = "v"})
    -> (!no {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"M">,
    #attn.axis<"D", extent = 64>, #attn.axis<"N", group = "G", inner = "M">, #attn.axis<"G">]} {
  %s = attn.matmul %q, %k over "D" : (!nq, !nk) -> !ns
  // expected-remark @+1 {{its scores do not come from one matmul of queries and keys}}
  %p = attn.softmax %s over "N" : (!ns) -> !ns
  %p16 = attn.round %p : !ns -> !np
  %o = attn.matmul %p16, %v over "N" : (!np, !nk) -> !no
  return %o : !no
}
