module {
  func.func @t5_bias(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}, %arg3: tensor<?x?xf32, #attn.axes<H, R>> {attn.name = "table"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">, #attn.axis<"R">]} {
    %0 = attn.kernel "matmul" -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> {
      %3 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      attn.return %3 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    }
    %1 = attn.kernel "softmax" -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>> {
      %3 = attn.scale %0 by {
        %cst = arith.constant 0.0883883461 : f32
        attn.yield %cst : f32
      } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %4 = attn.map ins(%3 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) {
      ^bb0(%arg4: f32):
        %6 = attn.index "H" : i32
        %7 = attn.index "M" : i32
        %8 = attn.index "N" : i32
        %9 = arith.subi %7, %8 : i32
        %c0_i32 = arith.constant 0 : i32
        %10 = arith.subi %c0_i32, %9 : i32
        %11 = arith.maxsi %9, %10 : i32
        %12 = attn.length "R" : i32
        %c1_i32 = arith.constant 1 : i32
        %13 = arith.subi %12, %c1_i32 : i32
        %14 = arith.minsi %11, %13 : i32
        %15 = attn.read %arg3[%6, %14] : (tensor<?x?xf32, #attn.axes<H, R>>, i32, i32) -> f32
        %16 = arith.addf %arg4, %15 : f32
        attn.yield %16 : f32
      } -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %probabilities = attn.softmax %4 over "N" : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %5 = attn.round %probabilities : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
      attn.return %5 : tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    }
    %2 = attn.kernel "matmul" -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {
      %3 = attn.matmul %1, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
      %4 = attn.round %3 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
      attn.return %4 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    }
    return %2 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// e
