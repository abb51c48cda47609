module attributes {tile.temporaries = []} {
  func.func @causal_specialized_0_flash_bf16_64x80_wgmma(%arg0: i64 {tile.arg = {axis = "N", kind = "length"}}, %arg1: i64 {tile.arg = {axis = "M", kind = "length"}}, %arg2: i64 {tile.arg = {axis = "H", kind = "length"}}, %arg3: i64 {tile.arg = {axis = "B", kind = "length"}}, %arg4: !tile.map<bf16> {tile.arg = {axes = ["D", "M", "H", "B"], box = array<i64: 64, 192, 1, 1>, kind = "map", name = "q"}}, %arg5: !tile.map<bf16> {tile.arg = {axes = ["D", "N", "H", "B"], box = array<i64: 64, 80, 1, 1>, kind = "map", name = "k"}}, %arg6: !tile.map<bf16> {tile.arg = {axes = ["D", "N", "H", "B"], box = array<i64: 64, 80, 1, 1>, kind = "map", name = "v"}}, %arg7: i64 {tile.arg = {axis = "M", kind = "stride", name = "o"}}, %arg8: i64 {tile.arg = {axis = "B", kind = "stride", name = "o"}}, %arg9: i64 {tile.arg = {axis = "H", kind = "stride", name = "o"}}, %arg10: !tile.ptr<bf16> {tile.arg = {kind = "pointer", name = "o"}}, %arg11: !tile.ptr<i32> {tile.arg = {kind = "scheduler"}}) attributes {tile.grid = [#tile.grid<"M", 192>, #tile.grid<"H", 1>, #tile.grid<"B", 1>], tile.groups = 3 : i64, tile.label = "flash", tile.layout = #tile.accumulator<warps = 4, fragments = 1>, tile.persistent = 2 : i64, tile.prediction = [{axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "N", "D"], coefficient = 2.000000e+00 : f64, what = "bytesRead"}, {axes = ["B", "H", "M", "D"], coefficient = 2.000000e+00 : f64, what = "bytesWritten"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 2.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N", "D"], coefficient = 2.000000e+00 : f64, live, what = "tensorFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 5.000000e+00 : f64, live, what = "scalarFlops"}, {axes = ["B", "H", "M", "N"], coefficient = 1.000000e+00 : f64, live, what = "exponentials"}, {axes = ["B", "H", "M", "D"], coefficient = 1.000000e+00 : f64, live, what = "scalarFlops"}, {unit = "wgmma.f16", what = "tensorUnit"}], tile.schedule = "3 groups x 64x80, 3 stages, vote, turns 2, dynamic tiles", tile.stages = 3 : i64, tile.turns = 2 : i64, tile.vote = 1 : i64} {
    %cst = arith.constant dense<7.84206485> : tensor<64x1xf32>
    %cst_0 = arith.constant dense<8.000000e+00> : tensor<64x1xf32>
    %cst_1 = arith.constant dense<0.127517432> : tensor<64x1xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<64x80xf32>
    %c64_i32 = arith.constant 64 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c3_i32 = arith.constant 3 : i32
    %c512_i64 = arith.constant 512 : i64
    %c191_i64 = arith.constant 191 : i64
    %c192_i64 = arith.constant 192 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i32 = arith.constant 1 : i32
    %c1_i64 = arith.constant 1 : i64
    %c33554432_i64 = arith.constant 33554432 : i64
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
    %0 = tile.alloc_word : !tile.word
    %1 = tile.alloc_slabs : <1, 192, 128, bf16>
    %2 = tile.alloc_slabs : <3, 80, 128, bf16>
    %3 = tile.alloc_slabs : <3, 80, 128, bf16>
    %4 = tile.alloc_signals : <1, arrivals = 1>
    %5 = tile.alloc_signals : <1, arrivals = 12>
    %6 = tile.alloc_signals : <3, arrivals = 1>
    %7 = tile.alloc_signals : <3, arrivals = 1>
    %8 = tile.alloc_signals : <3, arrivals = 12>
    %9 = tile.alloc_signals : <3, arrivals = 12>
    %10 = arith.muli %arg0, %c512_i64 : i64
    %11 = arith.addi %arg1, %c191_i64 : i64
    %12 = arith.remsi %11, %c192_i64 : i64
    %13 = arith.cmpi slt, %12, %c0_i64 : i64
    %14 = arith.divsi %11, %c192_i64 : i64
    %15 = arith.extui %13 : i1 to i64
    %16 = arith.subi %14, %15 : i64
    %17 = arith.trunci %16 : i64 to i32
    %18 = arith.trunci %arg2 : i64 to i32
    %19 = arith.trunci %arg3 : i64 to i32
    %20 = arith.muli %18, %19 : i32
    %21 = arith.muli %17, %20 : i32
    %22 = arith.maxsi %10, %c1_i64 : i64
    %23 = arith.divui %c33554432_i64, %22 : i64
    %24 = arith.trunci %23 : i64 to i32
    %25 = arith.minsi %24, %20 : i32
    %26 = arith.maxsi %25, %c1_i32 : i32
    %27 = arith.muli %26, %17 : i32
    %28 = arith.subi %17, %c1_i32 : i32
    %29 = tile.group_id : i32
    %30 = arith.extui %29 : i32 to i64
    %31 = arith.muli %30, %c64_i64 : i64
    %32 = arith.subi %arg1, %c1_i64 : i64
    tile.specialize groups 3 turns producer registers 32 {
    ^bb0(%arg12: i32, %arg13: i32, %arg14: i32, %arg15: i32, %arg16: i32):
      %33 = tile.block_id : i32
      %34 = arith.cmpi eq, %arg0, %c0_i64 : i64
      %35 = arith.extui %34 : i1 to i64
      %36 = arith.extui %34 : i1 to i32
      %37:6 = scf.while (%arg17 = %33, %arg18 = %c0_i32, %arg19 = %c0_i32, %arg20 = %c0_i32, %arg21 = %c0_i32, %arg22 = %c0_i32) : (i32, i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32) {
        %39 = arith.cmpi slt, %arg17, %21 : i32
        scf.condition(%39) %arg17, %arg18, %arg19, %arg20, %arg21, %arg22 : i32, i32, i32, i32, i32, i32
      } do {
      ^bb0(%arg17: i32, %arg18: i32, %arg19: i32, %arg20: i32, %arg21: i32, %arg22: i32):
        %39 = arith.divui %arg17, %27 : i32
        %40 = arith.muli %39, %27 : i32
        %41 = arith.subi %arg17, %40 : i32
        %42 = arith.muli %39, %26 : i32
        %43 = arith.subi %20, %42 : i32
        %44 = arith.minsi %26, %43 : i32
        %45 = arith.maxsi %44, %c1_i32 : i32
        %46 = arith.divui %41, %45 : i32
        %47 = arith.muli %46, %45 : i32
        %48 = arith.subi %41, %47 : i32
        %49 = arith.addi %42, %48 : i32
        %50 = arith.subi %28, %46 : i32
        %51 = arith.extsi %50 : i32 to i64
        %52 = arith.muli %51, %c192_i64 : i64
        %53 = arith.remui %49, %18 : i32
        %54 = arith.divui %49, %18 : i32
        %55 = arith.addi %52, %c192_i64 : i64
        %56 = arith.minsi %55, %arg1 : i64
        %57 = arith.subi %56, %c1_i64 : i64
        %58 = arith.muli %57, %c-1_i64 : i64
        %59 = arith.subi %c1_i64, %58 : i64
        %60 = arith.minsi %arg0, %59 : i64
        %61 = arith.minsi %60, %arg0 : i64
        %62 = arith.maxsi %61, %c0_i64 : i64
        %63 = arith.maxsi %62, %c0_i64 : i64
        %64 = arith.addi %63, %c79_i64 : i64
        %65 = arith.remsi %64, %c80_i64 : i64
        %66 = arith.cmpi slt, %65, %c0_i64 : i64
        %67 = arith.divsi %64, %c80_i64 : i64
        %68 = arith.extui %66 : i1 to i64
        %69 = arith.subi %67, %68 : i64
        %70 = arith.trunci %69 : i64 to i32
        %71 = arith.maxsi %70, %c1_i32 : i32
        %72 = arith.subi %71, %c1_i32 : i32
        %73 = arith.extsi %72 : i32 to i64
        %74 = arith.muli %73, %c80_i64 : i64
        %75 = arith.xori %arg20, %c1_i32 : i32
        tile.signal_wait %8[%arg19] parity %75 : <3, arrivals = 12>
        %76 = arith.addi %74, %35 : i64
        %77 = arith.trunci %76 : i64 to i32
        tile.copy_box %arg5[%c0_i32, %77, %53, %54] to %2 signal %6[%arg19] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
        %78 = arith.addi %arg19, %c1_i32 : i32
        %79 = arith.cmpi eq, %78, %c3_i32 : i32
        %80 = arith.extui %79 : i1 to i32
        %81 = arith.select %79, %c0_i32, %78 : i32
        %82 = arith.xori %arg20, %80 : i32
        %83 = arith.xori %arg18, %c1_i32 : i32
        tile.signal_wait %5[%c0_i32] parity %83 : <1, arrivals = 12>
        %84 = arith.trunci %52 : i64 to i32
        tile.post_tile %0, %arg17 : !tile.word
        tile.copy_box %arg4[%c0_i32, %84, %53, %54] to %1 signal %4[%c0_i32] : <bf16>, <1, 192, 128, bf16>, <1, arrivals = 1>
        %85:4 = scf.for %arg23 = %c0_i32 to %72 step %c1_i32 iter_args(%arg24 = %81, %arg25 = %82, %arg26 = %arg21, %arg27 = %arg22) -> (i32, i32, i32, i32)  : i32 {
          %93 = arith.subi %72, %arg23 : i32
          %94 = arith.subi %93, %c1_i32 : i32
          %95 = arith.extsi %94 : i32 to i64
          %96 = arith.muli %95, %c80_i64 : i64
          %97 = arith.xori %arg25, %c1_i32 : i32
          tile.signal_wait %8[%arg24] parity %97 : <3, arrivals = 12>
          %98 = arith.addi %96, %35 : i64
          %99 = arith.trunci %98 : i64 to i32
          tile.copy_box %arg5[%c0_i32, %99, %53, %54] to %2 signal %6[%arg24] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
          %100 = arith.addi %arg24, %c1_i32 : i32
          %101 = arith.cmpi eq, %100, %c3_i32 : i32
          %102 = arith.extui %101 : i1 to i32
          %103 = arith.select %101, %c0_i32, %100 : i32
          %104 = arith.xori %arg25, %102 : i32
          %105 = arith.extsi %93 : i32 to i64
          %106 = arith.muli %105, %c80_i64 : i64
          %107 = arith.xori %arg27, %c1_i32 : i32
          tile.signal_wait %9[%arg26] parity %107 : <3, arrivals = 12>
          %108 = arith.addi %106, %35 : i64
          %109 = arith.trunci %108 : i64 to i32
          tile.copy_box %arg6[%c0_i32, %109, %53, %54] to %3 signal %7[%arg26] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
          %110 = arith.addi %arg26, %c1_i32 : i32
          %111 = arith.cmpi eq, %110, %c3_i32 : i32
          %112 = arith.extui %111 : i1 to i32
          %113 = arith.select %111, %c0_i32, %110 : i32
          %114 = arith.xori %arg27, %112 : i32
          scf.yield %103, %104, %113, %114 : i32, i32, i32, i32
        }
        %86 = arith.xori %85#3, %c1_i32 : i32
        tile.signal_wait %9[%85#2] parity %86 : <3, arrivals = 12>
        tile.copy_box %arg6[%c0_i32, %36, %53, %54] to %3 signal %7[%85#2] : <bf16>, <3, 80, 128, bf16>, <3, arrivals = 1>
        %87 = arith.addi %85#2, %c1_i32 : i32
        %88 = arith.cmpi eq, %87, %c3_i32 : i32
        %89 = arith.extui %88 : i1 to i32
        %90 = arith.select %88, %c0_i32, %87 : i32
        %91 = arith.xori %85#3, %89 : i32
        %92 = tile.next_tile %arg11 : <i32>
        scf.yield %92, %83, %85#0, %85#1, %90, %91 : i32, i32, i32, i32, i32, i32
      }
      %38 = arith.xori %37#1, %c1_i32 : i32
      tile.signal_wait %5[%c0_i32] parity %38 : <1, arrivals = 12>
      tile.post_tile %0, %c-1_i32 : !tile.word
      tile.signal_arrive %4[%c0_i32] : <1, arrivals = 1>
      tile.finish_tiles %arg11 : <i32>
      tile.role_end %37#1, %37#2, %37#3, %37#4, %37#5
    } consumer registers 160 {
    ^bb0(%arg12: i32, %arg13: i32, %arg14: i32, %arg15: i32, %arg16: i32):
      %33 = arith.muli %29, %c64_i32 : i32
      %34 = arith.trunci %arg0 : i64 to i32
      %35 = tile.splat %34 : tensor<1x80xi32>
      %36:6 = scf.while (%arg17 = %c0_i32, %arg18 = %c0_i32, %arg19 = %c0_i32, %arg20 = %c0_i32, %arg21 = %c0_i32) : (i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32, i32) {
        tile.signal_wait %4[%c0_i32] parity %arg17 : <1, arrivals = 1>
        %37, %again = tile.take_tile %0 : !tile.word
        %38 = arith.cmpi sge, %37, %c0_i32 : i32
        scf.condition(%38) %37, %arg17, %arg18, %arg19, %arg20, %arg21 : i32, i32, i32, i32, i32, i32
      } do {
      ^bb0(%arg17: i32, %arg18: i32, %arg19: i32, %arg20: i32, %arg21: i32, %arg22: i32):
        %37 = arith.divui %arg17, %27 : i32
        %38 = arith.muli %37, %27 : i32
        %39 = arith.subi %arg17, %38 : i32
        %40 = arith.muli %37, %26 : i32
        %41 = arith.subi %20, %40 : i32
        %42 = arith.minsi %26, %41 : i32
        %43 = arith.maxsi %42, %c1_i32 : i32
        %44 = arith.divui %39, %43 : i32
        %45 = arith.muli %44, %43 : i32
        %46 = arith.subi %39, %45 : i32
        %47 = arith.addi %40, %46 : i32
        %48 = arith.subi %28, %44 : i32
        %49 = arith.extsi %48 : i32 to i64
        %50 = arith.muli %49, %c192_i64 : i64
        %51 = arith.remui %47, %18 : i32
        %52 = arith.divui %47, %18 : i32
        %53 = arith.extsi %51 : i32 to i64
        %54 = arith.extsi %52 : i32 to i64
        %55 = arith.addi %50, %31 : i64
        %56 = arith.minsi %55, %32 : i64
        %57 = arith.addi %55, %c64_i64 : i64
        %58 = arith.minsi %57, %arg1 : i64
        %59 = arith.subi %58, %c1_i64 : i64
        %60 = arith.muli %56, %c-1_i64 : i64
        %61 = arith.muli %59, %c-1_i64 : i64
        %62 = arith.subi %c1_i64, %61 : i64
        %63 = arith.subi %c1_i64, %60 : i64
        %64 = arith.minsi %arg0, %62 : i64
        %65 = arith.minsi %arg0, %63 : i64
        %66 = arith.minsi %64, %arg0 : i64
        %67 = arith.maxsi %66, %c0_i64 : i64
        %68 = arith.remsi %67, %c80_i64 : i64
        %69 = arith.cmpi slt, %68, %c0_i64 : i64
        %70 = arith.divsi %67, %c80_i64 : i64
        %71 = arith.extui %69 : i1 to i64
        %72 = arith.subi %70, %71 : i64
        %73 = arith.muli %72, %c80_i64 : i64
        %74 = arith.minsi %65, %arg0 : i64
        %75 = arith.maxsi %74, %c0_i64 : i64
        %76 = arith.remsi %75, %c80_i64 : i64
        %77 = arith.cmpi slt, %76, %c0_i64 : i64
        %78 = arith.divsi %75, %c80_i64 : i64
        %79 = arith.extui %77 : i1 to i64
        %80 = arith.subi %78, %79 : i64
        %81 = arith.muli %80, %c80_i64 : i64
        %82 = arith.minsi %81, %73 : i64
        %83 = arith.cmpi sgt, %82, %c0_i64 : i64
        %84 = arith.select %83, %82, %c0_i64 : i64
        %85 = arith.maxsi %84, %c0_i64 : i64
        %86 = arith.addi %85, %c79_i64 : i64
        %87 = arith.remsi %86, %c80_i64 : i64
        %88 = arith.cmpi slt, %87, %c0_i64 : i64
        %89 = arith.divsi %86, %c80_i64 : i64
        %90 = arith.extui %88 : i1 to i64
        %91 = arith.subi %89, %90 : i64
        %92 = arith.trunci %91 : i64 to i32
        %93 = arith.subi %67, %84 : i64
        %94 = arith.maxsi %93, %c0_i64 : i64
        %95 = arith.addi %94, %c79_i64 : i64
        %96 = arith.remsi %95, %c80_i64 : i64
        %97 = arith.cmpi slt, %96, %c0_i64 : i64
        %98 = arith.divsi %95, %c80_i64 : i64
        %99 = arith.extui %97 : i1 to i64
        %100 = arith.subi %98, %99 : i64
        %101 = arith.trunci %100 : i64 to i32
        %102 = arith.addi %50, %c192_i64 : i64
        %103 = arith.minsi %102, %arg1 : i64
        %104 = arith.subi %103, %c1_i64 : i64
        %105 = arith.muli %104, %c-1_i64 : i64
        %106 = arith.subi %c1_i64, %105 : i64
        %107 = arith.minsi %arg0, %106 : i64
        %108 = arith.minsi %107, %arg0 : i64
        %109 = arith.maxsi %108, %c0_i64 : i64
        %110 = arith.maxsi %109, %c0_i64 : i64
        %111 = arith.addi %110, %c79_i64 : i64
        %112 = arith.remsi %111, %c80_i64 : i64
        %113 = arith.cmpi slt, %112, %c0_i64 : i64
        %114 = arith.divsi %111, %c80_i64 : i64
        %115 = arith.extui %113 : i1 to i64
        %116 = arith.subi %114, %115 : i64
        %117 = arith.trunci %116 : i64 to i32
        %118 = arith.maxsi %117, %c1_i32 : i32
        %119 = arith.addi %92, %101 : i32
        %120 = arith.cmpi eq, %119, %c0_i32 : i32
        %121 = arith.select %120, %c0_i64, %84 : i64
        %122 = arith.select %120, %c1_i32, %101 : i32
        %123 = arith.addi %92, %122 : i32
        %124 = arith.subi %118, %123 : i32
        %125:4 = scf.for %arg23 = %c0_i32 to %124 step %c1_i32 iter_args(%arg24 = %arg19, %arg25 = %arg20, %arg26 = %arg21, %arg27 = %arg22) -> (i32, i32, i32, i32)  : i32 {
          tile.signal_wait %6[%arg24] parity %arg25 : <3, arrivals = 1>
          tile.signal_arrive %8[%arg24] : <3, arrivals = 12>
          tile.signal_wait %7[%arg26] parity %arg27 : <3, arrivals = 1>
          tile.signal_arrive %9[%arg26] : <3, arrivals = 12>
          tile.turn_wait of 3
          tile.turn_pass of 3
          %195 = arith.addi %arg24, %c1_i32 : i32
          %196 = arith.cmpi eq, %195, %c3_i32 : i32
          %197 = arith.extui %196 : i1 to i32
          %198 = arith.select %196, %c0_i32, %195 : i32
          %199 = arith.xori %arg25, %197 : i32
          %200 = arith.addi %arg26, %c1_i32 : i32
          %201 = arith.cmpi eq, %200, %c3_i32 : i32
          %202 = arith.extui %201 : i1 to i32
          %203 = arith.select %201, %c0_i32, %200 : i32
          %204 = arith.xori %arg27, %202 : i32
          scf.yield %198, %199, %203, %204 : i32, i32, i32, i32
        }
        tile.signal_wait %4[%c0_i32] parity %arg18 : <1, arrivals = 1>
        %126 = arith.subi %123, %c1_i32 : i32
        %127 = arith.extsi %126 : i32 to i64
        %128 = arith.muli %127, %c80_i64 : i64
        tile.signal_wait %6[%125#0] parity %125#1 : <3, arrivals = 1>
        %129 = tile.slab_read %1[%c0_i32] row %33 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
        %130 = tile.slab_read %2[%125#0] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %131 = tile.dot_async %129, %130 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
        %132 = tile.dot_wait %131 pending 0 : tensor<64x80xf32>
        tile.signal_arrive %8[%125#0] : <3, arrivals = 12>
        %133 = arith.cmpi eq, %128, %c0_i64 : i64
        tile.signal_arrive %5[%c0_i32] if %133 : <1, arrivals = 12>
        %134 = arith.addi %125#0, %c1_i32 : i32
        %135 = arith.cmpi eq, %134, %c3_i32 : i32
        %136 = arith.extui %135 : i1 to i32
        %137 = arith.select %135, %c0_i32, %134 : i32
        %138 = arith.xori %125#1, %136 : i32
        %139 = tile.index %128 : tensor<1x80xi32>
        %140 = tile.index %55 : tensor<64x1xi32>
        %141 = tile.broadcast %139 : tensor<1x80xi32> -> tensor<64x80xi32>
        %142 = tile.broadcast %140 : tensor<64x1xi32> -> tensor<64x80xi32>
        %143 = arith.cmpi sle, %141, %142 : tensor<64x80xi32>
        %144 = arith.select %143, %132, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
        %145 = arith.cmpi slt, %139, %35 : tensor<1x80xi32>
        %146 = tile.broadcast %145 : tensor<1x80xi1> -> tensor<64x80xi1>
        %147 = arith.select %146, %144, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
        %148 = tile.reduce  max %147 : tensor<64x80xf32> -> tensor<64x1xf32>
        %149 = arith.mulf %148, %cst_1 : tensor<64x1xf32>
        %150 = arith.maxnumf %149, %cst_4 : tensor<64x1xf32>
        %151 = arith.cmpf oeq, %150, %cst_4 : tensor<64x1xf32>
        %152 = arith.select %151, %cst_5, %150 : tensor<64x1xi1>, tensor<64x1xf32>
        %153 = arith.subf %cst_4, %152 : tensor<64x1xf32>
        %154 = math.exp2 %153 : tensor<64x1xf32>
        %155 = arith.negf %152 : tensor<64x1xf32>
        %156 = tile.broadcast %155 : tensor<64x1xf32> -> tensor<64x80xf32>
        %157 = math.fma %147, %cst_7, %156 : tensor<64x80xf32>
        %158 = math.exp2 %157 : tensor<64x80xf32>
        %159 = tile.fold  add %158 : tensor<64x80xf32> -> tensor<64x8xf32>
        %160 = tile.broadcast %154 : tensor<64x1xf32> -> tensor<64x8xf32>
        %161 = math.fma %cst_6, %160, %159 : tensor<64x8xf32>
        %162 = arith.truncf %158 : tensor<64x80xf32> to tensor<64x80xbf16>
        %163 = arith.cmpi sgt, %122, %c0_i32 : i32
        %164 = arith.extui %163 : i1 to i32
        %165 = arith.subi %122, %164 : i32
        %166 = arith.subi %c1_i32, %164 : i32
        %167 = arith.cmpi sgt, %92, %c0_i32 : i32
        %168 = arith.extui %167 : i1 to i32
        %169 = arith.minsi %166, %168 : i32
        %170 = arith.subi %92, %169 : i32
        %171 = arith.subi %165, %c1_i32 : i32
        %172:8 = scf.for %arg23 = %c0_i32 to %165 step %c1_i32 iter_args(%arg24 = %137, %arg25 = %138, %arg26 = %125#2, %arg27 = %125#3, %arg28 = %cst_3, %arg29 = %162, %arg30 = %150, %arg31 = %161) -> (i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>)  : i32 {
          %195 = arith.subi %171, %arg23 : i32
          %196 = arith.extsi %195 : i32 to i64
          %197 = arith.muli %196, %c80_i64 : i64
          %198 = arith.addi %121, %197 : i64
          tile.signal_wait %6[%arg24] parity %arg25 : <3, arrivals = 1>
          tile.turn_wait of 3
          %199 = tile.slab_read %1[%c0_i32] row %33 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
          %200 = tile.slab_read %2[%arg24] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
          %201 = tile.dot_async %199, %200 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
          tile.signal_wait %7[%arg26] parity %arg27 : <3, arrivals = 1>
          %202 = tile.slab_read %3[%arg26] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
          %203 = tile.dot_async %arg29, %202 onto %arg28 : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
          %204 = tile.dot_wait %201 pending 1 : tensor<64x80xf32>
          tile.turn_pass of 3
          tile.signal_arrive %8[%arg24] : <3, arrivals = 12>
          %205 = arith.cmpi eq, %198, %c0_i64 : i64
          tile.signal_arrive %5[%c0_i32] if %205 : <1, arrivals = 12>
          %206 = arith.addi %arg24, %c1_i32 : i32
          %207 = arith.cmpi eq, %206, %c3_i32 : i32
          %208 = arith.extui %207 : i1 to i32
          %209 = arith.select %207, %c0_i32, %206 : i32
          %210 = arith.xori %arg25, %208 : i32
          %211 = tile.index %198 : tensor<1x80xi32>
          %212 = tile.broadcast %211 : tensor<1x80xi32> -> tensor<64x80xi32>
          %213 = arith.cmpi sle, %212, %142 : tensor<64x80xi32>
          %214 = arith.select %213, %204, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
          %215 = arith.cmpi slt, %211, %35 : tensor<1x80xi32>
          %216 = tile.broadcast %215 : tensor<1x80xi1> -> tensor<64x80xi1>
          %217 = arith.select %216, %214, %cst_2 : tensor<64x80xi1>, tensor<64x80xf32>
          %218 = tile.reduce  max %217 : tensor<64x80xf32> -> tensor<64x1xf32>
          %219 = arith.mulf %218, %cst_1 : tensor<64x1xf32>
          %220 = arith.maxnumf %arg30, %219 : tensor<64x1xf32>
          %221 = arith.cmpf oeq, %220, %cst_4 : tensor<64x1xf32>
          %222 = arith.select %221, %cst_5, %220 : tensor<64x1xi1>, tensor<64x1xf32>
          %223 = arith.subf %arg30, %222 : tensor<64x1xf32>
          %224 = math.exp2 %223 : tensor<64x1xf32>
          %225 = arith.negf %222 : tensor<64x1xf32>
          %226 = tile.broadcast %225 : tensor<64x1xf32> -> tensor<64x80xf32>
          %227 = math.fma %217, %cst_7, %226 : tensor<64x80xf32>
          %228 = math.exp2 %227 : tensor<64x80xf32>
          %229 = tile.fold  add %228 : tensor<64x80xf32> -> tensor<64x8xf32>
          %230 = tile.broadcast %224 : tensor<64x1xf32> -> tensor<64x8xf32>
          %231 = math.fma %arg31, %230, %229 : tensor<64x8xf32>
          %232 = tile.dot_wait %203 holding(%arg29 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
          tile.signal_arrive %9[%arg26] : <3, arrivals = 12>
          %233 = arith.addi %arg26, %c1_i32 : i32
          %234 = arith.cmpi eq, %233, %c3_i32 : i32
          %235 = arith.extui %234 : i1 to i32
          %236 = arith.select %234, %c0_i32, %233 : i32
          %237 = arith.xori %arg27, %235 : i32
          %238 = tile.broadcast %224 : tensor<64x1xf32> -> tensor<64x128xf32>
          %239 = arith.mulf %232, %238 : tensor<64x128xf32>
          %240 = arith.truncf %228 : tensor<64x80xf32> to tensor<64x80xbf16>
          scf.yield %209, %210, %236, %237, %239, %240, %220, %231 : i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>
        }
        %173 = arith.subi %170, %c1_i32 : i32
        %174:8 = scf.for %arg23 = %c0_i32 to %170 step %c1_i32 iter_args(%arg24 = %172#0, %arg25 = %172#1, %arg26 = %172#2, %arg27 = %172#3, %arg28 = %172#4, %arg29 = %172#5, %arg30 = %172#6, %arg31 = %172#7) -> (i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>)  : i32 {
          %195 = arith.subi %173, %arg23 : i32
          %196 = arith.extsi %195 : i32 to i64
          %197 = arith.muli %196, %c80_i64 : i64
          tile.signal_wait %6[%arg24] parity %arg25 : <3, arrivals = 1>
          tile.turn_wait of 3
          %198 = tile.slab_read %1[%c0_i32] row %33 : <1, 192, 128, bf16> -> tensor<64x128xbf16>
          %199 = tile.slab_read %2[%arg24] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
          %200 = tile.dot_async %198, %199 transposed fence : tensor<64x128xbf16>, tensor<80x128xbf16> -> tensor<64x80xf32>
          tile.signal_wait %7[%arg26] parity %arg27 : <3, arrivals = 1>
          %201 = tile.slab_read %3[%arg26] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
          %202 = tile.dot_async %arg29, %201 onto %arg28 : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
          %203 = tile.dot_wait %200 pending 1 : tensor<64x80xf32>
          tile.turn_pass of 3
          tile.signal_arrive %8[%arg24] : <3, arrivals = 12>
          %204 = arith.cmpi eq, %197, %c0_i64 : i64
          tile.signal_arrive %5[%c0_i32] if %204 : <1, arrivals = 12>
          %205 = arith.addi %arg24, %c1_i32 : i32
          %206 = arith.cmpi eq, %205, %c3_i32 : i32
          %207 = arith.extui %206 : i1 to i32
          %208 = arith.select %206, %c0_i32, %205 : i32
          %209 = arith.xori %arg25, %207 : i32
          %210 = arith.bitcast %203 : tensor<64x80xf32> to tensor<64x80xi32>
          %211 = tile.fold  max_int %210 : tensor<64x80xi32> -> tensor<64x8xi32>
          %212 = arith.addf %arg30, %cst_0 : tensor<64x1xf32>
          %213 = arith.mulf %212, %cst : tensor<64x1xf32>
          %214 = arith.bitcast %213 : tensor<64x1xf32> to tensor<64x1xi32>
          %215 = tile.broadcast %214 : tensor<64x1xi32> -> tensor<64x8xi32>
          %216 = arith.cmpi sgt, %211, %215 : tensor<64x8xi32>
          %217 = arith.cmpf ole, %213, %cst_5 : tensor<64x1xf32>
          %218 = tile.broadcast %217 : tensor<64x1xi1> -> tensor<64x8xi1>
          %219 = arith.ori %216, %218 : tensor<64x8xi1>
          %220 = tile.any %219 : tensor<64x8xi1>
          %221:2 = scf.if %220 -> (tensor<64x1xf32>, tensor<64x1xf32>) {
            %239 = tile.reduce  max %203 : tensor<64x80xf32> -> tensor<64x1xf32>
            %240 = arith.mulf %239, %cst_1 : tensor<64x1xf32>
            %241 = arith.maxnumf %arg30, %240 : tensor<64x1xf32>
            %242 = arith.cmpf oeq, %241, %cst_4 : tensor<64x1xf32>
            %243 = arith.select %242, %cst_5, %241 : tensor<64x1xi1>, tensor<64x1xf32>
            %244 = arith.subf %arg30, %243 : tensor<64x1xf32>
            %245 = math.exp2 %244 : tensor<64x1xf32>
            scf.yield %241, %245 : tensor<64x1xf32>, tensor<64x1xf32>
          } else {
            scf.yield %arg30, %cst_8 : tensor<64x1xf32>, tensor<64x1xf32>
          }
          %222 = arith.cmpf oeq, %221#0, %cst_4 : tensor<64x1xf32>
          %223 = arith.select %222, %cst_5, %221#0 : tensor<64x1xi1>, tensor<64x1xf32>
          %224 = arith.negf %223 : tensor<64x1xf32>
          %225 = tile.broadcast %224 : tensor<64x1xf32> -> tensor<64x80xf32>
          %226 = math.fma %203, %cst_7, %225 : tensor<64x80xf32>
          %227 = math.exp2 %226 : tensor<64x80xf32>
          %228 = tile.fold  add %227 : tensor<64x80xf32> -> tensor<64x8xf32>
          %229 = tile.broadcast %221#1 : tensor<64x1xf32> -> tensor<64x8xf32>
          %230 = math.fma %arg31, %229, %228 : tensor<64x8xf32>
          %231 = tile.dot_wait %202 holding(%arg29 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
          tile.signal_arrive %9[%arg26] : <3, arrivals = 12>
          %232 = arith.addi %arg26, %c1_i32 : i32
          %233 = arith.cmpi eq, %232, %c3_i32 : i32
          %234 = arith.extui %233 : i1 to i32
          %235 = arith.select %233, %c0_i32, %232 : i32
          %236 = arith.xori %arg27, %234 : i32
          %237 = scf.if %220 -> (tensor<64x128xf32>) {
            %239 = tile.broadcast %221#1 : tensor<64x1xf32> -> tensor<64x128xf32>
            %240 = arith.mulf %231, %239 : tensor<64x128xf32>
            scf.yield %240 : tensor<64x128xf32>
          } else {
            scf.yield %231 : tensor<64x128xf32>
          }
          %238 = arith.truncf %227 : tensor<64x80xf32> to tensor<64x80xbf16>
          scf.yield %208, %209, %235, %236, %237, %238, %221#0, %230 : i32, i32, i32, i32, tensor<64x128xf32>, tensor<64x80xbf16>, tensor<64x1xf32>, tensor<64x8xf32>
        }
        tile.signal_wait %7[%174#2] parity %174#3 : <3, arrivals = 1>
        %175 = tile.slab_read %3[%174#2] row %c0_i32 : <3, 80, 128, bf16> -> tensor<80x128xbf16>
        %176 = tile.dot_async %174#5, %175 onto %174#4 fence : tensor<64x80xbf16>, tensor<80x128xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
        %177 = tile.dot_wait %176 holding(%174#5 : tensor<64x80xbf16>) pending 0 : tensor<64x128xf32>
        tile.signal_arrive %9[%174#2] : <3, arrivals = 12>
        %178 = arith.addi %174#2, %c1_i32 : i32
        %179 = arith.cmpi eq, %178, %c3_i32 : i32
        %180 = arith.extui %179 : i1 to i32
        %181 = arith.select %179, %c0_i32, %178 : i32
        %182 = arith.xori %174#3, %180 : i32
        %183 = arith.xori %arg18, %c1_i32 : i32
        %184 = tile.reduce  add %174#7 : tensor<64x8xf32> -> tensor<64x1xf32>
        %185 = arith.cmpf oeq, %184, %cst_5 : tensor<64x1xf32>
        %186 = arith.divf %cst_8, %184 : tensor<64x1xf32>
        %187 = arith.select %185, %cst_5, %186 : tensor<64x1xi1>, tensor<64x1xf32>
        %188 = tile.broadcast %187 : tensor<64x1xf32> -> tensor<64x128xf32>
        %189 = arith.mulf %177, %188 : tensor<64x128xf32>
        %190 = arith.truncf %189 : tensor<64x128xf32> to tensor<64x128xbf16>
        %191 = arith.muli %54, %arg8 : i64
        %192 = arith.muli %53, %arg9 : i64
        %193 = arith.addi %191, %192 : i64
        %194 = tile.view %arg10[%193] size[%arg1, %c128_i64] stride[%arg7, %c1_i64] aligned 8 : <bf16>
        tile.store %190, %194[%55, %c0_i64] : tensor<64x128xbf16>, <bf16>
        scf.yield %183, %174#0, %174#1, %181, %182 : i32, i32, i32, i32, i32
      }
      tile.role_end %36#1, %36#2, %36#3, %36#4, %36#5
    }
    return
  }
}

// r
