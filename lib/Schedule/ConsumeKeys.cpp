//===- ConsumeKeys.cpp - what a warp group does with a block of keys ------===//

#include "lib/Schedule/ConsumeKeys.h"

#include "lib/Schedule/FrozenMaximum.h"
#include "lib/Schedule/KeyBlocks.h"
#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/LowerMask.h"
#include "lib/Schedule/ScoreRange.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

FailureOr<KeyLoop> attn::takeApart(tile::ForKeysOp op) {
  KeyLoop loop;
  loop.op = op;
  auto unfit = [&](const char *what) {
    return op.emitOpError("cannot be specialised: ") << what;
  };
  for (auto dot : op.getBody().getOps<tile::DotOp>())
    (loop.scores ? loop.values : loop.scores) = dot;
  if (!loop.scores || !loop.values)
    return unfit("it must hold the score and the value product");
  loop.query = loop.scores.getA().getDefiningOp<tile::LoadBoxOp>();
  loop.key = loop.scores.getB().getDefiningOp<tile::LoadBoxOp>();
  loop.value = loop.values.getB().getDefiningOp<tile::LoadBoxOp>();
  if (!loop.query || !loop.key || !loop.value)
    return unfit("operands must be read by tile.load_box");
  loop.round = loop.values.getA().getDefiningOp();
  if (!isa_and_nonnull<arith::TruncFOp, tile::RoundPackedOp>(loop.round))
    return unfit("probabilities must be rounded to 16 bits");
  loop.rescale = loop.values.getAccumulator().getDefiningOp<tile::RescaleOp>();
  Value accumulated = loop.rescale ? loop.rescale.getValue()
                                   : loop.values.getAccumulator();
  if (accumulated != loop.carried(0) ||
      loop.yield()->getOperand(0) != loop.values.getResult())
    return unfit("the accumulator must be carried first");
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isa<tile::DotOp, tile::LoadBoxOp, tile::RescaleOp>(inner) &&
        &inner != loop.round)
      loop.softmax.push_back(&inner);
  for (auto load : op.getBody().getOps<tile::LoadMappedOp>())
    loop.captured.push_back(load);
  // Operands are 16 bits wide here, so a level that stores the scores rounds them
  // to 2^-9 of their size; the instruction is off by 2^-11, and an index times a
  // slope by 2^-16 of the slope when it is taken apart.
  for (Operation *inner : loop.softmax) {
    if (auto tanh = dyn_cast<math::TanhOp>(inner))
      tanh.setFastmath(arith::FastMathFlags::afn);
    if (auto product = dyn_cast<arith::MulFOp>(inner))
      product.setFastmath(arith::FastMathFlags::reassoc);
  }
  return loop;
}

SmallVector<Value> KeyConsumer::State::positions() const {
  SmallVector<Value> all{key.slot, key.phase, value.slot, value.phase};
  for (Ring ring : captured)
    all.append({ring.slot, ring.phase});
  return all;
}

void KeyConsumer::State::move(ValueRange positions) {
  key = {positions[0], positions[1]};
  value = {positions[2], positions[3]};
  captured.clear();
  for (size_t i = 4; i < positions.size(); i += 2)
    captured.push_back({positions[i], positions[i + 1]});
}

SmallVector<Value> KeyConsumer::State::flat() const {
  SmallVector<Value> all = positions();
  all.push_back(accumulator);
  if (probability)
    all.push_back(probability);
  all.append(sums);
  return all;
}

KeyConsumer::State KeyConsumer::State::from(const State &before, ValueRange all) {
  State s;
  s.query = before.query;
  size_t positions = 4 + 2 * before.captured.size();
  s.move(all.take_front(positions));
  all = all.drop_front(positions);
  s.accumulator = all[0];
  bool rotated = before.probability != nullptr;
  if (rotated)
    s.probability = all[1];
  s.sums.assign(all.begin() + (rotated ? 2 : 1), all.end());
  return s;
}

