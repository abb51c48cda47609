// RUN: attn-opt %s --split-input-file --verify-diagnostics

// One program for every message of the asynchronous forms' verifiers.

func.func @one_coordinate(%map: !tile.map<bf16>, %i: i32) {
  // expected-error @+1 {{takes 2 to 5 coordinates, not 1}}
  %q = tile.load_box %map[%i] : !tile.map<bf16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @box_converts(%map: !tile.map<bf16>, %i: i32) {
  // expected-error @+1 {{tile holds 'f16' but the memory holds 'bf16'}}
  %q = tile.load_box %map[%i, %i] : !tile.map<bf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @mapped_otherwise(%view: !tile.view<bf16>, %at: i64, %ok: i1, %map: !tile.map<f16>, %i: i32) {
  // expected-error @+1 {{map and view must hold the same type}}
  %b = tile.load_mapped %view[%at, %at] if %ok by %map[%i, %i] : !tile.view<bf16>, !tile.map<f16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @mapped_nowhere(%view: !tile.view<bf16>, %at: i64, %ok: i1, %map: !tile.map<bf16>, %i: i32) {
  // expected-error @+1 {{takes 2 to 5 coordinates, not 6}}
  %b = tile.load_mapped %view[%at, %at] if %ok by %map[%i, %i, %i, %i, %i, %i] : !tile.view<bf16>, !tile.map<bf16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @half_a_stage(%i: i32) {
  %slabs = tile.alloc_slabs : !tile.slabs<2, 128, 128, bf16>
  // expected-error @+1 {{must read 64 rows, in pairs of 8 columns, of 128x128 of 'bf16'}}
  %a = tile.slab_load %slabs[%i] row %i : !tile.slabs<2, 128, 128, bf16> -> tensor<128x128xbf16>
  return
}

// -----

func.func @more_columns(%i: i32) {
  %slabs = tile.alloc_slabs : !tile.slabs<2, 64, 64, bf16>
  // expected-error @+1 {{must read 64 rows, in pairs of 8 columns, of 64x64 of 'bf16'}}
  %a = tile.slab_load %slabs[%i] row %i : !tile.slabs<2, 64, 64, bf16> -> tensor<64x128xbf16>
  return
}

// -----

func.func @odd_columns(%i: i32) {
  %slabs = tile.alloc_slabs : !tile.slabs<2, 64, 64, bf16>
  // expected-error @+1 {{must read 64 rows, in pairs of 8 columns, of 64x64 of 'bf16'}}
  %a = tile.slab_load %slabs[%i] row %i : !tile.slabs<2, 64, 64, bf16> -> tensor<64x24xbf16>
  return
}

// -----

func.func @maximum_of_columns(%s: tensor<64x64xf32>, %m: tensor<1x64xf32>) {
  // expected-error @+1 {{takes f32 scores and one f32 maximum a row}}
  %n:3 = tile.running_max vote %s, %m factor 1.0 : tensor<64x64xf32>, tensor<1x64xf32>
  return
}

// -----

func.func @factor(%s: tensor<64x64xf32>, %m: tensor<64x1xf32>) {
  // expected-error @+1 {{factor must be positive}}
  %n:3 = tile.running_max vote %s, %m factor 0.0 : tensor<64x64xf32>, tensor<64x1xf32>
  return
}

// -----

func.func @factor(%s: tensor<64x64xf32>, %m: tensor<64x1xf32>) {
  // expected-error @+1 {{factor must be positive}}
  %n:3 = tile.running_max vote %s, %m factor -1.0 : tensor<64x64xf32>, tensor<64x1xf32>
  return
}

// -----

func.func @offset(%s: tensor<64x64xf32>, %m: tensor<64x1xf32>) {
  %g = arith.constant 1.0 : f32
  // expected-error @+1 {{offset must be 64x8 of f32}}
  %n:3 = tile.running_max vote %s, %m factor 1.0 offset %m growth %g : tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf32>
  return
}

// -----

func.func @growth(%s: tensor<64x64xf32>, %m: tensor<64x1xf32>, %f: tensor<64x8xf32>) {
  // expected-error @+1 {{offset and growth belong together}}
  %n:3 = tile.running_max vote %s, %m factor 1.0 offset %f : tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x8xf32>
  return
}

// -----

func.func @unfold(%s: tensor<64x16xf32>) {
  // expected-error @+1 {{repeats 8 columns in a multiple of 8}}
  %f = tile.unfold %s : tensor<64x16xf32> -> tensor<64x64xf32>
  return
}

// -----

func.func @band(%high: tensor<64x8xi32>) {
  // expected-error @+1 {{takes one i32 limit a row and gives i1}}
  %f = tile.band below %high : tensor<64x8xi32> -> tensor<64x64xi1>
  return
}

// -----

func.func @fold(%s: tensor<64x12xf32>) {
  // expected-error @+1 {{folds a multiple of 8 columns to 8}}
  %f = tile.fold add %s : tensor<64x12xf32> -> tensor<64x8xf32>
  return
}

// -----

func.func @fold(%s: tensor<64x16xf32>) {
  // expected-error @+1 {{folds a multiple of 8 columns to 8}}
  %f = tile.fold add %s : tensor<64x16xf32> -> tensor<64x4xf32>
  return
}

// -----

func.func @slabs(%slabs: !tile.slabs<2, 12, 64, bf16>, %i: i32) {
  // expected-error @+1 {{slabs hold 16-bit elements in a multiple of 8 rows}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 12, 64, bf16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @slabs(%slabs: !tile.slabs<2, 64, 64, f32>, %i: i32) {
  // expected-error @+1 {{slabs hold 16-bit elements in a multiple of 8 rows}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 64, f32> -> tensor<64x64xbf16>
  return
}

// -----

func.func @slabs(%slabs: !tile.slabs<2, 64, 64, index>, %i: i32) {
  // expected-error @+1 {{slabs hold 16-bit elements in a multiple of 8 rows}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 64, index> -> tensor<64x64xbf16>
  return
}

// -----

func.func @slabs(%slabs: !tile.slabs<2, 64, 64, tensor<4xf16>>, %i: i32) {
  // expected-error @+1 {{slabs hold 16-bit elements in a multiple of 8 rows}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 64, tensor<4xf16>> -> tensor<64x64xbf16>
  return
}

// -----

func.func @copy_converts(%map: !tile.map<f16>, %slabs: !tile.slabs<2, 64, 64, bf16>, %signals: !tile.signals<2, arrivals = 1>, %i: i32) {
  // expected-error @+1 {{map and slabs must hold the same type}}
  tile.copy_box %map[%i, %i] to %slabs signal %signals[%i] : !tile.map<f16>, !tile.slabs<2, 64, 64, bf16>, !tile.signals<2, arrivals = 1>
  return
}

// -----

func.func @reads(%slabs: !tile.slabs<2, 128, 64, bf16>, %i: i32) {
  // expected-error @+1 {{must read all rows or 64 of 128x64 of 'bf16'}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 128, 64, bf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @reads(%slabs: !tile.slabs<2, 64, 64, bf16>, %i: i32) {
  // expected-error @+1 {{must read all rows or 64 of 64x64 of 'bf16'}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 64, bf16> -> tensor<64x128xbf16>
  return
}

// -----

func.func @reads(%slabs: !tile.slabs<2, 64, 64, bf16>, %i: i32) {
  // expected-error @+1 {{must read all rows or 64 of 64x64 of 'bf16'}}
  %a = tile.slab_read %slabs[%i] row %i : !tile.slabs<2, 64, 64, bf16> -> tensor<64x64xf16>
  return
}

// -----

func.func @short(%a: tensor<32x64xbf16>, %b: tensor<64x64xbf16>) {
  // expected-error @+1 {{a must be 64 rows of 64 columns, a multiple of 16}}
  %d = tile.dot_async %a, %b : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
  return
}

// -----

func.func @depth(%a: tensor<64x64xbf16>, %b: tensor<32x64xbf16>) {
  // expected-error @+1 {{a must be 64 rows of 32 columns, a multiple of 16}}
  %d = tile.dot_async %a, %b : tensor<64x64xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
  return
}

// -----

func.func @wide(%a: tensor<64x64xbf16>, %b: tensor<64x264xbf16>) {
  // expected-error @+1 {{gives 64x264 of f32, a multiple of 8 and at most 256 columns}}
  %d = tile.dot_async %a, %b : tensor<64x64xbf16>, tensor<64x264xbf16> -> tensor<64x264xf32>
  return
}

// -----

func.func @half(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) {
  // expected-error @+1 {{gives 64x64 of f32, a multiple of 8 and at most 256 columns}}
  %d = tile.dot_async %a, %b : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @accumulator(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x32xf32>) {
  // expected-error @+1 {{accumulator must be 'tensor<64x64xf32>'}}
  %d = tile.dot_async %a, %b onto %c : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x32xf32> -> tensor<64x64xf32>
  return
}

// -----

func.func @types(%a: tensor<64x64xf16>, %b: tensor<64x64xbf16>) {
  // expected-error @+1 {{operands must hold the same type}}
  %d = tile.dot_async %a, %b : tensor<64x64xf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  return
}

// -----

func.func @few_ones(%slabs: !tile.slabs<1, 8, 64, bf16>) {
  // expected-error @+1 {{ones are one stage of 16x64}}
  tile.fill_ones %slabs : !tile.slabs<1, 8, 64, bf16>
  return
}

// -----

func.func @wide_ones(%slabs: !tile.slabs<1, 16, 64, f32>) {
  // expected-error @+1 {{slabs hold 16-bit elements in a multiple of 8 rows}}
  tile.fill_ones %slabs : !tile.slabs<1, 16, 64, f32>
  return
}

// -----

func.func @no_room_for_sums(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %ones: !tile.slabs<1, 16, 64, bf16>) {
  // expected-error @+1 {{gives 64x72 of f32, a multiple of 8 and at most 256 columns}}
  %d = tile.dot_async %a, %b ones %ones : tensor<64x64xbf16>, tensor<64x64xbf16> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x64xf32>
  return
}

// -----

func.func @ones_beside_rows(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %ones: !tile.slabs<1, 16, 64, bf16>) {
  // expected-error @+1 {{ones stand beside b as KxN}}
  %d = tile.dot_async %a, %b transposed ones %ones : tensor<64x64xbf16>, tensor<64x64xbf16> ones !tile.slabs<1, 16, 64, bf16> -> tensor<64x72xf32>
  return
}

// -----

func.func @ones_in_stages(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %ones: !tile.slabs<2, 16, 64, bf16>) {
  // expected-error @+1 {{ones are one stage of 16x64}}
  %d = tile.dot_async %a, %b ones %ones : tensor<64x64xbf16>, tensor<64x64xbf16> ones !tile.slabs<2, 16, 64, bf16> -> tensor<64x72xf32>
  return
}

// -----

func.func @ones_of_another_type(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %ones: !tile.slabs<1, 16, 64, f16>) {
  // expected-error @+1 {{ones must hold the operands' type}}
  %d = tile.dot_async %a, %b ones %ones : tensor<64x64xbf16>, tensor<64x64xbf16> ones !tile.slabs<1, 16, 64, f16> -> tensor<64x72xf32>
  return
}

// -----

func.func @stray_end() {
  // expected-error @+1 {{expects parent op 'tile.specialize'}}
  tile.role_end
}

// -----

func.func @five_groups() {
  // expected-error @+1 {{needs 1 to 4 consumer groups}}
  tile.specialize groups 5 producer registers 24 {
  } consumer registers 240 {
  }
  return
}

// -----

func.func @float_position() {
  // expected-error @+1 {{roles take i32 positions}}
  tile.specialize groups 1 producer registers 24 {
  ^bb0(%p: f32):
  } consumer registers 240 {
  }
  return
}

// -----

func.func @lost_position() {
  tile.specialize groups 1 producer registers 24 {
  } consumer registers 240 {
  ^bb0(%p: i32, %q: i32):
    // expected-error @+1 {{must give the role's 2 positions}}
    tile.role_end %p
  }
  return
}
