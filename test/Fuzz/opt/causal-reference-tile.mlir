module attributes {tile.temporaries = [{axes = ["B", "H", "M", "N"], dtype = "f32", name = "t0", pad = 4 : i64}, {axes = ["B", "H", "M", "N"], dtype = "f32", name = "t1", pad = 4 : i64}, {axes = ["M", "N"], dtype = "f32", name = "t2", pad = 4 : i64}, {axes = ["B", "H", "M", "N"], dtype = "f32", name = "t3", pad = 4 : i64}, {axes = ["B", "H", "M", "N"], dtype = "f32", name = "t4", pad = 4 : i64}, {axes = ["B", "H", "N", "D"], dtype = "f32", name = "t5", pad = 4 : i64}]} {
  func.func @causal_flash_0_matmul_bf16_64x128_mma16816(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg4: i64 {tile.arg = {axis = "M", kind = "stride", name = "q"}}, %arg5: i64 {tile.arg = {axis = "B", kind = "stride", name = "q"}}, %arg6: i64 {tile.arg = {axis = "H", kind = "stride", name = "q"}}, %arg7: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "q"}}, %arg8: i64 {tile.arg = {axis = "N", kind = "stride", name = "k"}}, %arg9: i64 {tile.arg = {axis = "B", kind = "stride", name = "k"}}, %arg10: i64 {tile.arg = {axis = "H", kind = "stride", name = "k"}}, %arg11: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "k"}}, %arg12: i64 {tile.arg = {axis = "M", kind = "stride", name = "t0"}}, %arg13: i64 {tile.arg = {axis = "B", kind = "stride", name = "t0"}}, %arg14: i64 {tile.arg = {axis = "H", kind = "stride", name = "t0"}}, %arg15: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t0"}}) attributes {tile.grid = [#tile.grid<"N", 128>, #tile.grid<"M", 64>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "matmul", tile.layout = #tile.accumulator<warps = 4, fragments = 1>, tile.prediction = [{axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, what = "tensorFlops"}, {unit = "mma.f16", what = "tensorUnit"}], tile.schedule = "tile 64x128, 4 warps, depth 128, 1 stage", tile.stages = 1 : i64} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c64_i64 = arith.constant 64 : i64
    %c6_i64 = arith.constant 6 : i64
    %c63_i64 = arith.constant 63 : i64
    %c128_i64 = arith.constant 128 : i64
    %c7_i64 = arith.constant 7 : i64
    %c127_i64 = arith.constant 127 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c127_i64 : i64
    %2 = arith.shrsi %1, %c7_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c128_i64 : i64
    %8 = arith.addi %arg1, %c63_i64 : i64
    %9 = arith.shrsi %8, %c6_i64 : i64
    %10 = arith.trunci %9 : i64 to i32
    %11 = arith.remui %5, %10 : i32
    %12 = arith.divui %5, %10 : i32
    %13 = arith.extsi %11 : i32 to i64
    %14 = arith.muli %13, %c64_i64 : i64
    %15 = arith.trunci %arg2 : i64 to i32
    %16 = arith.remui %12, %15 : i32
    %17 = arith.divui %12, %15 : i32
    %18 = arith.extsi %16 : i32 to i64
    %19 = arith.extsi %17 : i32 to i64
    %20 = arith.muli %19, %arg5 : i64
    %21 = arith.muli %18, %arg6 : i64
    %22 = arith.addi %20, %21 : i64
    %23 = tile.view %arg7[%22] size[%arg1, %c128_i64] stride[%arg4, %c1_i64] aligned 8 : <bf16>
    %24 = arith.muli %19, %arg9 : i64
    %25 = arith.muli %18, %arg10 : i64
    %26 = arith.addi %24, %25 : i64
    %27 = tile.view %arg11[%26] size[%arg0, %c128_i64] stride[%arg8, %c1_i64] aligned 8 : <bf16>
    %28 = tile.load %23[%14, %c0_i64] : <bf16> -> tensor<64x128xbf16>
    %29 = tile.load %27[%7, %c0_i64] : <bf16> -> tensor<128x128xbf16>
    %30 = tile.dot %28, %29 transposed, %cst : tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<64x128xf32>
    %31 = arith.muli %19, %arg13 : i64
    %32 = arith.muli %18, %arg14 : i64
    %33 = arith.addi %31, %32 : i64
    %34 = tile.view %arg15[%33] size[%arg1, %arg0] stride[%arg12, %c1_i64] aligned 4 : <f32>
    tile.store %30, %34[%14, %7] : tensor<64x128xf32>, <f32>
    return
  }
  func.func @causal_flash_1_scale_f32_4x512(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg4: i64 {tile.arg = {axis = "M", kind = "stride", name = "t0"}}, %arg5: i64 {tile.arg = {axis = "B", kind = "stride", name = "t0"}}, %arg6: i64 {tile.arg = {axis = "H", kind = "stride", name = "t0"}}, %arg7: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t0"}}, %arg8: i64 {tile.arg = {axis = "M", kind = "stride", name = "t1"}}, %arg9: i64 {tile.arg = {axis = "B", kind = "stride", name = "t1"}}, %arg10: i64 {tile.arg = {axis = "H", kind = "stride", name = "t1"}}, %arg11: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t1"}}) attributes {tile.grid = [#tile.grid<"N", 512>, #tile.grid<"M", 4>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "scale", tile.layout = #tile.rows<warps = 4, vector = 4>, tile.prediction = [{axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, what = "scalarFlops"}], tile.schedule = "tile 4x512, 4 warps"} {
    %cst = arith.constant 0.0883883461 : f32
    %c1_i64 = arith.constant 1 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %c512_i64 = arith.constant 512 : i64
    %c9_i64 = arith.constant 9 : i64
    %c511_i64 = arith.constant 511 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c511_i64 : i64
    %2 = arith.shrsi %1, %c9_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c512_i64 : i64
    %8 = arith.addi %arg1, %c3_i64 : i64
    %9 = arith.shrsi %8, %c2_i64 : i64
    %10 = arith.trunci %9 : i64 to i32
    %11 = arith.remui %5, %10 : i32
    %12 = arith.divui %5, %10 : i32
    %13 = arith.extsi %11 : i32 to i64
    %14 = arith.muli %13, %c4_i64 : i64
    %15 = arith.trunci %arg2 : i64 to i32
    %16 = arith.remui %12, %15 : i32
    %17 = arith.divui %12, %15 : i32
    %18 = arith.extsi %16 : i32 to i64
    %19 = arith.extsi %17 : i32 to i64
    %20 = arith.muli %19, %arg5 : i64
    %21 = arith.muli %18, %arg6 : i64
    %22 = arith.addi %20, %21 : i64
    %23 = tile.view %arg7[%22] size[%arg1, %arg0] stride[%arg4, %c1_i64] aligned 4 : <f32>
    %24 = tile.load %23[%14, %7] : <f32> -> tensor<4x512xf32>
    %25 = tile.splat %cst : tensor<4x512xf32>
    %26 = arith.mulf %24, %25 : tensor<4x512xf32>
    %27 = arith.muli %19, %arg9 : i64
    %28 = arith.muli %18, %arg10 : i64
    %29 = arith.addi %27, %28 : i64
    %30 = tile.view %arg11[%29] size[%arg1, %arg0] stride[%arg8, %c1_i64] aligned 4 : <f32>
    tile.store %26, %30[%14, %7] : tensor<4x512xf32>, <f32>
    return
  }
  func.func @causal_flash_2_map_f32_4x512(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "M", kind = "stride", name = "t2"}}, %arg3: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t2"}}) attributes {tile.grid = [#tile.grid<"N", 512>, #tile.grid<"M", 4>], tile.label = "map", tile.layout = #tile.rows<warps = 4, vector = 4>, tile.prediction = [{axes = ["M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["M", "N"], coefficient = 2.000000e+00 : f64, what = "scalarFlops"}], tile.schedule = "tile 4x512, 4 warps"} {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c4_i64 = arith.constant 4 : i64
    %c512_i64 = arith.constant 512 : i64
    %c9_i64 = arith.constant 9 : i64
    %c511_i64 = arith.constant 511 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c511_i64 : i64
    %2 = arith.shrsi %1, %c9_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c512_i64 : i64
    %8 = arith.extsi %5 : i32 to i64
    %9 = arith.muli %8, %c4_i64 : i64
    %10 = tile.index %7 : tensor<1x512xi32>
    %11 = tile.index %9 : tensor<4x1xi32>
    %12 = tile.broadcast %10 : tensor<1x512xi32> -> tensor<4x512xi32>
    %13 = tile.broadcast %11 : tensor<4x1xi32> -> tensor<4x512xi32>
    %14 = arith.cmpi sle, %12, %13 : tensor<4x512xi32>
    %15 = tile.splat %cst : tensor<4x512xf32>
    %16 = tile.splat %cst_0 : tensor<4x512xf32>
    %17 = arith.select %14, %15, %16 : tensor<4x512xi1>, tensor<4x512xf32>
    %18 = tile.view %arg3[%c0_i64] size[%arg1, %arg0] stride[%arg2, %c1_i64] aligned 4 : <f32>
    tile.store %17, %18[%9, %7] : tensor<4x512xf32>, <f32>
    return
  }
  func.func @causal_flash_3_map_f32_4x512(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg4: i64 {tile.arg = {axis = "M", kind = "stride", name = "t1"}}, %arg5: i64 {tile.arg = {axis = "B", kind = "stride", name = "t1"}}, %arg6: i64 {tile.arg = {axis = "H", kind = "stride", name = "t1"}}, %arg7: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t1"}}, %arg8: i64 {tile.arg = {axis = "M", kind = "stride", name = "t2"}}, %arg9: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t2"}}, %arg10: i64 {tile.arg = {axis = "M", kind = "stride", name = "t3"}}, %arg11: i64 {tile.arg = {axis = "B", kind = "stride", name = "t3"}}, %arg12: i64 {tile.arg = {axis = "H", kind = "stride", name = "t3"}}, %arg13: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t3"}}) attributes {tile.grid = [#tile.grid<"N", 512>, #tile.grid<"M", 4>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "map", tile.layout = #tile.rows<warps = 4, vector = 4>, tile.prediction = [{axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, what = "scalarFlops"}], tile.schedule = "tile 4x512, 4 warps"} {
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %c512_i64 = arith.constant 512 : i64
    %c9_i64 = arith.constant 9 : i64
    %c511_i64 = arith.constant 511 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c511_i64 : i64
    %2 = arith.shrsi %1, %c9_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c512_i64 : i64
    %8 = arith.addi %arg1, %c3_i64 : i64
    %9 = arith.shrsi %8, %c2_i64 : i64
    %10 = arith.trunci %9 : i64 to i32
    %11 = arith.remui %5, %10 : i32
    %12 = arith.divui %5, %10 : i32
    %13 = arith.extsi %11 : i32 to i64
    %14 = arith.muli %13, %c4_i64 : i64
    %15 = arith.trunci %arg2 : i64 to i32
    %16 = arith.remui %12, %15 : i32
    %17 = arith.divui %12, %15 : i32
    %18 = arith.extsi %16 : i32 to i64
    %19 = arith.extsi %17 : i32 to i64
    %20 = arith.muli %19, %arg5 : i64
    %21 = arith.muli %18, %arg6 : i64
    %22 = arith.addi %20, %21 : i64
    %23 = tile.view %arg7[%22] size[%arg1, %arg0] stride[%arg4, %c1_i64] aligned 4 : <f32>
    %24 = tile.load %23[%14, %7] : <f32> -> tensor<4x512xf32>
    %25 = tile.view %arg9[%c0_i64] size[%arg1, %arg0] stride[%arg8, %c1_i64] aligned 4 : <f32>
    %26 = tile.load %25[%14, %7] : <f32> -> tensor<4x512xf32>
    %27 = arith.addf %24, %26 : tensor<4x512xf32>
    %28 = arith.muli %19, %arg11 : i64
    %29 = arith.muli %18, %arg12 : i64
    %30 = arith.addi %28, %29 : i64
    %31 = tile.view %arg13[%30] size[%arg1, %arg0] stride[%arg10, %c1_i64] aligned 4 : <f32>
    tile.store %27, %31[%14, %7] : tensor<4x512xf32>, <f32>
    return
  }
  func.func @causal_flash_4_softmax_f32_4x2048(%arg0: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg4: i64 {tile.arg = {axis = "M", kind = "stride", name = "t3"}}, %arg5: i64 {tile.arg = {axis = "B", kind = "stride", name = "t3"}}, %arg6: i64 {tile.arg = {axis = "H", kind = "stride", name = "t3"}}, %arg7: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t3"}}, %arg8: i64 {tile.arg = {axis = "M", kind = "stride", name = "t4"}}, %arg9: i64 {tile.arg = {axis = "B", kind = "stride", name = "t4"}}, %arg10: i64 {tile.arg = {axis = "H", kind = "stride", name = "t4"}}, %arg11: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t4"}}) attributes {tile.grid = [#tile.grid<"M", 4>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "softmax", tile.layout = #tile.rows<warps = 4, vector = 4>, tile.prediction = [{axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N"], coefficient = 8.000000e+00 : f64, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 2.000000e+00 : f64, what = "exponentials"}], tile.schedule = "tile 4x2048, 4 warps"} {
    %cst = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
    %cst_0 = arith.constant dense<1.44269502> : tensor<4x2048xf32>
    %cst_1 = arith.constant dense<1.44269502> : tensor<4x1xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<4x1xf32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<4x1xf32>
    %c2048_i64 = arith.constant 2048 : i64
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c3_i64 : i64
    %2 = arith.shrsi %1, %c2_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c4_i64 : i64
    %8 = arith.trunci %arg1 : i64 to i32
    %9 = arith.remui %5, %8 : i32
    %10 = arith.divui %5, %8 : i32
    %11 = arith.extsi %9 : i32 to i64
    %12 = arith.extsi %10 : i32 to i64
    %13:2 = scf.for %arg12 = %c0_i64 to %arg3 step %c2048_i64 iter_args(%arg13 = %cst_3, %arg14 = %cst_2) -> (tensor<4x1xf32>, tensor<4x1xf32>)  : i64 {
      %19 = arith.muli %12, %arg5 : i64
      %20 = arith.muli %11, %arg6 : i64
      %21 = arith.addi %19, %20 : i64
      %22 = tile.view %arg7[%21] size[%arg0, %arg3] stride[%arg4, %c1_i64] aligned 4 : <f32>
      %23 = tile.load %22[%7, %arg12] : <f32> -> tensor<4x2048xf32>
      %24 = tile.index %arg12 : tensor<1x2048xi32>
      %25 = arith.trunci %arg3 : i64 to i32
      %26 = tile.splat %25 : tensor<1x2048xi32>
      %27 = arith.cmpi slt, %24, %26 : tensor<1x2048xi32>
      %28 = tile.broadcast %27 : tensor<1x2048xi1> -> tensor<4x2048xi1>
      %29 = tile.mask %23, %28 : tensor<4x2048xf32>, tensor<4x2048xi1>
      %30 = tile.reduce  max %29 : tensor<4x2048xf32> -> tensor<4x1xf32>
      %31 = arith.mulf %30, %cst_1 : tensor<4x1xf32>
      %32 = arith.maxnumf %arg13, %31 : tensor<4x1xf32>
      %33 = arith.cmpf oeq, %32, %cst_3 : tensor<4x1xf32>
      %34 = arith.select %33, %cst_2, %32 : tensor<4x1xi1>, tensor<4x1xf32>
      %35 = arith.subf %arg13, %34 : tensor<4x1xf32>
      %36 = math.exp2 %35 : tensor<4x1xf32>
      %37 = arith.negf %34 : tensor<4x1xf32>
      %38 = tile.broadcast %37 : tensor<4x1xf32> -> tensor<4x2048xf32>
      %39 = math.fma %29, %cst_0, %38 : tensor<4x2048xf32>
      %40 = math.exp2 %39 : tensor<4x2048xf32>
      %41 = tile.reduce  add %40 : tensor<4x2048xf32> -> tensor<4x1xf32>
      %42 = math.fma %arg14, %36, %41 : tensor<4x1xf32>
      scf.yield %32, %42 : tensor<4x1xf32>, tensor<4x1xf32>
    }
    %14 = arith.cmpf oeq, %13#0, %cst_3 : tensor<4x1xf32>
    %15 = arith.select %14, %cst_2, %13#0 : tensor<4x1xi1>, tensor<4x1xf32>
    %16 = arith.cmpf oeq, %13#1, %cst_2 : tensor<4x1xf32>
    %17 = arith.divf %cst, %13#1 : tensor<4x1xf32>
    %18 = arith.select %16, %cst_2, %17 : tensor<4x1xi1>, tensor<4x1xf32>
    scf.for %arg12 = %c0_i64 to %arg3 step %c2048_i64  : i64 {
      %19 = arith.muli %12, %arg5 : i64
      %20 = arith.muli %11, %arg6 : i64
      %21 = arith.addi %19, %20 : i64
      %22 = tile.view %arg7[%21] size[%arg0, %arg3] stride[%arg4, %c1_i64] aligned 4 : <f32>
      %23 = tile.load %22[%7, %arg12] : <f32> -> tensor<4x2048xf32>
      %24 = tile.index %arg12 : tensor<1x2048xi32>
      %25 = arith.trunci %arg3 : i64 to i32
      %26 = tile.splat %25 : tensor<1x2048xi32>
      %27 = arith.cmpi slt, %24, %26 : tensor<1x2048xi32>
      %28 = tile.broadcast %27 : tensor<1x2048xi1> -> tensor<4x2048xi1>
      %29 = tile.mask %23, %28 : tensor<4x2048xf32>, tensor<4x2048xi1>
      %30 = arith.negf %15 : tensor<4x1xf32>
      %31 = tile.broadcast %30 : tensor<4x1xf32> -> tensor<4x2048xf32>
      %32 = math.fma %29, %cst_0, %31 : tensor<4x2048xf32>
      %33 = math.exp2 %32 : tensor<4x2048xf32>
      %34 = tile.broadcast %18 : tensor<4x1xf32> -> tensor<4x2048xf32>
      %35 = arith.mulf %33, %34 : tensor<4x2048xf32>
      %36 = arith.muli %12, %arg9 : i64
      %37 = arith.muli %11, %arg10 : i64
      %38 = arith.addi %36, %37 : i64
      %39 = tile.view %arg11[%38] size[%arg0, %arg3] stride[%arg8, %c1_i64] aligned 4 : <f32>
      tile.store %35, %39[%7, %arg12] : tensor<4x2048xf32>, <f32>
    }
    return
  }
  func.func @causal_flash_5_map_f32_4x512(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "N", kind = "stride", name = "v"}}, %arg4: i64 {tile.arg = {axis = "B", kind = "stride", name = "v"}}, %arg5: i64 {tile.arg = {axis = "H", kind = "stride", name = "v"}}, %arg6: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "v"}}, %arg7: i64 {tile.arg = {axis = "N", kind = "stride", name = "t5"}}, %arg8: i64 {tile.arg = {axis = "B", kind = "stride", name = "t5"}}, %arg9: i64 {tile.arg = {axis = "H", kind = "stride", name = "t5"}}, %arg10: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t5"}}) attributes {tile.grid = [#tile.grid<"D", 512>, #tile.grid<"N", 4>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "map", tile.layout = #tile.rows<warps = 4, vector = 4>, tile.prediction = [{axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 4.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "N", "D"], coefficient = 1.000000e+00 : f64, what = "scalarFlops"}], tile.schedule = "tile 4x512, 4 warps"} {
    %c0_i64 = arith.constant 0 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %c1_i64 = arith.constant 1 : i64
    %c128_i64 = arith.constant 128 : i64
    %0 = tile.block_id : i32
    %1 = arith.addi %arg0, %c3_i64 : i64
    %2 = arith.shrsi %1, %c2_i64 : i64
    %3 = arith.trunci %2 : i64 to i32
    %4 = arith.remui %0, %3 : i32
    %5 = arith.divui %0, %3 : i32
    %6 = arith.extsi %4 : i32 to i64
    %7 = arith.muli %6, %c4_i64 : i64
    %8 = arith.trunci %arg1 : i64 to i32
    %9 = arith.remui %5, %8 : i32
    %10 = arith.divui %5, %8 : i32
    %11 = arith.extsi %9 : i32 to i64
    %12 = arith.extsi %10 : i32 to i64
    %13 = arith.muli %12, %arg4 : i64
    %14 = arith.muli %11, %arg5 : i64
    %15 = arith.addi %13, %14 : i64
    %16 = tile.view %arg6[%15] size[%arg0, %c128_i64] stride[%arg3, %c1_i64] aligned 8 : <bf16>
    %17 = tile.load %16[%7, %c0_i64] : <bf16> -> tensor<4x512xbf16>
    %18 = arith.extf %17 : tensor<4x512xbf16> to tensor<4x512xf32>
    %19 = arith.muli %12, %arg8 : i64
    %20 = arith.muli %11, %arg9 : i64
    %21 = arith.addi %19, %20 : i64
    %22 = tile.view %arg10[%21] size[%arg0, %c128_i64] stride[%arg7, %c1_i64] aligned 4 : <f32>
    tile.store %18, %22[%7, %c0_i64] : tensor<4x512xf32>, <f32>
    return
  }
  func.func @causal_flash_6_matmul_f32_128x64_fma(%arg0: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "M", kind = "stride", name = "t4"}}, %arg4: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg5: i64 {tile.arg = {axis = "B", kind = "stride", name = "t4"}}, %arg6: i64 {tile.arg = {axis = "H", kind = "stride", name = "t4"}}, %arg7: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t4"}}, %arg8: i64 {tile.arg = {axis = "N", kind = "stride", name = "t5"}}, %arg9: i64 {tile.arg = {axis = "B", kind = "stride", name = "t5"}}, %arg10: i64 {tile.arg = {axis = "H", kind = "stride", name = "t5"}}, %arg11: !tile.ptr<f32> {tile.arg = {kind = "pointer", name = "t5"}}, %arg12: i64 {tile.arg = {axis = "M", kind = "stride", name = "o"}}, %arg13: i64 {tile.arg = {axis = "B", kind = "stride", name = "o"}}, %arg14: i64 {tile.arg = {axis = "H", kind = "stride", name = "o"}}, %arg15: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "o"}}) attributes {tile.grid = [#tile.grid<"D", 64>, #tile.grid<"M", 128>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "matmul", tile.layout = #tile.accumulator<warps = 8, fragments = 1>, tile.prediction = [{axes = ["B", "H", "M", "N"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 4.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "D", "N"], coefficient = 2.000000e+00 : f64, what = "tensorFlops"}, {axes = ["B", "H", "M", "D"], coefficient = 1.000000e+00 : f64, what = "scalarFlops"}, {unit = "fma.f32", what = "tensorUnit"}], tile.schedule = "tile 128x64, 8 warps, depth 32, 2 stages", tile.stages = 2 : i64} {
    %c2_i32 = arith.constant 2 : i32
    %c32_i64 = arith.constant 32 : i64
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf32>
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c7_i64 = arith.constant 7 : i64
    %c127_i64 = arith.constant 127 : i64
    %c64_i64 = arith.constant 64 : i64
    %c128_i64 = arith.constant 128 : i64
    %0 = tile.block_id : i32
    %1 = arith.remui %0, %c2_i32 : i32
    %2 = arith.divui %0, %c2_i32 : i32
    %3 = arith.extsi %1 : i32 to i64
    %4 = arith.muli %3, %c64_i64 : i64
    %5 = arith.addi %arg0, %c127_i64 : i64
    %6 = arith.shrsi %5, %c7_i64 : i64
    %7 = arith.trunci %6 : i64 to i32
    %8 = arith.remui %2, %7 : i32
    %9 = arith.divui %2, %7 : i32
    %10 = arith.extsi %8 : i32 to i64
    %11 = arith.muli %10, %c128_i64 : i64
    %12 = arith.trunci %arg1 : i64 to i32
    %13 = arith.remui %9, %12 : i32
    %14 = arith.divui %9, %12 : i32
    %15 = arith.extsi %13 : i32 to i64
    %16 = arith.extsi %14 : i32 to i64
    %17 = arith.muli %16, %arg5 : i64
    %18 = arith.muli %15, %arg6 : i64
    %19 = arith.addi %17, %18 : i64
    %20 = tile.view %arg7[%19] size[%arg0, %arg4] stride[%arg3, %c1_i64] aligned 4 : <f32>
    %21 = arith.muli %16, %arg9 : i64
    %22 = arith.muli %15, %arg10 : i64
    %23 = arith.addi %21, %22 : i64
    %24 = tile.view %arg11[%23] size[%arg4, %c128_i64] stride[%arg8, %c1_i64] aligned 4 : <f32>
    %25 = scf.for %arg16 = %c0_i64 to %arg4 step %c32_i64 iter_args(%arg17 = %cst) -> (tensor<128x64xf32>)  : i64 {
      %31 = tile.load %20[%11, %arg16] : <f32> -> tensor<128x32xf32>
      %32 = tile.load %24[%arg16, %4] : <f32> -> tensor<32x64xf32>
      %33 = tile.dot %31, %32, %arg17 : tensor<128x32xf32>, tensor<32x64xf32>, tensor<128x64xf32>
      scf.yield %33 : tensor<128x64xf32>
    }
    %26 = arith.truncf %25 : tensor<128x64xf32> to tensor<128x64xbf16>
    %27 = arith.muli %16, %arg13 : i64
    %28 = arith.muli %15, %arg14 : i64
    %29 = arith.addi %27, %28 : i64
    %30 = tile.view %arg15[%29] size[%arg0, %c128_i64] stride[%arg12, %c1_i64] aligned 8 : <bf16>
    tile.store %26, %30[%11, %4] : tensor<128x64xbf16>, <bf16>
    return
  }
}

// k
