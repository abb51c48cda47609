//===- ElementwiseLowering.h - attn elementwise work as tile code ---------===//
#ifndef ATTN_LIB_SCHEDULE_ELEMENTWISELOWERING_H
#define ATTN_LIB_SCHEDULE_ELEMENTWISELOWERING_H

#include "lib/Schedule/ProgramBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <functional>

namespace mlir::arith {
class DivFOp;
}

namespace attn {

/// Evaluates attn values of one kernel for the tile a ProgramBuilder stands at.
/// Each value keeps the smallest shape that holds it (scalar, row value, column
/// value, tile); shapes are joined only where operands meet. One object serves
/// one place in the program: values it made are reused, loads included.
class ElementwiseLowering {
public:
  using TensorOf = std::function<TensorInfo(mlir::Value)>;

  ElementwiseLowering(ProgramBuilder &program, TensorOf tensorOf)
      : p(program), tensorOf(std::move(tensorOf)) {}

  /// Says that `tensor` is already held as `value` here.
  void define(mlir::Value tensor, mlir::Value value) { values[tensor] = value; }

  /// Says that `mask` is applied elsewhere: its result is what it masks.
  void leaveOut(mlir::Operation *mask) { leftOut.insert(mask); }

  /// The tensor's elements for this tile. Pointwise operations that define it
  /// inside the kernel are evaluated, anything else is loaded.
  mlir::FailureOr<mlir::Value> evaluate(mlir::Value tensor);

  /// A scalar that some region computes without using the row or key index.
  mlir::FailureOr<mlir::Value> evaluateUniform(mlir::Value regionValue);

  /// A region's value for this tile, the region itself not being run: a scalar,
  /// or a row or column value when it varies with one axis alone.
  mlir::FailureOr<mlir::Value> evaluateElement(mlir::Value regionValue);

private:
  mlir::FailureOr<mlir::Value> evaluateRegion(mlir::Operation *op,
                                              mlir::ValueRange operands);
  mlir::FailureOr<mlir::Value> evaluateOp(mlir::Operation *op);
  mlir::Value multiply(mlir::Location loc, mlir::Value x, mlir::Value y);
  mlir::Value divideByProduct(mlir::arith::DivFOp division, mlir::Value x,
                              mlir::Value y);

  ProgramBuilder &p;
  TensorOf tensorOf;
  llvm::DenseSet<mlir::Operation *> leftOut;
  llvm::DenseMap<mlir::Value, mlir::Value> values;       ///< Tensors.
  llvm::DenseMap<mlir::Value, mlir::Value> regionValues; ///< Inside regions.
};

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_ELEMENTWISELOWERING_H
