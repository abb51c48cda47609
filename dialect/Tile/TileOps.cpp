//===- TileOps.cpp - verifiers and folds of the tile dialect --------------===//

#include "dialect/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn::tile;

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.cpp.inc"

static RankedTensorType tileOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static LogicalResult verifySameElement(Operation *op, RankedTensorType tile,
                                       Type element) {
  if (tile.getElementType() == element)
    return success();
  return op->emitOpError("tile holds ")
         << tile.getElementType() << " but the memory holds " << element;
}

LogicalResult LoadOp::verify() {
  return verifySameElement(*this, tileOf(getResult()),
                           getView().getType().getElement());
}

LogicalResult StoreOp::verify() {
  Type element = getView().getType().getElement();
  if (getStaged()) {
    auto view = getView().getDefiningOp<ViewOp>();
    int64_t bytes = view ? static_cast<int64_t>(view.getAligned()) *
                               element.getIntOrFloatBitWidth() / 8
                         : 0;
    if (bytes == 0 || bytes % 16)
      return emitOpError("staged needs a view whose rows are aligned to 16 bytes");
  }
  return verifySameElement(*this, tileOf(getValue()), element);
}

LogicalResult GatherOp::verify() {
  Type element = getBase().getType().getElement();
  auto offsets = dyn_cast<RankedTensorType>(getOffset().getType());
  if (!offsets) {
    if (getResult().getType() != element)
      return emitOpError("result must be ") << element;
    return success();
  }
  if (!offsets.getElementType().isInteger(64))
    return emitOpError("offsets must be i64");
  if (getResult().getType() != RankedTensorType::get(offsets.getShape(), element))
    return emitOpError("result must be a tile of ")
           << element << " shaped like the offsets";
  return success();
}

LogicalResult IndexOp::verify() {
  RankedTensorType tile = tileOf(getResult());
  if (tile.getDimSize(0) != 1 && tile.getDimSize(1) != 1)
    return emitOpError("result must be a row value (Rx1) or a column value "
                       "(1xC)");
  if (!tile.getElementType().isInteger(32) &&
      !tile.getElementType().isInteger(64))
    return emitOpError("result must hold i32 or i64");
  return success();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tileOf(getValue()), to = tileOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("must keep the element type");
  for (auto [a, b] : llvm::zip(from.getShape(), to.getShape()))
    if (a != b && a != 1)
      return emitOpError("can only repeat dimensions of length 1");
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getValue().getType() == getType() ? getValue() : OpFoldResult();
}

LogicalResult ReduceOp::verify() {
  RankedTensorType from = tileOf(getValue());
  if (getResult().getType() != RankedTensorType::get({from.getDimSize(0), 1},
                                                     from.getElementType()))
    return emitOpError("result must be ")
           << from.getDimSize(0) << "x1 of " << from.getElementType();
  bool integers = isa<IntegerType>(from.getElementType());
  if (getKind() != ReduceKind::Add &&
      integers != (getKind() == ReduceKind::MaxInt))
    return emitOpError("takes max of floats and max_int of integers");
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType a = tileOf(getA()), b = tileOf(getB()),
                   c = tileOf(getAccumulator());
  int64_t contracted = b.getDimSize(getTransposed() ? 1 : 0);
  int64_t columns = b.getDimSize(getTransposed() ? 0 : 1);
  if (a.getDimSize(1) != contracted)
    return emitOpError("sums over ")
           << a.getDimSize(1) << " in a but " << contracted << " in b";
  if (getSums() && getTransposed())
    return emitOpError("sums needs b as KxN");
  columns += getSums() ? kSumColumns : 0;
  if (c.getDimSize(0) != a.getDimSize(0) || c.getDimSize(1) != columns)
    return emitOpError("accumulator must be ")
           << a.getDimSize(0) << "x" << columns;
  if (!c.getElementType().isF32())
    return emitOpError("accumulator must hold f32 (C1)");
  if (a.getElementType() != b.getElementType())
    return emitOpError("operands must hold the same type");
  if (getTf32() && !a.getElementType().isF32())
    return emitOpError("tf32 needs f32 operands");
  return success();
}

LogicalResult SplitSumsOp::verify() {
  RankedTensorType from = tileOf(getValue());
  int64_t rows = from.getDimSize(0), columns = from.getDimSize(1) - kSumColumns;
  Type element = from.getElementType();
  if (columns < kSumColumns || columns % kSumColumns ||
      getProduct().getType() != RankedTensorType::get({rows, columns}, element) ||
      getSums().getType() != RankedTensorType::get({rows, 1}, element))
    return emitOpError("gives all but the last 8 columns, a multiple of 8, and one "
                       "number a row");
  return success();
}

