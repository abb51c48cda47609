// RUN: attn-opt %s --tile-split-key-loop | FileCheck %s --implicit-check-not=tile.mask --implicit-check-not=tile.for_keys

// First the blocks in which every key is alive, without masks; then the rest.
// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[B:.+]]: i64, %[[FULL:[a-z0-9]+]]: i32, %[[LEFT:[a-z0-9]+]]: i32, %[[RIGHT:[a-z0-9]+]]: i32, %[[S:[a-z0-9]+]]: tensor<16x8xf32>, %[[P:[a-z0-9]+]]: tensor<16x8xi1>)
// CHECK: %[[MASKED:.+]] = arith.addi %[[LEFT]], %[[RIGHT]] : i32
// CHECK: %[[TOTAL:.+]] = arith.addi %[[FULL]], %[[MASKED]] : i32
// CHECK: %[[LIVE:.+]] = scf.for %{{.+}} = %{{.+}} to %[[FULL]] step %{{.+}} iter_args(%[[A:.+]] = %[[S]])
// CHECK-NOT: arith.select
// CHECK: arith.addf %[[A]], %[[S]]
// CHECK: scf.yield
// CHECK: %[[ALL:.+]] = scf.for %{{.+}} = %[[FULL]] to %[[TOTAL]] step %{{.+}} iter_args(%[[A:.+]] = %[[LIVE]])
// CHECK: %[[DEAD:.+]] = arith.constant dense<0xFF800000> : tensor<16x8xf32>
// CHECK: %[[KEPT:.+]] = arith.select %[[P]], %[[S]], %[[DEAD]] : tensor<16x8xi1>, tensor<16x8xf32>
// CHECK: arith.addf %[[A]], %[[KEPT]]
// CHECK: scf.yield
// CHECK: return %[[ALL]]
func.func @both(%b: i64, %full: i32, %left: i32, %right: i32,
                %s: tensor<16x8xf32>, %p: tensor<16x8xi1>) -> tensor<16x8xf32> {
  %0 = tile.for_keys full %b x %full left %b x %left right %b x %right of %b x %right step 8
      init(%s : tensor<16x8xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<16x8xf32>):
    %kept = tile.mask %s, %p : tensor<16x8xf32>, tensor<16x8xi1>
    %sum = arith.addf %acc, %kept : tensor<16x8xf32>
    tile.yield %sum : tensor<16x8xf32>
  }
  return %0 : tensor<16x8xf32>
}

// No block can be proved live: one loop, with masks. Zero is what the mask of a
// body without softmax leaves.
// CHECK-LABEL: func.func @never_full
// CHECK: scf.for
// CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<16x8xf16>
// CHECK: arith.select %{{.+}}, %{{.+}}, %[[ZERO]] : tensor<16x8xi1>, tensor<16x8xf16>
// CHECK-NOT: scf.for
func.func @never_full(%b: i64, %c: i32, %s: tensor<16x8xf16>, %p: tensor<16x8xi1>)
    -> tensor<16x8xf16> {
  %none = arith.constant 0 : i32
  %0 = tile.for_keys full %b x %none left %b x %c right %b x %c of %b x %c step 8
      init(%s : tensor<16x8xf16>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<16x8xf16>):
    %kept = tile.mask %acc, %p zero : tensor<16x8xf16>, tensor<16x8xi1>
    tile.yield %kept : tensor<16x8xf16>
  }
  return %0 : tensor<16x8xf16>
}

// Block starts: live blocks count from the first live one, others from the left
// or the right of them.
// CHECK-LABEL: func.func @starts
// CHECK: scf.for %[[T:.+]] = %{{.+}} to %{{.+}} step
// CHECK:   %[[WIDE:.+]] = arith.extsi %[[T]] : i32 to i64
// CHECK:   %[[OFFSET:.+]] = arith.muli %[[WIDE]], %{{.+}} : i64
// CHECK:   %[[START:.+]] = arith.addi %{{.+}}, %[[OFFSET]] : i64
// CHECK:   tile.load %{{.+}}[%[[START]], %{{.+}}]
// CHECK: scf.for
// CHECK:   arith.select
// CHECK:   %[[START:.+]] = arith.select
// CHECK:   tile.load %{{.+}}[%[[START]], %{{.+}}]
func.func @starts(%b: i64, %c: i32, %v: !tile.view<f32>, %s: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 8
      init(%s : tensor<16x8xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<16x8xf32>):
    %k = tile.load %v[%n0, %b] : !tile.view<f32> -> tensor<16x8xf32>
    %sum = arith.addf %acc, %k : tensor<16x8xf32>
    tile.yield %sum : tensor<16x8xf32>
  }
  return %0 : tensor<16x8xf32>
}

// A mask outside any loop is a select as well.
// CHECK-LABEL: func.func @no_loop
// CHECK: arith.select
func.func @no_loop(%s: tensor<16x8xf32>, %p: tensor<16x8xi1>) -> tensor<16x8xf32> {
  %0 = tile.mask %s, %p : tensor<16x8xf32>, tensor<16x8xi1>
  return %0 : tensor<16x8xf32>
}
