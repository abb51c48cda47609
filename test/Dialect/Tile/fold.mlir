// RUN: attn-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @broadcast_to_itself
// CHECK-SAME: (%[[T:.+]]: tensor<16x8xf32>)
// CHECK-NEXT: return %[[T]]
func.func @broadcast_to_itself(%t: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tile.broadcast %t : tensor<16x8xf32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: @broadcast_that_repeats
// CHECK-NEXT: tile.broadcast
func.func @broadcast_that_repeats(%t: tensor<16x1xf32>) -> tensor<16x8xf32> {
  %0 = tile.broadcast %t : tensor<16x1xf32> -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Reads nobody uses go, writes and what orders them stay.
// CHECK-LABEL: @effects
// CHECK-NEXT: tile.copy_async
// CHECK-NEXT: tile.commit
// CHECK-NEXT: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: return
func.func @effects(%v: !tile.view<f32>, %n: i64, %t: tensor<16x8xf32>, %s: i32,
                   %b: !tile.buffer<1, 16, 8, f32>) {
  %0 = tile.load %v[%n, %n] : !tile.view<f32> -> tensor<16x8xf32>
  tile.copy_async %v[%n, %n] to %b[%s] : !tile.view<f32>, !tile.buffer<1, 16, 8, f32>
  tile.commit
  tile.wait 0
  tile.barrier
  %1 = tile.shared_read %b[%s] : !tile.buffer<1, 16, 8, f32> -> tensor<16x8xf32>
  tile.store %t, %v[%n, %n] : tensor<16x8xf32>, !tile.view<f32>
  return
}
