// RUN: attn-opt %s > %t && attn-opt %t > %t.again && diff %t %t.again
// RUN: FileCheck %s < %t
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | diff %t -

// Every operation and attribute of the attn dialect, printed and parsed again.

!q = tensor<?x?x?x64xbf16, #attn.axes<B, Hq, M, D>>
!k = tensor<?x?x?x64xbf16, #attn.axes<B, Hkv, N, D>>
!s = tensor<?x?x?x?xf32, #attn.axes<B, Hq, M, N>>
!o = tensor<?x?x?x64xf32, #attn.axes<B, Hq, M, D>>
!row = tensor<?x?x?xf32, #attn.axes<B, Hq, M>>

// CHECK-LABEL: func.func @every_op
// CHECK-SAME: tensor<?x?x?x64xbf16, #attn.axes<B, Hq, M, D>> {attn.name = "q"}
// CHECK-SAME: %[[BOUND:[a-z0-9]+]]: i32 {attn.name = "bound"}
// CHECK-SAME: attn.axes = [#attn.axis<"B">, #attn.axis<"Hq", group = "G", inner = "Hkv">, #attn.axis<"G">, #attn.axis<"Hkv">, #attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
func.func @every_op(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"},
                    %v: !k {attn.name = "v"},
                    %slope: tensor<?xf32, #attn.axes<Hq>> {attn.name = "slope"},
                    %doc: tensor<?x?xi32, #attn.axes<B, N>> {attn.name = "doc"},
                    %sink: tensor<?xf32, #attn.axes<Hq>> {attn.name = "sink"},
                    %bound: i32 {attn.name = "bound"})
    -> (tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>> {attn.name = "o"},
        !o {attn.name = "online"}, !row {attn.name = "lse"})
    attributes {attn.axes = [
      #attn.axis<"B">, #attn.axis<"Hq", group = "G", inner = "Hkv">,
      #attn.axis<"G">, #attn.axis<"Hkv">, #attn.axis<"M">, #attn.axis<"N">,
      #attn.axis<"D", extent = 64>]} {
  // CHECK: %[[S:.+]] = attn.matmul %{{.+}}, %{{.+}} over "D" : (tensor<{{.+}}>, tensor<{{.+}}>) -> tensor<?x?x?x?xf32, #attn.axes<B, Hq, M, N>>
  %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
  // CHECK: %[[SCALED:.+]] = attn.scale %[[S]] by ins(%{{.+}} : tensor<?xf32, #attn.axes<Hq>>) {
  // CHECK-NEXT: ^bb0(%[[SLOPE:.+]]: f32):
  // CHECK-NEXT: attn.yield %[[SLOPE]] : f32
  // CHECK-NEXT: } : tensor<?x?x?x?xf32, #attn.axes<B, Hq, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, Hq, M, N>>
  %scaled = attn.scale %s by ins(%slope : tensor<?xf32, #attn.axes<Hq>>) {
  ^bb0(%e: f32):
    attn.yield %e : f32
  } : !s -> !s
  // CHECK: %[[COPY:.+]] = attn.copy %[[SCALED]] : tensor<{{.+}}> -> tensor<{{.+}}>
  %copied = attn.copy %scaled : !s -> !s
  // CHECK: %[[MASKED:.+]] = attn.mask %[[COPY]] where {
  // CHECK-DAG: attn.index "B" : i64
  // CHECK-DAG: attn.index "N" : i32
  // CHECK-DAG: attn.index "Hkv" : i32
  // CHECK-DAG: attn.length "N" : i32
  // CHECK-DAG: attn.length "M" : i64
  // CHECK: attn.read %{{.+}}[%{{.+}}, %{{.+}}] : (tensor<?x?xi32, #attn.axes<B, N>>, i64, i32) -> i32
  // CHECK: arith.cmpi slt, %{{.+}}, %[[BOUND]] : i32
  // CHECK: attn.yield %{{.+}} : i1
  // CHECK-NEXT: } : tensor
  %masked = attn.mask %copied where {
    %b = attn.index "B" : i64
    %n = attn.index "N" : i32
    %h = attn.index "Hkv" : i32
    %length = attn.length "N" : i32
    %rows = attn.length "M" : i64
    %d = attn.read %doc[%b, %n] : (tensor<?x?xi32, #attn.axes<B, N>>, i64, i32) -> i32
    %keep = arith.cmpi slt, %d, %bound : i32
    attn.yield %keep : i1
  } : !s -> !s
  // CHECK: attn.mask %{{.+}} where ins(%{{.+}} : tensor<?x?xi32, #attn.axes<B, N>>) {
  %again = attn.mask %masked where ins(%doc : tensor<?x?xi32, #attn.axes<B, N>>) {
  ^bb0(%d: i32):
    %keep = arith.cmpi ne, %d, %bound : i32
    attn.yield %keep : i1
  } : !s -> !s
  // CHECK: attn.softmax %{{.+}} over "N" : (tensor<{{.+}}>) -> tensor<{{.+}}>
  %plain = attn.softmax %again over "N" : (!s) -> !s
  // CHECK: attn.softmax %{{.+}} over "N" sink %{{.+}} : (tensor<{{.+}}>, tensor<?xf32, #attn.axes<Hq>>) -> (tensor<{{.+}}>, tensor<?x?x?xf32, #attn.axes<B, Hq, M>>)
  %p, %lse = attn.softmax %plain over "N" sink %sink
      : (!s, tensor<?xf32, #attn.axes<Hq>>) -> (!s, !row)
  // CHECK: attn.online_softmax %{{.+}}, %{{.+}} over "N" : (tensor<{{.+}}>, tensor<{{.+}}>) -> tensor<?x?x?x64xf32, #attn.axes<B, Hq, M, D>>
  %o1 = attn.online_softmax %s, %v over "N" : (!s, !k) -> !o
  // CHECK: attn.online_softmax %{{.+}}, %{{.+}} over "N" sink %{{.+}} : ({{.+}}) -> (tensor<{{.+}}>, tensor<{{.+}}>)
  %o2, %lse2 = attn.online_softmax %s, %v over "N" sink %sink
      : (!s, !k, tensor<?xf32, #attn.axes<Hq>>) -> (!o, !row)
  // CHECK: attn.map ins(%{{.+}}, %{{.+}} : tensor<{{.+}}>, tensor<{{.+}}>) {
  // CHECK: } -> tensor<?x?x?x?xf32, #attn.axes<B, Hq, M, N>>
  %sum = attn.map ins(%p, %slope : !s, tensor<?xf32, #attn.axes<Hq>>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    attn.yield %c : f32
  } -> !s
  // CHECK: attn.map {
  // CHECK: } -> tensor<?xi1, #attn.axes<M>>
  %bits = attn.map {
    %t = arith.constant true
    attn.yield %t : i1
  } -> tensor<?xi1, #attn.axes<M>>
  // CHECK: attn.map {
  // CHECK: } -> tensor<f32, #attn.axes<>>
  %scalar = attn.map {
    %c = arith.constant 1.0 : f32
    attn.yield %c : f32
  } -> tensor<f32, #attn.axes<>>
  // A result's order is its order in memory.
  // CHECK: %[[KERNEL:.+]]:2 = attn.kernel "round" attributes {schedule = {rows = 64 : i64}} -> tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>, tensor<{{.+}}> {
  // CHECK: attn.round %{{.+}} : tensor<?x?x?x64xf32, #attn.axes<B, Hq, M, D>> -> tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>
  // CHECK: attn.return %{{.+}}, %{{.+}} : tensor<{{.+}}>, tensor<{{.+}}>
  %r:2 = attn.kernel "round" attributes {schedule = {rows = 64 : i64}}
      -> tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>, !o {
    %rounded = attn.round %o1 : !o -> tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>
    attn.return %rounded, %o2 : tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>, !o
  }
  return %r#0, %r#1, %lse : tensor<?x?x?x64xbf16, #attn.axes<B, M, Hq, D>>, !o, !row
}

// Names that are no plain words are quoted.
// CHECK: func.func private @quoted(tensor<?xf32, #attn.axes<"a b">>)
func.func private @quoted(tensor<?xf32, #attn.axes<"a b">>)
