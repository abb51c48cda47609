// RUN: attn-opt %s --tile-to-nvvm --split-input-file --verify-diagnostics

// What has no form on the GPU is refused by name, never compiled to something else.

func.func @dot_of_loads(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %a = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{operand b must come from tile.shared_read; run tile-stage-loads first}}
  %d = tile.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  return
}

// -----

func.func @dot_with_sums(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %a = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x24xf32>
  // expected-error @+1 {{has row sums, which only tile.dot_async computes}}
  %d = tile.dot %a, %a, %c sums : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x24xf32>
  return
}

// -----

func.func @ones_before_values()
    attributes {tile.layout = #tile.accumulator<warps = 4, fragments = 1>, tile.grid = [], tile.groups = 1 : i64} {
  %zero = arith.constant 0 : i32
  %ones = tile.alloc_slabs : !tile.slabs<1, 16, 64, f16>
  %slabs = tile.alloc_slabs : !tile.slabs<1, 64, 64, f16>
  tile.fill_ones %ones : !tile.slabs<1, 16, 64, f16>
  %v = tile.slab_read %slabs[%zero] row %zero : !tile.slabs<1, 64, 64, f16> -> tensor<64x64xf16>
  // expected-error @+1 {{ones must be reserved after the slabs of b}}
  %d = tile.dot_async %v, %v ones %ones : tensor<64x64xf16>, tensor<64x64xf16> ones !tile.slabs<1, 16, 64, f16> -> tensor<64x72xf32>
  return
}

// -----

func.func @dot_in_rows(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %a = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<4x128xf16>
  %b = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<128x128xf16>
  %c = arith.constant dense<0.0> : tensor<4x128xf32>
  // expected-error @+1 {{needs #tile.accumulator}}
  %d = tile.dot %a, %b transposed, %c : tensor<4x128xf16>, tensor<128x128xf16>, tensor<4x128xf32>
  return
}

// -----

func.func @stage_used_otherwise(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %slot = arith.constant 0 : i32
  %buffer = tile.alloc_shared : !tile.buffer<1, 16, 16, f16>
  %narrow = tile.alloc_shared : !tile.buffer<1, 16, 16, f32>
  %a = tile.shared_read %buffer[%slot] : !tile.buffer<1, 16, 16, f16> -> tensor<16x16xf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{can only feed operands of tile.dot}}
  %e = tile.shared_read %narrow[%slot] : !tile.buffer<1, 16, 16, f32> -> tensor<16x16xf32>
  %d = tile.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %s = arith.addf %d, %e : tensor<16x16xf32>
  return
}

// -----

func.func @odd_buffer(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %slot = arith.constant 0 : i32
  // expected-error @+1 {{needs a multiple of 16 rows and of 32 bytes a row, not 8x16 of 'f16'}}
  %buffer = tile.alloc_shared : !tile.buffer<1, 8, 16, f16>
  %a = tile.shared_read %buffer[%slot] : !tile.buffer<1, 8, 16, f16> -> tensor<8x16xf16>
  return
}

// -----

func.func @tile_of_other_rows(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  // expected-error @+1 {{a tile of 'tensor<32x16xf16>' does not fit #tile.accumulator<warps = 1, fragments = 1>}}
  %a = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<32x16xf16>
  tile.store %a, %v[%zero, %zero] : tensor<32x16xf16>, !tile.view<f16>
  return
}

// -----

func.func @half_reduction(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %a = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<16x16xf16>
  // expected-error @+1 {{reduces f32, i32 and i64 only, not 'f16'}}
  %r = tile.reduce add %a : tensor<16x16xf16> -> tensor<16x1xf16>
  return
}

// -----

func.func @table(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  // expected-error @+1 {{a constant tile must be a splat}}
  %a = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf16>
  tile.store %a, %v[%zero, %zero] : tensor<1x8xf16>, !tile.view<f16>
  return
}

// -----

func.func @key_loop(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %c = arith.constant 0 : i32
  // expected-error @+1 {{must be gone before tile-to-nvvm; run tile-split-key-loop first}}
  tile.for_keys full %n x %c left %n x %c right %n x %c of %n x %c step 16 {
  ^bb0(%t: i32, %n0: i64):
  }
  return
}

// -----

func.func @staged(%p: !tile.ptr<f32>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.constant dense<1.0> : tensor<16x16xf32>
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %one] aligned 4 : !tile.ptr<f32>
  // expected-error @+1 {{staged needs whole tiles of warp groups, a multiple of 8 columns}}
  tile.store %c, %v[%zero, %zero] staged : tensor<16x16xf32>, !tile.view<f32>
  return
}

// -----

func.func @call(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  // expected-error @+1 {{has no lowering to NVIDIA GPUs}}
  func.call @key_loop(%p, %n) : (!tile.ptr<f16>, i64) -> ()
  return
}

func.func private @key_loop(!tile.ptr<f16>, i64)

// -----

func.func @lanes_of_what(%records: !tile.ptr<i32>)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>, tile.grid = []} {
  // expected-error @+1 {{needs 'tile.timeline' on its program}}
  tile.open_lane %records lanes 8 steps 8 : !tile.ptr<i32>
  tile.close_lane
  return
}
