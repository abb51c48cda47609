//===- TileToCpu.cpp - the pass and its pipeline --------------------------===//

#include "lib/Codegen/Cpu/CompileCpu.h"
#include "lib/Codegen/Cpu/CpuEmitter.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILETOCPUPASS
#include "lib/Codegen/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct TileToCpu : attn::impl::TileToCpuPassBase<TileToCpu> {
  using TileToCpuPassBase::TileToCpuPassBase;
  void runOnOperation() override {
    SmallVector<func::FuncOp> programs;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(tile::kLayoutAttr))
        programs.push_back(function);
    for (func::FuncOp program : programs) {
      cpu::CpuEmitter emitter(OpBuilder(program), program, registers);
      if (failed(emitter.run()))
        return signalPassFailure();
      program.erase();
    }
    getOperation()->removeAttr("tile.temporaries");
  }
};
} // namespace

void attn::addCpuCodegenPasses(OpPassManager &pm, bool portable) {
  TileToCpuPassOptions shape;
  shape.registers = vectorRegisters({portable});
  pm.addPass(createTileToCpuPass(shape));
  pm.addPass(createExpandMathPass());
  // Rounding to bf16 in integers: hosts without an instruction would call a
  // library, and the instruction takes denormal numbers for zero.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
