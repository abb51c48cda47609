//===- Value.h - what the interpreter computes with -----------------------===//
#ifndef ATTN_LIB_REFERENCE_VALUE_H
#define ATTN_LIB_REFERENCE_VALUE_H

#include "lib/Reference/Box.h"

#include <memory>

namespace attn::reference {

/// A dense array over the coordinate lists of `axes`, outermost first. Floats
/// hold three views of each element; integers and conditions are exact.
struct Value {
  std::vector<int> axes;
  std::vector<int64_t> shape;
  bool real = true;

  std::vector<double> exact;
  std::vector<float> model;     ///< Empty: the same as `exact`.
  std::vector<double> variance; ///< Of the model's error; empty: none.

  std::vector<int64_t> whole;  ///< Integers and conditions.
  std::vector<uint8_t> unsure; ///< Hinge on a float's error; empty: none.

  int64_t size() const {
    int64_t count = 1;
    for (int64_t length : shape)
      count *= length;
    return count;
  }
  float modelAt(int64_t i) const {
    return model.empty() ? float(exact[i]) : model[i];
  }
  double varianceAt(int64_t i) const {
    return variance.empty() ? 0 : variance[i];
  }
  bool unsureAt(int64_t i) const { return !unsure.empty() && unsure[i]; }
};

using ValuePtr = std::shared_ptr<const Value>;

/// An empty-handed value over `axes` of the box, its arrays not yet sized.
Value makeValue(const Box &box, std::vector<int> axes, bool real);

/// `value` repeated along the axes it lacks and reordered to `axes`, which must
/// cover all of its own. Returns `value` itself when nothing changes.
ValuePtr broadcast(const Box &box, const ValuePtr &value,
                   const std::vector<int> &axes);

/// Integers as floats, exactly; conditions as 0 and 1. Floats unchanged.
ValuePtr toReal(const ValuePtr &value);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_VALUE_H
