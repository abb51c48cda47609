//===- OnlineSoftmax.h - the running softmax as tile code -----------------===//
//
// A row's state is its running maximum, in units of log2, and the running sum of
// 2^(score - maximum). Scores are scaled by `factor` (log2(e) times a scale that
// was folded in, positive) inside one fused multiply-add, so
//   p = 2^(factor * s - shift)
// and every quantity that is compared or subtracted is formed from the same
// rounded products: an error of rounding in the shift cancels in p / sum.
//
// Not where p is rounded to 16 bits for the value product: the largest p is then
// not exactly 1, and even a row of one key would be off by that rounding. Results
// of as few bits hide it; for wider ones (`weight`) the sum that divides is of the
// rounded probabilities, which a row's result is then a true average by. So it always
// is where the value product adds it up (`sums` of a schedule).
//
// A row without a live key has maximum minus infinity and sum 0; its shift is 0
// so that 2^(-inf - 0) = 0 and no NaN arises (C2, C3). Rows of very large scores
// take another line through the exponents, see ScoreRange.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_ONLINESOFTMAX_H
#define ATTN_LIB_SCHEDULE_ONLINESOFTMAX_H

#include "lib/Schedule/KeyOffset.h"
#include "lib/Schedule/ProgramBuilder.h"

#include <optional>

namespace attn {

inline constexpr double kOneOverLn2 = 1.4426950408889634;

class OnlineSoftmax {
public:
  struct State {
    mlir::Value maximum; ///< rows x 1 f32
    mlir::Value sum;     ///< rows x 1 f32; null where nothing needs it (`summed`).
    /// rows x 1 f32: the sum of rounded probabilities, kept beside that of unrounded
    /// ones, which a log-sum-exp is made of; null where `sum` divides as well.
    mlir::Value weights;
    /// What a loop carries, in this order; null values are left out.
    llvm::SmallVector<mlir::Value> flat() const;
    static State from(mlir::ValueRange flat);
    mlir::Value divisor() const { return weights ? weights : sum; }
  };
  /// exponent = slope * score - shift, of a row; rows x 1 each.
  struct Line {
    mlir::Value slope, shift;
  };
  struct Step {
    State next;
    mlir::Value largest;     ///< rows x 1: of these scores, unscaled
    mlir::Value probability; ///< rows x columns f32, not normalised
    mlir::Value correction;  ///< rows x 1: what earlier sums are multiplied by
  };

  explicit OnlineSoftmax(ProgramBuilder &program) : p(program) {}

  /// What scores are multiplied by; positive.
  double factor = kOneOverLn2;

  /// Of every 8 pairs of probabilities, how many are polynomials (tile.exp2).
  int64_t polynomial = 0;

  /// The same in packed bf16 (tile.exp2_packed); then nothing else may use
  /// probabilities than `rounded`, and maxima are whole.
  int64_t packed = 0;

  /// Scores are bounded (ScoreBound.h): the maximum is the first block's, cut to
  /// this size, and not moved again.
  std::optional<double> fixed;

  /// Type that probabilities are rounded to before they are summed, or null: see
  /// above.
  mlir::Type weight;

  /// Whether sums are kept. Not where the value product gives the one that divides
  /// (tile.dot ... sums) and no log-sum-exp is asked for.
  bool summed = true;

  /// Before any key. `sink` (scalar or row value, natural units, or null) is a
  /// logit that takes part in the sum and has no value.
  State start(mlir::Value sink);
  Step step(State state, mlir::Value scores);

  /// The same with the sum kept unreduced, rows x 8 (tile.fold), and the maximum
  /// moved by tile.running_max. Used where lanes should not wait for each other
  /// in every block.
  State startFolded(mlir::Value sink);
  /// What a product of `columns` columns with row sums starts from: zeros, and what
  /// a sink adds to the sums.
  mlir::Value startProduct(mlir::Value sink, int64_t columns);
  struct FoldedStep {
    State next;
    mlir::Value probability;
    mlir::Value correction; ///< rows x 1
    mlir::Value moved;      ///< i1
  };
  /// The scores are the sum of `offset`, if any, with `scores`, see tile.running_max.
  FoldedStep stepFolded(State state, mlir::Value scores, KeyOffset offset);
  /// `state` with its sum reduced.
  State reduceSum(State state);

  /// The line of scores whose largest is `largest`, under the row's maximum.
  Line line(mlir::Value maximum, mlir::Value largest);
  mlir::Value probability(mlir::Value scores, Line line,
                          mlir::Value offset = nullptr);
  /// Probabilities in the value product's type.
  mlir::Value rounded(mlir::Value probability, mlir::Type element);
  /// 1 / sum, 0 where the sum is 0.
  mlir::Value inverse(mlir::Value sum);
  /// Natural log-sum-exp, minus infinity where the sum is 0.
  mlir::Value logSumExp(State state);
  /// Minus infinity (or 0) at and beyond the length of the key axis.
  mlir::Value maskTail(mlir::Value scores, llvm::StringRef key,
                       bool zero = false);

private:
  mlir::Value rowConstant(double value);
  mlir::Value roundedToWeight(mlir::Value probability);
  /// Adds a block's probabilities to the sums that divide.
  void addWeights(
      State state, mlir::Value probability,
      llvm::function_ref<mlir::Value(mlir::Value sum, mlir::Value probabilities)> add,
      State &next);
  mlir::Value nearLargest(mlir::Value scores, mlir::Value offset,
                          mlir::Value maximum, mlir::Value moved);
  ProgramBuilder &p;
};

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_ONLINESOFTMAX_H
