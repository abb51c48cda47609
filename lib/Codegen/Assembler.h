//===- Assembler.h - PTX to cubin -----------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_ASSEMBLER_H
#define ATTN_LIB_CODEGEN_ASSEMBLER_H

#include "lib/Bundle/Manifest.h"

#include <map>
#include <string>
#include <vector>

namespace attn {

struct AssemblyResult {
  bool available = false; ///< False: no assembler on this machine.
  std::string error;      ///< Not empty: it ran and refused.
  std::string cubin;
  std::string assembler;  ///< "nvJitLink 13.0", "ptxas 13.0".
  std::string log;
  std::map<std::string, bundle::Resources> resources; ///< By kernel.
  /// Warnings that wgmma instructions were serialised, whole lines.
  std::vector<std::string> serialised;
};

/// Assembles with nvJitLink, loaded at run time, else with a ptxas process;
/// code with register budgets (setmaxnreg) only with ptxas. `arch` is such as
/// "sm_90". ATTN_PTXAS names another ptxas and is preferred.
AssemblyResult assemble(const std::string &ptx, const std::string &arch);

/// Why assemble() here makes no code for `arch`, with the names it takes; "" when it
/// does, or when there is no assembler.
std::string checkAssembler(const std::string &arch);

/// Lines of an assembler's log that report serialised wgmma: C7510 to C7520
/// except C7519, which injects one instruction and costs nothing.
std::vector<std::string> parseSerialisation(const std::string &log);

/// Registers, spills and shared memory of each kernel from the assembler's
/// verbose log.
std::map<std::string, bundle::Resources>
parseAssemblerLog(const std::string &log);

} // namespace attn

#endif // ATTN_LIB_CODEGEN_ASSEMBLER_H
