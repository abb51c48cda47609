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
