//===- Passes.td - fusion: which operations share a launch ------*- tablegen -*-===//
#ifndef ATTN_LIB_FUSION_PASSES_TD
#define ATTN_LIB_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

class FusionPass<string flag> : Pass<flag, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::attn::AttnDialect"];
}

def KeepF32Pass : FusionPass<"attn-keep-f32"> {
  let summary = "Keep everything between arguments and results in f32";
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect"];
  let description = [{
    Level `reference`. Takes the operands of matmuls from before their `attn.round`, and
    brings operands of a matmul whose types then differ to f32 by a map of their
    own.
    Postcondition: operands of a matmul are alike.

    ```mlir
    %p16 = attn.round %p : f32 -> bf16
    %o = attn.matmul %p16, %v over "N"
    // becomes
    %v32 = attn.map ins(%v) {extend to f32}
    %o = attn.matmul %p, %v32 over "N"
    ```
  }];
}

def MaterializeMasksPass : FusionPass<"attn-materialize-masks"> {
  let summary = "Build each mask as a tensor and add it";
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect"];
  let description = [{
    Level `reference`. `attn.mask` becomes a map that makes a tensor of 0 and
    minus infinity over the axes the predicate uses, and a map that adds it.
    Postcondition: no `attn.mask` is left.
  }];
}

def InsertCopiesPass : FusionPass<"attn-insert-copies"> {
  let summary = "Copy scores before they are masked";
  let description = [{
    Level `naive`. What an out-of-place mask costs: a copy of the scores, which
    the mask then overwrites. The next level, `inplace`, differs by this pass.
  }];
}

def OnlineSoftmaxPass : FusionPass<"attn-online-softmax"> {
  let summary = "Softmax and the matmul after it in one pass over the keys";
  let description = [{
    Levels from `flash` on. Where the probabilities go nowhere but into a matmul
    over the same axis, and their scores come from a matmul,

    ```mlir
    %p, %lse = attn.softmax %s over "N"
    %p16 = attn.round %p
    %o = attn.matmul %p16, %v over "N"
    // becomes
    %o, %lse = attn.online_softmax %s, %v over "N"
    ```
    by the algebra of the running maximum. A softmax it cannot take stays, with a
    remark that says why.
  }];
}

def FuseFlashPass : FusionPass<"attn-fuse-flash"> {
  let summary = "Both matmuls and what stands between them in one kernel";
  let description = [{
    Levels from `flash` on. A kernel around each `attn.online_softmax` (or, in a
    body without softmax, around a matmul that pointwise operations connect to
    another) takes the pointwise operations and the matmul that only feed it, and
    the rounding of its results.
  }];
}

def FusePointwisePass : FusionPass<"attn-fuse-pointwise"> {
  let summary = "Pointwise operations ride with the softmax that consumes them";
  let description = [{
    Levels from `fused` on. A kernel around each softmax takes the pointwise
    operations that only feed it, and the rounding of the probabilities; chains
    of pointwise operations on the same axes become one kernel.
  }];
}

def IsolateOpsPass : FusionPass<"attn-isolate-ops"> {
  let summary = "Give every operation that has no kernel one of its own";
  let description = [{
    The last fusion pass of every level. A round rides with its producer.
    Postcondition: every operation lies in an `attn.kernel`.
  }];
}

def VerifyKernelsPass : FusionPass<"attn-verify-kernels"> {
  let summary = "Check that every operation lies in a kernel";
  let description = [{The postcondition of fusion, as an error.}];
}

#endif
