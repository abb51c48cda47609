module attributes {tile.temporaries = []} {
  func.func @causal_pipelined_0_flash_bf16_64x64_mma16816(%arg0: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "M", kind = "stride", name = "q"}}, %arg4: i64 {tile.arg = {axis = "B", kind = "stride", name = "q"}}, %arg5: i64 {tile.arg = {axis = "H", kind = "stride", name = "q"}}, %arg6: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "q"}}, %arg7: i64 {tile.arg = {axis = "N", kind = "stride", name = "k"}}, %arg8: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg9: i64 {tile.arg = {axis = "B", kind = "stride", name = "k"}}, %arg10: i64 {tile.arg = {axis = "H", kind = "stride", name = "k"}}, %arg11: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "k"}}, %arg12: i64 {tile.arg = {axis = "N", kind = "stride", name = "v"}}, %arg13: i64 {tile.arg = {axis = "B", kind = "stride", name = "v"}}, %arg14: i64 {tile.arg = {axis = "H", kind = "stride", name = "v"}}, %arg15: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "v"}}, %arg16: i64 {tile.arg = {axis = "M", kind = "stride", name = "o"}}, %arg17: i64 {tile.arg = {axis = "B", kind = "stride", name = "o"}}, %arg18: i64 {tile.arg = {axis = "H", kind = "stride", name = "o"}}, %arg19: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "o"}}) attributes {tile.grid = [#tile.grid<"M", 64>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.label = "flash", tile.layout = #tile.accumulator<warps = 4, fragments = 1>, tile.prediction = [{axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 2.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 5.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "exponentials"}, {axes = ["B", "H", "M", "D"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {unit = "mma.f16", what = "tensorUnit"}], tile.schedule = "tile 64x64, 4 warps, 2 stages", tile.stages = 2 : i64} {
    %cst = arith.constant dense<0xFF800000> : tensor<64x64xf32>
    %c2_i32 = arith.constant 2 : i32
    %c63_i64 = arith.constant 63 : i64
    %c6_i64 = arith.constant 6 : i64
    %c1_i32 = arith.constant 1 : i32
    %c64_i64 = arith.constant 64 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c128_i64 = arith.constant 128 : i64
    %c-1_i64 = arith.constant -1 : i64
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst_1 = arith.constant dense<0xFF800000> : tensor<64x1xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_4 = arith.constant dense<0.127517432> : tensor<64x1xf32>
    %cst_5 = arith.constant dense<0.127517432> : tensor<64x64xf32>
    %cst_6 = arith.constant dense<1.000000e+00> : tensor<64x1xf32>
    %c-64_i64 = arith.constant -64 : i64
    %0 = tile.alloc_shared : <1, 64, 128, bf16>
    %1 = tile.alloc_shared : <2, 64, 128, bf16>
    %2 = tile.alloc_shared : <2, 64, 128, bf16>
    %3 = tile.block_id : i32
    %4 = arith.addi %arg0, %c63_i64 : i64
    %5 = arith.shrsi %4, %c6_i64 : i64
    %6 = arith.trunci %5 : i64 to i32
    %7 = arith.remui %3, %6 : i32
    %8 = arith.divui %3, %6 : i32
    %9 = arith.subi %6, %c1_i32 : i32
    %10 = arith.subi %9, %7 : i32
    %11 = arith.extsi %10 : i32 to i64
    %12 = arith.muli %11, %c64_i64 : i64
    %13 = arith.trunci %arg1 : i64 to i32
    %14 = arith.remui %8, %13 : i32
    %15 = arith.divui %8, %13 : i32
    %16 = arith.extsi %14 : i32 to i64
    %17 = arith.extsi %15 : i32 to i64
    %18 = arith.muli %17, %arg4 : i64
    %19 = arith.muli %16, %arg5 : i64
    %20 = arith.addi %18, %19 : i64
    %21 = tile.view %arg6[%20] size[%arg0, %c128_i64] stride[%arg3, %c1_i64] aligned 8 : <bf16>
    %22 = arith.muli %17, %arg9 : i64
    %23 = arith.muli %16, %arg10 : i64
    %24 = arith.addi %22, %23 : i64
    %25 = tile.view %arg11[%24] size[%arg8, %c128_i64] stride[%arg7, %c1_i64] aligned 8 : <bf16>
    %26 = arith.muli %17, %arg13 : i64
    %27 = arith.muli %16, %arg14 : i64
    %28 = arith.addi %26, %27 : i64
    %29 = tile.view %arg15[%28] size[%arg8, %c128_i64] stride[%arg12, %c1_i64] aligned 8 : <bf16>
    tile.copy_async %21[%12, %c0_i64] to %0[%c0_i32] : <bf16>, <1, 64, 128, bf16>
    tile.commit
    %30 = arith.addi %12, %c64_i64 : i64
    %31 = arith.minsi %30, %arg0 : i64
    %32 = arith.subi %31, %c1_i64 : i64
    %33 = arith.muli %11, %c-64_i64 : i64
    %34 = arith.muli %32, %c-1_i64 : i64
    %35 = arith.subi %c1_i64, %34 : i64
    %36 = arith.subi %c1_i64, %33 : i64
    %37 = arith.minsi %arg8, %35 : i64
    %38 = arith.minsi %arg8, %36 : i64
    %39 = arith.minsi %37, %arg8 : i64
    %40 = arith.maxsi %39, %c0_i64 : i64
    %41 = arith.shrsi %40, %c6_i64 : i64
    %42 = arith.muli %41, %c64_i64 : i64
    %43 = arith.minsi %38, %arg8 : i64
    %44 = arith.maxsi %43, %c0_i64 : i64
    %45 = arith.shrsi %44, %c6_i64 : i64
    %46 = arith.muli %45, %c64_i64 : i64
    %47 = arith.minsi %46, %42 : i64
    %48 = arith.cmpi sgt, %47, %c0_i64 : i64
    %49 = arith.select %48, %47, %c0_i64 : i64
    %50 = arith.maxsi %49, %c0_i64 : i64
    %51 = arith.addi %50, %c63_i64 : i64
    %52 = arith.shrsi %51, %c6_i64 : i64
    %53 = arith.trunci %52 : i64 to i32
    %54 = arith.subi %40, %49 : i64
    %55 = arith.maxsi %54, %c0_i64 : i64
    %56 = arith.addi %55, %c63_i64 : i64
    %57 = arith.shrsi %56, %c6_i64 : i64
    %58 = arith.trunci %57 : i64 to i32
    %59 = arith.addi %53, %58 : i32
    %60 = arith.cmpi sgt, %59, %c0_i32 : i32
    %61 = arith.subi %c0_i32, %53 : i32
    %62 = arith.cmpi sgt, %53, %c0_i32 : i32
    %63 = arith.cmpi slt, %61, %c0_i32 : i32
    %64 = arith.extsi %61 : i32 to i64
    %65 = arith.muli %64, %c64_i64 : i64
    %66 = arith.addi %49, %65 : i64
    %67 = arith.select %63, %65, %66 : i64
    %68 = arith.select %62, %c0_i64, %67 : i64
    scf.if %60 {
      tile.copy_async %25[%68, %c0_i64] to %2[%c0_i32] : <bf16>, <2, 64, 128, bf16>
      tile.copy_async %29[%68, %c0_i64] to %1[%c0_i32] : <bf16>, <2, 64, 128, bf16>
    }
    tile.commit
    tile.wait 1
    tile.barrier
    %69 = tile.shared_read %0[%c0_i32] : <1, 64, 128, bf16> -> tensor<64x128xbf16>
    %70:3 = scf.for %arg20 = %c0_i32 to %53 step %c1_i32 iter_args(%arg21 = %cst_0, %arg22 = %cst_1, %arg23 = %cst_2) -> (tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x1xf32>)  : i32 {
      %86 = arith.remui %arg20, %c2_i32 : i32
      tile.wait 0
      tile.barrier
      %87 = arith.addi %arg20, %c1_i32 : i32
      %88 = arith.remui %87, %c2_i32 : i32
      %89 = arith.cmpi slt, %87, %59 : i32
      %90 = arith.subi %87, %53 : i32
      %91 = arith.cmpi slt, %87, %53 : i32
      %92 = arith.cmpi slt, %90, %c0_i32 : i32
      %93 = arith.extsi %90 : i32 to i64
      %94 = arith.muli %93, %c64_i64 : i64
      %95 = arith.addi %49, %94 : i64
      %96 = arith.select %92, %94, %95 : i64
      %97 = arith.extsi %87 : i32 to i64
      %98 = arith.muli %97, %c64_i64 : i64
      %99 = arith.select %91, %98, %96 : i64
      scf.if %89 {
        tile.copy_async %25[%99, %c0_i64] to %2[%88] : <bf16>, <2, 64, 128, bf16>
        tile.copy_async %29[%99, %c0_i64] to %1[%88] : <bf16>, <2, 64, 128, bf16>
      }
      tile.commit
      %100 = tile.shared_read %2[%86] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
      %101 = tile.dot %69, %100 transposed, %cst_3 : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x64xf32>
      %102 = tile.reduce  max %101 : tensor<64x64xf32> -> tensor<64x1xf32>
      %103 = arith.mulf %102, %cst_4 : tensor<64x1xf32>
      %104 = arith.maxnumf %arg22, %103 : tensor<64x1xf32>
      %105 = arith.cmpf oeq, %104, %cst_1 : tensor<64x1xf32>
      %106 = arith.select %105, %cst_2, %104 : tensor<64x1xi1>, tensor<64x1xf32>
      %107 = arith.subf %arg22, %106 : tensor<64x1xf32>
      %108 = math.exp2 %107 : tensor<64x1xf32>
      %109 = arith.negf %106 : tensor<64x1xf32>
      %110 = tile.broadcast %109 : tensor<64x1xf32> -> tensor<64x64xf32>
      %111 = math.fma %101, %cst_5, %110 : tensor<64x64xf32>
      %112 = math.exp2 %111 : tensor<64x64xf32>
      %113 = tile.reduce  add %112 : tensor<64x64xf32> -> tensor<64x1xf32>
      %114 = math.fma %arg23, %108, %113 : tensor<64x1xf32>
      %115 = tile.broadcast %108 : tensor<64x1xf32> -> tensor<64x128xf32>
      %116 = arith.mulf %arg21, %115 : tensor<64x128xf32>
      %117 = arith.truncf %112 : tensor<64x64xf32> to tensor<64x64xbf16>
      %118 = tile.shared_read %1[%86] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
      %119 = tile.dot %117, %118, %116 : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
      scf.yield %119, %104, %114 : tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x1xf32>
    }
    %71 = tile.index %12 : tensor<64x1xi32>
    %72 = tile.broadcast %71 : tensor<64x1xi32> -> tensor<64x64xi32>
    %73 = arith.trunci %arg8 : i64 to i32
    %74 = tile.splat %73 : tensor<1x64xi32>
    %75:3 = scf.for %arg20 = %53 to %59 step %c1_i32 iter_args(%arg21 = %70#0, %arg22 = %70#1, %arg23 = %70#2) -> (tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x1xf32>)  : i32 {
      %86 = arith.subi %arg20, %53 : i32
      %87 = arith.cmpi slt, %arg20, %53 : i32
      %88 = arith.cmpi slt, %86, %c0_i32 : i32
      %89 = arith.extsi %86 : i32 to i64
      %90 = arith.muli %89, %c64_i64 : i64
      %91 = arith.addi %49, %90 : i64
      %92 = arith.select %88, %90, %91 : i64
      %93 = arith.extsi %arg20 : i32 to i64
      %94 = arith.muli %93, %c64_i64 : i64
      %95 = arith.select %87, %94, %92 : i64
      %96 = arith.remui %arg20, %c2_i32 : i32
      tile.wait 0
      tile.barrier
      %97 = arith.addi %arg20, %c1_i32 : i32
      %98 = arith.remui %97, %c2_i32 : i32
      %99 = arith.cmpi slt, %97, %59 : i32
      %100 = arith.subi %97, %53 : i32
      %101 = arith.cmpi slt, %97, %53 : i32
      %102 = arith.cmpi slt, %100, %c0_i32 : i32
      %103 = arith.extsi %100 : i32 to i64
      %104 = arith.muli %103, %c64_i64 : i64
      %105 = arith.addi %49, %104 : i64
      %106 = arith.select %102, %104, %105 : i64
      %107 = arith.extsi %97 : i32 to i64
      %108 = arith.muli %107, %c64_i64 : i64
      %109 = arith.select %101, %108, %106 : i64
      scf.if %99 {
        tile.copy_async %25[%109, %c0_i64] to %2[%98] : <bf16>, <2, 64, 128, bf16>
        tile.copy_async %29[%109, %c0_i64] to %1[%98] : <bf16>, <2, 64, 128, bf16>
      }
      tile.commit
      %110 = tile.shared_read %2[%96] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
      %111 = tile.dot %69, %110 transposed, %cst_3 : tensor<64x128xbf16>, tensor<64x128xbf16>, tensor<64x64xf32>
      %112 = tile.index %95 : tensor<1x64xi32>
      %113 = tile.broadcast %112 : tensor<1x64xi32> -> tensor<64x64xi32>
      %114 = arith.cmpi sle, %113, %72 : tensor<64x64xi32>
      %115 = arith.select %114, %111, %cst : tensor<64x64xi1>, tensor<64x64xf32>
      %116 = arith.cmpi slt, %112, %74 : tensor<1x64xi32>
      %117 = tile.broadcast %116 : tensor<1x64xi1> -> tensor<64x64xi1>
      %118 = arith.select %117, %115, %cst : tensor<64x64xi1>, tensor<64x64xf32>
      %119 = tile.reduce  max %118 : tensor<64x64xf32> -> tensor<64x1xf32>
      %120 = arith.mulf %119, %cst_4 : tensor<64x1xf32>
      %121 = arith.maxnumf %arg22, %120 : tensor<64x1xf32>
      %122 = arith.cmpf oeq, %121, %cst_1 : tensor<64x1xf32>
      %123 = arith.select %122, %cst_2, %121 : tensor<64x1xi1>, tensor<64x1xf32>
      %124 = arith.subf %arg22, %123 : tensor<64x1xf32>
      %125 = math.exp2 %124 : tensor<64x1xf32>
      %126 = arith.negf %123 : tensor<64x1xf32>
      %127 = tile.broadcast %126 : tensor<64x1xf32> -> tensor<64x64xf32>
      %128 = math.fma %118, %cst_5, %127 : tensor<64x64xf32>
      %129 = math.exp2 %128 : tensor<64x64xf32>
      %130 = tile.reduce  add %129 : tensor<64x64xf32> -> tensor<64x1xf32>
      %131 = math.fma %arg23, %125, %130 : tensor<64x1xf32>
      %132 = tile.broadcast %125 : tensor<64x1xf32> -> tensor<64x128xf32>
      %133 = arith.mulf %arg21, %132 : tensor<64x128xf32>
      %134 = arith.truncf %129 : tensor<64x64xf32> to tensor<64x64xbf16>
      %135 = tile.shared_read %1[%96] : <2, 64, 128, bf16> -> tensor<64x128xbf16>
      %136 = tile.dot %134, %135, %133 : tensor<64x64xbf16>, tensor<64x128xbf16>, tensor<64x128xf32>
      scf.yield %136, %121, %131 : tensor<64x128xf32>, tensor<64x1xf32>, tensor<64x1xf32>
    }
    %76 = arith.cmpf oeq, %75#2, %cst_2 : tensor<64x1xf32>
    %77 = arith.divf %cst_6, %75#2 : tensor<64x1xf32>
    %78 = arith.select %76, %cst_2, %77 : tensor<64x1xi1>, tensor<64x1xf32>
    %79 = tile.broadcast %78 : tensor<64x1xf32> -> tensor<64x128xf32>
    %80 = arith.mulf %75#0, %79 : tensor<64x128xf32>
    %81 = arith.truncf %80 : tensor<64x128xf32> to tensor<64x128xbf16>
    %82 = arith.muli %17, %arg17 : i64
    %83 = arith.muli %16, %arg18 : i64
    %84 = arith.addi %82, %83 : i64
    %85 = tile.view %arg19[%84] size[%arg0, %c128_i64] stride[%arg16, %c1_i64] aligned 8 : <bf16>
    tile.store %81, %85[%12, %c0_i64] : tensor<64x128xbf16>, <bf16>
    return
  }
}

// r
