//===- LowerKernels.cpp - attn.kernel regions to tile programs ------------===//
//
// Launch order is the order of the programs in the module; what travels between
// them is listed in the module attribute `tile.temporaries`.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Kernels.h"
#include "lib/Schedule/MeasuredKeys.h"
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Predict.h"
#include "lib/Schedule/ScheduleAttr.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace attn {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

SmallVector<std::string> attn::axesOf(Value tensor) {
  SmallVector<std::string> names;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  auto axes = type ? dyn_cast_or_null<AxesAttr>(type.getEncoding()) : AxesAttr();
  if (axes)
    for (auto axis : axes.getNames())
      names.push_back(axis.str());
  return names;
}

void attn::setAccumulatorLayout(ProgramBuilder &p, const Schedule &s) {
  p.program->setAttr(tile::kLayoutAttr,
                     tile::AccumulatorAttr::get(p.b.getContext(), s.warps,
                                                s.rows / (16 * s.warps)));
  p.program->setAttr("tile.stages", p.b.getI64IntegerAttr(s.stages));
  if (s.groups > 0) {
    p.program->setAttr("tile.vote", p.b.getI64IntegerAttr(s.vote));
    p.program->setAttr("tile.polynomial", p.b.getI64IntegerAttr(s.polynomial));
    if (s.tanh)
      p.program->setAttr(kShortTanh, p.b.getUnitAttr());
    p.program->setAttr("tile.turns", p.b.getI64IntegerAttr(s.turns));
    p.program->setAttr("tile.persistent", p.b.getI64IntegerAttr(s.persistent));
    p.program->setAttr("tile.groups", p.b.getI64IntegerAttr(s.groups));
    if (s.cluster > 1)
      p.program->setAttr(tile::kClusterAttr, p.b.getI64IntegerAttr(s.cluster));
    if (s.queries > 1)
      p.program->setAttr("tile.queries", p.b.getI64IntegerAttr(s.queries));
    if (s.held)
      p.program->setAttr(kHeldQueries, p.b.getUnitAttr());
    if (!s.producer) {
      p.program->setAttr("tile.producer", p.b.getI64IntegerAttr(0));
      p.program->setAttr("tile.rotate", p.b.getI64IntegerAttr(s.rotate));
    }
  }
}

/// Moves the place along `rowAxis` by `which` (i32) times `rows`.
static Value moveDown(ProgramBuilder &p, StringRef rowAxis, Value which, int64_t rows) {
  Value wide = arith::ExtUIOp::create(p.b, p.program.getLoc(), p.b.getI64Type(), which);
  Value start = p.add(p.places[rowAxis].start, p.mul(wide, p.constant(rows)));
  p.places[rowAxis].start = start;
  return start;
}

Value attn::placeGroup(ProgramBuilder &p, StringRef rowAxis, int64_t rows) {
  return moveDown(
      p, rowAxis,
      tile::GroupIdOp::create(p.b, p.program.getLoc(), p.b.getI32Type()), rows);
}

Value attn::placeInCluster(ProgramBuilder &p, StringRef rowAxis, int64_t rows) {
  return moveDown(
      p, rowAxis,
      tile::ClusterRankOp::create(p.b, p.program.getLoc(), p.b.getI32Type()), rows);
}

void attn::sayLive(ProgramBuilder &p, StringRef row, StringRef key) {
  p.program->setAttr("tile.live", p.b.getStrArrayAttr({row, key}));
}

void attn::setRowsLayout(ProgramBuilder &p, const Schedule &s) {
  p.program->setAttr(tile::kLayoutAttr,
                     tile::RowsAttr::get(p.b.getContext(), s.warps, s.vector));
}

LogicalResult attn::storeResults(const KernelContext &kernel, ProgramBuilder &p,
                                 ElementwiseLowering &values, StringRef rowAxis,
                                 StringRef columnAxis,
                                 ArrayRef<unsigned> which) {
  Location loc = p.program.getLoc();
  KernelOp op = kernel.kernel;
  Operation *yielded = op.getBody().front().getTerminator();
  SmallVector<unsigned> all(which);
  if (which.empty())
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      all.push_back(i);
  for (unsigned i : all) {
    FailureOr<Value> value = values.evaluate(yielded->getOperand(i));
    if (failed(value))
      return failure();
    // A product without columns fills a tile of which the view has one.
    int64_t columns = columnAxis.empty() ? std::max<int64_t>(1, shapeOf(*value).second)
                                         : p.columns;
    Value tile = p.expand(*value, p.rows, columns);
    for (const TensorInfo &tensor : kernel.destinations(i)) {
      Value view = p.view(tensor, rowAxis, columnAxis);
      auto start = [&](StringRef axis) {
        return axis.empty() ? p.constant(0) : p.places[axis].start;
      };
      Value row = start(rowAxis), column = start(columnAxis);
      tile::StoreOp::create(p.b, loc, tile, view, row, column,
                            kernel.schedule.staged != 0);
    }
  }
  return success();
}