LogicalResult Exp2Op::verify() {
  RankedTensorType tile = tileOf(getValue());
  if (!tile.getElementType().isF32() || tile.getDimSize(1) % 2)
    return emitOpError("takes f32 in pairs of columns");
  if (getPolynomial() < 0 || getPolynomial() > 8)
    return emitOpError("computes 0 to 8 of every 8 pairs by polynomial, not ")
           << getPolynomial();
  return success();
}

/// Of a share of pairs in packed bf16 and the rest in f32.
static LogicalResult verifyPacked(Operation *op, Value exact, Value packed,
                                  int64_t share) {
  RankedTensorType tile = tileOf(exact), pairs = tileOf(packed);
  if (!tile.getElementType().isF32() || !pairs.getElementType().isBF16() ||
      tile.getShape() != pairs.getShape() || tile.getDimSize(1) % 2)
    return op->emitOpError("takes f32 and bf16 of one shape, in pairs of columns");
  if (share < 1 || share > 8)
    return op->emitOpError("computes 1 to 8 of every 8 pairs packed, not ") << share;
  return success();
}

LogicalResult Exp2PackedOp::verify() {
  return verifyPacked(*this, getExact(), getPower(), getShare());
}

LogicalResult RoundPackedOp::verify() {
  return verifyPacked(*this, getExact(), getPower(), getShare());
}

LogicalResult MaskOp::verify() {
  RankedTensorType value = tileOf(getValue()), predicate = tileOf(getPredicate());
  if (value.getShape() != predicate.getShape() ||
      !predicate.getElementType().isInteger(1))
    return emitOpError("predicate must be i1 of the value's shape");
  return success();
}

LogicalResult ForKeysOp::verify() {
  Block &body = getBody().front();
  if (getStep() <= 0)
    return emitOpError("step must be positive");
  if (body.getNumArguments() != getInits().size() + 2 ||
      !body.getArgument(0).getType().isInteger(32) ||
      !body.getArgument(1).getType().isInteger(64))
    return emitOpError("body takes (i32, i64) and the carried values");
  for (auto [argument, init] :
       llvm::zip(body.getArguments().drop_front(2), getInits()))
    if (argument.getType() != init.getType())
      return emitOpError("body argument of type ")
             << argument.getType() << " carries a value of type "
             << init.getType();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().getTypes() != getInits().getTypes())
    return yield.emitOpError("must yield the carried types");
  return success();
}

static LogicalResult verifyStage(Operation *op, BufferType buffer,
                                 int64_t rows, int64_t columns, Type element) {
  if (buffer.getRows() == rows && buffer.getColumns() == columns &&
      buffer.getElement() == element)
    return success();
  return op->emitOpError("buffer stages are ")
         << buffer.getRows() << "x" << buffer.getColumns() << " of "
         << buffer.getElement();
}

LogicalResult CopyAsyncOp::verify() {
  BufferType buffer = getBuffer().getType();
  return verifyStage(*this, buffer, buffer.getRows(), buffer.getColumns(),
                     getView().getType().getElement());
}

LogicalResult SharedReadOp::verify() {
  RankedTensorType tile = tileOf(getResult());
  return verifyStage(*this, getBuffer().getType(), tile.getDimSize(0),
                     tile.getDimSize(1), tile.getElementType());
}

//===----------------------------------------------------------------------===//
// Asynchronous forms
//===----------------------------------------------------------------------===//

/// A tensor map has at least a column and a row axis and at most five axes.
static LogicalResult verifyCoordinates(Operation *op, unsigned count) {
  if (count >= 2 && count <= 5)
    return success();
  return op->emitOpError("takes 2 to 5 coordinates, not ") << count;
}

LogicalResult LoadBoxOp::verify() {
  if (failed(verifyCoordinates(*this, getAt().size())))
    return failure();
  return verifySameElement(*this, tileOf(getResult()),
                           getMap().getType().getElement());
}

LogicalResult LoadMappedOp::verify() {
  if (failed(verifyCoordinates(*this, getAt().size())))
    return failure();
  if (getMap().getType().getElement() != getView().getType().getElement())
    return emitOpError("map and view must hold the same type");
  return verifySameElement(*this, tileOf(getResult()),
                           getView().getType().getElement());
}

LogicalResult RunningMaxOp::verify() {
  RankedTensorType scores = tileOf(getScores());
  if (!scores.getElementType().isF32() ||
      getMaximum().getType() !=
          RankedTensorType::get({scores.getDimSize(0), 1}, scores.getElementType()))
    return emitOpError("takes f32 scores and one f32 maximum a row");
  if (!(getFactor().convertToFloat() > 0))
    return emitOpError("factor must be positive");
  if (getOffset() && getOffset().getType() !=
                         RankedTensorType::get({scores.getDimSize(0), 8},
                                               scores.getElementType()))
    return emitOpError("offset must be ")
           << scores.getDimSize(0) << "x8 of f32";
  if (!getOffset() != !getGrowth())
    return emitOpError("offset and growth belong together");
  return success();
}

