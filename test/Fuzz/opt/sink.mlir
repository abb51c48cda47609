module {
  func.func @sink(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}, %arg3: tensor<?xf32, #attn.axes<H>> {attn.name = "e"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %1 = attn.scale %0 by {
      %cst = arith.constant 0.0883883461 : f32
      attn.yield %cst : f32
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %2 = attn.mask %1 where {
      %7 = attn.index "N" : i32
      %8 = attn.index "M" : i32
      %9 = arith.cmpi sle, %7, %8 : i32
      attn.yield %9 : i1
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %3 = attn.map {
      %7 = attn.index "H" : i32
      %8 = attn.read %arg3[%7] : (tensor<?xf32, #attn.axes<H>>, i32) -> f32
      attn.yield %8 : f32
    } -> tensor<?xf32, #attn.axes<H>>
    %probabilities = attn.softmax %2 over "N" sink %3 : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>, tensor<?xf32, #attn.axes<H>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %4 = attn.round %probabilities : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    %5 = attn.matmul %4, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
    %6 = attn.round %5 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    return %6 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// g
