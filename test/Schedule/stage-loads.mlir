// RUN: attn-opt %s --tile-stage-loads --split-input-file --verify-diagnostics | FileCheck %s

// One stage: copy, wait and compute; a barrier before the copy as well, since the
// stage may still be read.
// CHECK-LABEL: func.func @flash_1
// CHECK-DAG: %[[KB:.+]] = tile.alloc_shared : <1, 64, 64, f16>
// CHECK-DAG: %[[QB:.+]] = tile.alloc_shared : <1, 64, 64, f16>
// The queries' copy starts before the loop and is awaited there.
// CHECK: tile.copy_async %{{.+}} to %{{.+}}[%{{.+}}] : <f16>, <1, 64, 64, f16>
// CHECK-NEXT: tile.commit
// CHECK: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK: %[[Q:.+]] = tile.shared_read
// CHECK: tile.for_keys
// CHECK-NEXT: ^bb0(%[[T:.+]]: i32, %{{.+}}: i64,
// CHECK-NOT: tile.copy_async
// CHECK: tile.barrier
// CHECK: scf.if
// CHECK-NEXT: tile.copy_async
// CHECK: tile.commit
// CHECK-NEXT: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[K:.+]] = tile.shared_read %{{.+}} : <1, 64, 64, f16> -> tensor<64x64xf16>
// CHECK-NEXT: tile.dot %[[Q]], %[[K]] transposed
// CHECK-NOT: tile.load
func.func @flash_1(%p: !tile.ptr<f16>, %M: i64, %D: i64, %b: i64, %n: i32)
    attributes {tile.stages = 1 : i64} {
  %zero = arith.constant 0 : i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qv = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %q = tile.load %qv[%zero, %zero] : !tile.view<f16> -> tensor<64x64xf16>
  %o = tile.for_keys full %b x %n left %b x %n right %b x %n of %b x %n step 64
      init(%init : tensor<64x64xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<64x64xf32>):
    %k = tile.load %qv[%n0, %zero] : !tile.view<f16> -> tensor<64x64xf16>
    %s = tile.dot %q, %k transposed, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  %ov = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %o16 = arith.truncf %o : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %o16, %ov[%zero, %zero] : tensor<64x64xf16>, !tile.view<f16>
  return
}

// Two stages: the copy of the next block runs under this one's computation, and
// one barrier an iteration is left.
// CHECK-LABEL: func.func @flash_2
// CHECK-DAG: tile.alloc_shared : <2, 64, 64, f16>
// CHECK-DAG: tile.alloc_shared : <1, 64, 64, f16>
// CHECK: tile.copy_async %{{.+}} : <f16>, <1, 64, 64, f16>
// CHECK-NEXT: tile.commit
// CHECK: scf.if
// CHECK-NEXT: tile.copy_async %{{.+}} : <f16>, <2, 64, 64, f16>
// CHECK: tile.commit
// The queries' group is the older of two.
// CHECK-NEXT: tile.wait 1
// CHECK-NEXT: tile.barrier
// CHECK: tile.for_keys
// CHECK-NEXT: ^bb0(%[[T:.+]]: i32, %{{.+}}: i64,
// CHECK: %[[SLOT:.+]] = arith.remui %[[T]], %{{.+}} : i32
// CHECK-NEXT: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK: %[[AHEAD:.+]] = arith.addi %[[T]], %{{.+}} : i32
// CHECK: %[[FREE:.+]] = arith.remui %[[AHEAD]], %{{.+}} : i32
// CHECK: scf.if
// CHECK-NEXT: tile.copy_async %{{.+}} to %{{.+}}[%[[FREE]]] : <f16>, <2, 64, 64, f16>
// CHECK: tile.commit
// CHECK-NOT: tile.barrier
// CHECK: tile.shared_read %{{.+}}[%[[SLOT]]] : <2, 64, 64, f16> -> tensor<64x64xf16>
// CHECK-NOT: tile.barrier
// CHECK: tile.yield
func.func @flash_2(%p: !tile.ptr<f16>, %M: i64, %D: i64, %b: i64, %n: i32)
    attributes {tile.stages = 2 : i64} {
  %zero = arith.constant 0 : i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qv = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %q = tile.load %qv[%zero, %zero] : !tile.view<f16> -> tensor<64x64xf16>
  %o = tile.for_keys full %b x %n left %b x %n right %b x %n of %b x %n step 64
      init(%init : tensor<64x64xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<64x64xf32>):
    %k = tile.load %qv[%n0, %zero] : !tile.view<f16> -> tensor<64x64xf16>
    %s = tile.dot %q, %k transposed, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  %ov = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %o16 = arith.truncf %o : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %o16, %ov[%zero, %zero] : tensor<64x64xf16>, !tile.view<f16>
  return
}

