//===- VerifyKernels.cpp - the postcondition of fusion --------------------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct VerifyKernels : attn::impl::VerifyKernelsPassBase<VerifyKernels> {
  using VerifyKernelsPassBase::VerifyKernelsPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    for (Operation &op : getOperation().getBody().front())
      if (isPlaceable(&op)) {
        op.emitOpError("lies in no attn.kernel");
        signalPassFailure();
      }
  }
};
} // namespace
