// RUN: attn-opt %s --split-input-file --verify-diagnostics

// One program for every message of the tile dialect's verifiers.

// Function attributes.
// expected-error @+1 {{'tile.layout' belongs on a func.func}}
module attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and 1 to 8 fragments}}
func.func private @f() attributes {tile.layout = #tile.accumulator<warps = 0, fragments = 1>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and 1 to 8 fragments}}
func.func private @f() attributes {tile.layout = #tile.accumulator<warps = 33, fragments = 1>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and 1 to 8 fragments}}
func.func private @f() attributes {tile.layout = #tile.accumulator<warps = 4, fragments = 0>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and 1 to 8 fragments}}
func.func private @f() attributes {tile.layout = #tile.accumulator<warps = 4, fragments = 9>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and a vector of 1, 2, 4 or 8}}
func.func private @f() attributes {tile.layout = #tile.rows<warps = 0, vector = 4>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and a vector of 1, 2, 4 or 8}}
func.func private @f() attributes {tile.layout = #tile.rows<warps = 33, vector = 4>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and a vector of 1, 2, 4 or 8}}
func.func private @f() attributes {tile.layout = #tile.rows<warps = 1, vector = 0>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and a vector of 1, 2, 4 or 8}}
func.func private @f() attributes {tile.layout = #tile.rows<warps = 1, vector = 16>}

// -----

// expected-error @+1 {{'tile.layout' needs 1 to 32 warps and a vector of 1, 2, 4 or 8}}
func.func private @f() attributes {tile.layout = #tile.rows<warps = 1, vector = 3>}

// -----

// expected-error @+1 {{'tile.layout' must be #tile.accumulator or #tile.rows}}
func.func private @f() attributes {tile.layout = "rows"}

// -----

// expected-error @+1 {{'tile.grid' must be an array of #tile.grid with positive tiles}}
func.func private @f() attributes {tile.grid = "M"}

// -----

// expected-error @+1 {{'tile.grid' must be an array of #tile.grid with positive tiles}}
func.func private @f() attributes {tile.grid = ["M"]}

// -----

// expected-error @+1 {{'tile.grid' must be an array of #tile.grid with positive tiles}}
func.func private @f() attributes {tile.grid = [#tile.grid<"M", 0>]}

// -----

// Memory.
func.func @view_of_another_type(%p: !tile.ptr<f16>, %n: i64) {
  // expected-error @+1 {{view has the pointer's element type}}
  %0 = "tile.view"(%p, %n, %n, %n, %n, %n) {aligned = 0 : i64} : (!tile.ptr<f16>, i64, i64, i64, i64, i64) -> !tile.view<f32>
  return
}

// -----

func.func @load_converts(%v: !tile.view<f16>, %n: i64) {
  // expected-error @+1 {{tile holds 'f32' but the memory holds 'f16'}}
  %0 = tile.load %v[%n, %n] : !tile.view<f16> -> tensor<16x16xf32>
  return
}

// -----

func.func @load_of_rank_one(%v: !tile.view<f16>, %n: i64) {
  // expected-error @+1 {{must be tile (tensor of static shape and rank 2)}}
  %0 = tile.load %v[%n, %n] : !tile.view<f16> -> tensor<16xf16>
  return
}

// -----

func.func @load_of_dynamic_shape(%v: !tile.view<f16>, %n: i64) {
  // expected-error @+1 {{must be tile (tensor of static shape and rank 2)}}
  %0 = tile.load %v[%n, %n] : !tile.view<f16> -> tensor<16x?xf16>
  return
}

// -----

func.func @staged_store_of_any_rows(%p: !tile.ptr<f16>, %t: tensor<16x16xf16>, %n: i64) {
  %v = tile.view %p[%n] size [%n, %n] stride [%n, %n] aligned 4 : !tile.ptr<f16>
  // expected-error @+1 {{staged needs a view whose rows are aligned to 16 bytes}}
  tile.store %t, %v[%n, %n] staged : tensor<16x16xf16>, !tile.view<f16>
  return
}

// -----

func.func @store_converts(%t: tensor<16x16xf32>, %v: !tile.view<f16>, %n: i64) {
  // expected-error @+1 {{tile holds 'f32' but the memory holds 'f16'}}
  tile.store %t, %v[%n, %n] : tensor<16x16xf32>, !tile.view<f16>
  return
}

// -----

func.func @gather_scalar(%p: !tile.ptr<f16>, %n: i64, %ok: i1) {
  // expected-error @+1 {{result must be 'f16'}}
  %0 = tile.gather %p[%n] if %ok : !tile.ptr<f16>, i64 -> f32
  return
}

// -----

func.func @gather_narrow_offsets(%p: !tile.ptr<f16>, %n: tensor<16x1xi32>, %ok: i1) {
  // expected-error @+1 {{offsets must be i64}}
  %0 = tile.gather %p[%n] if %ok : !tile.ptr<f16>, tensor<16x1xi32> -> tensor<16x1xf16>
  return
}

// -----

func.func @gather_other_shape(%p: !tile.ptr<f16>, %n: tensor<16x1xi64>, %ok: i1) {
  // expected-error @+1 {{result must be a tile of 'f16' shaped like the offsets}}
  %0 = tile.gather %p[%n] if %ok : !tile.ptr<f16>, tensor<16x1xi64> -> tensor<1x16xf16>
  return
}

// -----

// Shapes.
func.func @index_of_a_tile(%n: i64) {
  // expected-error @+1 {{result must be a row value (Rx1) or a column value (1xC)}}
  %0 = tile.index %n : tensor<16x8xi32>
  return
}

// -----

func.func @index_of_floats(%n: i64) {
  // expected-error @+1 {{result must hold i32 or i64}}
  %0 = tile.index %n : tensor<16x1xf32>
  return
}

// -----

func.func @splat_converts(%c: f32) {
  // expected-error @+1 {{scalar has the tile's element type}}
  %0 = "tile.splat"(%c) : (f32) -> tensor<16x8xf16>
  return
}

// -----

func.func @broadcast_converts(%t: tensor<16x1xf32>) {
  // expected-error @+1 {{must keep the element type}}
  %0 = tile.broadcast %t : tensor<16x1xf32> -> tensor<16x8xf16>
  return
}

// -----

func.func @broadcast_stretches(%t: tensor<16x2xf32>) {
  // expected-error @+1 {{can only repeat dimensions of length 1}}
  %0 = tile.broadcast %t : tensor<16x2xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @reduce_to_a_row(%t: tensor<16x8xf32>) {
  // expected-error @+1 {{result must be 16x1 of 'f32'}}
  %0 = tile.reduce max %t : tensor<16x8xf32> -> tensor<1x8xf32>
  return
}

// -----

func.func @reduce_floats_as_integers(%t: tensor<16x8xf32>) {
  // expected-error @+1 {{takes max of floats and max_int of integers}}
  %0 = tile.reduce max_int %t : tensor<16x8xf32> -> tensor<16x1xf32>
  return
}

// -----

func.func @reduce_integers_as_floats(%t: tensor<16x8xi32>) {
  // expected-error @+1 {{takes max of floats and max_int of integers}}
  %0 = tile.reduce max %t : tensor<16x8xi32> -> tensor<16x1xi32>
  return
}

// -----

// tile.dot
func.func @dot_of_other_depth(%a: tensor<16x16xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{sums over 16 in a but 32 in b}}
  %0 = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @dot_transposed_of_other_depth(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{sums over 16 in a but 8 in b}}
  %0 = tile.dot %a, %b transposed, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @dot_into_other_shape(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{accumulator must be 16x8}}
  %0 = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @dot_into_half(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf16>) {
  // expected-error @+1 {{accumulator must hold f32 (C1)}}
  %0 = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf16>
  return
}

// -----

func.func @dot_of_two_types(%a: tensor<16x16xf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{operands must hold the same type}}
  %0 = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return
}

// -----

func.func @dot_tf32_of_half(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{tf32 needs f32 operands}}
  %0 = tile.dot %a, %b, %c tf32 : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @dot_without_room_for_sums(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{accumulator must be 16x16}}
  %0 = tile.dot %a, %b, %c sums : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  return
}

// -----

func.func @dot_transposed_with_sums(%a: tensor<16x16xf16>, %b: tensor<8x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{sums needs b as KxN}}
  %0 = tile.dot %a, %b transposed, %c sums : tensor<16x16xf16>, tensor<8x16xf16>, tensor<16x16xf32>
  return
}

// -----

// tile.split_sums
func.func @split_more(%c: tensor<16x24xf32>) {
  // expected-error @+1 {{gives all but the last 8 columns, a multiple of 8, and one number a row}}
  %0, %1 = tile.split_sums %c : tensor<16x24xf32> -> tensor<16x8xf32>, tensor<16x1xf32>
  return
}

// -----

func.func @split_sums_only(%c: tensor<16x8xf32>) {
  // expected-error @+1 {{gives all but the last 8 columns, a multiple of 8, and one number a row}}
  %0, %1 = tile.split_sums %c : tensor<16x8xf32> -> tensor<16x0xf32>, tensor<16x1xf32>
  return
}

// -----

func.func @split_columns(%c: tensor<16x24xf32>) {
  // expected-error @+1 {{gives all but the last 8 columns, a multiple of 8, and one number a row}}
  %0, %1 = tile.split_sums %c : tensor<16x24xf32> -> tensor<16x16xf32>, tensor<16x8xf32>
  return
}

// -----

// tile.mask
func.func @mask_of_other_shape(%t: tensor<16x8xf32>, %p: tensor<16x1xi1>) {
  // expected-error @+1 {{predicate must be i1 of the value's shape}}
  %0 = tile.mask %t, %p : tensor<16x8xf32>, tensor<16x1xi1>
  return
}

// -----

func.func @mask_by_numbers(%t: tensor<16x8xf32>, %p: tensor<16x8xi32>) {
  // expected-error @+1 {{predicate must be i1 of the value's shape}}
  %0 = tile.mask %t, %p : tensor<16x8xf32>, tensor<16x8xi32>
  return
}

// -----

// tile.exp2
func.func @more_pairs_than_there_are(%t: tensor<16x8xf32>) {
  // expected-error @+1 {{computes 0 to 8 of every 8 pairs by polynomial, not 9}}
  %0 = tile.exp2 %t polynomial 9 : tensor<16x8xf32>
  return
}

// -----

func.func @no_pairs(%t: tensor<16x1xf32>) {
  // expected-error @+1 {{takes f32 in pairs of columns}}
  %0 = tile.exp2 %t polynomial 4 : tensor<16x1xf32>
  return
}

// -----

// tile.exp2_packed
func.func @packed_without_share(%t: tensor<16x8xf32>) {
  // expected-error @+1 {{computes 1 to 8 of every 8 pairs packed, not 0}}
  %e, %y, %w = tile.exp2_packed %t share 0 : tensor<16x8xf32> -> tensor<16x8xbf16>
  return
}

// -----

func.func @packed_in_f16(%t: tensor<16x8xf32>) {
  // expected-error @+1 {{takes f32 and bf16 of one shape, in pairs of columns}}
  %e, %y, %w = tile.exp2_packed %t share 2 : tensor<16x8xf32> -> tensor<16x8xf16>
  return
}

// -----

// tile.round_packed
func.func @rounds_another_shape(%e: tensor<16x16xf32>, %y: tensor<16x8xbf16>) {
  // expected-error @+1 {{takes f32 and bf16 of one shape, in pairs of columns}}
  %p = tile.round_packed %e, %y, %y share 2 : tensor<16x16xf32>, tensor<16x8xbf16>
  return
}

// -----

// tile.for_keys
func.func @loop_without_step(%b: i64, %c: i32) {
  // expected-error @+1 {{step must be positive}}
  tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 0 {
  ^bb0(%t: i32, %n: i64):
  }
  return
}

// -----

func.func @loop_with_too_few_arguments(%b: i64, %c: i32, %x: f32) {
  // expected-error @+1 {{body takes (i32, i64) and the carried values}}
  %0 = tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 64 init(%x : f32) {
  ^bb0(%t: i32, %n: i64):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @loop_with_swapped_arguments(%b: i64, %c: i32) {
  // expected-error @+1 {{body takes (i32, i64) and the carried values}}
  tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 64 {
  ^bb0(%n: i64, %t: i32):
  }
  return
}

// -----

func.func @loop_carries_another_type(%b: i64, %c: i32, %x: f32) {
  // expected-error @+1 {{body argument of type 'f16' carries a value of type 'f32'}}
  %0 = tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 64 init(%x : f32) {
  ^bb0(%t: i32, %n: i64, %y: f16):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @loop_yields_another_type(%b: i64, %c: i32, %x: f32) {
  %0 = tile.for_keys full %b x %c left %b x %c right %b x %c of %b x %c step 64 init(%x : f32) {
  ^bb0(%t: i32, %n: i64, %y: f32):
    // expected-error @+1 {{must yield the carried types}}
    tile.yield %t : i32
  }
  return
}

// -----

func.func @loop_with_other_results(%b: i64, %c: i32, %x: f32) {
  // expected-error @+1 {{results have the types of the initial values}}
  %0 = "tile.for_keys"(%b, %c, %b, %c, %b, %c, %b, %c, %x) <{step = 64 : i64}> ({
  ^bb0(%t: i32, %n: i64, %y: f32):
    tile.yield %y : f32
  }) : (i64, i32, i64, i32, i64, i32, i64, i32, f32) -> i32
  return
}

// -----

func.func @stray_yield() {
  // expected-error @+1 {{expects parent op 'tile.for_keys'}}
  tile.yield
  return
}

// -----

// Shared memory.
func.func @copy_converts(%v: !tile.view<f16>, %n: i64, %b: !tile.buffer<2, 16, 32, f32>, %s: i32) {
  // expected-error @+1 {{buffer stages are 16x32 of 'f32'}}
  tile.copy_async %v[%n, %n] to %b[%s] : !tile.view<f16>, !tile.buffer<2, 16, 32, f32>
  return
}

// -----

func.func @reads_other_shape(%b: !tile.buffer<2, 16, 32, f16>, %s: i32) {
  // expected-error @+1 {{buffer stages are 16x32 of 'f16'}}
  %0 = tile.shared_read %b[%s] : !tile.buffer<2, 16, 32, f16> -> tensor<32x16xf16>
  return
}
