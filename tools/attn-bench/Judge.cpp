//===- Judge.cpp - a level's results against the reference ----------------===//

#include "tools/attn-bench/Judge.h"

#include "lib/Reference/Compare.h"

#include <algorithm>

using namespace attn;
using namespace attn::bench;

/// Rows judged. Each costs a pass over its keys in float64, so this keeps a
/// check of a long sequence near a second.
static constexpr int64_t kPoints = 256;

const reference::Evaluation &Judge::expected(bool tf32) {
  std::optional<reference::Evaluation> &evaluation = evaluations[tf32];
  if (!evaluation) {
    reference::Options options;
    options.points = kPoints;
    options.seed = seed;
    options.tf32 = tf32;
    options.progress = progress;
    evaluation = reference::evaluate(kernel, lengths, inputs, options);
  }
  return *evaluation;
}

Verdict Judge::judge(runtime::Device &device, runtime::Plan &plan,
                     ArgumentSet &set, bool tf32) {
  set.poisonOutputs();
  plan.launch();
  device.synchronize();
  Verdict verdict;
  for (const reference::ResultSamples &result : expected(tf32).results) {
    reference::HostTensor actual;
    actual.dtype = result.dtype;
    actual.shape = result.shape;
    actual.data = set.download(result.name);
    reference::Comparison comparison = reference::compare(actual, result);
    verdict.error = std::max(verdict.error, comparison.maxAbs);
    if (!comparison.pass && verdict.pass) {
      verdict.pass = false;
      verdict.why = comparison.why;
    }
  }
  return verdict;
}

bool attn::bench::usesTf32(const bundle::Level &level) {
  return std::any_of(level.kernels.begin(), level.kernels.end(),
                     [](const bundle::Kernel &kernel) {
                       const std::string &unit = kernel.prediction.tensorUnit;
                       return unit.find("tf32") != std::string::npos;
                     });
}
