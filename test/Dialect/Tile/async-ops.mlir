// RUN: attn-opt %s > %t && attn-opt %t > %t.again && diff %t %t.again
// RUN: FileCheck %s < %t
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | diff %t -

// The asynchronous forms of the tile dialect, printed and parsed again.

// CHECK-LABEL: func.func @before_the_passes
func.func @before_the_passes(%map: !tile.map<bf16>, %i: i32, %s: tensor<64x64xf32>,
                             %m: tensor<64x1xf32>, %p: tensor<64x1xi1>,
                             %view: !tile.view<bf16>, %at: i64, %ok: i1,
                             %high: tensor<64x1xi32>) {
  // CHECK: tile.group_id : i32
  %g = tile.group_id : i32
  // CHECK: tile.first_thread : i1
  %first = tile.first_thread : i1
  // CHECK: tile.load_box %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] : <bf16> -> tensor<64x64xbf16>
  %q = tile.load_box %map[%i, %i, %i] : !tile.map<bf16> -> tensor<64x64xbf16>
  // CHECK: tile.load_mapped %{{.+}}[%{{.+}}, %{{.+}}] if %{{.+}} by %{{.+}}[%{{.+}}, %{{.+}}] : <bf16>, <bf16> -> tensor<64x64xbf16>
  %b = tile.load_mapped %view[%at, %at] if %ok by %map[%i, %i] : !tile.view<bf16>, !tile.map<bf16> -> tensor<64x64xbf16>
  // CHECK: %{{.+}}, %[[C:.+]], %[[MOVED:.+]] = tile.running_max running %{{.+}}, %{{.+}} factor 1.250000e-01 : tensor<64x64xf32>, tensor<64x1xf32>
  %n0, %c0, %moved0 = tile.running_max running %s, %m factor 0.125 : tensor<64x64xf32>, tensor<64x1xf32>
  // CHECK: tile.running_max vote
  %n1, %c1, %moved1 = tile.running_max vote %s, %m factor 0.125 : tensor<64x64xf32>, tensor<64x1xf32>
  // CHECK: tile.running_max keep
  %n2, %c2, %moved2 = tile.running_max keep %s, %m factor 0.125 : tensor<64x64xf32>, tensor<64x1xf32>
  // CHECK: tile.running_max vote %{{.+}} factor 1.250000e-01 whole
  %n3, %c3, %moved3 = tile.running_max vote %s, %m factor 0.125 whole : tensor<64x64xf32>, tensor<64x1xf32>
  // CHECK: tile.rescale %{{.+}} by %[[C]] if %[[MOVED]] : tensor<64x64xf32>, tensor<64x1xf32>
  %r = tile.rescale %s by %c0 if %moved0 : tensor<64x64xf32>, tensor<64x1xf32>
  // CHECK: tile.fold add %{{.+}} : tensor<64x64xf32> -> tensor<64x8xf32>
  %f = tile.fold add %r : tensor<64x64xf32> -> tensor<64x8xf32>
  // CHECK: %[[U:.+]] = tile.unfold %{{.+}} : tensor<64x8xf32> -> tensor<64x128xf32>
  %u = tile.unfold %f : tensor<64x8xf32> -> tensor<64x128xf32>
  // CHECK: tile.running_max vote %[[U]], %{{.+}} factor 1.250000e-01 offset %{{.+}} growth %{{.+}} : tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x8xf32>
  %growth = arith.constant 1.0 : f32
  %n4, %c4, %moved4 = tile.running_max vote %u, %m factor 0.125 offset %f growth %growth : tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x8xf32>
  // CHECK: tile.band below %[[HIGH:.+]] : tensor<64x1xi32> -> tensor<64x128xi1>
  %b0 = tile.band below %high : tensor<64x1xi32> -> tensor<64x128xi1>
  // CHECK: tile.band from %[[HIGH]] : tensor<64x1xi32> below %[[HIGH]] : tensor<64x1xi32> -> tensor<64x128xi1>
  %b1 = tile.band from %high : tensor<64x1xi32> below %high : tensor<64x1xi32> -> tensor<64x128xi1>
  // CHECK: tile.any %{{.+}} : tensor<64x1xi1>
  %a = tile.any %p : tensor<64x1xi1>
  return
}

