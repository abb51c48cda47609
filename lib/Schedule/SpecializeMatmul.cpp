//===- SpecializeMatmul.cpp - a producer thread and groups that multiply --===//
//
// The one product of a program of warp groups (tile.groups) and its loop over the
// summed axis are divided:
//
//   producer   copies a step's rows and columns into a stage of a ring, as far
//              ahead as the ring allows;
//   consumers  wait for the stage, multiply, hand the stage back, and do at the
//              end what follows the loop.
//
// The ring runs on from tile to tile (tile-persist-tiles), so the next tile's
// operands arrive while this one's result is being written.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Rings.h"

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace attn {
#define GEN_PASS_DEF_SPECIALIZEMATMULPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// The product and the loop around it.
struct Product {
  tile::DotOp dot;
  tile::LoadBoxOp a, b;
  scf::ForOp loop; ///< Null: a single step.

  Operation *whole() { return loop ? loop.getOperation() : dot.getOperation(); }
};

struct MatmulSpecializer : RingBuilder {
  Product product;
  int64_t groups, stages;
  Value aSlabs, bSlabs, full, empty;

  MatmulSpecializer(func::FuncOp program, Product product, int64_t groups,
                    int64_t stages)
      : RingBuilder(program, product.whole()), product(product), groups(groups),
        stages(stages) {}

  void run();

private:
  /// `body` for every step from `inits` on; it gives what the next step takes.
  template <typename Body>
  SmallVector<Value> overSteps(ValueRange inits, Body body);
  void produce(Block *role);
  Value consume(Block *role);
};
} // namespace

static FailureOr<Product> findProduct(func::FuncOp program) {
  Product product;
  unsigned products = 0;
  program.walk([&](tile::DotOp dot) {
    product.dot = dot;
    ++products;
  });
  if (products != 1)
    return program.emitError("'tile.groups' needs one tile.dot, or two in a "
                             "tile.for_keys; there are ")
           << products;
  auto unfit = [&](const char *what) {
    return product.dot.emitOpError("cannot be specialised: ") << what;
  };
  product.a = product.dot.getA().getDefiningOp<tile::LoadBoxOp>();
  product.b = product.dot.getB().getDefiningOp<tile::LoadBoxOp>();
  if (!product.a || !product.b)
    return unfit("operands must be read by tile.load_box");
  Operation *parent = product.dot->getParentOp();
  if (parent == program)
    return product;
  product.loop = dyn_cast<scf::ForOp>(parent);
  if (!product.loop || product.loop->getParentOp() != program)
    return unfit("it may stand in one loop only");
  bool carriesSum =
      product.loop.getNumResults() == 1 &&
      product.dot.getAccumulator() == product.loop.getRegionIterArgs()[0] &&
      product.loop.getBody()->getTerminator()->getOperand(0) ==
          product.dot.getResult();
  if (!carriesSum)
    return unfit("its loop must carry the sum and nothing else");
  return product;
}

template <typename Body>
SmallVector<Value> MatmulSpecializer::overSteps(ValueRange inits, Body body) {
  if (!product.loop)
    return body(Value(), inits);
  auto steps = scf::ForOp::create(
      b, loc, product.loop.getLowerBound(), product.loop.getUpperBound(),
      product.loop.getStep(), inits,
      [&](OpBuilder &inner, Location, Value at, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        scf::YieldOp::create(b, loc, body(at, carried));
      });
  return SmallVector<Value>(steps.getResults());
}

void MatmulSpecializer::produce(Block *role) {
  Value position = product.loop ? product.loop.getInductionVar() : Value();
  SmallVector<Value> end = overSteps(
      role->getArguments(), [&](Value at, ValueRange carried) -> SmallVector<Value> {
        Ring ring{carried[0], carried[1]};
        tile::SignalWaitOp::create(b, loc, empty, ring.slot, other(ring.phase));
        copy(product.a, position, at, aSlabs, full, ring.slot);
        copy(product.b, position, at, bSlabs, full, ring.slot);
        Ring next = advance(ring, stages);
        return {next.slot, next.phase};
      });
  tile::RoleEndOp::create(b, loc, end);
}

