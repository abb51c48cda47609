//===- Targets.h - what code can be compiled for --------------------------===//
#ifndef ATTN_LIB_TARGET_TARGETS_H
#define ATTN_LIB_TARGET_TARGETS_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::target {

/// What passes may rely on. Ask `has`, never compare capability numbers.
enum class Feature {
  MmaSync, ///< mma.sync and ldmatrix.
  CpAsync, ///< cp.async from global to shared memory.
  Wgmma,   ///< wgmma, warp groups, register budgets.
  Tma,     ///< Bulk tensor copies and transaction barriers.
};

/// A compile target: "cpu", "sm_80", "sm_90a".
struct CompileTarget {
  std::string name;
  int capability = 0; ///< 80; 0 for the CPU.
  bool exact = false; ///< Runs on this capability only ("sm_90a").
  std::vector<Feature> features;
  int64_t sharedPerBlock = 0; ///< Bytes that every GPU it runs on can give.
  std::vector<std::string> levels; ///< All it can have, in order.

  bool isCpu() const { return capability == 0; }
  bool has(Feature feature) const;
};

/// All compile targets.
const std::vector<CompileTarget> &compileTargets();
/// Their names.
std::vector<std::string> targetNames();
/// Null when there is no target of that name.
const CompileTarget *findTarget(const std::string &name);

/// Levels of a target whose attention kernel can record its phases (--timeline).
std::vector<std::string> timelineLevels(const CompileTarget &target);
/// "sm_80 (flash, pipelined), ...": every target that has such levels.
std::string timelineTargets();

/// Whether code for `name` runs on a device of `capability` (0: the CPU). On
/// no, `why` gets the reason and a fix.
bool runsOn(const std::string &name, int capability, std::string &why);

/// Why `arch` is no name of a GPU that cubins are made for ("sm_80", "sm_90a"); ""
/// when it is one. Whether this assembler knows it, only the assembler can tell
/// (lib/Codegen/Assembler.h).
std::string checkArch(const std::string &arch);
/// The names of GPUs made so far that run some target's code, for messages. A newer
/// one is no error: assemblers know more names than this build.
const std::vector<std::string> &archNames();

} // namespace attn::target

#endif // ATTN_LIB_TARGET_TARGETS_H
