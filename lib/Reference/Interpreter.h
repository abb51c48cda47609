//===- Interpreter.h - values of a kernel's locals on a box ---------------===//
#ifndef ATTN_LIB_REFERENCE_INTERPRETER_H
#define ATTN_LIB_REFERENCE_INTERPRETER_H

#include "lib/Reference/Value.h"

namespace attn::reference {

/// Computes what is asked for and remembers it. One object a box; reads the
/// inputs and nothing else that another thread might touch.
class Interpreter {
public:
  Interpreter(const Box &box, const Inputs &inputs, bool tf32);

  /// The value of a local (spec::Kernel::locals).
  ValuePtr local(int id);
  /// The value of an expression over the axes of its type.
  ValuePtr value(const spec::Expr &expr);

private:
  ValuePtr leaf(const spec::Expr &expr);
  ValuePtr argument(int id);
  ValuePtr scalarArgument(const spec::Argument &argument);
  ValuePtr read(const spec::Expr &expr);
  ValuePtr matmul(const spec::Expr &expr);
  /// Defines the locals of a softmax statement.
  ValuePtr softmax(const spec::Expr &expr, ValuePtr *logSumExp);
  ValuePtr operand(const spec::Expr &expr, size_t index);
  ValuePtr realOperand(const spec::Expr &expr, size_t index);
  /// `value` with stepAhead set for the operands; a division of its own rounds
  /// correctly if `exactQuotient`.
  ValuePtr form(const spec::Expr &expr, bool exactQuotient);

  const Box &box;
  const spec::Kernel &kernel;
  const Inputs &inputs;
  bool tf32;
  bool narrow = false; ///< Some input is a 16-bit float.
  /// A floor, a rounding or a comparison sees what is being evaluated through
  /// sums, products and selections alone: divisions are then exact ones.
  bool stepAhead = false;
  std::vector<ValuePtr> locals, arguments;
  std::vector<const spec::Statement *> definitions; ///< By local.
};

// Elementwise.cpp. Operands lie over the axes of the result already.
ValuePtr applyUnary(spec::Op op, const ValuePtr &x, bool narrow);
/// `exactQuotient`: a division is correctly rounded (see stepAhead).
ValuePtr applyBinary(spec::Op op, const ValuePtr &x, const ValuePtr &y,
                     bool exactQuotient = false);
/// An index times a slope with the noise of kSlope16.
ValuePtr takenApart(const ValuePtr &product, const ValuePtr &slope);
ValuePtr applySelect(const ValuePtr &condition, const ValuePtr &yes,
                     const ValuePtr &no);
ValuePtr applyCast(spec::DType to, const ValuePtr &x);
ValuePtr applyMask(const ValuePtr &scores, const ValuePtr &predicate);

/// Matmul.cpp. `a` lies over [batch, rows, over], `b` over [batch, over,
/// columns]; the result over [batch, rows, columns]. `cutsOff`: see Noise.h.
ValuePtr contract(const Value &a, const Value &b, int64_t batch, int64_t rows,
                  int64_t depth, int64_t columns, bool cutsOff, Value result);
/// A matmul operand as the naive level rounds it (C1): the exact view stays.
ValuePtr roundOperand(spec::DType to, const ValuePtr &x);
ValuePtr roundOperandToTf32(const ValuePtr &x);

/// Softmax.cpp. Along the last axis of `scores`; `sink` is null or has one
/// element a row. `logSumExp` gets one element a row when wanted.
ValuePtr softmaxRows(const ValuePtr &scores, const Value *sink,
                     Value *logSumExp);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_INTERPRETER_H
