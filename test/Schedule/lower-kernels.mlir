// RUN: attn-opt %s --attn-lower-kernels=level=flash --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

#axes = [#attn.axis<"B">, #attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x?x64xf16, #attn.axes<B, M, D>>
!k = tensor<?x?x64xf16, #attn.axes<B, N, D>>
!s = tensor<?x?x?xf32, #attn.axes<B, M, N>>
#tiles = {rows = 64, columns = 64, depth = 64, out = 64, warps = 4, stages = 2, vector = 4}
#rows = {rows = 4, columns = 128, warps = 4, vector = 4}

// What travels between kernels is listed, padded to 16 bytes.
// CHECK: module attributes {tile.temporaries = [{axes = ["B", "M", "N"], dtype = "f32", name = "t0", pad = 4 : i64}]}

// One program for each kernel, in launch order, named for what it does.
// CHECK-LABEL: func.func @two_flash_0_matmul_f16_64x64_mma16816(
// CHECK-SAME: !tile.ptr<f16> {tile.arg = {kind = "pointer", name = "q"}}
// CHECK-SAME: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t0"}}
// CHECK-SAME: tile.grid = [#tile.grid<{{.+}}>, #tile.grid<{{.+}}>, #tile.grid<"B", 1>]
// CHECK-SAME: tile.label = "matmul", tile.layout = #tile.accumulator<warps = 4, fragments = 1>
// CHECK-SAME: tile.schedule = "tile 64x64, 4 warps, depth 64, 2 stages", tile.stages = 2 : i64
// CHECK: %[[A:.+]] = tile.load %{{.+}} : <f16> -> tensor<64x64xf16>
// CHECK: %[[B:.+]] = tile.load %{{.+}} : <f16> -> tensor<64x64xf16>
// CHECK: tile.dot %[[A]], %[[B]] transposed, %{{.+}} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
// CHECK: tile.store %{{.+}} : tensor<64x64xf32>, <f32>
// CHECK-LABEL: func.func @two_flash_1_softmax_f32_4x128(
// CHECK-SAME: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t0"}}
// CHECK-SAME: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "p"}}
// CHECK-SAME: tile.layout = #tile.rows<warps = 4, vector = 4>
// CHECK: tile.reduce max
// CHECK: tile.reduce add
// CHECK: tile.store
// CHECK-NOT: attn.
func.func @two(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!s {attn.name = "p"}) attributes {attn.axes = #axes} {
  %s = attn.kernel "matmul" attributes {schedule = #tiles} -> !s {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    attn.return %0 : !s
  }
  %p = attn.kernel "softmax" attributes {schedule = #rows} -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    attn.return %0 : !s
  }
  return %p : !s
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>
#tiles = {rows = 64, columns = 32, out = 64, warps = 4, stages = 1}

// A causal flash kernel: the key loop, both products and a mask that the next
// pass may drop.
// CHECK-LABEL: func.func @causal_flash_0_flash_f16_64x32_mma16816(
// CHECK-SAME: tile.grid = [#tile.grid<"M", 64>]
// CHECK: %[[Q:.+]] = tile.load %{{.+}} : <f16> -> tensor<64x64xf16>
// CHECK: tile.for_keys full %{{.+}} x %{{.+}} left %{{.+}} x %{{.+}} right %{{.+}} x %{{.+}} of %{{.+}} x %{{.+}} step 32 init(
// CHECK-NEXT: ^bb0(%{{.+}}: i32, %[[N0:.+]]: i64,
// CHECK: %[[K:.+]] = tile.load %{{.+}}[%[[N0]], %{{.+}}] : <f16> -> tensor<32x64xf16>
// CHECK: %[[S:.+]] = tile.dot %[[Q]], %[[K]] transposed, %{{.+}}
// CHECK: tile.index %[[N0]] : tensor<1x32xi32>
// CHECK: tile.mask %[[S]], %{{.+}} : tensor<64x32xf32>, tensor<64x32xi1>
// CHECK: tile.reduce max
// CHECK: math.exp2
// CHECK: tile.reduce add
// CHECK: %[[V:.+]] = tile.load %{{.+}}[%[[N0]], %{{.+}}] : <f16> -> tensor<32x64xf16>
// CHECK: tile.dot %{{.+}}, %[[V]], %{{.+}} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
// CHECK: tile.yield
// CHECK: tile.store %{{.+}} : tensor<64x64xf32>, <f32>
func.func @causal(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %o = attn.kernel "flash" attributes {schedule = #tiles} -> !o {
    %s = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    %t = attn.mask %s where {
      %n = attn.index "N" : i32
      %m = attn.index "M" : i32
      %keep = arith.cmpi sle, %n, %m : i32
      attn.yield %keep : i1
    } : !s -> !s
    %0 = attn.online_softmax %t, %v over "N" : (!s, !k) -> !o
    attn.return %0 : !o
  }
  return %o : !o
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">]
!s = tensor<?x?xf32, #attn.axes<M, N>>

// A region becomes ordinary elementwise tile code. A captured tensor that depends
// on one index is read once a row: a load where it is the index itself, a gather
// of clamped offsets where it is computed.
// CHECK-LABEL: func.func @bias_flash_0_map_f32_4x128(
// CHECK: %[[ROW:.+]] = tile.load %{{.+}} : <f32> -> tensor<4x1xf32>
// CHECK: tile.broadcast %[[ROW]] : tensor<4x1xf32> -> tensor<4x128xf32>
// CHECK: arith.addf %{{.+}}, %{{.+}} : tensor<4x128xf32>
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: %[[NEXT:.+]] = tile.gather %{{.+}} if %{{.+}} : <f32>, tensor<4x1xi64> -> tensor<4x1xf32>
// CHECK: arith.mulf
// CHECK: tile.store
func.func @bias(%s: !s {attn.name = "s"}, %b: tensor<?xf32, #attn.axes<M>> {attn.name = "b"})
    -> (!s {attn.name = "o"}) attributes {attn.axes = #axes} {
  %o = attn.kernel "map" attributes {schedule = {rows = 4, columns = 128, warps = 4, vector = 4}} -> !s {
    %0 = attn.map ins(%s : !s) {
    ^bb0(%e: f32):
      %m = attn.index "M" : i32
      %r = attn.read %b[%m] : (tensor<?xf32, #attn.axes<M>>, i32) -> f32
      %c = arith.addf %e, %r : f32
      %one = arith.constant 1 : i32
      %next = arith.addi %m, %one : i32
      %t = attn.read %b[%next] : (tensor<?xf32, #attn.axes<M>>, i32) -> f32
      %d = arith.mulf %c, %t : f32
      attn.yield %d : f32
    } -> !s
    attn.return %0 : !s
  }
  return %o : !s
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">]
!s = tensor<?x?xf32, #attn.axes<M, N>>

func.func @no_schedule(%s: !s {attn.name = "s"}) -> (!s {attn.name = "p"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{has no schedule; run attn-choose-schedule first}}
  %p = attn.kernel "softmax" -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    attn.return %0 : !s
  }
  return %p : !s
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">]
!s = tensor<?x?xf32, #attn.axes<M, N>>

func.func @nine_stages(%s: !s {attn.name = "s"}) -> (!s {attn.name = "p"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{schedule is out of range: 1 to 32 warps, 1 to 8 stages, positive tiles of at most 1024 rows}}
  %p = attn.kernel "softmax" attributes {schedule = {stages = 9}} -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    attn.return %0 : !s
  }
  return %p : !s
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xbf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>

func.func @two_types(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"})
    -> (!s {attn.name = "s"}) attributes {attn.axes = #axes} {
  %s = attn.kernel "matmul" attributes {schedule = {}} -> !s {
    // expected-error @+1 {{operands of 'f16' and 'bf16' must be brought to one type first}}
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    attn.return %0 : !s
  }
  return %s : !s
}
