//===- Loaded.h - a level ready to launch on copies of its arguments ------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_LOADED_H
#define ATTN_TOOLS_ATTN_BENCH_LOADED_H

#include "lib/Profile/Timing.h"
#include "tools/attn-bench/Arguments.h"

#include <memory>
#include <vector>

namespace attn::bench {

/// Copies of a program's arguments. Together they are larger than the cache where
/// that is cheap; what they leave of it is flushed on a GPU.
struct ArgumentCopies {
  std::vector<std::unique_ptr<ArgumentSet>> sets; ///< At least one.
  int64_t flushBytes = 0; ///< For TimingOptions; 0 where nothing is left.
};

/// Throws runtime::LaunchError when memory runs out.
ArgumentCopies copyArguments(runtime::Device &device,
                             const bundle::Program &program,
                             const RunBinds &binds,
                             const reference::Inputs &inputs, int64_t cacheBytes);

/// A level on every copy of the arguments.
struct LoadedLevel {
  std::shared_ptr<runtime::Code> code;
  std::shared_ptr<runtime::Temporaries> temporaries;
  std::vector<std::unique_ptr<runtime::Plan>> plans;
  std::vector<runtime::Plan *> list; ///< The plans.
};

/// `folder` is the bundle's. Throws runtime::LaunchError.
LoadedLevel loadLevel(runtime::Device &device, const std::string &folder,
                      const bundle::Program &program, const bundle::Level &level,
                      const runtime::Lengths &lengths,
                      const ArgumentCopies &copies);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_LOADED_H
