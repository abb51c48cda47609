//===- KeepF32.cpp - everything between arguments and results in f32 ------===//

#include "lib/Fusion/Group.h"
#include "lib/Fusion/Passes.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_KEEPF32PASS
#include "lib/Fusion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Matmuls and rounds take the value unrounded. For anything else the rounded type
/// is declared: a result's, a copy's, an element's of a region, a kernel's.
static bool takesAnyFloat(OpOperand &use) {
  return isa<MatmulOp, OnlineSoftmaxOp, RoundOp>(use.getOwner());
}

/// `value` brought to f32 by a map of its own.
static Value extend(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto map = MapOp::create(b, loc, type.clone(b.getF32Type()), value);
  Block *body = b.createBlock(&map.getBody());
  Value element = body->addArgument(type.getElementType(), loc);
  YieldOp::create(b, loc,
                  arith::ExtFOp::create(b, loc, b.getF32Type(), element));
  b.setInsertionPointAfter(map);
  return map.getResult();
}

namespace {
struct KeepF32 : attn::impl::KeepF32PassBase<KeepF32> {
  using KeepF32PassBase::KeepF32PassBase;
  void runOnOperation() override {
    if (!isProgram(getOperation()))
      return;
    SmallVector<RoundOp> rounds;
    getOperation().walk([&](RoundOp round) { rounds.push_back(round); });
    for (RoundOp round : rounds) {
      round.getResult().replaceUsesWithIf(round.getValue(), takesAnyFloat);
      if (round->use_empty())
        round.erase();
    }
    getOperation().walk([&](MatmulOp matmul) {
      auto element = [](Value v) {
        return cast<RankedTensorType>(v.getType()).getElementType();
      };
      if (element(matmul.getA()) == element(matmul.getB()))
        return;
      OpBuilder b(matmul);
      for (OpOperand &operand : matmul->getOpOperands())
        if (!element(operand.get()).isF32())
          operand.set(extend(b, matmul.getLoc(), operand.get()));
    });
  }
};
} // namespace
