// RUN: attn-opt %s > %t && attn-opt %t > %t.again && diff %t %t.again
// RUN: FileCheck %s < %t
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | diff %t -

// Every operation, type and attribute of the tile dialect, printed and parsed again.

// CHECK-LABEL: func.func @memory
// CHECK-SAME: %[[P:.+]]: !tile.ptr<f16> {tile.arg = {kind = "pointer", name = "q"}}
// CHECK-SAME: tile.grid = [#tile.grid<"M", 64>, #tile.grid<"B", 1>]
// CHECK-SAME: tile.layout = #tile.accumulator<warps = 4, fragments = 1>
func.func @memory(%p: !tile.ptr<f16> {tile.arg = {kind = "pointer", name = "q"}},
                  %n: i64, %ok: i1, %offsets: tensor<64x1xi64>)
    attributes {tile.layout = #tile.accumulator<warps = 4, fragments = 1>,
                tile.grid = [#tile.grid<"M", 64>, #tile.grid<"B", 1>]} {
  // CHECK: tile.block_id : i32
  %block = tile.block_id : i32
  // CHECK: %[[V:.+]] = tile.view %[[P]][%{{.+}}] size[%{{.+}}, %{{.+}}] stride[%{{.+}}, %{{.+}}] aligned 8 : <f16>
  %v = tile.view %p[%n] size [%n, %n] stride [%n, %n] aligned 8 : !tile.ptr<f16>
  // CHECK: %[[T:.+]] = tile.load %[[V]][%{{.+}}, %{{.+}}] : <f16> -> tensor<64x32xf16>
  %t = tile.load %v[%n, %n] : !tile.view<f16> -> tensor<64x32xf16>
  // CHECK: tile.store %[[T]], %[[V]][%{{.+}}, %{{.+}}] : tensor<64x32xf16>, <f16>
  tile.store %t, %v[%n, %n] : tensor<64x32xf16>, !tile.view<f16>
  // CHECK: tile.store %[[T]], %[[V]][%{{.+}}, %{{.+}}] staged : tensor<64x32xf16>, <f16>
  tile.store %t, %v[%n, %n] staged : tensor<64x32xf16>, !tile.view<f16>
  // CHECK: tile.gather %[[P]][%{{.+}}] if %{{.+}} : <f16>, i64 -> f16
  %one = tile.gather %p[%n] if %ok : !tile.ptr<f16>, i64 -> f16
  // CHECK: tile.gather %[[P]][%{{.+}}] if %{{.+}} : <f16>, tensor<64x1xi64> -> tensor<64x1xf16>
  %many = tile.gather %p[%offsets] if %ok : !tile.ptr<f16>, tensor<64x1xi64> -> tensor<64x1xf16>
  return
}

// CHECK-LABEL: func.func @shapes
// CHECK-SAME: tile.layout = #tile.rows<warps = 4, vector = 2>
func.func @shapes(%n: i64, %c: f32)
    attributes {tile.layout = #tile.rows<warps = 4, vector = 2>} {
  // CHECK: tile.index %{{.+}} : tensor<64x1xi32>
  %m = tile.index %n : tensor<64x1xi32>
  // CHECK: tile.index %{{.+}} : tensor<1x32xi64>
  %k = tile.index %n : tensor<1x32xi64>
  // CHECK: %[[S:.+]] = tile.splat %{{.+}} : tensor<64x64xf32>
  %s = tile.splat %c : tensor<64x64xf32>
  // CHECK: tile.broadcast %{{.+}} : tensor<64x1xi32> -> tensor<64x64xi32>
  %b = tile.broadcast %m : tensor<64x1xi32> -> tensor<64x64xi32>
  // CHECK: tile.reduce max %[[S]] : tensor<64x64xf32> -> tensor<64x1xf32>
  %max = tile.reduce max %s : tensor<64x64xf32> -> tensor<64x1xf32>
  // CHECK: tile.reduce add %[[S]] : tensor<64x64xf32> -> tensor<64x1xf32>
  %sum = tile.reduce add %s : tensor<64x64xf32> -> tensor<64x1xf32>
  // CHECK: tile.reduce max_int %{{.+}} : tensor<64x64xi32> -> tensor<64x1xi32>
  %largest = tile.reduce max_int %b : tensor<64x64xi32> -> tensor<64x1xi32>
  // CHECK: tile.reduce add %{{.+}} : tensor<64x64xi32> -> tensor<64x1xi32>
  %count = tile.reduce add %b : tensor<64x64xi32> -> tensor<64x1xi32>
  return
}

// CHECK-LABEL: func.func @mathematics
func.func @mathematics(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>,
                       %bt: tensor<16x32xbf16>, %c: tensor<64x16xf32>,
                       %x: tensor<64x32xf32>, %y: tensor<32x16xf32>,
                       %p: tensor<64x16xi1>) {
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} : tensor<64x32xbf16>, tensor<32x16xbf16>, tensor<64x16xf32>
  %0 = tile.dot %a, %b, %c : tensor<64x32xbf16>, tensor<32x16xbf16>, tensor<64x16xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}} transposed, %{{.+}} : tensor<64x32xbf16>, tensor<16x32xbf16>, tensor<64x16xf32>
  %1 = tile.dot %a, %bt transposed, %0 : tensor<64x32xbf16>, tensor<16x32xbf16>, tensor<64x16xf32>
  // CHECK: tile.dot %{{.+}}, %{{.+}}, %{{.+}} tf32 : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  %2 = tile.dot %x, %y, %1 tf32 : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
  // CHECK: %[[WITH:.+]] = tile.dot %{{.+}}, %{{.+}}, %{{.+}} sums : tensor<64x32xbf16>, tensor<32x16xbf16>, tensor<64x24xf32>
  %zero = arith.constant dense<0.0> : tensor<64x24xf32>
  %sums = tile.dot %a, %b, %zero sums : tensor<64x32xbf16>, tensor<32x16xbf16>, tensor<64x24xf32>
  // CHECK: %{{.+}}, %{{.+}} = tile.split_sums %[[WITH]] : tensor<64x24xf32> -> tensor<64x16xf32>, tensor<64x1xf32>
  %o, %l = tile.split_sums %sums : tensor<64x24xf32> -> tensor<64x16xf32>, tensor<64x1xf32>
  // CHECK: tile.mask %{{.+}}, %{{.+}} : tensor<64x16xf32>, tensor<64x16xi1>
  %3 = tile.mask %2, %p : tensor<64x16xf32>, tensor<64x16xi1>
  // CHECK: tile.mask %{{.+}}, %{{.+}} zero : tensor<64x16xf32>, tensor<64x16xi1>
  %4 = tile.mask %3, %p zero : tensor<64x16xf32>, tensor<64x16xi1>
  // CHECK: tile.exp2 %{{.+}} polynomial 4 : tensor<64x16xf32>
  %5 = tile.exp2 %4 polynomial 4 : tensor<64x16xf32>
  // CHECK: tile.exp2 %{{.+}} polynomial 8 unbounded : tensor<64x16xf32>
  %6 = tile.exp2 %5 polynomial 8 unbounded : tensor<64x16xf32>
  // CHECK: tile.exp2_packed %{{.+}} share 3 checked : tensor<64x16xf32> -> tensor<64x16xbf16>
  %e, %power, %bend = tile.exp2_packed %6 share 3 checked : tensor<64x16xf32> -> tensor<64x16xbf16>
  // CHECK: tile.round_packed %{{.+}}, %{{.+}}, %{{.+}} share 3 : tensor<64x16xf32>, tensor<64x16xbf16>
  %7 = tile.round_packed %e, %power, %bend share 3 : tensor<64x16xf32>, tensor<64x16xbf16>
  return
}

