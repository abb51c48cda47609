// RUN: attn-opt %s --tile-to-cpu | FileCheck %s

// c = a x b over a run-time K, tiles 64 x 48 with 32 of K a step. The accumulator
// stays in one buffer for the whole loop: it is allocated once and never copied.

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %{{.+}}: !llvm.ptr, %[[FIRST:.+]]: i64, %[[LAST:.+]]: i64)
// CHECK-COUNT-1: memref<3072xf32>
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %[[LAST]]
// CHECK: math.fma
// CHECK-NOT: tile.

!e = f32
func.func @matmul(%a: !tile.ptr<!e>, %b: !tile.ptr<!e>, %c: !tile.ptr<f32>,
                  %M: i64, %N: i64, %K: i64, %sa: i64, %sb: i64, %sc: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %depth = arith.constant 32 : i64
  %tileN = arith.constant 48 : i64
  %tileM = arith.constant 64 : i64
  %id = tile.block_id : i32
  %id64 = arith.extsi %id : i32 to i64
  %across = arith.ceildivsi %N, %tileN : i64
  %bn = arith.remsi %id64, %across : i64
  %bm = arith.divsi %id64, %across : i64
  %m0 = arith.muli %bm, %tileM : i64
  %n0 = arith.muli %bn, %tileN : i64
  %va = tile.view %a[%zero] size [%M, %K] stride [%sa, %one] aligned 0 : !tile.ptr<!e>
  %vb = tile.view %b[%zero] size [%K, %N] stride [%sb, %one] aligned 0 : !tile.ptr<!e>
  %vc = tile.view %c[%zero] size [%M, %N] stride [%sc, %one] aligned 0 : !tile.ptr<f32>
  %none = arith.constant dense<0.0> : tensor<64x48xf32>
  %sum = scf.for %k = %zero to %K step %depth iter_args(%acc = %none) -> tensor<64x48xf32> : i64 {
    %ta = tile.load %va[%m0, %k] : !tile.view<!e> -> tensor<64x32x!e>
    %tb = tile.load %vb[%k, %n0] : !tile.view<!e> -> tensor<32x48x!e>
    %next = tile.dot %ta, %tb, %acc : tensor<64x32x!e>, tensor<32x48x!e>, tensor<64x48xf32>
    scf.yield %next : tensor<64x48xf32>
  }
  tile.store %sum, %vc[%m0, %n0] : tensor<64x48xf32>, !tile.view<f32>
  return
}