Value KeyConsumer::blockStart(Value begin, Value index) {
  return KeyBlocks(loop.op).advance(b, loc, begin, index);
}

void KeyConsumer::reserve(bool queryAgain) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.getBody().front());
  auto keyType = cast<RankedTensorType>(loop.key.getType());
  querySlabs = slabs(loop.query, queries, 64 * groups);
  keySlabs = slabs(loop.key, stages, keyType.getDimSize(0));
  valueSlabs = slabs(loop.value, stages, keyType.getDimSize(0));
  if (loop.values.getSums()) {
    ones = tile::AllocSlabsOp::create(
        b, loc, tile::SlabsType::get(b.getContext(), 1, 16, 64, keyType.getElementType()));
    tile::FillOnesOp::create(b, loc, ones);
  }
  queryFull = signals(queries, 1);
  if (queryAgain)
    queryEmpty = signals(queries, 4 * groups);
  keyFull = signals(stages, 1);
  valueFull = signals(stages, 1);
  keyEmpty = signals(stages, 4 * groups);
  valueEmpty = signals(stages, 4 * groups);
  for (tile::LoadMappedOp load : loop.captured)
    captured.push_back({load, slabs(load, stages, 64 * groups),
                        signals(stages, 1), signals(stages, 4 * groups)});
}

void KeyConsumer::takeQueries(Ring query) {
  tile::SignalWaitOp::create(b, loc, queryFull, query.slot, query.phase);
  if (!program->hasAttr(kHeldQueries))
    return;
  held = tile::SlabLoadOp::create(b, loc, loop.query.getType(), querySlabs, query.slot,
                                  firstRow());
  if (queryEmpty)
    tile::SignalArriveOp::create(b, loc, queryEmpty, query.slot, Value());
}

/// The keys' stage is free; after a group's lowest block the queries are, too.
void KeyConsumer::scoresDone(State &state, Value keyStart) {
  tile::SignalArriveOp::create(b, loc, keyEmpty, state.key.slot, Value());
  if (queryEmpty && !held) {
    Value lowest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         keyStart, loop.op.getLeftBegin());
    tile::SignalArriveOp::create(b, loc, queryEmpty, state.query.slot, lowest);
  }
  state.key = advance(state.key, stages);
}

/// Waits for the values' stage and starts O += P V.
Value KeyConsumer::issueValues(const State &state, bool fence) {
  tile::SignalWaitOp::create(b, loc, valueFull, state.value.slot,
                             state.value.phase);
  Value value = tile::SlabReadOp::create(b, loc, loop.value.getType(), valueSlabs,
                                         state.value.slot, c32(0));
  return tile::DotAsyncOp::create(b, loc, state.accumulator.getType(),
                                  state.probability, value, state.accumulator, ones,
                                  /*transposed=*/false, fence);
}

/// Waits for that product, which frees the probabilities, and frees the stage.
Value KeyConsumer::valuesDone(State &state, Value accumulator) {
  Value done = tile::DotWaitOp::create(b, loc, accumulator.getType(), accumulator,
                                       ValueRange{state.probability}, 0);
  tile::SignalArriveOp::create(b, loc, valueEmpty, state.value.slot, Value());
  state.value = advance(state.value, stages);
  return done;
}

Value KeyConsumer::firstRow() {
  return b.createOrFold<arith::MulIOp>(
      loc, tile::GroupIdOp::create(b, loc, b.getI32Type()), c32(64));
}

Value KeyConsumer::issueScores(const State &state) {
  Value query = held;
  if (!query)
    query = tile::SlabReadOp::create(b, loc, loop.query.getType(), querySlabs,
                                     state.query.slot, firstRow());
  Value key = tile::SlabReadOp::create(b, loc, loop.key.getType(), keySlabs,
                                       state.key.slot, c32(0));
  return tile::DotAsyncOp::create(b, loc, loop.scores.getType(), query, key,
                                  /*accumulator=*/Value(), /*transposed=*/true,
                                  /*fence=*/true);
}