LogicalResult UnfoldOp::verify() {
  RankedTensorType to = tileOf(getResult());
  if (to.getDimSize(1) % 8 ||
      getValue().getType() !=
          RankedTensorType::get({to.getDimSize(0), 8}, to.getElementType()))
    return emitOpError("repeats 8 columns in a multiple of 8");
  return success();
}

LogicalResult BandOp::verify() {
  RankedTensorType band = tileOf(getResult());
  auto limit = RankedTensorType::get({band.getDimSize(0), 1},
                                     IntegerType::get(getContext(), 32));
  if (!band.getElementType().isInteger(1) || getHigh().getType() != limit ||
      (getLow() && getLow().getType() != limit))
    return emitOpError("takes one i32 limit a row and gives i1");
  return success();
}

LogicalResult FoldOp::verify() {
  RankedTensorType from = tileOf(getValue());
  if (from.getDimSize(1) % 8 ||
      getResult().getType() !=
          RankedTensorType::get({from.getDimSize(0), 8}, from.getElementType()))
    return emitOpError("folds a multiple of 8 columns to 8");
  return success();
}

static LogicalResult verifySlabs(Operation *op, SlabsType slabs) {
  Type element = slabs.getElement();
  if (slabs.getRows() % 8 || !(element.isF16() || element.isBF16()))
    return op->emitOpError("slabs hold 16-bit elements in a multiple of 8 rows");
  return success();
}

//===--- Clusters ---------------------------------------------------------===//

int64_t attn::tile::clusterOf(Operation *op) {
  auto program = isa<func::FuncOp>(op) ? cast<func::FuncOp>(op)
                                       : op->getParentOfType<func::FuncOp>();
  auto blocks = program ? program->getAttrOfType<IntegerAttr>(kClusterAttr)
                        : IntegerAttr();
  return blocks ? blocks.getInt() : 1;
}

static LogicalResult verifyInCluster(Operation *op, const char *what) {
  if (clusterOf(op) > 1)
    return success();
  return op->emitOpError(what) << " needs 'tile.cluster' on its program";
}

LogicalResult ClusterRankOp::verify() { return verifyInCluster(*this, "a rank"); }
LogicalResult ClusterBarrierOp::verify() {
  return verifyInCluster(*this, "a barrier of blocks");
}

LogicalResult RaiseFlagOp::verify() {
  return getCluster() ? verifyInCluster(*this, "'cluster'") : success();
}

LogicalResult SignalArriveOp::verify() {
  if (getRelease() && !getCluster())
    return emitOpError("'release' is for arrivals in other blocks; add 'cluster'");
  if (!getCluster())
    return success();
  if (getCondition())
    return emitOpError("an arrival in all blocks has no 'if'");
  return verifyInCluster(*this, "'cluster'");
}

/// The rows of a map's box, where the map is a program's argument that tells.
static std::optional<int64_t> boxRows(Value map) {
  auto argument = dyn_cast<BlockArgument>(map);
  auto program = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                          : func::FuncOp();
  if (!program)
    return std::nullopt;
  auto what = program.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(), kArgAttr);
  auto box = what ? what.getAs<DenseI64ArrayAttr>("box") : DenseI64ArrayAttr();
  return box && box.size() > 1 ? std::optional(box[1]) : std::nullopt;
}

LogicalResult CopyBoxOp::verify() {
  SlabsType slabs = getSlabs().getType();
  if (failed(verifyCoordinates(*this, getAt().size())) ||
      failed(verifySlabs(*this, slabs)))
    return failure();
  if (getMap().getType().getElement() != slabs.getElement())
    return emitOpError("map and slabs must hold the same type");
  if (!getPart())
    return success();
  if (failed(verifyInCluster(*this, "'part'")))
    return failure();
  int64_t rows = partRows(slabs.getRows(), slabs.getColumns(), clusterOf(*this));
  if (rows % 8)
    return emitOpError("a part has whole groups of 8 rows, not ") << rows;
  std::optional<int64_t> box = boxRows(getMap());
  if (box && *box != rows)
    return emitOpError("the map's box has ")
           << *box << " rows, a part of the stage " << rows;
  return success();
}

LogicalResult SlabReadOp::verify() {
  RankedTensorType tile = tileOf(getResult());
  SlabsType slabs = getSlabs().getType();
  if (failed(verifySlabs(*this, slabs)))
    return failure();
  bool rows = tile.getDimSize(0) == slabs.getRows() ||
              (tile.getDimSize(0) == 64 && slabs.getRows() % 64 == 0);
  if (!rows || tile.getDimSize(1) > slabs.getColumns() ||
      tile.getElementType() != slabs.getElement())
    return emitOpError("must read all rows or 64 of ")
           << slabs.getRows() << "x" << slabs.getColumns() << " of "
           << slabs.getElement();
  return success();
}