// CHECK-LABEL: func.func @signals
func.func @signals(%map: !tile.map<bf16>, %i: i32, %ok: i1) {
  // CHECK: %[[SLABS:.+]] = tile.alloc_slabs : <2, 64, 128, bf16>
  %slabs = tile.alloc_slabs : !tile.slabs<2, 64, 128, bf16>
  // CHECK: %[[SIGNALS:.+]] = tile.alloc_signals : <2, arrivals = 1>
  %signals = tile.alloc_signals : !tile.signals<2, arrivals = 1>
  // CHECK: tile.copy_box %{{.+}}[%{{.+}}, %{{.+}}] to %[[SLABS]] signal %[[SIGNALS]][%{{.+}}] : <bf16>, <2, 64, 128, bf16>, <2, arrivals = 1>
  tile.copy_box %map[%i, %i] to %slabs signal %signals[%i] : !tile.map<bf16>, !tile.slabs<2, 64, 128, bf16>, !tile.signals<2, arrivals = 1>
  // CHECK: tile.signal_wait %[[SIGNALS]][%[[I:.+]]] parity %[[I]] : <2, arrivals = 1>
  tile.signal_wait %signals[%i] parity %i : !tile.signals<2, arrivals = 1>
  // CHECK: %[[A:.+]] = tile.slab_read %[[SLABS]][%[[I]]] row %[[I]] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 128, bf16> -> tensor<64x128xbf16>
  // CHECK: tile.slab_load %[[SLABS]][%[[I]]] row %[[I]] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
  %l = tile.slab_load %slabs[%i] row %i : !tile.slabs<2, 64, 128, bf16> -> tensor<64x128xbf16>
  // CHECK: %[[S:.+]] = tile.dot_async %[[A]], %[[A]] transposed fence : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
  %s = tile.dot_async %a, %a transposed fence : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
  // CHECK: %[[T:.+]] = tile.dot_wait %[[S]] pending 0 : tensor<64x64xf32>
  %t = tile.dot_wait %s pending 0 : tensor<64x64xf32>
  %p = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  // CHECK: tile.dot_async %{{.+}}, %[[A]] onto %{{.+}} : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  %o = tile.dot_async %p, %a onto %zero : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  // CHECK: %[[ONES:.+]] = tile.alloc_slabs : <1, 16, 64, bf16>
  %ones = tile.alloc_slabs : !tile.slabs<1, 16, 64, bf16>
  // CHECK: tile.fill_ones %[[ONES]] : <1, 16, 64, bf16>
  tile.fill_ones %ones : !tile.slabs<1, 16, 64, bf16>
  %nothing = arith.constant dense<0.0> : tensor<64x136xf32>
  // CHECK: tile.dot_async %{{.+}}, %[[A]] onto %{{.+}} ones %[[ONES]] fence : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x136xf32> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x136xf32>
  %w = tile.dot_async %p, %a onto %nothing ones %ones fence : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x136xf32> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x136xf32>
  // CHECK: tile.dot_async %{{.+}}, %[[A]] ones %[[ONES]] : tensor<64x64xbf16>, tensor<64x128xbf16> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x136xf32>
  %x = tile.dot_async %p, %a ones %ones : tensor<64x64xbf16>, tensor<64x128xbf16> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x136xf32>
  // CHECK: tile.dot_wait %{{.+}} holding(%{{.+}} : tensor<64x64xbf16>) pending 1 : tensor<64x128xf32>
  %u = tile.dot_wait %o holding (%p : tensor<64x64xbf16>) pending 1 : tensor<64x128xf32>
  // CHECK: tile.signal_arrive %[[SIGNALS]][%[[I]]] : <2, arrivals = 1>
  tile.signal_arrive %signals[%i] : !tile.signals<2, arrivals = 1>
  // CHECK: tile.signal_arrive %[[SIGNALS]][%[[I]]] if %{{.+}} : <2, arrivals = 1>
  tile.signal_arrive %signals[%i] if %ok : !tile.signals<2, arrivals = 1>
  return
}

