module {
  func.func @sigmoid(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %1 = attn.scale %0 by {
      %cst = arith.constant 0.0883883461 : f32
      attn.yield %cst : f32
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %2 = attn.map ins(%1 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) {
    ^bb0(%arg3: f32):
      %8 = attn.length "N" : i32
      %9 = arith.sitofp %8 : i32 to f32
      %10 = math.log %9 : f32
      %11 = arith.subf %arg3, %10 : f32
      attn.yield %11 : f32
    } -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %3 = attn.mask %2 where {
      %8 = attn.index "N" : i32
      %9 = attn.index "M" : i32
      %10 = arith.cmpi sle, %8, %9 : i32
      attn.yield %10 : i1
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %4 = attn.map ins(%3 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) {
    ^bb0(%arg3: f32):
      %cst = arith.constant 1.000000e+00 : f32
      %8 = arith.negf %arg3 : f32
      %9 = math.exp %8 : f32
      %10 = arith.addf %cst, %9 : f32
      %11 = arith.divf %cst, %10 : f32
      attn.yield %11 : f32
    } -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %5 = attn.round %4 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    %6 = attn.matmul %5, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
    %7 = attn.round %6 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    return %7 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// k
