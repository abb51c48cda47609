//===- Passes.td - tile programs to code ------------------------*- tablegen -*-===//
#ifndef ATTN_LIB_CODEGEN_PASSES_TD
#define ATTN_LIB_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToCpuPass : Pass<"tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Tile programs as vector code for the host";
  let description = [{
    Every program becomes `func @name(slots, first, last)` that runs blocks
    first .. last - 1 one after the other. Whole tiles that feed a matmul, a
    reduction or a store live in scratch buffers; elementwise code between them
    is evaluated row by row in vectors, never stored.

    Precondition: no shared-memory operations, no `tile.for_keys`.
    Postcondition: only func, scf, arith, math, memref, vector and llvm are left.
  }];
  let options = [Option<"registers", "registers", "unsigned", "32",
    "vector registers of the host: 32 of 512 bits or 16 of 256; decides how much "
    "of a matmul stays in them">];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::func::FuncDialect"
  ];
}

def TileToNvvmPass : Pass<"tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Tile programs as one thread's code for NVIDIA GPUs";
  let description = [{
    Every program becomes a kernel in one `gpu.module`. A tile is spread over the
    threads of the block as `tile.layout` says; each thread's elements become
    scalars.

    Precondition: operands of `tile.dot` are stages of shared memory or, for the
    first, the accumulator of an earlier one; no `tile.for_keys`.
    Postcondition: only gpu.module, llvm, nvvm, scf, arith and math are left.
  }];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

def ExpandMathPass : Pass<"attn-expand-math"> {
  let summary = "Functions of f32 as arithmetic";
  let description = [{
    No call to a mathematics library remains: exp, log, tanh and rsqrt become
    polynomials and divisions good to about 2 units in the last place. `exp2` is
    an instruction on a GPU (`gpu`), a polynomial on the CPU. A division that a
    floor, an explicit rounding or a comparison sees is right to the last place:
    floor(14 / 7.0) is 2, on a GPU too.
  }];
  let options = [Option<"gpu", "gpu", "bool", "false", "use GPU instructions">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