// Three stages: two copies are on their way before the loop starts.
// CHECK-LABEL: func.func @flash_3
// CHECK: tile.copy_async %{{.+}} : <f16>, <1, 64, 64, f16>
// CHECK: tile.commit
// CHECK: tile.copy_async %{{.+}} : <f16>, <3, 64, 64, f16>
// CHECK: tile.commit
// CHECK: tile.copy_async %{{.+}} : <f16>, <3, 64, 64, f16>
// CHECK: tile.commit
// CHECK-NEXT: tile.wait 2
// CHECK-NEXT: tile.barrier
// CHECK: tile.for_keys
// CHECK: tile.wait 1
// CHECK-NEXT: tile.barrier
// CHECK: tile.copy_async
// CHECK: tile.commit
// CHECK-NOT: tile.wait
// CHECK: tile.yield
func.func @flash_3(%p: !tile.ptr<f16>, %M: i64, %D: i64, %b: i64, %n: i32)
    attributes {tile.stages = 3 : i64} {
  %zero = arith.constant 0 : i64
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %qv = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %q = tile.load %qv[%zero, %zero] : !tile.view<f16> -> tensor<64x64xf16>
  %o = tile.for_keys full %b x %n left %b x %n right %b x %n of %b x %n step 64
      init(%init : tensor<64x64xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<64x64xf32>):
    %k = tile.load %qv[%n0, %zero] : !tile.view<f16> -> tensor<64x64xf16>
    %s = tile.dot %q, %k transposed, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  %ov = tile.view %p[%zero] size [%M, %D] stride [%D, %zero] aligned 8 : !tile.ptr<f16>
  %o16 = arith.truncf %o : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %o16, %ov[%zero, %zero] : tensor<64x64xf16>, !tile.view<f16>
  return
}

// Without a loop the operands are copied once.
// CHECK-LABEL: func.func @straight
// CHECK-COUNT-2: tile.copy_async
// CHECK-NEXT: tile.commit
// CHECK-NEXT: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.shared_read
// CHECK: tile.shared_read
// CHECK: tile.dot
func.func @straight(%v: !tile.view<f16>, %z: i64, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = tile.load %v[%z, %z] : !tile.view<f16> -> tensor<64x64xf16>
  %b = tile.load %v[%z, %z] : !tile.view<f16> -> tensor<64x64xf16>
  %d = tile.dot %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

// A load that feeds anything but a dot stays a load.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: tile.alloc_shared
// CHECK: %[[A:.+]] = tile.load
// CHECK-NEXT: tile.dot %[[A]], %[[A]]
// CHECK-NEXT: return %{{.+}}, %[[A]]
func.func @plain(%v: !tile.view<f16>, %z: i64, %c: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf16>) {
  %a = tile.load %v[%z, %z] : !tile.view<f16> -> tensor<64x64xf16>
  %d = tile.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  return %d, %a : tensor<64x64xf32>, tensor<64x64xf16>
}

// -----

// expected-error @+1 {{'tile.stages' must be 1 to 8}}
func.func @nine_stages() attributes {tile.stages = 9 : i64} {
  return
}

// -----

func.func @computed_position(%v: !tile.view<f16>, %z: i64, %b: i64, %n: i32, %c: tensor<64x64xf32>)
    attributes {tile.stages = 2 : i64} {
  %a = tile.load %v[%z, %z] : !tile.view<f16> -> tensor<64x64xf16>
  %o = tile.for_keys full %b x %n left %b x %n right %b x %n of %b x %n step 64 init(%c : tensor<64x64xf32>) {
  ^bb0(%t: i32, %n0: i64, %acc: tensor<64x64xf32>):
    %odd = arith.addi %n0, %b : i64
    // expected-error @+1 {{cannot be staged: its position is computed inside the loop}}
    %k = tile.load %v[%odd, %z] : !tile.view<f16> -> tensor<64x64xf16>
    %s = tile.dot %a, %k, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  return
}

// -----

func.func @in_a_branch(%v: !tile.view<f16>, %z: i64, %p: i1, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{holds loads that cannot be staged}}
  %o = scf.if %p -> tensor<64x64xf32> {
    %a = tile.load %v[%z, %z] : !tile.view<f16> -> tensor<64x64xf16>
    %s = tile.dot %a, %a, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  } else {
    scf.yield %c : tensor<64x64xf32>
  }
  return %o : tensor<64x64xf32>
}
