// RUN: attn-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// Which thread holds what in the accumulator layout: lane 4 g + t of warp w holds
// rows 16 w + g and 16 w + g + 8, columns 2 t and 2 t + 1 of each 8. A row's sum is
// of this thread's own elements first, then of the four lanes that share the row.

// CHECK: llvm.func @rows(
// CHECK-SAME: nvvm.reqntid = array<i32: 64>, tile.shared_bytes = 0
// CHECK-DAG: %[[TID:.+]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[LANE:.+]] = arith.andi %{{.+}}, %c31_i32
// CHECK: %[[WARP:.+]] = arith.shrui %{{.+}}, %c5_i32
// CHECK: %[[G:.+]] = arith.shrui %[[LANE]], %c2_i32
// CHECK: %[[FIRST:.+]] = arith.muli %[[WARP]], %c16_i32
// CHECK: %[[R0:.+]] = arith.addi %[[FIRST]], %[[G]]
// CHECK: %[[T:.+]] = arith.andi %[[LANE]], %c3_i32
// CHECK: %[[C0:.+]] = arith.muli %[[T]], %c2_i32
// Slots differ by constants, so one is converted and the others add to it.
// CHECK: %[[E00:.+]] = arith.addi %[[R0]], %[[C0]]
// CHECK: %[[F00:.+]] = arith.sitofp %[[E00]]
// CHECK-NOT: arith.sitofp
// CHECK-DAG: %[[F01:.+]] = arith.addf %[[F00]], %{{cst.*}}
// CHECK-DAG: arith.addf %[[F00]], %[[F01]]
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync

// One lane of the four writes the row's value.
// CHECK: arith.cmpi eq, %[[C0]], %c0_i32
// CHECK-COUNT-2: st.global.b32
// CHECK-NOT: st.global
func.func @rows(%p: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "o"}},
                %M: i64 {tile.arg = {kind = "length", axis = "M"}},
                %stride: i64 {tile.arg = {kind = "stride", axis = "M", name = "o"}})
    attributes {tile.layout = #tile.accumulator<warps = 2, fragments = 1>,
                tile.grid = [#tile.grid<"M", 32>]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %p[%zero] size [%M, %one] stride [%stride, %one] aligned 0 : !tile.ptr<f32>
  %m = tile.index %zero : tensor<32x1xi32>
  %n = tile.index %zero : tensor<1x8xi32>
  %mb = tile.broadcast %m : tensor<32x1xi32> -> tensor<32x8xi32>
  %nb = tile.broadcast %n : tensor<1x8xi32> -> tensor<32x8xi32>
  %s = arith.addi %mb, %nb : tensor<32x8xi32>
  %f = arith.sitofp %s : tensor<32x8xi32> to tensor<32x8xf32>
  %r = tile.reduce add %f : tensor<32x8xf32> -> tensor<32x1xf32>
  tile.store %r, %v[%zero, %zero] : tensor<32x1xf32>, !tile.view<f32>
  return
}
