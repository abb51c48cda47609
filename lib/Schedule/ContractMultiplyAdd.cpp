//===- ContractMultiplyAdd.cpp - products that only a sum uses ------------===//
//
// One instruction instead of two on every target, and one rounding less. Of two
// products the one without an index stays whole to be contracted: index times
// slope has a cheaper form of its own (lib/Codegen/Gpu/Elementwise.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_CONTRACTMULTIPLYADDPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The product that `sum` alone uses, or null.
static arith::MulFOp productOf(Value term) {
  auto product = term.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() ? product : arith::MulFOp();
}

static bool multipliesIndex(arith::MulFOp product) {
  return llvm::any_of(product->getOperands(), [](Value factor) {
    while (Operation *op = factor.getDefiningOp()) {
      if (isa<arith::SIToFPOp>(op))
        return true;
      if (!isa<tile::BroadcastOp>(op))
        return false;
      factor = op->getOperand(0);
    }
    return false;
  });
}

/// x y + z, x y - z or z - x y for a sum or difference with a product.
static void contract(Operation *op) {
  bool minus = isa<arith::SubFOp>(op);
  arith::MulFOp left = productOf(op->getOperand(0)),
                right = productOf(op->getOperand(1));
  arith::MulFOp product = left && right ? (multipliesIndex(left) ? right : left)
                          : left        ? left
                                        : right;
  if (!product)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value x = product.getLhs(), y = product.getRhs();
  Value z = op->getOperand(product == left ? 1 : 0);
  if (minus && product == left)
    z = arith::NegFOp::create(b, loc, z);
  else if (minus)
    x = arith::NegFOp::create(b, loc, x);
  Value fused = math::FmaOp::create(b, loc, x, y, z);
  op->getResult(0).replaceAllUsesWith(fused);
  op->erase();
  product->erase();
}

namespace {
struct ContractMultiplyAdd
    : attn::impl::ContractMultiplyAddPassBase<ContractMultiplyAdd> {
  using ContractMultiplyAddPassBase::ContractMultiplyAddPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op) &&
          getElementTypeOrSelf(op->getResult(0).getType()).isF32())
        sums.push_back(op);
    });
    for (Operation *op : sums)
      contract(op);
  }
};
} // namespace
