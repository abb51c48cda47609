// RUN: attn-opt %s > %t && attn-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | diff %t -

// The lane of a program and its stamps, printed and parsed again.

// CHECK-LABEL: func.func @lane
func.func @lane(%records: !tile.ptr<i32>) {
  // CHECK: tile.open_lane %{{.+}} lanes 1024 steps 8192 : <i32>
  tile.open_lane %records lanes 1024 steps 8192 : !tile.ptr<i32>
  // CHECK: tile.stamp load_wait
  tile.stamp load_wait
  // CHECK: tile.stamp epilogue
  tile.stamp epilogue
  %signals = tile.alloc_signals : !tile.signals<2, arrivals = 1>
  %zero = arith.constant 0 : i32
  // CHECK: tile.signal_wait %{{.+}}[%{{.+}}] parity %{{.+}} during load_wait then score : <2, arrivals = 1>
  tile.signal_wait %signals[%zero] parity %zero during load_wait then score : !tile.signals<2, arrivals = 1>
  // CHECK: tile.close_lane
  tile.close_lane
  return
}
