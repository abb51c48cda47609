//===- Check.h - one case of one level against the reference --------------===//
#ifndef ATTN_TEST_RUN_CHECK_H
#define ATTN_TEST_RUN_CHECK_H

#include "test/Run/Cases.h"
#include "test/Run/Guarded.h"
#include "test/Run/Memory.h"

#include <functional>
#include <optional>

namespace attn::check {

/// A case with its inputs and what must come out, shared by all levels.
class Expected {
public:
  Expected(const spec::Kernel &kernel, const Case &c);

  const Case &theCase;
  const spec::Kernel &kernel;
  reference::AxisLengths lengths;
  reference::Inputs inputs;
  /// Evaluated at the first call; `progress` is told the share that is done.
  const reference::Evaluation &results(bool tf32,
                                       std::function<void(double)> progress = {});

private:
  std::optional<reference::Evaluation> evaluations[2];
};

struct Outcome {
  std::string failure;   ///< Empty when all is well.
  std::string cannotRun; ///< The launch was refused, with the reason.
  bool tooLarge = false; ///< Because it is too large for this machine.
  double worstRatio = 0; ///< Largest error over its tolerance.
  std::optional<ExtraMemory> memory; ///< When asked for.
};

/// How a case is run.
struct RunOptions {
  int repeats = 1; ///< Launches that must agree bit by bit with the first.
  bool memory = false; ///< Measure what a launch needs besides its arguments.
};

/// Whether the reference must round as the level's kernels do.
bool usesTf32(const bundle::Level &level);

/// Runs a level three times on a case, between guards and over poisoned memory:
/// the second time everything the kernels do not own holds other bits, the
/// third (with several batch entries) another entry's inputs are NaN. Results
/// must agree with the reference (C1 to C9, C11), lie where they belong (C6),
/// and be the same bits all three times (C10). Repeats come on top. A sliced
/// case also tries slices that start or step off 16 bytes: they must be refused
/// (C12). Throws runtime::DeviceError when the device fails.
Outcome checkLevel(runtime::Device &device, const bundle::Program &program,
                   const bundle::Level &level,
                   const std::shared_ptr<runtime::Code> &code,
                   Expected &expected, const RunOptions &options = {});

} // namespace attn::check

#endif // ATTN_TEST_RUN_CHECK_H