// CHECK-LABEL: func.func @key_loops
func.func @key_loops(%b: i64, %c: i32, %x: f32, %t: tensor<64x1xf32>) {
  // CHECK: tile.for_keys full %[[B:.+]] x %[[C:.+]] left %[[B]] x %[[C]] right %[[B]] x %[[C]] of %[[B]] x %[[C]] step 64 {
  // CHECK-NEXT: ^bb0(%{{.+}}: i32, %{{.+}}: i64):
  tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 64 {
  ^bb0(%i: i32, %n0: i64):
  }
  // CHECK: %{{.+}}:2 = tile.for_keys full %[[B]] x %[[C]] left %[[B]] x %[[C]] right %[[B]] x %[[C]] of %[[B]] x %[[C]] step 32 init(%{{.+}}, %{{.+}} : f32, tensor<64x1xf32>) {
  // CHECK-NEXT: ^bb0(%{{.+}}: i32, %{{.+}}: i64, %{{.+}}: f32, %{{.+}}: tensor<64x1xf32>):
  // CHECK-NEXT: tile.yield %{{.+}}, %{{.+}} : f32, tensor<64x1xf32>
  %0:2 = tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 32
      init(%x, %t : f32, tensor<64x1xf32>) {
  ^bb0(%i: i32, %n0: i64, %y: f32, %u: tensor<64x1xf32>):
    tile.yield %y, %u : f32, tensor<64x1xf32>
  }
  return
}

// CHECK-LABEL: func.func @shared_memory
func.func @shared_memory(%v: !tile.view<f16>, %n: i64, %slot: i32) {
  // CHECK: %[[BUFFER:.+]] = tile.alloc_shared : <2, 64, 32, f16>
  %b = tile.alloc_shared : !tile.buffer<2, 64, 32, f16>
  // CHECK: tile.copy_async %{{.+}}[%{{.+}}, %{{.+}}] to %[[BUFFER]][%{{.+}}] : <f16>, <2, 64, 32, f16>
  tile.copy_async %v[%n, %n] to %b[%slot] : !tile.view<f16>, !tile.buffer<2, 64, 32, f16>
  // CHECK-NEXT: tile.commit
  tile.commit
  // CHECK-NEXT: tile.wait 1
  tile.wait 1
  // CHECK-NEXT: tile.barrier
  tile.barrier
  // CHECK-NEXT: tile.shared_read %[[BUFFER]][%{{.+}}] : <2, 64, 32, f16> -> tensor<64x32xf16>
  %t = tile.shared_read %b[%slot] : !tile.buffer<2, 64, 32, f16> -> tensor<64x32xf16>
  return
}

// A value may cross a call, so types parse in signatures.
// CHECK: func.func private @types(!tile.ptr<i1>, !tile.view<bf16>, !tile.buffer<3, 16, 8, f32>)
func.func private @types(!tile.ptr<i1>, !tile.view<bf16>, !tile.buffer<3, 16, 8, f32>)