FailureOr<KernelKind> attn::classify(KernelOp kernel) {
  unsigned matmuls = 0, softmaxes = 0, online = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    matmuls += isa<MatmulOp>(op);
    softmaxes += isa<SoftmaxOp>(op);
    online += isa<OnlineSoftmaxOp>(op);
  }
  if (online == 1 && matmuls == 1 && softmaxes == 0)
    return KernelKind::Flash;
  if (online == 0 && matmuls == 2 && softmaxes == 0)
    return KernelKind::Flash;
  if (online == 0 && matmuls == 1 && softmaxes == 0)
    return KernelKind::Matmul;
  if (online == 0 && matmuls == 0 && softmaxes == 1)
    return KernelKind::Rows;
  if (online == 0 && matmuls == 0 && softmaxes == 0)
    return KernelKind::Pointwise;
  return kernel.emitError("no kernel form holds ")
         << matmuls << " matmuls and " << softmaxes + online
         << " softmaxes together; keep them in separate attn.kernel regions";
}

bool attn::isTemporary(Value tensor) {
  return tensor.getDefiningOp<KernelOp>() &&
         llvm::none_of(tensor.getUsers(), [](Operation *user) {
           return isa<func::ReturnOp>(user);
         });
}

AxisTable attn::readAxes(func::FuncOp function) {
  AxisTable table;
  for (Attribute attribute :
       function->getAttrOfType<ArrayAttr>("attn.axes").getValue()) {
    auto axis = cast<AxisAttr>(attribute);
    AxisInfo info;
    info.name = axis.getName().str();
    info.extent = axis.getExtent() > 0 ? axis.getExtent() : 0;
    info.group = axis.getGroup() ? axis.getGroup().str() : "";
    info.inner = axis.getInner() ? axis.getInner().str() : "";
    table[info.name] = info;
  }
  return table;
}

static TensorInfo describeTensor(Value value, StringRef name) {
  TensorInfo info;
  info.name = name.str();
  info.element = cast<RankedTensorType>(value.getType()).getElementType();
  info.axes = axesOf(value);
  return info;
}

static std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

namespace {
/// Lowers one function.
struct FunctionLowering {
  func::FuncOp function;
  OpBuilder b;
  AxisTable axes;
  std::string level;
  bool tf32;
  DenseMap<Value, SmallVector<TensorInfo>> places{}; ///< Where values live.
  SmallVector<Attribute> temporaries{};
  llvm::StringSet<> names{}; ///< Of the program's arguments and results, and ours.
  unsigned position = 0;     ///< In the order of launches.

  LogicalResult run();

private:
  void nameTensors();
  /// A name that nothing of the program has: `stem`, or `stem` and underscores.
  std::string unused(std::string stem);
  void addTemporary(const TensorInfo &info);
  func::FuncOp startProgram(KernelOp kernel, const std::string &fingerprint,
                            StringRef label, const std::string &schedule);
  LogicalResult lower(KernelOp kernel);
  LogicalResult measure(const KernelContext &kernel, MeasuredKeys &keys);
};
} // namespace

std::string FunctionLowering::unused(std::string stem) {
  while (!names.insert(stem).second)
    stem += "_";
  return stem;
}

void FunctionLowering::nameTensors() {
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "attn.name");
    if (name)
      names.insert(name.getValue());
    if (isa<RankedTensorType>(argument.getType()))
      places[argument].push_back(describeTensor(argument, name.getValue()));
  }
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "attn.name");
    names.insert(name.getValue());
    places[value].push_back(describeTensor(value, name.getValue()));
  }
  unsigned count = 0;
  for (KernelOp kernel : function.getOps<KernelOp>())
    for (Value result : kernel.getResults())
      if (places[result].empty()) {
        TensorInfo info =
            describeTensor(result, unused("t" + std::to_string(count++)));
        int64_t bits = info.element.getIntOrFloatBitWidth();
        info.pad = 16 / std::max<int64_t>(1, bits / 8);
        places[result].push_back(info);
        addTemporary(info);
      }
}

void FunctionLowering::addTemporary(const TensorInfo &info) {
  SmallVector<Attribute> names;
  for (const std::string &axis : info.axes)
    names.push_back(b.getStringAttr(axis));
  temporaries.push_back(b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr(info.name)),
       b.getNamedAttr("dtype", b.getStringAttr(elementName(info.element))),
       b.getNamedAttr("axes", b.getArrayAttr(names)),
       b.getNamedAttr("pad", b.getI64IntegerAttr(info.pad))}));
}