/// Gives the product, at the end of the role.
Value MatmulSpecializer::consume(Block *role) {
  tile::DotOp dot = product.dot;
  Value sum = product.loop ? product.loop.getInitArgs()[0] : dot.getAccumulator();
  bool fresh = !product.loop && matchPattern(sum, m_AnyZeroFloat());
  Value row = b.createOrFold<arith::MulIOp>(
      loc, tile::GroupIdOp::create(b, loc, b.getI32Type()), c32(64));
  SmallVector<Value> inits{sum, role->getArgument(0), role->getArgument(1)};
  SmallVector<Value> end = overSteps(
      inits, [&](Value, ValueRange carried) -> SmallVector<Value> {
        Ring ring{carried[1], carried[2]};
        tile::SignalWaitOp::create(b, loc, full, ring.slot, ring.phase);
        Value left = tile::SlabReadOp::create(b, loc, product.a.getType(), aSlabs,
                                              ring.slot, row);
        Value right = tile::SlabReadOp::create(b, loc, product.b.getType(), bSlabs,
                                               ring.slot, c32(0));
        Value started = tile::DotAsyncOp::create(
            b, loc, dot.getType(), left, right, fresh ? Value() : carried[0],
            dot.getTransposed(), /*fence=*/true);
        // Nothing may be in flight over the loop's back edge; the other groups'
        // products fill the time until this one's stage is handed back.
        Value done = tile::DotWaitOp::create(b, loc, dot.getType(), started,
                                             ValueRange(), 0);
        tile::SignalArriveOp::create(b, loc, empty, ring.slot, Value());
        Ring next = advance(ring, stages);
        return {done, next.slot, next.phase};
      });
  tile::RoleEndOp::create(b, loc, ArrayRef<Value>(end).drop_front());
  return end[0];
}

void MatmulSpecializer::run() {
  Operation *whole = product.whole();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&program.getBody().front());
    aSlabs = slabs(product.a, stages, 64 * groups);
    bSlabs = slabs(product.b, stages,
                   cast<RankedTensorType>(product.b.getType()).getDimSize(0));
    full = signals(stages, 2); // One arrival for each operand's copies.
    empty = signals(stages, 4 * groups);
  }
  auto [producerRegisters, consumerRegisters] = registerBudget(groups);
  auto roles = tile::SpecializeOp::create(b, loc, groups, producerRegisters,
                                          consumerRegisters, /*turns=*/false);
  auto beginRole = [&](Region &region) {
    Block *role = b.createBlock(&region);
    for (int64_t i = 0; i < 2; ++i) // Slot and phase.
      role->addArgument(b.getI32Type(), loc);
    return role;
  };
  produce(beginRole(roles.getProducer()));
  Block *consumer = beginRole(roles.getConsumer());
  Value result = consume(consumer);
  // What follows the product is the consumers' work.
  Operation *terminator = program.getBody().front().getTerminator();
  for (Operation *op = whole->getNextNode(); op != terminator;) {
    Operation *next = op->getNextNode();
    op->moveBefore(consumer->getTerminator());
    op = next;
  }
  whole->getResult(0).replaceAllUsesWith(result);
  whole->erase();
  if (!product.loop)
    for (tile::LoadBoxOp load : {product.a, product.b})
      load->erase();
}

namespace {
struct SpecializeMatmul
    : attn::impl::SpecializeMatmulPassBase<SpecializeMatmul> {
  using SpecializeMatmulPassBase::SpecializeMatmulPassBase;
  void runOnOperation() override {
    func::FuncOp program = getOperation();
    int64_t groups = programNumber(program, "tile.groups", 0);
    bool keys = program
                    .walk([](tile::ForKeysOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
    if (groups == 0 || keys)
      return;
    FailureOr<Product> product = findProduct(program);
    if (failed(product))
      return signalPassFailure();
    MatmulSpecializer(program, *product, groups,
                      programNumber(program, "tile.stages", 2))
        .run();
  }
};
} // namespace
