//===- Judge.h - a level's results against the reference ------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_JUDGE_H
#define ATTN_TOOLS_ATTN_BENCH_JUDGE_H

#include "lib/Reference/Evaluate.h"
#include "tools/attn-bench/Arguments.h"

#include <optional>

namespace attn::bench {

/// What a check found.
struct Verdict {
  bool pass = true;
  double error = 0; ///< Largest absolute error of all results.
  std::string why;  ///< Of the first result that fails.
};

/// Whether a kernel of the level rounds its operands to tf32.
bool usesTf32(const bundle::Level &level);

/// Judges any level of one program at one size. The reference is evaluated at
/// sampled points the first time it is needed, once with and once without tf32.
class Judge {
public:
  /// `progress` is told the share of the reference that is evaluated.
  Judge(const spec::Kernel &kernel, const reference::AxisLengths &lengths,
        const reference::Inputs &inputs, unsigned seed,
        std::function<void(double)> progress)
      : kernel(kernel), lengths(lengths), inputs(inputs), seed(seed),
        progress(std::move(progress)) {}

  /// Runs `plan` once on `set` and compares every result.
  Verdict judge(runtime::Device &device, runtime::Plan &plan, ArgumentSet &set,
                bool tf32);

private:
  const reference::Evaluation &expected(bool tf32);

  const spec::Kernel &kernel;
  const reference::AxisLengths &lengths;
  const reference::Inputs &inputs;
  unsigned seed;
  std::function<void(double)> progress;
  std::optional<reference::Evaluation> evaluations[2];
};

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_JUDGE_H
