// RUN: attn-opt %s --tile-to-cpu | FileCheck %s

// Loop-carried tiles and branches whose results are tiles. Old values are read
// after new ones exist, so nothing here may be updated in place:
//   (x, y) -> (y, x + y), `steps` times
//   z = steps odd ? x : x * y with the count as a scalar beside it
//   (s, last) -> (s + a a, s), a matmul whose old accumulator is still wanted

// CHECK-LABEL: func.func @control(
// CHECK: scf.if %{{.+}} -> (f32)
// CHECK-NOT: tile.

func.func @control(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>, %steps: i64)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 1>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %size = arith.constant 16 : i64
  %tile1 = arith.constant 256 : i64
  %tile2 = arith.constant 512 : i64
  %tile3 = arith.constant 768 : i64
  %tile4 = arith.constant 1024 : i64
  %vin = tile.view %in[%zero] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %v0 = tile.view %out[%zero] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %v1 = tile.view %out[%tile1] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %v2 = tile.view %out[%tile2] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %v3 = tile.view %out[%tile3] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %v4 = tile.view %out[%tile4] size [%size, %size] stride [%size, %one] aligned 0 : !tile.ptr<f32>
  %a = tile.load %vin[%zero, %zero] : !tile.view<f32> -> tensor<16x16xf32>
  %half = arith.constant dense<0.5> : tensor<16x16xf32>
  %scaled = arith.mulf %a, %half : tensor<16x16xf32>
  %xy:2 = scf.for %i = %zero to %steps step %one iter_args(%x = %a, %y = %scaled)
      -> (tensor<16x16xf32>, tensor<16x16xf32>) : i64 {
    %sum = arith.addf %x, %y : tensor<16x16xf32>
    scf.yield %y, %sum : tensor<16x16xf32>, tensor<16x16xf32>
  }
  tile.store %xy#0, %v0[%zero, %zero] : tensor<16x16xf32>, !tile.view<f32>
  tile.store %xy#1, %v1[%zero, %zero] : tensor<16x16xf32>, !tile.view<f32>
  %rest = arith.remsi %steps, %two : i64
  %odd = arith.cmpi eq, %rest, %one : i64
  %c3 = arith.constant 3.0 : f32
  %c4 = arith.constant 4.0 : f32
  %z:2 = scf.if %odd -> (tensor<16x16xf32>, f32) {
    scf.yield %xy#0, %c3 : tensor<16x16xf32>, f32
  } else {
    %product = arith.mulf %xy#0, %xy#1 : tensor<16x16xf32>
    scf.yield %product, %c4 : tensor<16x16xf32>, f32
  }
  %count = tile.splat %z#1 : tensor<16x16xf32>
  %counted = arith.addf %z#0, %count : tensor<16x16xf32>
  tile.store %counted, %v2[%zero, %zero] : tensor<16x16xf32>, !tile.view<f32>
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %sl:2 = scf.for %i = %zero to %steps step %one iter_args(%s = %none, %last = %none)
      -> (tensor<16x16xf32>, tensor<16x16xf32>) : i64 {
    %more = tile.dot %scaled, %a transposed, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %more, %s : tensor<16x16xf32>, tensor<16x16xf32>
  }
  tile.store %sl#0, %v3[%zero, %zero] : tensor<16x16xf32>, !tile.view<f32>
  scf.if %odd {
    tile.store %sl#1, %v4[%zero, %zero] : tensor<16x16xf32>, !tile.view<f32>
  }
  return
}
