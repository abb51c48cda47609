//===- Evaluate.h - what a kernel means, in float64 -----------------------===//
//
// The oracle of every check. A kernel is interpreted from its checked tree
// three ways at once: exactly (float64), as the `naive` level computes it (f32,
// roundings of C1), and with the variance of the error that arithmetic of that
// kind makes (see Noise.h). The second and third say how far a result may be
// from the first (C11).
//
// Results can be sampled: axes that no operation sums over are evaluated at
// chosen points only, so the judgement of a large launch costs what its points
// cost.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_EVALUATE_H
#define ATTN_LIB_REFERENCE_EVALUATE_H

#include "lib/Reference/Tensor.h"

#include <functional>

namespace attn::reference {

/// One length an axis, by axis id.
using AxisLengths = std::vector<int64_t>;

/// Completes lengths from the kernel's bindings and nests. Throws InputError on
/// a missing, unknown or contradictory length.
AxisLengths axisLengths(const spec::Kernel &kernel,
                        const std::map<std::string, int64_t> &given);

/// Lengths of a type's axes, outermost first.
std::vector<int64_t> shapeOf(const spec::Type &type,
                             const AxisLengths &lengths);

struct Options {
  /// At most about this many points (rows of a result, say); 0 means all. The
  /// first and last of each axis are always among them.
  int64_t points = 0;
  uint64_t seed = 1;
  /// f32 matmuls round their operands to tf32 (the spec's explicit flag).
  bool tf32 = false;
  int threads = 0; ///< 0 means all cores.
  /// Told the share that is done, from any thread.
  std::function<void(double)> progress;
};

/// Part of a result: the product of lists of coordinates.
struct Slice {
  std::vector<std::vector<int64_t>> coordinates; ///< By axis of the result.
  std::vector<double> exact;    ///< Integers and conditions as numbers.
  std::vector<double> model;    ///< After rounding to the result's dtype.
  std::vector<double> variance; ///< Before that rounding; infinite if unknown.
};

struct ResultSamples {
  std::string name;
  spec::DType dtype = spec::DType::F32;
  std::vector<int64_t> shape;
  /// Trailing elements that belong to one row (the axes after the last sampled
  /// one), so that an error pattern along it can be judged.
  int64_t rowLength = 1;
  std::vector<Slice> slices;
};

struct Evaluation {
  std::vector<ResultSamples> results; ///< In the kernel's order.
  bool sampled = false;               ///< Not every element was evaluated.
};

/// Throws InputError when an input is missing or has the wrong shape or dtype.
Evaluation evaluate(const spec::Kernel &kernel, const AxisLengths &lengths,
                    const Inputs &inputs, const Options &options = {});

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_EVALUATE_H
