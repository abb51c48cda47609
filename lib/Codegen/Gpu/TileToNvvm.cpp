//===- TileToNvvm.cpp - the pass and its pipeline -------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_TILETONVVMPASS
#include "lib/Codegen/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The type a program's argument has as a kernel parameter.
static Type parameterType(Type type) {
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), 1);
  if (isa<tile::MapType>(type)) // By value, in the kernel's parameter space.
    return LLVM::LLVMPointerType::get(type.getContext());
  return type;
}

static int64_t threadsOf(func::FuncOp program) {
  int64_t all = 0;
  program.walk([&](tile::SpecializeOp op) { all = 128 * (op.getGroups() + 1); });
  if (all)
    return all;
  Attribute layout = program->getAttr(tile::kLayoutAttr);
  auto groups = program->getAttrOfType<IntegerAttr>("tile.groups");
  if (auto accumulator = dyn_cast<tile::AccumulatorAttr>(layout))
    return 32 * accumulator.getWarps() * (groups ? groups.getInt() : 1);
  return 32 * cast<tile::RowsAttr>(layout).getWarps();
}

static LogicalResult lowerProgram(OpBuilder &b, func::FuncOp program,
                                  LLVM::GlobalOp shared) {
  MLIRContext *context = b.getContext();
  SmallVector<Type> parameters;
  for (Type type : program.getArgumentTypes())
    parameters.push_back(parameterType(type));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          parameters);
  auto kernel = LLVM::LLVMFuncOp::create(b, program.getLoc(), program.getName(),
                                         type);
  int32_t threads = static_cast<int32_t>(threadsOf(program));
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({threads}));
  // One block a multiprocessor is enough: the register budgets of roles assume it,
  // and of large blocks the assembler would rather spill than fit one block fewer.
  if (program->hasAttr("tile.groups") || threads >= 256)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  // A property of the code: whoever launches it only needs a grid of whole clusters.
  if (int64_t blocks = tile::clusterOf(program); blocks > 1)
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    b.getDenseI32ArrayAttr({static_cast<int32_t>(blocks)}));
  for (auto [i, argument] : llvm::enumerate(program.getArgumentTypes()))
    if (isa<tile::MapType>(argument)) {
      auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
      kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
      kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
      kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
    }
  kernel.addEntryBlock(b);
  attn::gpu::GpuEmitter emitter(program, kernel, shared);
  if (failed(emitter.emit()))
    return failure();
  kernel->setAttr("tile.threads", b.getI64IntegerAttr(threads));
  kernel->setAttr("tile.shared_bytes",
                  b.getI64IntegerAttr(emitter.sharedBytes()));
  return success();
}

namespace {
struct TileToNvvm : attn::impl::TileToNvvmPassBase<TileToNvvm> {
  using TileToNvvmPassBase::TileToNvvmPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto device = mlir::gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
    b.setInsertionPointToStart(device.getBody());
    // One array stands for all dynamic shared memory: zero-length, external.
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    auto shared = LLVM::GlobalOp::create(
        b, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External,
        "attn_shared", Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
    SmallVector<func::FuncOp> programs;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (function->hasAttr(tile::kLayoutAttr))
        programs.push_back(function);
    for (func::FuncOp program : programs) {
      b.setInsertionPointToEnd(device.getBody());
      if (failed(lowerProgram(b, program, shared)))
        return signalPassFailure();
      program.erase();
    }
    module->removeAttr("tile.temporaries");
  }
};
} // namespace

void attn::addGpuCodegenPasses(OpPassManager &pm) {
  pm.addPass(createTileToNvvmPass());
  OpPassManager &device = pm.nest<mlir::gpu::GPUModuleOp>();
  ExpandMathPassOptions math;
  math.gpu = true;
  device.addPass(createExpandMathPass(math));
  device.addPass(createCSEPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createArithToLLVMConversionPass());
  // This one runs on a builtin.module only; it reaches into the gpu.module.
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}
