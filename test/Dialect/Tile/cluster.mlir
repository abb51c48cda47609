// RUN: attn-opt %s > %t && attn-opt %t > %t.again && diff %t %t.again
// RUN: FileCheck %s < %t
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | diff %t -

// What blocks of a cluster say to each other, printed and parsed again.

// CHECK-LABEL: func.func @together
// CHECK-SAME: tile.cluster = 2
func.func @together(%map: !tile.map<bf16> {tile.arg = {box = array<i64: 64, 64, 1>, kind = "map"}},
                    %i: i32, %p: i1) attributes {tile.cluster = 2 : i64} {
  // CHECK: %[[RANK:.+]] = tile.cluster_rank : i32
  %rank = tile.cluster_rank : i32
  %slabs = tile.alloc_slabs : !tile.slabs<2, 64, 128, bf16>
  %full = tile.alloc_signals : !tile.signals<2, arrivals = 1>
  %empty = tile.alloc_signals : !tile.signals<2, arrivals = 16>
  %flags = tile.alloc_flags : !tile.flags<2>
  // CHECK: tile.cluster_barrier
  tile.cluster_barrier
  // Two slabs: a part is one, with all its rows.
  // CHECK: tile.copy_box %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] to %{{.+}} signal %{{.+}}[%{{.+}}] part %[[RANK]] : <bf16>, <2, 64, 128, bf16>, <2, arrivals = 1>
  tile.copy_box %map[%i, %i, %i] to %slabs signal %full[%i] part %rank : !tile.map<bf16>, !tile.slabs<2, 64, 128, bf16>, !tile.signals<2, arrivals = 1>
  // CHECK: tile.signal_arrive %[[EMPTY:.+]][%{{.+}}] cluster : <2, arrivals = 16>
  tile.signal_arrive %empty[%i] cluster : !tile.signals<2, arrivals = 16>
  // CHECK: tile.raise_flag %{{.+}}[%{{.+}}] if %{{.+}} cluster : <2>
  tile.raise_flag %flags[%i] if %p cluster : !tile.flags<2>
  // CHECK: tile.signal_arrive %[[EMPTY]][%{{.+}}] cluster release : <2, arrivals = 16>
  tile.signal_arrive %empty[%i] cluster release : !tile.signals<2, arrivals = 16>
  // CHECK: tile.signal_wait %[[EMPTY]][%{{.+}}] parity %{{.+}} acquire : <2, arrivals = 16>
  tile.signal_wait %empty[%i] parity %i acquire : !tile.signals<2, arrivals = 16>
  return
}

// CHECK-LABEL: func.func @rows_of_one_slab
func.func @rows_of_one_slab(%map: !tile.map<f16> {tile.arg = {box = array<i64: 64, 32, 1>, kind = "map"}},
                            %i: i32) attributes {tile.cluster = 2 : i64} {
  %rank = tile.cluster_rank : i32
  %slabs = tile.alloc_slabs : !tile.slabs<2, 64, 64, f16>
  %full = tile.alloc_signals : !tile.signals<2, arrivals = 1>
  // CHECK: tile.copy_box {{.*}} part %
  tile.copy_box %map[%i, %i, %i] to %slabs signal %full[%i] part %rank : !tile.map<f16>, !tile.slabs<2, 64, 64, f16>, !tile.signals<2, arrivals = 1>
  return
}
