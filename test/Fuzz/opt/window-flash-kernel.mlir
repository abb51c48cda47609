module {
  func.func @sliding_window(%arg0: tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "q"}, %arg1: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "k"}, %arg2: tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>> {attn.name = "v"}, %arg3: i32 {attn.name = "window"}) -> (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {attn.name = "o"}) attributes {attn.axes = [#attn.axis<"B">, #attn.axis<"H">, #attn.axis<"M">, #attn.axis<"D", extent = 128>, #attn.axis<"N">]} {
    %0 = attn.kernel "flash" -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>> {
      %1 = attn.matmul %arg0, %arg1 over "D" : (tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %2 = attn.scale %1 by {
        %cst = arith.constant 0.0883883461 : f32
        attn.yield %cst : f32
      } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %3 = attn.mask %2 where {
        %5 = attn.index "N" : i32
        %6 = attn.index "M" : i32
        %7 = arith.cmpi sle, %5, %6 : i32
        %8 = attn.index "M" : i32
        %9 = attn.index "N" : i32
        %10 = arith.subi %8, %9 : i32
        %11 = arith.cmpi slt, %10, %arg3 : i32
        %12 = arith.andi %7, %11 : i1
        attn.yield %12 : i1
      } : tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>> -> tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>
      %result = attn.online_softmax %3, %arg2 over "N" : (tensor<?x?x?x?xf32, #attn.axes<B, H, M, N>>, tensor<?x?x?x128xbf16, #attn.axes<B, H, N, D>>) -> tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>>
      %4 = attn.round %result : tensor<?x?x?x128xf32, #attn.axes<B, H, M, D>> -> tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
      attn.return %4 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
    }
    return %0 : tensor<?x?x?x128xbf16, #attn.axes<B, H, M, D>>
  }
}

// k
