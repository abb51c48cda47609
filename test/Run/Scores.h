//===- Scores.h - where a kernel's scores come from -----------------------===//
#ifndef ATTN_TEST_RUN_SCORES_H
#define ATTN_TEST_RUN_SCORES_H

#include "lib/Reference/Evaluate.h"

namespace attn::check {

/// What inputs aim at: the matmul of queries and keys, what its scores are
/// scaled by, and the values. Pointers are null, ids -1, where a kernel has no
/// such thing.
struct Scores {
  const spec::Argument *queries = nullptr, *keys = nullptr, *values = nullptr;
  int over = -1;     ///< Axis that the scores sum over.
  int keyAxis = -1;  ///< Axis of the softmax.
  double factor = 1; ///< Of the first `scale`; 1 when not constant.
  /// A function with bounds is among the kernel's (a soft cap). What is taken from
  /// scores may then be a bound in place of a row's maximum, and probabilities round.
  bool bounded = false;
  std::string result; ///< The result that is the values' matmul, or "".

  Scores(const spec::Kernel &kernel, const reference::AxisLengths &lengths);
};

/// Coordinates of a dense tensor's elements along one axis of its type.
class Along {
public:
  Along(const reference::HostTensor &tensor, const spec::Type &type, int axis) {
    for (size_t i = type.axes.size(); i-- > 0;) {
      if (type.axes[i] == axis) {
        length = tensor.shape[i];
        return;
      }
      inner *= tensor.shape[i];
    }
  }
  /// The coordinate of a dense element; 0 along an axis the tensor lacks.
  int64_t at(int64_t element) const { return element / inner % length; }
  /// A number for the element's other coordinates together.
  int64_t others(int64_t element) const {
    return element / inner / length * inner + element % inner;
  }

private:
  int64_t inner = 1, length = 1;
};

} // namespace attn::check

#endif // ATTN_TEST_RUN_SCORES_H
