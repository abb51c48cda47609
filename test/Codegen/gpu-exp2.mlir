// RUN: attn-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// Four of eight pairs of columns go without the special-function unit; a thread
// holds 2 rows of 4 pairs here, 16 elements.

// CHECK-LABEL: llvm.func @half(
// CHECK-DAG: %[[OFFSET:.+]] = arith.constant 7.680000e+02 : f32
// CHECK-DAG: %[[LOWEST:.+]] = arith.constant 6.410000e+02 : f32
// CHECK-DAG: %[[FRACTION:.+]] = arith.constant -8372225 : i32
// CHECK-DAG: %[[NINE:.+]] = arith.constant 9 : i32
// The first pair, all of it.
// CHECK: %[[T:.+]] = arith.addf %[[X:.+]], %[[OFFSET]]
// CHECK: %[[M:.+]] = arith.maximumf %[[T]], %[[LOWEST]]
// CHECK: %[[B:.+]] = arith.bitcast %[[M]] : f32 to i32
// CHECK: %[[F:.+]] = arith.andi %[[B]], %[[FRACTION]]
// CHECK: %[[W:.+]] = arith.bitcast %[[F]] : i32 to f32
// CHECK: %[[V:.+]] = math.fma %[[W]]
// CHECK: %[[Q:.+]] = math.fma %[[V]], %[[V]]
// CHECK: %[[G:.+]] = math.fma %[[Q]], %[[V]]
// CHECK-DAG: %[[HIGH:.+]] = arith.bitcast %[[G]] : f32 to i32
// CHECK-DAG: %[[LOW:.+]] = arith.shli %[[B]], %[[NINE]]
// CHECK: arith.addi %[[HIGH]], %[[LOW]]
// CHECK: arith.maximumf
// The second pair is not.
// CHECK-NOT: arith.maximumf
// CHECK-COUNT-2: math.exp2
// CHECK-COUNT-2: arith.maximumf
// CHECK-COUNT-2: math.exp2
// The other row begins with the other kind.
// CHECK-COUNT-2: math.exp2
// CHECK-COUNT-2: arith.maximumf
// CHECK-COUNT-2: math.exp2
// CHECK-COUNT-2: arith.maximumf
// CHECK-NOT: math.exp2
// CHECK-NOT: arith.minimumf
// CHECK: llvm.return
func.func @half(%p: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "o"}},
                %M: i64 {tile.arg = {kind = "length", axis = "M"}})
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>,
                tile.grid = [#tile.grid<"M", 16>]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %p[%zero] size [%M, %M] stride [%M, %one] aligned 0 : !tile.ptr<f32>
  %x = tile.load %v[%zero, %zero] : !tile.view<f32> -> tensor<16x32xf32>
  %y = tile.exp2 %x polynomial 4 : tensor<16x32xf32>
  tile.store %y, %v[%zero, %zero] : tensor<16x32xf32>, !tile.view<f32>
  return
}

// What is too large becomes infinite.
// CHECK-LABEL: llvm.func @unbounded(
// CHECK-DAG: %[[HIGHEST:.+]] = arith.constant 8.960000e+02 : f32
// CHECK: arith.minimumf %{{.+}}, %[[HIGHEST]]
// CHECK-NOT: math.exp2
// CHECK: llvm.return
func.func @unbounded(%p: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "o"}},
                     %M: i64 {tile.arg = {kind = "length", axis = "M"}})
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>,
                tile.grid = [#tile.grid<"M", 16>]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %p[%zero] size [%M, %M] stride [%M, %one] aligned 0 : !tile.ptr<f32>
  %x = tile.load %v[%zero, %zero] : !tile.view<f32> -> tensor<16x8xf32>
  %y = tile.exp2 %x polynomial 8 unbounded : tensor<16x8xf32>
  tile.store %y, %v[%zero, %zero] : tensor<16x8xf32>, !tile.view<f32>
  return
}