Value KeyConsumer::waitForScores(Value scores, int64_t pending) {
  return tile::DotWaitOp::create(b, loc, scores.getType(), scores,
                                 held ? ValueRange(held) : ValueRange(), pending);
}

void KeyConsumer::cloneSlice(ValueRange values, IRMapping &map) {
  Block &body = loop.op.getBody().front();
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  for (Value value : values)
    (void)getBackwardSlice(value, &slice, options);
  for (Operation *op : topologicalSort(slice))
    b.clone(*op, map);
}

KeyConsumer::Softmaxed KeyConsumer::softmax(State &state, Value keyStart,
                                            Value scores, ValueRange ahead,
                                            Live live, bool started) {
  Softmaxed result;
  IRMapping &map = result.map;
  Block &body = loop.op.getBody().front();
  map.map(body.getArgument(0), c32(0));
  map.map(loop.start(), keyStart);
  map.map(loop.scores.getResult(), scores);
  for (auto [i, value] : llvm::enumerate(state.sums))
    map.map(loop.carried(1 + i), value);
  SmallVector<tile::MaskOp> masks;
  // Masked blocks vote, so that they need not find their maximum either.
  Live masked;
  if (form == tile::SoftmaxForm::Vote || freezes())
    masked = tile::SoftmaxForm::Vote;
  size_t next = 0;
  for (Operation *op : loop.softmax) {
    if (isa<tile::LoadMappedOp>(op)) {
      map.map(op->getResult(0), ahead[next++]);
      continue;
    }
    Operation *copy = b.clone(*op, map);
    if (auto packed = dyn_cast<tile::Exp2PackedOp>(copy))
      packed.setChecked(live && *live == tile::SoftmaxForm::Keep && freezes());
    if (auto mask = dyn_cast<tile::MaskOp>(copy))
      masks.push_back(mask);
    // One that need not move is the first block's.
    auto maximum = dyn_cast<tile::RunningMaxOp>(copy);
    if (maximum && !(started && maximum.getForm() == tile::SoftmaxForm::Keep))
      maximum.setForm(live                ? *live
                      : started && masked ? *masked
                                          : tile::SoftmaxForm::Running);
  }
  for (auto value : loop.yield()->getOperands().drop_front())
    result.sums.push_back(map.lookupOrDefault(value));
  for (Value value : loop.round->getOperands())
    result.unrounded.push_back(map.lookupOrDefault(value));
  // A mask that ends the chain is replaced, so look through it.
  for (tile::MaskOp mask : masks) {
    Value before = mask.getResult();
    Value after = lowerMask(mask, live.has_value());
    llvm::replace(result.unrounded, before, after);
    llvm::replace(result.sums, before, after);
  }
  return result;
}

Value KeyConsumer::rounded(const Softmaxed &done) {
  Operation *copy = b.clone(*loop.round);
  copy->setOperands(done.unrounded);
  return copy->getResult(0);
}

void KeyConsumer::rescale(State &state, const Softmaxed &done) {
  if (!loop.rescale)
    return;
  state.accumulator = tile::RescaleOp::create(
      b, loc, state.accumulator.getType(), state.accumulator,
      done.map.lookup(loop.rescale.getCorrection()),
      done.map.lookup(loop.rescale.getMoved()));
}

void KeyConsumer::first(State &state, Value keyStart) {
  beforeBlock(state, keyStart, Value());
  SmallVector<Value> ahead;
  takeAhead(state, keyStart, /*issued=*/false, ahead);
  tile::SignalWaitOp::create(b, loc, keyFull, state.key.slot, state.key.phase);
  Value scores = issueScores(state);
  takeAhead(state, keyStart, /*issued=*/true, ahead);
  scores = waitForScores(scores, /*pending=*/0);
  scoresDone(state, keyStart);
  Softmaxed done = softmax(state, keyStart, scores, ahead, std::nullopt,
                           /*started=*/false);
  // Zeros stay zeros; sums that begin with a sink are against its maximum.
  if (!matchPattern(state.accumulator, m_AnyZeroFloat()))
    rescale(state, done);
  state.sums = done.sums;
  state.probability = rounded(done);
}

