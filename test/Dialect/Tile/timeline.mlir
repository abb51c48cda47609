// RUN: attn-opt %s --split-input-file --verify-diagnostics > %t
// RUN: FileCheck %s < %t
// RUN: attn-opt %t --split-input-file --mlir-print-op-generic | attn-opt --split-input-file | diff %t -

// The lane of a program, its stamps, and what must hold for them.

// CHECK-LABEL: func.func @lane
func.func @lane(%records: !tile.ptr<i32>) {
  // CHECK: tile.open_lane %{{.+}} lanes 1024 steps 8192 : <i32>
  tile.open_lane %records lanes 1024 steps 8192 : !tile.ptr<i32>
  // CHECK: tile.stamp load_wait
  tile.stamp load_wait
  // CHECK: tile.stamp epilogue
  tile.stamp epilogue
  // CHECK: tile.close_lane
  tile.close_lane
  return
}

// -----

func.func @stamp_without_a_lane() {
  // expected-error @+1 {{needs a tile.open_lane at the top of its program}}
  tile.stamp score
  return
}

// -----

func.func @close_without_a_lane() {
  // expected-error @+1 {{needs a tile.open_lane at the top of its program}}
  tile.close_lane
  return
}

// -----

func.func @wide_records(%records: !tile.ptr<i64>) {
  // expected-error @+1 {{records must be a !tile.ptr<i32>}}
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i64>
  return
}

// -----

func.func @no_room(%records: !tile.ptr<i32>) {
  // expected-error @+1 {{lanes and steps must be positive, their product below 2^30}}
  tile.open_lane %records lanes 1024 steps 1048576 : !tile.ptr<i32>
  return
}

// -----

func.func @two_lanes(%records: !tile.ptr<i32>) {
  // expected-error @+1 {{stands in its program twice}}
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  // expected-error @+1 {{stands in its program twice}}
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  return
}

// -----

func.func @lane_in_a_loop(%records: !tile.ptr<i32>, %n: i32, %one: i32) {
  scf.for %i = %one to %n step %one : i32 {
    // expected-error @+1 {{must stand at the top of a program}}
    tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  }
  return
}

// -----

func.func @unknown_phase(%records: !tile.ptr<i32>) {
  tile.open_lane %records lanes 1 steps 1 : !tile.ptr<i32>
  // expected-error @+2 {{expected '::attn::tile::Phase'}}
  // expected-error @+1 {{failed to parse}}
  tile.stamp lunch
  return
}
