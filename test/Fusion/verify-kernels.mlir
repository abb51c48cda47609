// RUN: attn-opt %s --attn-verify-kernels --verify-diagnostics

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!s = tensor<?x?xf32, #attn.axes<M, N>>

func.func @outside(%s: !s {attn.name = "s"}) -> (!s {attn.name = "o"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{'attn.copy' op lies in no attn.kernel}}
  %0 = attn.copy %s : !s -> !s
  %1 = attn.kernel "softmax" -> !s {
    %p = attn.softmax %0 over "N" : (!s) -> !s
    attn.return %p : !s
  }
  // Each is named, not only the first.
  // expected-error @+1 {{'attn.round' op lies in no attn.kernel}}
  %2 = attn.round %1 : !s -> !s
  return %2 : !s
}

// A function that is no program is none of its business.
func.func @other(%a: f32) -> f32 {
  return %a : f32
}
