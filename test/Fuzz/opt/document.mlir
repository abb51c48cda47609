module {
  func.func @document_mask(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}, %arg3: tensor<?x?xi32, #attn.axes<B, M>> {attn.name = "doc_q"}, %arg4: tensor<?x?xi32, #attn.axes<B, N>> {attn.name = "doc_k"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %1 = attn.scale %0 by {
      %cst = arith.constant 0.0883883461 : f32
      attn.yield %cst : f32
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %2 = attn.mask %1 where ins(%arg3, %arg4 : tensor<?x?xi32, #attn.axes<B, M>>, tensor<?x?xi32, #attn.axes<B, N>>) {
    ^bb0(%arg5: i32, %arg6: i32):
      %6 = attn.index "N" : i32
      %7 = attn.index "M" : i32
      %8 = arith.cmpi sle, %6, %7 : i32
      %9 = arith.cmpi eq, %arg5, %arg6 : i32
      %10 = arith.andi %8, %9 : i1
      attn.yield %10 : i1
    } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %probabilities = attn.softmax %2 over "N" : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
    %3 = attn.round %probabilities : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>
    %4 = attn.matmul %3, %arg2 over "N" : (tensor<?x?x?x?xbf16, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
    %5 = attn.round %4 : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    return %5 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// b
