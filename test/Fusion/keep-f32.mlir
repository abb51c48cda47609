// RUN: attn-opt %s --attn-keep-f32 | FileCheck %s

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!p = tensor<?x?xf16, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>

// The rounding of the probabilities goes, that of the result stays; the values
// are brought to f32 by a map of their own.
// CHECK-LABEL: func.func @rounds
// CHECK: %[[P:.+]] = attn.softmax
// CHECK-NEXT: %[[V:.+]] = attn.map ins(%{{.+}} : tensor<?x64xf16, #attn.axes<N, D>>) {
// CHECK-NEXT: ^bb0(%[[E:.+]]: f16):
// CHECK-NEXT:   %[[WIDE:.+]] = arith.extf %[[E]] : f16 to f32
// CHECK-NEXT:   attn.yield %[[WIDE]] : f32
// CHECK-NEXT: } -> tensor<?x64xf32, #attn.axes<N, D>>
// CHECK-NEXT: %[[O:.+]] = attn.matmul %[[P]], %[[V]] over "N"
// CHECK-NEXT: %[[R:.+]] = attn.round %[[O]]
// CHECK-NEXT: return %[[R]]
func.func @rounds(%s: !s {attn.name = "s"}, %v: !k {attn.name = "v"})
    -> (!q {attn.name = "o"}) attributes {attn.axes = #axes} {
  %p = attn.softmax %s over "N" : (!s) -> !s
  %p16 = attn.round %p : !s -> !p
  %o = attn.matmul %p16, %v over "N" : (!p, !k) -> !o
  %o16 = attn.round %o : !o -> !q
  return %o16 : !q
}

// Operands that are alike stay as they are: their product is exact in f32.
// CHECK-LABEL: func.func @alike
// CHECK-NOT: attn.map
// CHECK: attn.matmul %{{.+}}, %{{.+}} over "D" : (tensor<?x64xf16, {{.+}}>, tensor<?x64xf16, {{.+}}>)
func.func @alike(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!s {attn.name = "s"}) attributes {attn.axes = #axes} {
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  return %s : !s
}
