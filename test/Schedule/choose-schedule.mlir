// RUN: attn-opt %s --attn-choose-schedule=target=sm_80 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: attn-opt %s --attn-choose-schedule="target=sm_80 level=pipelined" --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=PIPELINED
// RUN: attn-opt %s --attn-choose-schedule=target=cpu --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=CPU

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>

// Every kernel gets one, by its kind; the level decides the stages of flash.
// CHECK-LABEL: func.func @kinds
// CHECK: attn.kernel "matmul" attributes {schedule = {{.*}}columns = 128 : i64, depth = 64 : i64,{{.*}} rows = 64 : i64, {{.*}}stages = 1 : i64, {{.*}}warps = 4 : i64}}
// CHECK: attn.kernel "softmax" attributes {schedule = {{.*}}columns = 2048 : i64, {{.*}}rows = 4 : i64, {{.*}}warps = 4 : i64}}
// CHECK: attn.kernel "scale" attributes {schedule = {{.*}}columns = 512 : i64, {{.*}}rows = 4 : i64, {{.*}}warps = 4 : i64}}
// CHECK: attn.kernel "flash" attributes {schedule = {{.*}}columns = 64 : i64, {{.*}}out = 64 : i64,{{.*}} rows = 64 : i64, {{.*}}stages = 1 : i64, {{.*}}warps = 4 : i64}}
// PIPELINED: attn.kernel "flash" attributes {schedule = {{.*}}stages = 2 : i64
// CPU: attn.kernel "matmul" attributes {schedule = {{.*}}columns = 64 : i64, {{.*}}stages = 1 : i64
// CPU: attn.kernel "softmax" attributes {schedule = {{.*}}warps = 1 : i64}}
func.func @kinds(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!s {attn.name = "p"}, !s {attn.name = "t"}, !o {attn.name = "o"})
    attributes {attn.axes = #axes} {
  %s = attn.kernel "matmul" -> !s {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    attn.return %0 : !s
  }
  %p = attn.kernel "softmax" -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    attn.return %0 : !s
  }
  %t = attn.kernel "scale" -> !s {
    %0 = attn.scale %s by {
      %c = arith.constant 2.0 : f32
      attn.yield %c : f32
    } : !s -> !s
    attn.return %0 : !s
  }
  %o = attn.kernel "flash" -> !o {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    %1 = attn.online_softmax %0, %v over "N" : (!s, !k) -> !o
    attn.return %1 : !o
  }
  return %p, %t, %o : !s, !s, !o
}

// A schedule written by hand is obeyed.
// CHECK-LABEL: func.func @by_hand
// CHECK: attn.kernel "softmax" attributes {schedule = {rows = 2 : i64}}
func.func @by_hand(%s: !s {attn.name = "s"}) -> (!s {attn.name = "p"})
    attributes {attn.axes = #axes} {
  %p = attn.kernel "softmax" attributes {schedule = {rows = 2 : i64}} -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    attn.return %0 : !s
  }
  return %p : !s
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D">, #attn.axis<"E", extent = 64>]
!q = tensor<?x?xf16, #attn.axes<M, D>>
!k = tensor<?x?xf16, #attn.axes<N, D>>
!v = tensor<?x64xf16, #attn.axes<N, E>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, E>>

func.func @unknown_head_length(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"})
    -> (!o {attn.name = "o"}) attributes {attn.axes = #axes} {
  // expected-error @+1 {{no schedule: the axis summed by the first matmul must have a known length}}
  %o = attn.kernel "flash" -> !o {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    %1 = attn.online_softmax %0, %v over "N" : (!s, !v) -> !o
    attn.return %1 : !o
  }
  return %o : !o
}

// -----

#axes = [#attn.axis<"M">, #attn.axis<"N">]
!s = tensor<?x?xf32, #attn.axes<M, N>>

func.func @no_form(%s: !s {attn.name = "s"}) -> (!s {attn.name = "p"})
    attributes {attn.axes = #axes} {
  // expected-error @+1 {{no kernel form holds 0 matmuls and 2 softmaxes together; keep them in separate attn.kernel regions}}
  %p = attn.kernel "softmax" -> !s {
    %0 = attn.softmax %s over "N" : (!s) -> !s
    %1 = attn.softmax %0 over "N" : (!s) -> !s
    attn.return %1 : !s
  }
  return %p : !s
}
