//===- Passes.h - passes of lib/Schedule ----------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_PASSES_H
#define ATTN_LIB_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace attn {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

#endif // ATTN_LIB_SCHEDULE_PASSES_H
