//===- Inputs.h - deterministic inputs for any kernel ---------------------===//
#ifndef ATTN_LIB_REFERENCE_INPUTS_H
#define ATTN_LIB_REFERENCE_INPUTS_H

#include "lib/Reference/Evaluate.h"

namespace attn::reference {

struct InputOptions {
  uint64_t seed = 1;
  double amplitude = 1; ///< Standard deviation of float tensors.
  /// Values of scalar arguments; the others get a default.
  std::map<std::string, ScalarValue> scalars;
};

/// Inputs for every argument, the same for the same seed on every machine.
/// Floats are normal; a float tensor that multiplies a distance is a slope in
/// (0, 1]. Integers fit their use: an index into a tensor stays inside it, a
/// bound on an axis lies in [0, length], anything else is a document number
/// that does not fall along the last axis. An integer scalar is a quarter of
/// the longest axis of the masks, at least 1; a float scalar 1.
/// Throws InputError on a scalar that the kernel lacks.
Inputs makeInputs(const spec::Kernel &kernel, const AxisLengths &lengths,
                  const InputOptions &options = {});

/// Fills a float tensor with normal numbers times `amplitude`.
void fillNormal(HostTensor &tensor, uint64_t seed, double amplitude = 1,
                double mean = 0);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_INPUTS_H
