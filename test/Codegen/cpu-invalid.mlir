// RUN: attn-opt %s --tile-to-cpu --split-input-file --verify-diagnostics

// What has no form on the CPU is refused by name, never compiled to something else.

func.func @double(%p: !tile.ptr<f64>, %n: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f64>
  // expected-error @+1 {{tiles of 'f64' do not exist on the CPU; cast to f32}}
  %t = tile.load %v[%zero, %zero] : !tile.view<f64> -> tensor<8x16xf64>
  tile.store %t, %v[%zero, %zero] : tensor<8x16xf64>, !tile.view<f64>
  return
}

// -----

func.func @half_reduction(%p: !tile.ptr<f16>, %n: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f16>
  %t = tile.load %v[%zero, %zero] : !tile.view<f16> -> tensor<8x16xf16>
  // expected-error @+1 {{reduces 'f16'; widen the tile to f32}}
  %r = tile.reduce add %t : tensor<8x16xf16> -> tensor<8x1xf16>
  tile.store %r, %v[%zero, %zero] : tensor<8x1xf16>, !tile.view<f16>
  return
}

// -----

func.func @table(%p: !tile.ptr<f32>, %n: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f32>
  // expected-error @+1 {{tile constants hold one value; load others from memory}}
  %t = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  tile.store %t, %v[%zero, %zero] : tensor<1x2xf32>, !tile.view<f32>
  return
}

// -----

func.func @shared(%p: !tile.ptr<f32>)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>} {
  // expected-error @+1 {{has no form on the CPU}}
  %b = tile.alloc_shared : !tile.buffer<1, 16, 16, f32>
  return
}

// -----

// expected-error @+1 {{argument 0 is 'tensor<8x16xf32>'; a slot holds a pointer, an integer or a float}}
func.func @tile_argument(%t: tensor<8x16xf32>)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  return
}

// -----

func.func @sums(%p: !tile.ptr<f32>, %n: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>} {
  %zero = arith.constant 0 : i64
  %v = tile.view %p[%zero] size [%n, %n] stride [%n, %n] aligned 0 : !tile.ptr<f32>
  %a = tile.load %v[%zero, %zero] : !tile.view<f32> -> tensor<16x16xf32>
  %c = arith.constant dense<0.0> : tensor<16x24xf32>
  // expected-error @+1 {{has row sums, which only tile.dot_async computes}}
  %d = tile.dot %a, %a, %c sums : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x24xf32>
  return
}
