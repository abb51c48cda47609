//===- IsolateOps.cpp - a kernel for every operation ----------------------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

namespace attn {
#define GEN_PASS_DEF_ISOLATEOPSPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static StringRef labelOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("attn.matmul", "matmul")
      .Case("attn.scale", "scale")
      .Case("attn.mask", "mask")
      .Case("attn.copy", "copy")
      .Case("attn.round", "round")
      .Case("attn.softmax", "softmax")
      .Default("map");
}

namespace {
struct IsolateOps : attn::impl::IsolateOpsPassBase<IsolateOps> {
  using IsolateOpsPassBase::IsolateOpsPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    eraseUnused(getOperation());
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front())
      if (isPlaceable(&op))
        ops.push_back(&op);
    for (Operation *op : ops) {
      if (!isPlaceable(op)) // A round that rode with its producer.
        continue;
      Group group;
      group.insert(op);
      absorbRounds(group);
      makeKernel(group, labelOf(op));
    }
  }
};
} // namespace
