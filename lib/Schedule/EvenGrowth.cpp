//===- EvenGrowth.cpp - scores that a slope along the keys is added to ----===//

#include "lib/Schedule/EvenGrowth.h"
#include "lib/Schedule/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

namespace {
struct Term {
  Region &region;
  StringRef row, key;

  /// Whether `value` varies with rows or keys.
  bool varies(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentRegion() != &region) // A score, or of the kernel's.
      return isa<BlockArgument>(value);
    if (auto index = dyn_cast<IndexOp>(op))
      return index.getAxis() == row || index.getAxis() == key;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      // A tensor that is read varies as its coordinates do.
      return !isa<RankedTensorType>(operand.getType()) && varies(operand);
    });
  }

  bool even(Value value) {
    Operation *op = value.getDefiningOp();
    if (!varies(value))
      return true;
    if (!op)
      return false;
    if (isa<IndexOp>(op))
      return true;
    if (isa<arith::SIToFPOp, arith::NegFOp>(op))
      return even(op->getOperand(0));
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return even(op->getOperand(0)) && even(op->getOperand(1));
    if (isa<arith::MulFOp>(op))
      return (!varies(op->getOperand(0)) && even(op->getOperand(1))) ||
             (!varies(op->getOperand(1)) && even(op->getOperand(0)));
    return false;
  }
};
} // namespace

bool attn::growsEvenly(MapOp map, StringRef row, StringRef key) {
  Block &body = map->getRegion(0).front();
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (map->getNumOperands() != 1 || !isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum))
    return false;
  Term term{map->getRegion(0), row, key};
  Value score = body.getArgument(0);
  if (sum->getOperand(0) == score)
    return term.even(sum->getOperand(1));
  return isa<arith::AddFOp>(sum) && sum->getOperand(1) == score &&
         term.even(sum->getOperand(0));
}
