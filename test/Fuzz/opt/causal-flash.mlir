module {
  func.func @causal(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %1 = attn.scale %0 by {
      %cst = arith.constant 0.0883883461 : f32
      attn.yield %cst : f32
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %2 = attn.mask %1 where {
      %6 = attn.index "N" : i32
      %7 = attn.index "M" : i32
      %8 = arith.cmpi sle, %6, %7 : i32
      attn.yield %8 : i1
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %probabilities = attn.softmax %2 over "N" : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %3 = attn.round %probabilities : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    %4 = attn.matmul %3, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
    %5 = attn.round %4 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    return %5 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// k
