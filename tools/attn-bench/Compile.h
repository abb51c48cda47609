//===- Compile.h - asking attnc for a bundle ------------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_COMPILE_H
#define ATTN_TOOLS_ATTN_BENCH_COMPILE_H

#include <string>
#include <vector>

namespace attn::bench {

/// Runs attnc, which stands beside this executable or on PATH, with its stderr
/// passed through. Throws SpecError when it cannot compile the spec, InputError when
/// there is no attnc or it fails otherwise.
void runCompiler(const std::vector<std::string> &arguments);

/// What attn-opt beside this executable prints. Throws InputError with the
/// reason when there is none or it fails.
std::string printIr(const std::vector<std::string> &arguments);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_COMPILE_H
