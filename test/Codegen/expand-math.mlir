// RUN: attn-opt %s --attn-expand-math | FileCheck %s
// RUN: attn-opt %s --attn-expand-math=gpu=true | FileCheck %s --check-prefix=GPU

// Scalars and vectors of f32 become arithmetic; on a GPU exp2 is an instruction.
// CHECK-LABEL: func.func @expanded
// CHECK-NOT: math.exp
// CHECK-NOT: math.tanh
// CHECK: return
// GPU-LABEL: func.func @expanded
// GPU: ex2.approx
// GPU-NOT: math.exp
func.func @expanded(%x: f32, %v: vector<8xf32>) -> (f32, f32, vector<8xf32>) {
  %0 = math.exp2 %x : f32
  %1 = math.tanh %x : f32
  %2 = math.exp %v : vector<8xf32>
  return %0, %1, %2 : f32, f32, vector<8xf32>
}

// Anything else is left to whoever knows the type.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: math.exp2
// GPU-LABEL: func.func @left
// GPU-COUNT-3: math.exp2
// GPU: arith.divf
func.func @left(%t: tensor<4x1xf32>, %h: f16, %s: vector<[4]xf32>)
    -> (tensor<4x1xf32>, f16, vector<[4]xf32>, tensor<4x1xf32>) {
  %0 = math.exp2 %t : tensor<4x1xf32>
  %1 = math.exp2 %h : f16
  %2 = math.exp2 %s : vector<[4]xf32>
  %3 = arith.divf %t, %0 : tensor<4x1xf32>
  return %0, %1, %2, %3 : tensor<4x1xf32>, f16, vector<[4]xf32>, tensor<4x1xf32>
}

// A division in front of a step is right to the last place, any other is short.
// CHECK-LABEL: func.func @before_steps
// CHECK-NOT: llvm.nvvm
// CHECK-COUNT-5: arith.divf
// GPU-LABEL: func.func @before_steps
// A known divisor: one short division, what is left of x, one more term.
// GPU: %[[Q:.+]] = llvm.call_intrinsic "llvm.nvvm.div.full"(%[[X:.+]], %[[SEVEN:.+]]) :
// GPU: %[[MINUS:.+]] = arith.negf %[[Q]]
// GPU: %[[LEFT:.+]] = math.fma %[[MINUS]], %[[SEVEN]], %[[X]]
// GPU: %[[MORE:.+]] = arith.mulf %[[LEFT]], %{{.+}}
// GPU: %[[Z:.+]] = arith.addf %[[Q]], %[[MORE]]
// GPU: %[[NAN:.+]] = arith.cmpf uno, %[[Z]], %[[Z]]
// GPU: %[[RIGHT:.+]] = arith.select %[[NAN]], %[[Q]], %[[Z]]
// GPU: math.floor %[[RIGHT]]
// Any divisor, seen through a sum by a comparison: the second term is divided.
// GPU-COUNT-2: llvm.nvvm.div.full
// GPU: arith.cmpf olt
// An explicit rounding.
// GPU-COUNT-2: llvm.nvvm.div.full
// GPU: arith.truncf
// GPU: arith.extf
// A result that is stored narrow, and one behind a function: short.
// GPU-COUNT-1: llvm.nvvm.div.full
// GPU-NOT: llvm.nvvm.div.full
// GPU: arith.truncf
// GPU-COUNT-1: llvm.nvvm.div.full
// GPU-NOT: math.fma %{{.+}}, %arg1
// GPU: math.floor
func.func @before_steps(%x: f32, %y: f32)
    -> (f32, i1, f32, bf16, f32) {
  %seven = arith.constant 7.0 : f32
  %0 = arith.divf %x, %seven : f32
  %1 = math.floor %0 : f32
  %2 = arith.divf %x, %y : f32
  %3 = arith.addf %2, %seven : f32
  %4 = arith.cmpf olt, %3, %x : f32
  %5 = arith.divf %y, %x : f32
  %6 = arith.truncf %5 : f32 to bf16
  %7 = arith.extf %6 : bf16 to f32
  %8 = arith.divf %3, %1 : f32
  %9 = arith.truncf %8 : f32 to bf16
  %10 = arith.divf %1, %y : f32
  %11 = math.exp2 %10 : f32
  %12 = math.floor %11 : f32
  return %1, %4, %7, %9, %12 : f32, i1, f32, bf16, f32
}
