// RUN: attn-opt %s --canonicalize --target=sm_80 --emit=ptx | FileCheck %s
// RUN: attn-opt %s --canonicalize --target=sm_80 --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: attn-opt %kernels/causal.attn --level=pipelined --target=sm_80 --emit=llvm > %t
// RUN: FileCheck %s --check-prefix=KERNEL < %t
// RUN: not grep -E 'asm .*\)$' %t

// Inline assembly with a barrier stays convergent. Without that, optimisation
// sees that the second branch follows the first and copies the barrier into
// both, where the threads of a block no longer meet.

// CHECK-LABEL: .entry both_meet
// CHECK: bar.sync 0;
// CHECK-NOT: bar.sync

// LLVM: call void asm sideeffect "bar.sync 0;", ""() #[[CONVERGENT:[0-9]+]]
// LLVM-NOT: bar.sync
// LLVM: attributes #[[CONVERGENT]] = { convergent

// So does what the compiler itself writes as assembly.
// KERNEL: asm sideeffect {{.+}} #[[KEPT:[0-9]+]]
// KERNEL: attributes #[[KEPT]] = { convergent

gpu.module @device {
  llvm.func @both_meet(%p: !llvm.ptr<1>, %c: i1) attributes {gpu.kernel, nvvm.kernel} {
    %yes = llvm.mlir.constant(true) : i1
    %no = llvm.mlir.constant(false) : i1
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    llvm.cond_br %c, ^first, ^meet(%no : i1)
  ^first:
    llvm.store volatile %one, %p : i32, !llvm.ptr<1>
    llvm.br ^meet(%yes : i1)
  ^meet(%again: i1):
    llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 0;", "" : () -> ()
    llvm.cond_br %again, ^second, ^end
  ^second:
    llvm.store volatile %two, %p : i32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