void KeyConsumer::rotatedStep(State &state, Value keyStart, Live live) {
  beforeBlock(state, keyStart, blockStart(keyStart, c32(1)));
  SmallVector<Value> ahead;
  takeAhead(state, keyStart, /*issued=*/false, ahead);
  tile::SignalWaitOp::create(b, loc, keyFull, state.key.slot, state.key.phase);
  if (turns)
    tile::TurnWaitOp::create(b, loc, groups);
  Value scores = issueScores(state);
  // The scores' fence covers these operands, too.
  Value accumulator = issueValues(state, /*fence=*/false);
  if (turns == 1)
    tile::TurnPassOp::create(b, loc, groups);
  takeAhead(state, keyStart, /*issued=*/true, ahead);
  scores = waitForScores(scores, /*pending=*/1);
  if (turns == 2)
    tile::TurnPassOp::create(b, loc, groups);
  scoresDone(state, keyStart);
  Softmaxed done = softmax(state, keyStart, scores, ahead, live, /*started=*/true);
  state.accumulator = valuesDone(state, accumulator);
  rescale(state, done);
  state.sums = done.sums;
  // Only here: until the wait the product reads the old probabilities.
  state.probability = rounded(done);
}

void KeyConsumer::plainStep(State &state, Value keyStart, Live live) {
  beforeBlock(state, keyStart, keyStart);
  SmallVector<Value> ahead;
  takeAhead(state, keyStart, /*issued=*/false, ahead);
  tile::SignalWaitOp::create(b, loc, keyFull, state.key.slot, state.key.phase);
  Value scores = issueScores(state);
  scores = waitForScores(scores, /*pending=*/0);
  scoresDone(state, keyStart);
  Softmaxed done = softmax(state, keyStart, scores, ahead, live,
                           /*started=*/live.has_value());
  rescale(state, done);
  state.sums = done.sums;
  State now = state;
  now.probability = rounded(done);
  state.accumulator = valuesDone(now, issueValues(now, /*fence=*/true));
  state.value = now.value;
}

/// `count` blocks from `begin` on, the last first.
void KeyConsumer::steps(State &state, Value begin, Value count, Live live,
                        bool rotate) {
  if (matchPattern(count, m_Zero()))
    return;
  Value top = sub(count, c32(1));
  auto blocks = scf::ForOp::create(
      b, loc, c32(0), count, c32(1), state.flat(),
      [&](OpBuilder &inner, Location, Value i, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        State now = State::from(state, carried);
        Value start = blockStart(begin, sub(top, i));
        if (rotate)
          rotatedStep(now, start, live);
        else
          plainStep(now, start, live);
        scf::YieldOp::create(b, loc, now.flat());
      });
  // Those of a tile that is done again are not what a tile costs.
  bool again = freezes() && live && *live != tile::SoftmaxForm::Keep;
  if (!again)
    blocks->setAttr(kBlocksAttr, b.getStringAttr(live ? "live" : "masked"));
  state = State::from(state, blocks.getResults());
}

/// Whether what grows evenly along the keys makes scores rise by more than a vote
/// would let them from the last of these blocks to the first (i1, null when nothing
/// grows). A scalar of the whole block's, as loop bounds of a warp group must be.
Value KeyConsumer::offsetRises(Value begin, Value count) {
  tile::RunningMaxOp maximum;
  for (Operation *op : loop.softmax)
    if (auto own = dyn_cast<tile::RunningMaxOp>(op))
      maximum = own;
  if (!maximum || !maximum.getGrowth())
    return nullptr;
  IRMapping map;
  map.map(loop.start(), blockStart(begin, c32(0)));
  cloneSlice(maximum.getGrowth(), map);
  Value growth = map.lookupOrDefault(maximum.getGrowth());
  auto real = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  double block = cast<ShapedType>(loop.key.getType()).getDimSize(0);
  Value keys = arith::MulFOp::create(
      b, loc, arith::SIToFPOp::create(b, loc, b.getF32Type(), count), real(block));
  Value fall = arith::MulFOp::create(
      b, loc, arith::MulFOp::create(b, loc, growth, keys),
      real(maximum.getFactor().convertToFloat()));
  // NaN fails the tile's test by itself.
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, fall,
                               real(-kMostExcess));
}

