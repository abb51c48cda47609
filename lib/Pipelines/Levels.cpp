//===- Levels.cpp - levels and targets as pass pipelines ------------------===//

#include "lib/Pipelines/Levels.h"

#include "lib/Codegen/Passes.h"
#include "lib/Fusion/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Target/Targets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

std::vector<std::string> attn::levelsOf(llvm::StringRef name) {
  const target::CompileTarget *target = target::findTarget(name.str());
  return target ? target->levels : std::vector<std::string>();
}

std::string attn::checkNames(llvm::StringRef target, llvm::StringRef level) {
  std::vector<std::string> levels = levelsOf(target);
  if (levels.empty())
    return ("unknown target '" + target + "'; known are " +
            llvm::join(target::targetNames(), ", "))
        .str();
  if (!level.empty() && !llvm::is_contained(levels, level.str()))
    return ("target " + target + " has no level '" + level + "'; it has " +
            llvm::join(levels, ", "))
        .str();
  return "";
}

std::string attn::checkTimeline(llvm::StringRef name, llvm::StringRef level) {
  const target::CompileTarget *target = target::findTarget(name.str());
  if (!target)
    return checkNames(name, level);
  std::vector<std::string> levels = target::timelineLevels(*target);
  if (levels.empty())
    return ("--timeline records the clock of a GPU's multiprocessors, target " + name +
            " has none; targets and levels that have it: " + target::timelineTargets())
        .str();
  if (!level.empty() && !llvm::is_contained(levels, level.str()))
    return ("--timeline: none of the kernels of level " + level +
            " holds both products, so none records phases; levels that have it: " +
            target::timelineTargets())
        .str();
  return "";
}

void attn::addFusionPasses(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &fusion = pm.nest<func::FuncOp>();
  const std::string &level = options.level;
  if (level == "reference") {
    fusion.addPass(createKeepF32Pass());
    fusion.addPass(createMaterializeMasksPass());
  } else if (level == "naive") {
    fusion.addPass(createInsertCopiesPass());
  } else if (level == "fused") {
    fusion.addPass(createFusePointwisePass());
  } else if (level != "inplace") { // flash and beyond
    fusion.addPass(createOnlineSoftmaxPass());
    fusion.addPass(createFuseFlashPass());
    fusion.addPass(createFusePointwisePass());
  }
  fusion.addPass(createIsolateOpsPass());
  fusion.addPass(createVerifyKernelsPass());
}

void attn::addSchedulePasses(OpPassManager &pm,
                             const PipelineOptions &options) {
  ChooseSchedulePassOptions choose;
  choose.target = options.target;
  choose.level = options.level;
  choose.overrides = options.schedule;
  pm.addPass(createChooseSchedulePass(choose));
  LowerKernelsPassOptions lower;
  lower.level = options.level;
  lower.tf32 = options.tf32;
  pm.addPass(createLowerKernelsPass(lower));
  OpPassManager &programs = pm.nest<func::FuncOp>();
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
  if (options.target != "cpu")
    programs.addPass(createStageLoadsPass());
  const target::CompileTarget *target = target::findTarget(options.target);
  if (target && target->has(target::Feature::Wgmma)) {
    programs.addPass(createSpecializeMatmulPass());
    programs.addPass(createPipelineKeysPass());
    programs.addPass(createSpecializeWarpsPass());
    programs.addPass(createPersistTilesPass());
    programs.addPass(createClusterBlocksPass());
    programs.addPass(createExpandRunningMaxPass());
  }
  programs.addPass(createSplitKeyLoopPass());
  programs.addPass(createContractMultiplyAddPass());
  programs.addPass(createExpandTanhPass());
  programs.addPass(createLoopInvariantCodeMotionPass());
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
  if (target && target->has(target::Feature::Wgmma))
    programs.addPass(createCountStepsPass());
  if (options.timeline)
    programs.addPass(createStampPhasesPass());
}

void attn::registerAllAttnPasses() {
  registerFusionPasses();
  registerSchedulePasses();
  registerCodegenPasses();
}