LogicalResult SlabLoadOp::verify() {
  RankedTensorType tile = tileOf(getResult());
  SlabsType slabs = getSlabs().getType();
  if (failed(verifySlabs(*this, slabs)))
    return failure();
  if (tile.getDimSize(0) != 64 || slabs.getRows() % 64 ||
      tile.getDimSize(1) > slabs.getColumns() || tile.getDimSize(1) % 16 ||
      tile.getElementType() != slabs.getElement())
    return emitOpError("must read 64 rows, in pairs of 8 columns, of ")
           << slabs.getRows() << "x" << slabs.getColumns() << " of "
           << slabs.getElement();
  return success();
}

/// What tile.dot_async reads as columns of ones: a k-step's rows of one slab.
static LogicalResult verifyOnes(Operation *op, SlabsType slabs) {
  if (failed(verifySlabs(op, slabs)))
    return failure();
  if (slabs.getStages() == 1 && slabs.getRows() == 16 && slabs.getColumns() == 64)
    return success();
  return op->emitOpError("ones are one stage of 16x64");
}

LogicalResult FillOnesOp::verify() { return verifyOnes(*this, getSlabs().getType()); }

LogicalResult DotAsyncOp::verify() {
  RankedTensorType a = tileOf(getA()), b = tileOf(getB()),
                   c = tileOf(getResult());
  int64_t contracted = b.getDimSize(getTransposed() ? 1 : 0);
  int64_t columns = b.getDimSize(getTransposed() ? 0 : 1);
  if (a.getDimSize(0) != 64 || a.getDimSize(1) != contracted || contracted % 16)
    return emitOpError("a must be 64 rows of ")
           << contracted << " columns, a multiple of 16";
  int64_t given = columns + (getOnes() ? kSumColumns : 0);
  if (c.getDimSize(0) != 64 || c.getDimSize(1) != given || columns % 8 ||
      columns > 256 || !c.getElementType().isF32())
    return emitOpError("gives 64x")
           << given << " of f32, a multiple of 8 and at most 256 columns";
  if (getOnes()) {
    if (getTransposed())
      return emitOpError("ones stand beside b as KxN");
    if (failed(verifyOnes(*this, getOnes().getType())))
      return failure();
    if (getOnes().getType().getElement() != b.getElementType())
      return emitOpError("ones must hold the operands' type");
  }
  if (getAccumulator() && getAccumulator().getType() != c)
    return emitOpError("accumulator must be ") << c;
  if (a.getElementType() != b.getElementType())
    return emitOpError("operands must hold the same type");
  return success();
}

LogicalResult SpecializeOp::verify() {
  if (getGroups() < 1 || getGroups() > 4)
    return emitOpError("needs 1 to 4 consumer groups");
  for (Region *role : {&getProducer(), &getConsumer()}) {
    Block &body = role->front();
    for (Type type : body.getArgumentTypes())
      if (!type.isInteger(32))
        return emitOpError("roles take i32 positions");
    auto end = dyn_cast<RoleEndOp>(body.getTerminator());
    if (end && end.getPositions().size() != body.getNumArguments())
      return end.emitOpError("must give the role's ")
             << body.getNumArguments() << " positions";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The timeline
//===----------------------------------------------------------------------===//

/// The lane of the program that `op` belongs to; an error when it has none.
static LogicalResult verifyHasLane(Operation *op) {
  auto program = op->getParentOfType<func::FuncOp>();
  if (program && !program.getBody().front().getOps<OpenLaneOp>().empty())
    return success();
  return op->emitOpError("needs a tile.open_lane at the top of its program");
}

LogicalResult OpenLaneOp::verify() {
  if (!getRecords().getType().getElement().isInteger(32))
    return emitOpError("records must be a !tile.ptr<i32>");
  if (getLanes() < 1 || getSteps() < 1 ||
      getLanes() * getSteps() >= (uint64_t(1) << 30))
    return emitOpError("lanes and steps must be positive, their product below "
                       "2^30");
  auto program = dyn_cast_or_null<func::FuncOp>((*this)->getParentOp());
  if (!program)
    return emitOpError("must stand at the top of a program");
  for (auto other : program.getBody().front().getOps<OpenLaneOp>())
    if (other != *this)
      return emitOpError("stands in its program twice");
  return success();
}

LogicalResult StampOp::verify() { return verifyHasLane(*this); }

LogicalResult SignalWaitOp::verify() {
  if (bool(getDuring()) != bool(getThen()))
    return emitOpError("needs both phases, the one while it waits and the one "
                       "after it, or neither");
  return getDuring() ? verifyHasLane(*this) : success();
}

LogicalResult CloseLaneOp::verify() { return verifyHasLane(*this); }
