// RUN: attn-opt %s --tile-to-cpu | FileCheck %s

// One head of causal attention, 64 rows a block, 64 keys a step. Exponentials are
// computed once, the output accumulator is rescaled where it lies.

// CHECK-LABEL: func.func @flash(
// CHECK: math.exp2 %{{.+}} : vector<16xf32>
// CHECK-NOT: tile.

func.func @flash(%q: !tile.ptr<f32>, %k: !tile.ptr<f32>, %v: !tile.ptr<f32>,
                 %o: !tile.ptr<f32>, %M: i64, %N: i64, %stride: i64,
                 %head: i64, %keyHead: i64, %causal: i1, %scale: f32)
    attributes {tile.layout = #tile.accumulator<warps = 1, fragments = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %D = arith.constant 64 : i64
  %rows = arith.constant 64 : i64
  %step = arith.constant 64 : i64
  %id = tile.block_id : i32
  %id64 = arith.extsi %id : i32 to i64
  %across = arith.ceildivsi %M, %rows : i64
  %bm = arith.remsi %id64, %across : i64
  %h = arith.divsi %id64, %across : i64
  %m0 = arith.muli %bm, %rows : i64
  %atQ = arith.muli %h, %head : i64
  %atK = arith.muli %h, %keyHead : i64
  %vq = tile.view %q[%atQ] size [%M, %D] stride [%stride, %one] aligned 4 : !tile.ptr<f32>
  %vk = tile.view %k[%atK] size [%N, %D] stride [%stride, %one] aligned 4 : !tile.ptr<f32>
  %vv = tile.view %v[%atK] size [%N, %D] stride [%stride, %one] aligned 4 : !tile.ptr<f32>
  %vo = tile.view %o[%atQ] size [%M, %D] stride [%stride, %one] aligned 4 : !tile.ptr<f32>
  %tq = tile.load %vq[%m0, %zero] : !tile.view<f32> -> tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %noSum = arith.constant dense<0.0> : tensor<64x1xf32>
  %noMax = arith.constant dense<0xFF800000> : tensor<64x1xf32>
  %low = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %unit = arith.constant dense<1.0> : tensor<64x1xf32>
  %m = tile.index %m0 : tensor<64x1xi32>
  %mm = tile.broadcast %m : tensor<64x1xi32> -> tensor<64x64xi32>
  %last = arith.trunci %N : i64 to i32
  %length = tile.splat %last : tensor<1x64xi32>
  %factor = tile.splat %scale : tensor<64x64xf32>
  %factorRow = tile.splat %scale : tensor<64x1xf32>
  %end = arith.addi %m0, %rows : i64
  %clipped = arith.minsi %end, %N : i64
  %to = arith.select %causal, %clipped, %N : i64
  %out:3 = scf.for %n0 = %zero to %to step %step
      iter_args(%acc = %none, %mx = %noMax, %sum = %noSum)
      -> (tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf32>) : i64 {
    %tk = tile.load %vk[%n0, %zero] : !tile.view<f32> -> tensor<64x64xf32>
    %s = tile.dot %tq, %tk transposed, %none : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    %n = tile.index %n0 : tensor<1x64xi32>
    %inside = arith.cmpi slt, %n, %length : tensor<1x64xi32>
    %insideAll = tile.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
    %nn = tile.broadcast %n : tensor<1x64xi32> -> tensor<64x64xi32>
    %before = arith.cmpi sle, %nn, %mm : tensor<64x64xi32>
    %free = arith.constant dense<true> : tensor<64x64xi1>
    %ruled = arith.select %causal, %before, %free : tensor<64x64xi1>
    %masked = arith.select %ruled, %s, %low : tensor<64x64xi1>, tensor<64x64xf32>
    %tailed = arith.select %insideAll, %masked, %low : tensor<64x64xi1>, tensor<64x64xf32>
    %most = tile.reduce max %tailed : tensor<64x64xf32> -> tensor<64x1xf32>
    %scaled = arith.mulf %most, %factorRow : tensor<64x1xf32>
    %next = arith.maxnumf %mx, %scaled : tensor<64x1xf32>
    %dead = arith.cmpf oeq, %next, %noMax : tensor<64x1xf32>
    %shift = arith.select %dead, %noSum, %next : tensor<64x1xi1>, tensor<64x1xf32>
    %fall = arith.subf %mx, %shift : tensor<64x1xf32>
    %correction = math.exp2 %fall : tensor<64x1xf32>
    %minus = arith.negf %shift : tensor<64x1xf32>
    %shifts = tile.broadcast %minus : tensor<64x1xf32> -> tensor<64x64xf32>
    %exponent = math.fma %tailed, %factor, %shifts : tensor<64x64xf32>
    %p = math.exp2 %exponent : tensor<64x64xf32>
    %rowSum = tile.reduce add %p : tensor<64x64xf32> -> tensor<64x1xf32>
    %newSum = math.fma %sum, %correction, %rowSum : tensor<64x1xf32>
    %corrections = tile.broadcast %correction : tensor<64x1xf32> -> tensor<64x64xf32>
    %rescaled = arith.mulf %acc, %corrections : tensor<64x64xf32>
    %tv = tile.load %vv[%n0, %zero] : !tile.view<f32> -> tensor<64x64xf32>
    %newAcc = tile.dot %p, %tv, %rescaled : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    scf.yield %newAcc, %next, %newSum : tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf32>
  }
  %empty = arith.cmpf oeq, %out#2, %noSum : tensor<64x1xf32>
  %quotient = arith.divf %unit, %out#2 : tensor<64x1xf32>
  %inverse = arith.select %empty, %noSum, %quotient : tensor<64x1xi1>, tensor<64x1xf32>
  %inverses = tile.broadcast %inverse : tensor<64x1xf32> -> tensor<64x64xf32>
  %result = arith.mulf %out#0, %inverses : tensor<64x64xf32>
  tile.store %result, %vo[%m0, %zero] : tensor<64x64xf32>, !tile.view<f32>
  return
}
