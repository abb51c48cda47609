// RUN: attn-opt %s --tile-to-cpu | FileCheck %s

// Integer and 64-bit index arithmetic, gathers, i1 in memory and column strides
// other than 1:
//   value[r, c] = table[(r * C + c) mod T] + bias[r] + x[c, r]   (0 where T = 0)
//   even[r, c]  = (r * 2^33 + c) mod 2 == 0

// CHECK-LABEL: func.func @pointwise(
// CHECK: scf.if
// CHECK-NOT: tile.

func.func @pointwise(%x: !tile.ptr<f32>, %table: !tile.ptr<f32>,
                     %bias: !tile.ptr<f16>, %value: !tile.ptr<f32>,
                     %even: !tile.ptr<i1>, %R: i64, %C: i64, %T: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 8 : i64
  %columns = arith.constant 32 : i64
  %id = tile.block_id : i32
  %id64 = arith.extsi %id : i32 to i64
  %across = arith.ceildivsi %C, %columns : i64
  %bc = arith.remsi %id64, %across : i64
  %br = arith.divsi %id64, %across : i64
  %r0 = arith.muli %br, %rows : i64
  %c0 = arith.muli %bc, %columns : i64
  // x is stored transposed: rows of the tile are neighbours in memory.
  %vx = tile.view %x[%zero] size [%R, %C] stride [%one, %R] aligned 0 : !tile.ptr<f32>
  %vb = tile.view %bias[%zero] size [%R, %one] stride [%one, %one] aligned 0 : !tile.ptr<f16>
  %vv = tile.view %value[%zero] size [%R, %C] stride [%C, %one] aligned 0 : !tile.ptr<f32>
  %ve = tile.view %even[%zero] size [%R, %C] stride [%C, %one] aligned 0 : !tile.ptr<i1>
  %r = tile.index %r0 : tensor<8x1xi64>
  %c = tile.index %c0 : tensor<1x32xi64>
  %rr = tile.broadcast %r : tensor<8x1xi64> -> tensor<8x32xi64>
  %cc = tile.broadcast %c : tensor<1x32xi64> -> tensor<8x32xi64>
  %width = tile.splat %C : tensor<8x32xi64>
  %base = arith.muli %rr, %width : tensor<8x32xi64>
  %at = arith.addi %base, %cc : tensor<8x32xi64>
  %some = arith.cmpi sgt, %T, %zero : i64
  %T1 = arith.maxsi %T, %one : i64
  %length = tile.splat %T1 : tensor<8x32xi64>
  %slot = arith.remsi %at, %length : tensor<8x32xi64>
  %got = tile.gather %table[%slot] if %some : !tile.ptr<f32>, tensor<8x32xi64> -> tensor<8x32xf32>
  %tx = tile.load %vx[%r0, %c0] : !tile.view<f32> -> tensor<8x32xf32>
  %tb = tile.load %vb[%r0, %zero] : !tile.view<f16> -> tensor<8x1xf16>
  %wide = arith.extf %tb : tensor<8x1xf16> to tensor<8x1xf32>
  %biases = tile.broadcast %wide : tensor<8x1xf32> -> tensor<8x32xf32>
  %sum = arith.addf %got, %biases : tensor<8x32xf32>
  %total = arith.addf %sum, %tx : tensor<8x32xf32>
  tile.store %total, %vv[%r0, %c0] : tensor<8x32xf32>, !tile.view<f32>

  %big = arith.constant dense<8589934592> : tensor<8x32xi64>
  %two = arith.constant dense<2> : tensor<8x32xi64>
  %nought = arith.constant dense<0> : tensor<8x32xi64>
  %high = arith.muli %rr, %big : tensor<8x32xi64>
  %number = arith.addi %high, %cc : tensor<8x32xi64>
  %odd = arith.remsi %number, %two : tensor<8x32xi64>
  %isEven = arith.cmpi eq, %odd, %nought : tensor<8x32xi64>
  tile.store %isEven, %ve[%r0, %c0] : tensor<8x32xi1>, !tile.view<i1>
  return
}
