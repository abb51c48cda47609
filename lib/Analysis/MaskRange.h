//===- MaskRange.h - which keys a mask can leave alive --------------------===//
//
// A mask predicate seen as conditions on the key index n of a row m: affine
// comparisons become limits on n, anything else is unknown and decided element
// by element. The result is symbolic; lib/Schedule turns it into bounds for a
// block of rows.
//
// A comparison of something that varies with the row alone and something that
// varies with the key alone (document numbers of queries and of keys) is kept as
// such: with the least and the largest value of a block of rows at hand, each key
// can be tested against all of them at once.
//
// Affine here: a * n + b * m + u, with a, b integer constants and u uniform, a
// sum of region values that depend on neither index (lengths, scalars, batch
// indices, captured tensors read at such indices) times constants.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_MASKRANGE_H
#define ATTN_LIB_ANALYSIS_MASKRANGE_H

#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace attn {

/// a * n + b * m + sum(coefficient * value) + constant, exact integers.
struct Affine {
  int64_t key = 0;
  int64_t row = 0;
  int64_t constant = 0;
  std::vector<std::pair<int64_t, mlir::Value>> uniform;
};

/// How the row's value stands to the key's. Of floats an ordered comparison: false
/// where one is NaN.
enum class Order { Less, LessEqual, Equal, GreaterEqual, Greater };

/// A node of the predicate. `NonPositive` means `affine <= 0`.
struct MaskRange {
  enum Kind {
    Unknown,
    Always,
    Never,
    NonPositive,
    Uniform,
    Separable, ///< rowSide `order` keySide
    And,
    Or
  } kind;
  Affine affine;         ///< NonPositive
  mlir::Value condition; ///< Uniform: an i1 region value
  bool negated = false;  ///< Uniform, Separable: holds when the condition does not
  std::vector<MaskRange> parts;
  /// Separable: region values of one type, rowSide free of the key and keySide of
  /// the row. A null one stands for `true`.
  Order order = Order::Equal;
  mlir::Value rowSide = nullptr, keySide = nullptr;
  /// Separable: which of the kernel's measured conditions this is, if it is.
  std::optional<unsigned> measured = std::nullopt;
};

/// How region values relate to the block: the axis each index op names.
struct MaskAxes {
  std::string row; ///< May be empty.
  std::string key;
  /// Axes that nest in the row or key axis: they vary with it, not affinely.
  std::vector<std::string> nested;
};

/// Analyses the value a mask region yields.
MaskRange analyzeMask(mlir::Value predicate, const MaskAxes &axes);

/// True when `value` (inside a region) depends on neither the row nor the key.
bool isUniform(mlir::Value value, const MaskAxes &axes);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_MASKRANGE_H
