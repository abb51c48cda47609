module {
  func.func @causal(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.kernel "matmul" -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> {
      %6 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      attn.return %6 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    }
    %1 = attn.kernel "scale" -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> {
      %6 = attn.scale %0 by {
        %cst = arith.constant 0.0883883461 : f32
        attn.yield %cst : f32
      } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      attn.return %6 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    }
    %2 = attn.kernel "copy" -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> {
      %6 = attn.copy %1 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      attn.return %6 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    }
    %3 = attn.kernel "mask" -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> {
      %6 = attn.mask %2 where {
        %7 = attn.index "N" : i32
        %8 = attn.index "M" : i32
        %9 = arith.cmpi sle, %7, %8 : i32
        attn.yield %9 : i1
      } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      attn.return %6 : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    }
    %4 = attn.kernel "softmax" -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>> {
      %probabilities = attn.softmax %3 over "N" : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %6 = attn.round %probabilities : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
      attn.return %6 : tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    }
    %5 = attn.kernel "matmul" -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {
      %6 = attn.matmul %4, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
      %7 = attn.round %6 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
      attn.return %7 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    }
    return %5 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// i