func::FuncOp FunctionLowering::startProgram(KernelOp kernel,
                                            const std::string &fingerprint,
                                            StringRef label,
                                            const std::string &schedule) {
  std::string symbol = llvm::formatv("{0}_{1}_{2}_{3}", function.getName(),
                                     level, position++, fingerprint);
  auto program = func::FuncOp::create(b, kernel.getLoc(), symbol,
                                      b.getFunctionType({}, {}));
  program->setAttr("tile.label", b.getStringAttr(label));
  program->setAttr("tile.schedule", b.getStringAttr(schedule));
  program.addEntryBlock();
  return program;
}

/// The kernel that runs before a flash kernel whose masks depend on data.
LogicalResult FunctionLowering::measure(const KernelContext &kernel,
                                        MeasuredKeys &keys) {
  keys.bounds.name = unused("bounds");
  addTemporary(keys.bounds);
  KernelOp op = kernel.kernel;
  func::FuncOp program = startProgram(
      op, llvm::formatv("keybounds_i32_{0}", keys.rows).str(),
      "key bounds",
      llvm::formatv("{0} rows a block, 512 keys a step, 1 warp", keys.rows).str());
  Block *entry = &program.getBody().front();
  ProgramBuilder p(OpBuilder::atBlockEnd(entry), program, axes);
  if (failed(lowerMeasuredKeys(kernel, keys, p)))
    return failure();
  p.b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(p.b, op.getLoc());
  p.finish();
  program->setAttr("tile.prediction", predictMeasuredKeys(kernel, keys));
  return success();
}

LogicalResult FunctionLowering::lower(KernelOp kernel) {
  FailureOr<KernelKind> kind = classify(kernel);
  if (failed(kind))
    return failure();
  FailureOr<Schedule> schedule = readSchedule(kernel);
  if (failed(schedule))
    return failure();
  KernelContext context{kernel,
                        axes,
                        [&](Value v) { return places[v].front(); },
                        [&](unsigned i) -> ArrayRef<TensorInfo> {
                          return places[kernel->getResult(i)];
                        },
                        *schedule,
                        tf32};
  MeasuredKeys keys;
  if (*kind == KernelKind::Flash) {
    FailureOr<MeasuredKeys> planned = planMeasuredKeys(context);
    if (failed(planned))
      return failure();
    keys = *planned;
    context.measured = &keys;
    if (!keys.empty() && failed(measure(context, keys)))
      return failure();
  }
  func::FuncOp program = startProgram(
      kernel, kernelFingerprint(kernel, *kind, *schedule, tf32),
      kernel.getLabel(), describeSchedule(*schedule, *kind));
  if (*kind == KernelKind::Flash)
    program->setAttr(
        "tile.choice",
        b.getDictionaryAttr(
            {b.getNamedAttr("problem",
                            problemAttr(b, describeProblem(kernel, *kind, axes))),
             b.getNamedAttr("schedule", scheduleAttr(b, *schedule))}));
  Block *entry = &program.getBody().front();
  ProgramBuilder p(OpBuilder::atBlockEnd(entry), program, axes);
  LogicalResult lowered = failure();
  switch (*kind) {
  case KernelKind::Pointwise:
    lowered = lowerPointwise(context, p);
    break;
  case KernelKind::Rows:
    lowered = lowerRows(context, p);
    break;
  case KernelKind::Matmul:
    lowered = lowerMatmul(context, p);
    break;
  case KernelKind::Flash:
    lowered = lowerFlash(context, p);
    break;
  }
  if (failed(lowered))
    return failure();
  p.b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(p.b, kernel.getLoc());
  p.finish();
  program->setAttr("tile.prediction", predict(context, *kind, program));
  program->removeAttr("tile.live");
  return success();
}

LogicalResult FunctionLowering::run() {
  nameTensors();
  for (KernelOp kernel : function.getOps<KernelOp>())
    if (failed(lower(kernel)))
      return failure();
  return success();
}

namespace {
struct LowerKernels : attn::impl::LowerKernelsPassBase<LowerKernels> {
  using LowerKernelsPassBase::LowerKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect,
                    scf::SCFDialect, func::FuncDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Attribute> temporaries;
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!function->hasAttr("attn.axes"))
        continue;
      OpBuilder b(function);
      FunctionLowering lowering{function, b, readAxes(function), level, tf32};
      if (failed(lowering.run()))
        return signalPassFailure();
      temporaries.append(lowering.temporaries);
      function.erase();
    }
    module->setAttr("tile.temporaries",
                    ArrayAttr::get(&getContext(), temporaries));
  }
};
} // namespace
