//===- Passes.h - passes of lib/Fusion ------------------------------------===//
#ifndef ATTN_LIB_FUSION_PASSES_H
#define ATTN_LIB_FUSION_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

#endif // ATTN_LIB_FUSION_PASSES_H
