//===- InsertCopies.cpp - a copy of the scores before each mask -----------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct InsertCopies : attn::impl::InsertCopiesPassBase<InsertCopies> {
  using InsertCopiesPassBase::InsertCopiesPassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    getOperation().walk([](MaskOp mask) {
      OpBuilder b(mask);
      Value scores = mask.getScores();
      mask.getScoresMutable().assign(
          CopyOp::create(b, mask.getLoc(), scores.getType(), scores));
    });
  }
};
} // namespace
