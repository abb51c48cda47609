//===- Attn.h - C++ face of the attn dialect ------------------------------===//
#ifndef ATTN_DIALECT_ATTN_ATTN_H
#define ATTN_DIALECT_ATTN_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Attn/AttnDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Attn/AttnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Attn/AttnOps.h.inc"

namespace attn {

/// Names of the attributes that make a func.func a program.
inline constexpr llvm::StringLiteral kAxesAttr = "attn.axes";
inline constexpr llvm::StringLiteral kNameAttr = "attn.name";

/// The axis names of a tensor, outermost first. The type must carry them.
llvm::ArrayRef<mlir::StringAttr> axisNames(mlir::Type tensor);

/// Whether a tensor of that type has the axis itself; see `reaches` for nesting.
bool hasAxis(mlir::Type tensor, llvm::StringRef axis);

/// The description of `axis` in the enclosing function; null when it has none.
AxisAttr lookUpAxis(mlir::Operation *op, llvm::StringRef axis);

/// True when an index of `outer` determines one of `axis`: the same axis, or
/// the group or inner axis that `outer` nests.
bool reaches(mlir::Operation *op, llvm::StringRef outer, llvm::StringRef axis);

/// Whether `axis` belongs to one operand of a matmul alone: the other has neither it
/// nor an axis that nests it or is a part of it. Scores of a key axis that does not
/// are no product of a block of queries and a block of keys.
bool isOfOneOperand(MatmulOp matmul, llvm::StringRef axis);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_ATTN_H
