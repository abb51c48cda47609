// RUN: attn-opt %s --attn-choose-schedule="target=sm_80 overrides=rows=128,warps=8" | FileCheck %s
// RUN: not attn-opt %s --attn-choose-schedule="target=sm_80 overrides=rows=24" 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not attn-opt %s --attn-choose-schedule="target=sm_80 overrides=tiles=2" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not attn-opt %s --attn-choose-schedule=target=sm_70 2>&1 | FileCheck %s --check-prefix=TARGET

// Overrides are for flash kernels alone.
// CHECK: attn.kernel "matmul" attributes {schedule = {{.*}}rows = 64 : i64{{.*}}warps = 4 : i64}}
// CHECK: attn.kernel "flash" attributes {schedule = {{.*}}columns = 64 : i64, {{.*}}rows = 128 : i64, {{.*}}warps = 8 : i64}}
// DIVIDE: error: schedule rows=24,columns=64,warps=4 does not divide
// UNKNOWN: error: schedule override 'tiles=2' is not understood
// TARGET: error: unknown target 'sm_70'; known are cpu, sm_80

#axes = [#attn.axis<"M">, #attn.axis<"N">, #attn.axis<"D", extent = 64>]
!q = tensor<?x64xf16, #attn.axes<M, D>>
!k = tensor<?x64xf16, #attn.axes<N, D>>
!s = tensor<?x?xf32, #attn.axes<M, N>>
!o = tensor<?x64xf32, #attn.axes<M, D>>

func.func @f(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !k {attn.name = "v"})
    -> (!s {attn.name = "s"}, !o {attn.name = "o"}) attributes {attn.axes = #axes} {
  %s = attn.kernel "matmul" -> !s {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    attn.return %0 : !s
  }
  %o = attn.kernel "flash" -> !o {
    %0 = attn.matmul %q, %k over "D" : (!q, !k) -> !s
    %1 = attn.online_softmax %0, %v over "N" : (!s, !k) -> !o
    attn.return %1 : !o
  }
  return %s, %o : !s, !o
}
