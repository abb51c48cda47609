// RUN: attn-opt %s --tile-to-cpu | FileCheck %s

// Softmax over rows of any length in constant memory: one loop finds maximum and
// sum, a second writes. Every exponential of the second loop goes straight to
// memory: it has one use, so no scratch holds it.

// CHECK-LABEL: func.func @softmax(
// CHECK: math.exp2 %{{.+}} : vector<16xf32>
// CHECK-NOT: tile.

func.func @softmax(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %R: i64, %C: i64,
                   %stride: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 8 : i64
  %step = arith.constant 128 : i64
  %id = tile.block_id : i32
  %id64 = arith.extsi %id : i32 to i64
  %r0 = arith.muli %id64, %rows : i64
  %vx = tile.view %x[%zero] size [%R, %C] stride [%stride, %one] aligned 0 : !tile.ptr<f32>
  %vy = tile.view %y[%zero] size [%R, %C] stride [%stride, %one] aligned 0 : !tile.ptr<f32>
  %log2e = arith.constant dense<1.44269504> : tensor<8x128xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8x128xf32>
  %noMax = arith.constant dense<0xFF800000> : tensor<8x1xf32>
  %noSum = arith.constant dense<0.0> : tensor<8x1xf32>
  %unit = arith.constant dense<1.0> : tensor<8x1xf32>
  %C32 = arith.trunci %C : i64 to i32
  %length = tile.splat %C32 : tensor<8x128xi32>
  %stats:2 = scf.for %c0 = %zero to %C step %step iter_args(%mx = %noMax, %sum = %noSum)
      -> (tensor<8x1xf32>, tensor<8x1xf32>) : i64 {
    %t = tile.load %vx[%r0, %c0] : !tile.view<f32> -> tensor<8x128xf32>
    %n = tile.index %c0 : tensor<1x128xi32>
    %nn = tile.broadcast %n : tensor<1x128xi32> -> tensor<8x128xi32>
    %inside = arith.cmpi slt, %nn, %length : tensor<8x128xi32>
    %scaled = arith.mulf %t, %log2e : tensor<8x128xf32>
    %s = arith.select %inside, %scaled, %low : tensor<8x128xi1>, tensor<8x128xf32>
    %most = tile.reduce max %s : tensor<8x128xf32> -> tensor<8x1xf32>
    %next = arith.maxnumf %mx, %most : tensor<8x1xf32>
    %fall = arith.subf %mx, %next : tensor<8x1xf32>
    %correction = math.exp2 %fall : tensor<8x1xf32>
    %shift = tile.broadcast %next : tensor<8x1xf32> -> tensor<8x128xf32>
    %e = arith.subf %s, %shift : tensor<8x128xf32>
    %p = math.exp2 %e : tensor<8x128xf32>
    %part = tile.reduce add %p : tensor<8x128xf32> -> tensor<8x1xf32>
    %newSum = math.fma %sum, %correction, %part : tensor<8x1xf32>
    scf.yield %next, %newSum : tensor<8x1xf32>, tensor<8x1xf32>
  }
  %inverse = arith.divf %unit, %stats#1 : tensor<8x1xf32>
  scf.for %c0 = %zero to %C step %step : i64 {
    %t = tile.load %vx[%r0, %c0] : !tile.view<f32> -> tensor<8x128xf32>
    %scaled = arith.mulf %t, %log2e : tensor<8x128xf32>
    %shift = tile.broadcast %stats#0 : tensor<8x1xf32> -> tensor<8x128xf32>
    %e = arith.subf %scaled, %shift : tensor<8x128xf32>
    %p = math.exp2 %e : tensor<8x128xf32>
    %inverses = tile.broadcast %inverse : tensor<8x1xf32> -> tensor<8x128xf32>
    %q = arith.mulf %p, %inverses : tensor<8x128xf32>
    tile.store %q, %vy[%r0, %c0] : tensor<8x128xf32>, !tile.view<f32>
  }
  return
}
