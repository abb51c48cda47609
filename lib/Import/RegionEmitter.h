//===- RegionEmitter.h - elementwise expressions as region code -----------===//
#ifndef ATTN_LIB_IMPORT_REGIONEMITTER_H
#define ATTN_LIB_IMPORT_REGIONEMITTER_H

#include "lib/Analysis/Interval.h"
#include "lib/Spec/Ast.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <optional>

namespace attn {

/// Emits the body of one attn.map, attn.scale or attn.mask. Floats are f32,
/// integers i32 or i64 by their interval, conditions i1.
class RegionEmitter {
public:
  struct Context {
    const spec::Kernel &kernel;
    /// Scalar or tensor argument of the function.
    std::function<mlir::Value(int)> argument;
    /// The expression of a local that is computed where it is used, or null.
    std::function<const spec::Expr *(int)> inlined;
    /// A tensor that has to exist before the region: locals, matmuls, ...
    std::function<mlir::Value(const spec::Expr &)> tensor;
    std::function<mlir::Location(spec::Span)> location;
  };

  RegionEmitter(mlir::MLIRContext *context, const Context &surroundings);

  /// Emits `expr` and a yield of `element` type.
  void emit(const spec::Expr &expr, mlir::Type element);

  std::unique_ptr<mlir::Region> takeRegion() { return std::move(region); }
  const llvm::SmallVector<mlir::Value> &inputs() const { return operands; }

private:
  struct Typed {
    mlir::Value value;
    Interval interval; ///< Integers only.
  };

  Typed value(const spec::Expr &expr);
  mlir::Value real(const spec::Expr &expr);     ///< as f32
  mlir::Value condition(const spec::Expr &expr); ///< as i1
  Typed integer(const spec::Expr &expr);

  Typed element(mlir::Value tensor, const spec::Expr &expr);
  Typed unary(const spec::Expr &expr);
  Typed binary(const spec::Expr &expr);
  Typed compare(const spec::Expr &expr);
  Typed integerBinary(const spec::Expr &expr);
  Typed divide(Typed a, Typed b, mlir::Location loc);
  Typed read(const spec::Expr &expr);
  Typed cast(const spec::Expr &expr);
  mlir::Value widen(mlir::Value v, unsigned width);
  mlir::Value toFloat(Typed v, mlir::Location loc);
  mlir::Value constant(int64_t v, unsigned width, mlir::Location loc);
  mlir::Value constantReal(double v, mlir::Location loc);

  Context c;
  std::unique_ptr<mlir::Region> region;
  mlir::OpBuilder b;
  llvm::SmallVector<mlir::Value> operands;
  llvm::DenseMap<mlir::Value, mlir::Value> elements; ///< Tensor to block argument.
  llvm::DenseMap<int, Typed> locals;                 ///< Inlined, once a region.
};

/// The value of an expression of literals and bound lengths, in double.
std::optional<double> constantValue(const spec::Kernel &kernel,
                                    const spec::Expr &expr);

} // namespace attn

#endif // ATTN_LIB_IMPORT_REGIONEMITTER_H