/// Fully live blocks with a frozen maximum or, when the tile is done again or surely
/// would be, with one that moves.
void KeyConsumer::freezingSteps(State &state, Value begin, Value count) {
  Value again = tile::AgainOp::create(b, loc, b.getI1Type());
  if (Value rises = offsetRises(begin, count))
    again = arith::OrIOp::create(b, loc, again, rises);
  Value kept = arith::SelectOp::create(b, loc, again, c32(0), count);
  Value maximum = state.sums[0];
  if (ones)
    state.accumulator = spoilUnsetProduct(b, loc, state.accumulator, maximum, kept);
  else
    state.sums[1] = spoilUnset(b, loc, state.sums[1], maximum, kept);
  steps(state, begin, kept, tile::SoftmaxForm::Keep, /*rotate=*/true);
  steps(state, begin, sub(count, kept), tile::SoftmaxForm::Running,
        /*rotate=*/true);
}

Value KeyConsumer::failsCheck(const State &state) {
  if (!ones)
    return leftRange(b, loc, state.sums[1], state.accumulator);
  auto all = cast<RankedTensorType>(state.accumulator.getType());
  auto typeOf = [&](int64_t columns) {
    return RankedTensorType::get({all.getDimSize(0), columns}, all.getElementType());
  };
  auto apart = tile::SplitSumsOp::create(
      b, loc, typeOf(all.getDimSize(1) - tile::kSumColumns), typeOf(1),
      state.accumulator);
  return leftRange(b, loc, apart.getSums(), apart.getProduct());
}

void KeyConsumer::rotated(State &state, Value total) {
  tile::ForKeysOp keys = loop.op;
  Value left = keys.getLeftCount(), full = keys.getFullCount(),
        right = keys.getRightCount();
  first(state, blockStart(keys.getLeftBegin(), sub(total, c32(1))));
  // The first block was the last of right, else of full, else of left.
  Value fromRight = firstOf(right);
  right = sub(right, fromRight);
  Value rest = sub(c32(1), fromRight);
  Value fromFull = arith::MinSIOp::create(b, loc, rest, firstOf(full));
  full = sub(full, fromFull);
  bool noLeft = matchPattern(left, m_Zero());
  if (!noLeft)
    left = sub(left, sub(rest, fromFull));
  if (!keys->hasAttr(kTailOnly))
    steps(state, keys.getRightBegin(), right, std::nullopt, /*rotate=*/true);
  if (!matchPattern(keys.getFullCount(), m_Zero())) {
    if (freezes())
      freezingSteps(state, keys.getFullBegin(), full);
    else
      steps(state, keys.getFullBegin(), full, form, /*rotate=*/true);
  }
  if (!noLeft)
    steps(state, keys.getLeftBegin(), left, std::nullopt, /*rotate=*/true);
  // The last block's values.
  state.accumulator = valuesDone(state, issueValues(state, /*fence=*/true));
}

void KeyConsumer::plain(State &state) {
  tile::ForKeysOp keys = loop.op;
  steps(state, keys.getRightBegin(), keys.getRightCount(), std::nullopt,
        /*rotate=*/false);
  steps(state, keys.getFullBegin(), keys.getFullCount(), form, /*rotate=*/false);
  steps(state, keys.getLeftBegin(), keys.getLeftCount(), std::nullopt,
        /*rotate=*/false);
}
