module attributes {tile.temporaries = []} {
  func.func @causal_specialized_0_flash_bf16_64x80_wgmma(%arg0: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg3: !tile.map<bf16> {tile.arg = {axes = ["D", "M", "H", "B"], box = array<i64: 64, 192, 1, 1>, kind = "map", name = "q"}}, %arg4: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg5: !tile.map<bf16> {tile.arg = {axes = ["D", "N", "H", "B"], box = array<i64: 64, 80, 1, 1>, kind = "map", name = "k"}}, %arg6: !tile.map<bf16> {tile.arg = {axes = ["D", "N", "H", "B"], box = array<i64: 64, 80, 1, 1>, kind = "map", name = "v"}}, %arg7: i64 {tile.arg = {axis = "M", kind = "stride", name = "o"}}, %arg8: i64 {tile.arg = {axis = "B", kind = "stride", name = "o"}}, %arg9: i64 {tile.arg = {axis = "H", kind = "stride", name = "o"}}, %arg10: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "o"}}) attributes {tile.grid = [#tile.grid<"M", 192>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.groups = 3 : i64, tile.label = "flash", tile.layout = #tile.accumulator<warps = 4, fragments = 1>, tile.prediction = [{axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 2.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 5.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "exponentials"}, {axes = ["B", "H", "M", "D"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {unit = "mma.f16", what = "tensorUnit"}], tile.schedule = "3 groups x 64x80, 3 stages, vote, turns 2", tile.stages = 3 : i64, tile.turns = 2 : i64, tile.vote = 1 : i64} {
    %cst = arith.constant dense<7.84206485> : tensor<64x1xf32>
    %cst_0 = arith.constant dense<8.000000e+00> : tensor<64x1xf32>
    %cst_1 = arith.constant dense<0.127517432> : tensor<64x1xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<64x80xf32>
    %c64_i32 = arith.constant 64 : i32
    %c3_i32 = arith.constant 3 : i32
    %c191_i64 = arith.constant 191 : i64
    %c192_i64 = arith.constant 192 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i32 = arith.constant 1 : i32
    %c1_i64 = arith.constant 1 : i64
    %c64_i64 = arith.constant 64 : i64
    %c0_i32 = arith.constant 0 : i32
    %c-1_i64 = arith.constant -1 : i64
    %c80_i64 = arith.constant 80 : i64
    %c79_i64 = arith.constant 79 : i64
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst_4 = arith.constant dense<0xFF800000> : tensor<64x1xf32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<64x8xf32>
    %cst_7 = arith.constant dense<0.127517432> : tensor<64x80xf32>
    %cst_8 = arith.constant dense<1.000000e+00> : tensor<64x1xf32>
    %c128_i64 = arith.constant 128 : i64
    %0 = tile.alloc_slabs : <1, 192, 128, bf16>
    %1 = tile.alloc_slabs : <3, 80, 128, bf16>
    %2 = tile.alloc_slabs : <3, 80, 128, bf16>
    %3 = tile.alloc_signals : <1, arrivals = 1>
    %4 = tile.alloc_signals : <3, arrivals = 1>
    %5 = tile.alloc_signals : <3, arrivals = 1>
    %6 = tile.alloc_signals : <3, arrivals = 12>
    %7 = tile.alloc_signals : <3, arrivals = 12>
    %8 = tile.block_id : i32
    %9 = arith.addi %arg0, %c191_i64 : i64
    %10 = arith.remsi %9, %c192_i64 : i64
    %11 = arith.cmpi slt, %10, %c0_i64 : i64
    %12 = arith.divsi %9, %c192_i64 : i64
    %13 = arith.extui %11 : i1 to i64
    %14 = arith.subi %12, %13 : i64
    %15 = arith.trunci %14 : i64 to i32
    %16 = arith.remui %8, %15 : i32
    %17 = arith.divui %8, %15 : i32
    %18 = arith.subi %15, %c1_i32 : i32
    %19 = arith.subi %18, %16 : i32
    %20 = arith.extsi %19 : i32 to i64
    %21 = arith.muli %20, %c192_i64 : i64
    %22 = arith.trunci %arg1 : i64 to i32
    %23 = arith.remui %17, %22 : i32
    %24 = arith.divui %17, %22 : i32
    %25 = arith.extsi %23 : i32 to i64
    %26 = arith.extsi %24 : i32 to i64
    %27 = tile.group_id : i32
    %28 = arith.extui %27 : i32 to i64
    %29 = arith.muli %28, %c64_i64 : i64
    %30 = arith.addi %21, %29 : i64
    %31 = arith.subi %arg0, %c1_i64 : i64
    %32 = arith.minsi %30, %31 : i64
    %33 = arith.addi %30, %c64_i64 : i64
    %34 = arith.minsi %33, %arg0 : i64
    %35 = arith.subi %34, %c1_i64 : i64
    %36 = arith.muli %32, %c-1_i64 : i64
    %37 = arith.muli %35, %c-1_i64 : i64
    %38 = arith.subi %c1_i64, %37 : i64
    %39 = arith.subi %c1_i64, %36 : i64
    %40 = arith.minsi %arg4, %38 : i64
    %41 = arith.minsi %arg4, %39 : i64
    %42 = arith.minsi %40, %arg4 : i64
    %43 = arith.maxsi %42, %c0_i64 : i64
    %44 = arith.remsi %43, %c80_i64 : i64
    %45 = arith.cmpi slt, %44, %c0_i64 : i64
    %46 = arith.divsi %43, %c80_i64 : i64
    %47 = arith.extui %45 : i1 to i64
    %48 = arith.subi %46, %47 : i64
    %49 = arith.muli %48, %c80_i64 : i64
    %50 = arith.minsi %41, %arg4 : i64
    %51 = arith.maxsi %50, %c0_i64 : i64
    %52 = arith.remsi %51, %c80_i64 : i64
    %53 = arith.cmpi slt, %52, %c0_i64 : i64
    %54 = arith.divsi %51, %c80_i64 : i64
    %55 = arith.extui %53 : i1 to i64
    %56 = arith.subi %54, %55 : i64
    %57 = arith.muli %56, %c80_i64 : i64
    %58 = arith.minsi %57, %49 : i64
    %59 = arith.cmpi sgt, %58, %c0_i64 : i64
    %60 = arith.select %59, %58, %c0_i64 : i64
    %61 = arith.maxsi %60, %c0_i64 : i64
    %62 = arith.addi %61, %c79_i64 : i64
    %63 = arith.remsi %62, %c80_i64 : i64
    %64 = arith.cmpi slt, %63, %c0_i64 : i64
    %65 = arith.divsi %62, %c80_i64 : i64
    %66 = arith.extui %64 : i1 to i64
    %67 = arith.subi %65, %66 : i64
    %68 = arith.trunci %67 : i64 to i32
    %69 = arith.subi %43, %60 : i64
    %70 = arith.maxsi %69, %c0_i64 : i64
    %71 = arith.addi %70, %c79_i64 : i64
    %72 = arith.remsi %71, %c80_i64 : i64
    %73 = arith.cmpi slt, %72, %c0_i64 : i64
    %74 = arith.divsi %71, %c80_i64 : i64
    %75 = arith.extui %73 : i1 to i64
    %76 = arith.subi %74, %75 : i64
    %77 = arith.trunci %76 : i64 to i32
    %78 = arith.addi %21, %c192_i64 : i64
    %79 = arith.minsi %78, %arg0 : i64
    %80 = arith.subi %79, %c1_i64 : i64
    %81 = arith.muli %80, %c-1_i64 : i64
    %82 = arith.subi %c1_i64, %81 : i64
    %83 = arith.minsi %arg4, %82 : i64
    %84 = arith.minsi %83, %arg4 : i64
    %85 = arith.maxsi %84, %c0_i64 : i64
    %86 = arith.maxsi %85, %c0_i64 : i64
    %87 = arith.addi %86, %c79_i64 : i64
    %88 = arith.remsi %87, %c80_i64 : i64
    %89 = arith.cmpi slt, %88, %c0_i64 : i64
    %90 = arith.divsi %87, %c80_i64 : i64
    %91 = arith.extui %89 : i1 to i64
    %92 = arith.subi %90, %91 : i64
    %93 = arith.trunci %92 : i64 to i32
    %94 = arith.maxsi %93, %c1_i32 : i32
    %95 = arith.addi %68, %77 : i32
    %96 = arith.cmpi eq, %95, %c0_i32 : i32
    %97 = arith.select %96, %c0_i64, %60 : i64
    %98 = arith.select %96, %c1_i32, %77 : i32
    tile.specialize groups 3 producer registers 32 {
      %99 = arith.subi %94, %c1_i32 : i32
      %100 = arith.extsi %99 : i32 to i64
      %101 = arith.muli %100, %c80_i64 : i64
      tile.signal_wait %6[%c0_i32] parity %c1_i32 : <3, arrivals = 12>
      %102 = arith.cmpi eq, %arg4, %c0_i64 : i64
      %103 = arith.extui %102 : i1 to i64
      %104 = arith.addi %101, %103 : i64
      %105 = arith.trunci %104 : i64 to i32
      tile.copy_box %arg5[%c0_i32, %105, %23, %24] to %1 signal %4[%c0_i32] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
      %106 = arith.trunci %21 : i64 to i32
      tile.copy_box %arg3[%c0_i32, %106, %23, %24] to %0 signal %3[%c0_i32] : <bf16>, <1, 192, 128, bf16>, <1, arrivals = 1>
      %107:4 = scf.for %arg11 = %c0_i32 to %99 step %c1_i32 iter_args(%arg12 = %c1_i32, %arg13 = %c0_i32, %arg14 = %c0_i32, %arg15 = %c0_i32) -> (i32, i32, i32, i32)  : i32 {
        %110 = arith.subi %99, %arg11 : i32
        %111 = arith.subi %110, %c1_i32 : i32
        %112 = arith.extsi %111 : i32 to i64
        %113 = arith.muli %112, %c80_i64 : i64
        %114 = arith.xori %arg13, %c1_i32 : i32
        tile.signal_wait %6[%arg12] parity %114 : <3, arrivals = 12>
        %115 = arith.addi %113, %103 : i64
        %116 = arith.trunci %115 : i64 to i32
        tile.copy_box %arg5[%c0_i32, %116, %23, %24] to %1 signal %4[%arg12] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
        %117 = arith.addi %arg12, %c1_i32 : i32
        %118 = arith.cmpi eq, %117, %c3_i32 : i32
        %119 = arith.extui %118 : i1 to i32
        %120 = arith.select %118, %c0_i32, %117 : i32
        %121 = arith.xori %arg13, %119 : i32
        %122 = arith.extsi %110 : i32 to i64
        %123 = arith.muli %122, %c80_i64 : i64
        %124 = arith.xori %arg15, %c1_i32 : i32
        tile.signal_wait %7[%arg14] parity %124 : <3, arrivals = 12>
        %125 = arith.addi %123, %103 : i64
        %126 = arith.trunci %125 : i64 to i32
        tile.copy_box %arg6[%c0_i32, %126, %23, %24] to %2 signal %5[%arg14] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
        %127 = arith.addi %arg14, %c1_i32 : i32
        %128 = arith.cmpi eq, %127, %c3_i32 : i32
        %129 = arith.extui %128 : i1 to i32
        %130 = arith.select %128, %c0_i32, %127 : i32
        %131 = arith.xori %arg15, %129 : i32
        scf.yield %120, %121, %130, %131 : i32, i32, i32, i32
      }
      %108 = arith.xori %107#3, %c1_i32 : i32
      tile.signal_wait %7[%107#2] parity %108 : <3, arrivals = 12>
      %109 = arith.extui %102 : i1 to i32
      tile.copy_box %arg6[%c0_i32, %109, %23, %24] to %2 signal %5[%107#2] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
    } consumer registers 160 {
      tile.turn_pass of 3 first
      %99 = arith.addi %68, %98 : i32
      %100 = arith.subi %94, %99 : i32
      %101:4 = scf.for %arg11 = %c0_i32 to %100 step %c1_i32 iter_args(%arg12 = %c0_i32, %arg13 = %c0_i32, %arg14 = %c0_i32, %arg15 = %c0_i32) -> (i32, i32, i32, i32)  : i32 {
        tile.signal_wait %4[%arg12] parity %arg13 : <3, arrivals = 1>
        tile.signal_arrive %6[%arg12] : <3, arrivals = 12>
        tile.signal_wait %5[%arg14] parity %arg15 : <3, arrivals = 1>
        tile.signal_arrive %7[%arg14] : <3, arrivals = 12>
        tile.turn_wait of 3
        tile.turn_pass of 3
        %166 = arith.addi %arg12, %c1_i32 : i32
        %167 = arith.cmpi eq, %166, %c3_i32 : i32
        %168 = arith.extui %167 : i1 to i32
        %169 = arith.select %167, %c0_i32, %166 : i32
        %170 = arith.xori %arg13, %168 : i32
        %171 = arith.addi %arg14, %c1_i32 : i32
        %172 = arith.cmpi eq, %171, %c3_i32 : i32
        %173 = arith.extui %172 : i1 to i32
        %174 = arith.select %172, %c0_i32, %171 : i32
        %175 = arith.xori %arg15, %173 : i32
        scf.yield %169, %170, %174, %175 : i32, i32, i32, i32
      }
      tile.signal_wait %3[%c0_i32] parity %c0_i32 : <1, arrivals = 1>
      %102 = arith.subi %99, %c1_i32 : i32
      %103 = arith.extsi %102 : i32 to i64
      %104 = arith.muli %103, %c80_i64 : i64
      tile.signal_wait %4[%101#0] parity %101#1 : <3, arrivals = 1>
      %105 = arith.muli %27, %c64_i32 : i32
      %106 = tile.slab_read %0[%c0_i32] row %105 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
      %107 = tile.slab_read %1[%101#0] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
      %108 = tile.dot_async %106, %107 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
      %109 = tile.dot_wait %108 pending 0 : tensor<64x80xf32>
      tile.signal_arrive %6[%101#0] : <3, arrivals = 12>
      %110 = arith.addi %101#0, %c1_i32 : i32
      %111 = arith.cmpi eq, %110, %c3_i32 : i32
      %112 = arith.extui %111 : i1 to i32
      %113 = arith.select %111, %c0_i32, %110 : i32
      %114 = arith.xori %101#1, %112 : i32
      %115 = tile.index %104 : tensor<1x80xi32>
      %116 = tile.index %30 : tensor<64x1xi32>
      %117 = tile.broadcast %115 : tensor<1x80xi32> -> tensor<64x80xi32>
      %118 = tile.broadcast %116 : tensor<64x1xi32> -> tensor<64x80xi32>
      %119 = arith.cmpi sle, %117, %118 : tensor<64x80xi32>
      %120 = arith.select %119, %109, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
      %121 = arith.trunci %arg4 : i64 to i32
      %122 = tile.splat %121 : tensor<1x80xi32>
      %123 = arith.cmpi slt, %115, %122 : tensor<1x80xi32>
      %124 = tile.broadcast %123 : tensor<1x80xi1> -> tensor<64x80xi1>
      %125 = arith.select %124, %120, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
      %126 = tile.reduce  max %125 : tensor<64x80xf32> -> tensor<64x1xf32>
      %127 = arith.mulf %126, %cst_1 : tensor<64x1xf32>
      %128 = arith.maxnumf %127, %cst_4 : tensor<64x1xf32>
      %129 = arith.cmpf oeq, %128, %cst_4 : tensor<64x1xf32>
      %130 = arith.select %129, %cst_5, %128 : tensor<64x1xi1>, tensor<64x1xf32>
      %131 = arith.subf %cst_4, %130 : tensor<64x1xf32>
      %132 = math.exp2 %131 : tensor<64x1xf32>
      %133 = arith.negf %130 : tensor<64x1xf32>
      %134 = tile.broadcast %133 : tensor<64x1xf32> -> tensor<64x80xf32>
      %135 = math.fma %125, %cst_7, %134 : tensor<64x80xf32>
      %136 = math.exp2 %135 : tensor<64x80xf32>
      %137 = tile.fold  add %136 : tensor<64x80xf32> -> tensor<64x8xf32>
      %138 = tile.broadcast %132 : tensor<64x1xf32> -> tensor<64x8xf32>
      %139 = math.fma %cst_6, %138, %137 : tensor<64x8xf32>
      %140 = arith.truncf %136 : tensor<64x80xf32> to tensor<64x80xbf16>
      %141 = arith.cmpi sgt, %98, %c0_i32 : i32
      %142 = arith.extui %141 : i1 to i32
      %143 = arith.subi %98, %142 : i32
      %144 = arith.subi %c1_i32, %142 : i32
      %145 = arith.cmpi sgt, %68, %c0_i32 : i32
      %146 = arith.extui %145 : i1 to i32
      %147 = arith.minsi %144, %146 : i32
      %148 = arith.subi %68, %147 : i32
      %149 = arith.subi %143, %c1_i32 : i32
      %150:8 = scf.for %arg11 = %c0_i32 to %143 step %c1_i32 iter_args(%arg12 = %113, %arg13 = %114, %arg14 = %101#2, %arg15 = %101#3, %arg16 = %cst_3, %arg17 = %140, %arg18 = %128, %arg19 = %139) -> (i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>)  : i32 {
        %166 = arith.subi %149, %arg11 : i32
        %167 = arith.extsi %166 : i32 to i64
        %168 = arith.muli %167, %c80_i64 : i64
        %169 = arith.addi %97, %168 : i64
        tile.signal_wait %4[%arg12] parity %arg13 : <3, arrivals = 1>
        tile.turn_wait of 3
        %170 = tile.slab_read %0[%c0_i32] row %105 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
        %171 = tile.slab_read %1[%arg12] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %172 = tile.dot_async %170, %171 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
        tile.signal_wait %5[%arg14] parity %arg15 : <3, arrivals = 1>
        %173 = tile.slab_read %2[%arg14] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %174 = tile.dot_async %arg17, %173 onto %arg16 : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
        %175 = tile.dot_wait %172 pending 1 : tensor<64x80xf32>
        tile.turn_pass of 3
        tile.signal_arrive %6[%arg12] : <3, arrivals = 12>
        %176 = arith.addi %arg12, %c1_i32 : i32
        %177 = arith.cmpi eq, %176, %c3_i32 : i32
        %178 = arith.extui %177 : i1 to i32
        %179 = arith.select %177, %c0_i32, %176 : i32
        %180 = arith.xori %arg13, %178 : i32
        %181 = tile.index %169 : tensor<1x80xi32>
        %182 = tile.broadcast %181 : tensor<1x80xi32> -> tensor<64x80xi32>
        %183 = arith.cmpi sle, %182, %118 : tensor<64x80xi32>
        %184 = arith.select %183, %175, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
        %185 = arith.cmpi slt, %181, %122 : tensor<1x80xi32>
        %186 = tile.broadcast %185 : tensor<1x80xi1> -> tensor<64x80xi1>
        %187 = arith.select %186, %184, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
        %188 = tile.reduce  max %187 : tensor<64x80xf32> -> tensor<64x1xf32>
        %189 = arith.mulf %188, %cst_1 : tensor<64x1xf32>
        %190 = arith.maxnumf %arg18, %189 : tensor<64x1xf32>
        %191 = arith.cmpf oeq, %190, %cst_4 : tensor<64x1xf32>
        %192 = arith.select %191, %cst_5, %190 : tensor<64x1xi1>, tensor<64x1xf32>
        %193 = arith.subf %arg18, %192 : tensor<64x1xf32>
        %194 = math.exp2 %193 : tensor<64x1xf32>
        %195 = arith.negf %192 : tensor<64x1xf32>
        %196 = tile.broadcast %195 : tensor<64x1xf32> -> tensor<64x80xf32>
        %197 = math.fma %187, %cst_7, %196 : tensor<64x80xf32>
        %198 = math.exp2 %197 : tensor<64x80xf32>
        %199 = tile.fold  add %198 : tensor<64x80xf32> -> tensor<64x8xf32>
        %200 = tile.broadcast %194 : tensor<64x1xf32> -> tensor<64x8xf32>
        %201 = math.fma %arg19, %200, %199 : tensor<64x8xf32>
        %202 = tile.dot_wait %174 holding(%arg17 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
        tile.signal_arrive %7[%arg14] : <3, arrivals = 12>
        %203 = arith.addi %arg14, %c1_i32 : i32
        %204 = arith.cmpi eq, %203, %c3_i32 : i32
        %205 = arith.extui %204 : i1 to i32
        %206 = arith.select %204, %c0_i32, %203 : i32
        %207 = arith.xori %arg15, %205 : i32
        %208 = tile.broadcast %194 : tensor<64x1xf32> -> tensor<64x128xf32>
        %209 = arith.mulf %202, %208 : tensor<64x128xf32>
        %210 = arith.truncf %198 : tensor<64x80xf32> to tensor<64x80xbf16>
        scf.yield %179, %180, %206, %207, %209, %210, %190, %201 : i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>
      }
      %151:8 = scf.for %arg11 = %c0_i32 to %148 step %c1_i32 iter_args(%arg12 = %150#0, %arg13 = %150#1, %arg14 = %150#2, %arg15 = %150#3, %arg16 = %150#4, %arg17 = %150#5, %arg18 = %150#6, %arg19 = %150#7) -> (i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>)  : i32 {
        tile.signal_wait %4[%arg12] parity %arg13 : <3, arrivals = 1>
        tile.turn_wait of 3
        %166 = tile.slab_read %0[%c0_i32] row %105 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
        %167 = tile.slab_read %1[%arg12] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %168 = tile.dot_async %166, %167 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
        tile.signal_wait %5[%arg14] parity %arg15 : <3, arrivals = 1>
        %169 = tile.slab_read %2[%arg14] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %170 = tile.dot_async %arg17, %169 onto %arg16 : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
        %171 = tile.dot_wait %168 pending 1 : tensor<64x80xf32>
        tile.turn_pass of 3
        tile.signal_arrive %6[%arg12] : <3, arrivals = 12>
        %172 = arith.addi %arg12, %c1_i32 : i32
        %173 = arith.cmpi eq, %172, %c3_i32 : i32
        %174 = arith.extui %173 : i1 to i32
        %175 = arith.select %173, %c0_i32, %172 : i32
        %176 = arith.xori %arg13, %174 : i32
        %177 = arith.bitcast %171 : tensor<64x80xf32> to tensor<64x80xi32>
        %178 = tile.fold  max_int %177 : tensor<64x80xi32> -> tensor<64x8xi32>
        %179 = arith.addf %arg18, %cst_0 : tensor<64x1xf32>
        %180 = arith.mulf %179, %cst : tensor<64x1xf32>
        %181 = arith.bitcast %180 : tensor<64x1xf32> to tensor<64x1xi32>
        %182 = tile.broadcast %181 : tensor<64x1xi32> -> tensor<64x8xi32>
        %183 = arith.cmpi sgt, %178, %182 : tensor<64x8xi32>
        %184 = arith.cmpf ole, %180, %cst_5 : tensor<64x1xf32>
        %185 = tile.broadcast %184 : tensor<64x1xi1> -> tensor<64x8xi1>
        %186 = arith.ori %183, %185 : tensor<64x8xi1>
        %187 = tile.any %186 : tensor<64x8xi1>
        %188:2 = scf.if %187 -> (tensor<64x1xf32>, tensor<64x1xf32>) {
          %206 = tile.reduce  max %171 : tensor<64x80xf32> -> tensor<64x1xf32>
          %207 = arith.mulf %206, %cst_1 : tensor<64x1xf32>
          %208 = arith.maxnumf %arg18, %207 : tensor<64x1xf32>
          %209 = arith.cmpf oeq, %208, %cst_4 : tensor<64x1xf32>
          %210 = arith.select %209, %cst_5, %208 : tensor<64x1xi1>, tensor<64x1xf32>
          %211 = arith.subf %arg18, %210 : tensor<64x1xf32>
          %212 = math.exp2 %211 : tensor<64x1xf32>
          scf.yield %208, %212 : tensor<64x1xf32>, tensor<64x1xf32>
        } else {
          scf.yield %arg18, %cst_8 : tensor<64x1xf32>, tensor<64x1xf32>
        }
        %189 = arith.cmpf oeq, %188#0, %cst_4 : tensor<64x1xf32>
        %190 = arith.select %189, %cst_5, %188#0 : tensor<64x1xi1>, tensor<64x1xf32>
        %191 = arith.negf %190 : tensor<64x1xf32>
        %192 = tile.broadcast %191 : tensor<64x1xf32> -> tensor<64x80xf32>
        %193 = math.fma %171, %cst_7, %192 : tensor<64x80xf32>
        %194 = math.exp2 %193 : tensor<64x80xf32>
        %195 = tile.fold  add %194 : tensor<64x80xf32> -> tensor<64x8xf32>
        %196 = tile.broadcast %188#1 : tensor<64x1xf32> -> tensor<64x8xf32>
        %197 = math.fma %arg19, %196, %195 : tensor<64x8xf32>
        %198 = tile.dot_wait %170 holding(%arg17 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
        tile.signal_arrive %7[%arg14] : <3, arrivals = 12>
        %199 = arith.addi %arg14, %c1_i32 : i32
        %200 = arith.cmpi eq, %199, %c3_i32 : i32
        %201 = arith.extui %200 : i1 to i32
        %202 = arith.select %200, %c0_i32, %199 : i32
        %203 = arith.xori %arg15, %201 : i32
        %204 = scf.if %187 -> (tensor<64x128xf32>) {
          %206 = tile.broadcast %188#1 : tensor<64x1xf32> -> tensor<64x128xf32>
          %207 = arith.mulf %198, %206 : tensor<64x128xf32>
          scf.yield %207 : tensor<64x128xf32>
        } else {
          scf.yield %198 : tensor<64x128xf32>
        }
        %205 = arith.truncf %194 : tensor<64x80xf32> to tensor<64x80xbf16>
        scf.yield %175, %176, %202, %203, %204, %205, %188#0, %197 : i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>
      }
      tile.signal_wait %5[%151#2] parity %151#3 : <3, arrivals = 1>
      %152 = tile.slab_read %2[%151#2] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
      %153 = tile.dot_async %151#5, %152 onto %151#4 fence : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
      %154 = tile.dot_wait %153 holding(%151#5 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
      tile.signal_arrive %7[%151#2] : <3, arrivals = 12>
      %155 = tile.reduce  add %151#7 : tensor<64x8xf32> -> tensor<64x1xf32>
      %156 = arith.cmpf oeq, %155, %cst_5 : tensor<64x1xf32>
      %157 = arith.divf %cst_8, %155 : tensor<64x1xf32>
      %158 = arith.select %156, %cst_5, %157 : tensor<64x1xi1>, tensor<64x1xf32>
      %159 = tile.broadcast %158 : tensor<64x1xf32> -> tensor<64x128xf32>
      %160 = arith.mulf %154, %159 : tensor<64x128xf32>
      %161 = arith.truncf %160 : tensor<64x128xf32> to tensor<64x128xbf16>
      %162 = arith.muli %26, %arg8 : i64
      %163 = arith.muli %25, %arg9 : i64
      %164 = arith.addi %162, %163 : i64
      %165 = tile.view %arg10[%164] size[%arg0, %c128_i64] stride[%arg7, %c1_i64] aligned 8 : <bf16>
      tile.store %161, %165[%30, %c0_i64] : tensor<64x128xbf16>, <bf16>
    }
    return
  }
}

// r
