//===- Import.h - checked syntax tree to the attn dialect -----------------===//
#ifndef ATTN_LIB_IMPORT_IMPORT_H
#define ATTN_LIB_IMPORT_IMPORT_H

#include "lib/Spec/Ast.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attn {

/// One func.func a kernel, locations pointing into the .attn file. The tree must
/// be free of diagnostics. `only` picks one kernel by name; empty means all.
/// Loads the dialects it needs into `context`.
mlir::OwningOpRef<mlir::ModuleOp> importModule(const spec::Module &module,
                                               mlir::MLIRContext &context,
                                               llvm::StringRef only = "");

} // namespace attn

#endif // ATTN_LIB_IMPORT_IMPORT_H