// CHECK-LABEL: func.func @roles
func.func @roles() {
  // CHECK: tile.specialize groups 1 producer registers 24 {
  // CHECK-NEXT: } consumer registers 240 {
  // CHECK-NEXT: }
  tile.specialize groups 1 producer registers 24 {
  } consumer registers 240 {
  }
  // CHECK: tile.specialize groups 2 turns producer registers 24 {
  // CHECK-NEXT: ^bb0(%[[P:.+]]: i32):
  // CHECK-NEXT: tile.role_end %[[P]]
  // CHECK-NEXT: } consumer registers 240 {
  // CHECK-NEXT: ^bb0(%[[P:.+]]: i32, %[[R:.+]]: i32):
  // CHECK-NEXT: tile.turn_wait of 2
  // CHECK-NEXT: tile.turn_pass of 2
  // CHECK-NEXT: tile.role_end %[[P]], %[[R]]
  tile.specialize groups 2 turns producer registers 24 {
  ^bb0(%p: i32):
    tile.role_end %p
  } consumer registers 240 {
  ^bb0(%p: i32, %r: i32):
    tile.turn_wait of 2
    tile.turn_pass of 2
    tile.role_end %p, %r
  }
  return
}

// CHECK-LABEL: func.func @persistent_tiles
func.func @persistent_tiles(%counter: !tile.ptr<i32>, %c: i32) {
  // CHECK: tile.block_id of %{{.+}} : i32
  %b = tile.block_id of %c : i32
  // CHECK: tile.grid_dim : i32
  %d = tile.grid_dim : i32
  // CHECK: %[[WORD:.+]] = tile.alloc_word : !tile.word
  %w = tile.alloc_word : !tile.word
  // CHECK: %[[NEXT:.+]] = tile.next_tile %[[COUNTER:.+]] : <i32>
  %n = tile.next_tile %counter : !tile.ptr<i32>
  // CHECK: tile.post_tile %[[WORD]], %[[NEXT]] : !tile.word
  tile.post_tile %w, %n : !tile.word
  // CHECK: %{{.+}}, %[[AGAIN:.+]] = tile.take_tile %[[WORD]] : !tile.word
  %t, %again = tile.take_tile %w : !tile.word
  // CHECK: tile.post_tile %[[WORD]], %[[NEXT]] again %[[AGAIN]] : !tile.word
  tile.post_tile %w, %n again %again : !tile.word
  // CHECK: tile.finish_tiles %[[COUNTER]] : <i32>
  tile.finish_tiles %counter : !tile.ptr<i32>
  return
}

// CHECK-LABEL: func.func @tiles_done_again
func.func @tiles_done_again(%slot: i32) {
  // CHECK: %[[AGAIN:.+]] = tile.again : i1
  %again = tile.again : i1
  // CHECK: tile.redo if %[[AGAIN]]
  tile.redo if %again
  // CHECK: %[[FLAGS:.+]] = tile.alloc_flags : <2>
  %flags = tile.alloc_flags : !tile.flags<2>
  // CHECK: tile.raise_flag %[[FLAGS]][%[[SLOT:.+]]] if %[[AGAIN]] : <2>
  tile.raise_flag %flags[%slot] if %again : !tile.flags<2>
  // CHECK: tile.take_flag %[[FLAGS]][%[[SLOT]]] : <2>
  %raised = tile.take_flag %flags[%slot] : !tile.flags<2>
  return
}
