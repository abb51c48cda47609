//===- ProgramBuilder.cpp - building one tile program ---------------------===//

#include "lib/Schedule/ProgramBuilder.h"
#include "lib/Schedule/HeadSections.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> attn::shapeOf(Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    return {tile.getDimSize(0), tile.getDimSize(1)};
  return {0, 0};
}

Type attn::elementOf(Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    return tile.getElementType();
  return value.getType();
}

Type attn::typeLike(Value like, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(like.getType()))
    return RankedTensorType::get(tile.getShape(), element);
  return element;
}

std::optional<double> attn::constantOf(Value value) {
  while (isa_and_nonnull<tile::SplatOp, tile::BroadcastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  llvm::APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool inexact;
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                 &inexact);
  return number.convertToDouble();
}

Value ProgramBuilder::expand(Value value, int64_t rows, int64_t columns) {
  Location loc = program.getLoc();
  auto [r, c] = shapeOf(value);
  if (r == rows && c == columns)
    return value;
  auto type = RankedTensorType::get({rows, columns}, elementOf(value));
  if (r == 0)
    return tile::SplatOp::create(b, loc, type, value);
  return tile::BroadcastOp::create(b, loc, type, value);
}

void ProgramBuilder::unify(MutableArrayRef<Value> values) {
  int64_t r = 0, c = 0;
  for (Value value : values) {
    r = std::max(r, shapeOf(value).first);
    c = std::max(c, shapeOf(value).second);
  }
  if (r == 0)
    return;
  for (Value &value : values)
    value = expand(value, r, c);
}

Value ProgramBuilder::toF32(Value value) {
  if (elementOf(value).isF32())
    return value;
  return arith::ExtFOp::create(b, program.getLoc(), typeLike(value, b.getF32Type()),
                               value);
}

Value ProgramBuilder::floatLike(Value like, double value) {
  Type element = elementOf(like);
  FloatAttr scalar = b.getFloatAttr(element, value);
  if (auto tile = dyn_cast<RankedTensorType>(like.getType()))
    return arith::ConstantOp::create(b, program.getLoc(),
                                     DenseElementsAttr::get(tile, scalar));
  return arith::ConstantOp::create(b, program.getLoc(), scalar);
}

Value ProgramBuilder::intLike(Value like, int64_t value) {
  Type element = elementOf(like);
  IntegerAttr scalar = b.getIntegerAttr(element, value);
  if (auto tile = dyn_cast<RankedTensorType>(like.getType()))
    return arith::ConstantOp::create(b, program.getLoc(),
                                     DenseElementsAttr::get(tile, scalar));
  return arith::ConstantOp::create(b, program.getLoc(), scalar);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

DictionaryAttr ProgramBuilder::describe(StringRef kind, StringRef name,
                                        StringRef axis) {
  SmallVector<NamedAttribute> fields{
      b.getNamedAttr("kind", b.getStringAttr(kind))};
  if (!name.empty())
    fields.push_back(b.getNamedAttr("name", b.getStringAttr(name)));
  if (!axis.empty())
    fields.push_back(b.getNamedAttr("axis", b.getStringAttr(axis)));
  return b.getDictionaryAttr(fields);
}

Value ProgramBuilder::argument(const std::string &key, Type type,
                               DictionaryAttr what) {
  Value &value = arguments[key];
  if (!value) {
    value = program.getBody().front().addArgument(type, program.getLoc());
    argumentAttrs.push_back(what);
  }
  return value;
}

Value ProgramBuilder::pointer(const TensorInfo &tensor) {
  return argument("p:" + tensor.name,
                  tile::PtrType::get(b.getContext(), tensor.element),
                  describe("pointer", tensor.name, ""));
}

Value ProgramBuilder::stride(const TensorInfo &tensor, StringRef axis) {
  if (tensor.axes.back() == axis)
    return constant(1);
  return argument("s:" + tensor.name + ":" + axis.str(), b.getI64Type(),
                  describe("stride", tensor.name, axis));
}

Value ProgramBuilder::length(StringRef axis) {
  if (axis.empty())
    return constant(1);
  auto found = axes.find(axis);
  if (found != axes.end() && found->second.extent > 0)
    return constant(found->second.extent);
  return argument("l:" + axis.str(), b.getI64Type(),
                  describe("length", "", axis));
}

Value ProgramBuilder::scalar(StringRef name, Type type) {
  return argument("v:" + name.str(), type, describe("scalar", name, ""));
}

Value ProgramBuilder::map(const TensorInfo &tensor, StringRef rowAxis,
                          StringRef columnAxis, int64_t boxRows, bool optional) {
  SmallVector<Attribute> axisNames{b.getStringAttr(columnAxis),
                                   b.getStringAttr(rowAxis)};
  SmallVector<int64_t> box{64, boxRows};
  for (const std::string &axis : llvm::reverse(tensor.axes))
    if (axis != rowAxis && axis != columnAxis) {
      axisNames.push_back(b.getStringAttr(axis));
      box.push_back(1);
    }
  SmallVector<NamedAttribute> fields{
      b.getNamedAttr("kind", b.getStringAttr("map")),
      b.getNamedAttr("name", b.getStringAttr(tensor.name)),
      b.getNamedAttr("axes", b.getArrayAttr(axisNames)),
      b.getNamedAttr("box", b.getDenseI64ArrayAttr(box))};
  if (optional)
    fields.push_back(b.getNamedAttr("optional", b.getUnitAttr()));
  return argument("m:" + tensor.name + ":" + std::to_string(boxRows),
                  tile::MapType::get(b.getContext(), tensor.element),
                  b.getDictionaryAttr(fields));
}

Value ProgramBuilder::mapped(const TensorInfo &tensor) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.getBody().front());
  Location loc = program.getLoc();
  // Rows start at multiples of 16 bytes (pointers always do), none at stride 0.
  Value misplaced = constant(0), smallest;
  for (const std::string &axis : llvm::drop_end(tensor.axes)) {
    Value step = stride(tensor, axis);
    misplaced = b.createOrFold<arith::OrIOp>(loc, misplaced, step);
    smallest = smallest ? min(smallest, step) : step;
  }
  misplaced = b.createOrFold<arith::AndIOp>(loc, misplaced, constant(7));
  Value aligned = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        misplaced, constant(0));
  Value apart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, smallest,
                                      constant(0));
  return arith::AndIOp::create(b, loc, aligned, apart);
}

SmallVector<Value> ProgramBuilder::coordinates(const TensorInfo &tensor,
                                               StringRef rowAxis,
                                               StringRef columnAxis, Value row,
                                               Value column) {
  // Lengths are below 2^30, so coordinates fit.
  auto narrow = [&](Value v) {
    return b.createOrFold<arith::TruncIOp>(program.getLoc(), b.getI32Type(), v);
  };
  SmallVector<Value> at{narrow(column), narrow(row)};
  for (const std::string &axis : llvm::reverse(tensor.axes))
    if (axis != rowAxis && axis != columnAxis)
      at.push_back(index(axis, b.getI32Type()));
  return at;
}

Value ProgramBuilder::loadBox(const TensorInfo &tensor, StringRef rowAxis,
                              StringRef columnAxis, int64_t boxRows,
                              RankedTensorType type, Value row, Value column) {
  return tile::LoadBoxOp::create(
      b, program.getLoc(), type, map(tensor, rowAxis, columnAxis, boxRows),
      coordinates(tensor, rowAxis, columnAxis, row, column));
}

void ProgramBuilder::finish() {
  Block &body = program.getBody().front();
  program.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  for (auto [i, what] : llvm::enumerate(argumentAttrs))
    program.setArgAttr(i, tile::kArgAttr, what);
}

//===----------------------------------------------------------------------===//
// Scalar arithmetic
//===----------------------------------------------------------------------===//

Value ProgramBuilder::constant(int64_t value, unsigned width) {
  return arith::ConstantIntOp::create(b, program.getLoc(), value, width);
}
Value ProgramBuilder::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(program.getLoc(), x, y);
}
Value ProgramBuilder::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(program.getLoc(), x, y);
}
Value ProgramBuilder::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(program.getLoc(), x, y);
}
Value ProgramBuilder::min(Value x, Value y) {
  return b.createOrFold<arith::MinSIOp>(program.getLoc(), x, y);
}
Value ProgramBuilder::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(program.getLoc(), x, y);
}

Value ProgramBuilder::floorDiv(Value x, int64_t divisor) {
  if (divisor == 1)
    return x;
  // Tiles are powers of two almost always; an arithmetic shift floors.
  if ((divisor & (divisor - 1)) == 0)
    return b.createOrFold<arith::ShRSIOp>(
        program.getLoc(), x,
        constant(llvm::Log2_64(static_cast<uint64_t>(divisor))));
  Location loc = program.getLoc();
  Value d = constant(divisor), zero = constant(0);
  Value rest = b.createOrFold<arith::RemSIOp>(loc, x, d);
  Value below = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, rest, zero);
  Value quotient = b.createOrFold<arith::DivSIOp>(loc, x, d);
  return sub(quotient, b.createOrFold<arith::ExtUIOp>(loc, b.getI64Type(), below));
}

Value ProgramBuilder::ceilDiv(Value x, int64_t divisor) {
  return floorDiv(add(x, constant(divisor - 1)), divisor);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

Value ProgramBuilder::tilesAlong(const GridFactor &factor) {
  return b.createOrFold<arith::TruncIOp>(program.getLoc(), b.getI32Type(),
                                         ceilDiv(length(factor.axis), factor.tile));
}

void ProgramBuilder::writeGrid(ArrayRef<GridFactor> factors) {
  SmallVector<Attribute> grid;
  for (const GridFactor &factor : factors)
    if (!factor.axis.empty())
      grid.push_back(tile::GridAttr::get(
          b.getContext(), b.getStringAttr(factor.axis), factor.tile));
  program->setAttr(tile::kGridAttr, b.getArrayAttr(grid));
}

// The runner keeps grids below 2^31 blocks and lengths below 2^30, so 32-bit
// unsigned division is exact here; it is several times faster on a GPU.
void ProgramBuilder::split(Value rest, ArrayRef<GridFactor> factors) {
  Location loc = program.getLoc();
  Type i64 = b.getI64Type();
  for (auto [i, factor] : llvm::enumerate(factors)) {
    if (factor.axis.empty())
      continue;
    Value count = tilesAlong(factor);
    Value at = rest;
    if (i + 1 < factors.size()) {
      at = arith::RemUIOp::create(b, loc, rest, count);
      rest = arith::DivUIOp::create(b, loc, rest, count);
    }
    if (factor.reversed)
      at = arith::SubIOp::create(
          b, loc, arith::SubIOp::create(b, loc, count, constant(1, 32)), at);
    Value start = mul(arith::ExtSIOp::create(b, loc, i64, at),
                      constant(factor.tile));
    places[factor.axis] = {factor.kind, start, Value()};
  }
}

void ProgramBuilder::placeBlock(ArrayRef<GridFactor> factors) {
  Value block = tile::BlockIdOp::create(b, program.getLoc(), b.getI32Type(), Value());
  split(block, factors);
  writeGrid(factors);
}

void ProgramBuilder::placeTiles(ArrayRef<GridFactor> factors, Value keyBytes) {
  Location loc = program.getLoc();
  Value rows = tilesAlong(factors[0]), heads = constant(1, 32);
  for (const GridFactor &factor : factors.drop_front())
    heads = mul(heads, tilesAlong(factor));
  Value block =
      tile::BlockIdOp::create(b, loc, b.getI32Type(), mul(rows, heads));
  writeGrid(factors);
  if (!keyBytes)
    return split(block, factors);
  Type i32 = b.getI32Type();
  Value fit = arith::DivUIOp::create(b, loc, constant(kSectionBytes),
                                     max(keyBytes, constant(1)));
  fit = arith::TruncIOp::create(b, loc, i32, fit);
  Value most = max(min(fit, heads), constant(1, 32));
  Value perSection = mul(most, rows);
  Value section = arith::DivUIOp::create(b, loc, block, perSection);
  Value rest = sub(block, mul(section, perSection));
  Value first = mul(section, most);
  Value here = max(min(most, sub(heads, first)), constant(1, 32));
  Value row = arith::DivUIOp::create(b, loc, rest, here);
  Value head = add(first, sub(rest, mul(row, here)));
  Value last = sub(rows, constant(1, 32));
  Value at = arith::ExtSIOp::create(b, loc, b.getI64Type(), sub(last, row));
  places[factors[0].axis] = {factors[0].kind,
                             mul(at, constant(factors[0].tile)), Value()};
  split(head, factors.drop_front());
}

StringRef ProgramBuilder::reachedThrough(StringRef axis) {
  if (places.contains(axis))
    return axis;
  for (const auto &entry : axes)
    if ((entry.second.inner == axis || entry.second.group == axis) &&
        places.contains(entry.first()))
      return entry.first();
  return "";
}

Value ProgramBuilder::index(StringRef axis, Type type) {
  Location loc = program.getLoc();
  StringRef through = reachedThrough(axis);
  if (through.empty())
    return nullptr;
  const AxisPlace &place = places[through];
  Value value;
  if (place.kind == AxisPlace::Batch)
    value = type.isInteger(64)
                ? place.start
                : arith::TruncIOp::create(b, loc, type, place.start).getResult();
  else
    value = tile::IndexOp::create(
        b, loc,
        place.kind == AxisPlace::Row ? RankedTensorType::get({rows, 1}, type)
                                     : RankedTensorType::get({1, columns}, type),
        place.start);
  if (through == axis)
    return value;
  // hq = hkv * G + g: both parts are at least 0, so unsigned division is exact.
  const AxisInfo &outer = axes.find(through)->second;
  Value group = length(outer.group);
  group = max(group, constant(1)); // An empty group axis has no blocks.
  if (!type.isInteger(64))
    group = arith::TruncIOp::create(b, loc, type, group);
  Value operands[] = {value, group};
  unify(operands);
  if (outer.inner == axis)
    return arith::DivUIOp::create(b, loc, operands[0], operands[1]);
  return arith::RemUIOp::create(b, loc, operands[0], operands[1]);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value ProgramBuilder::batchOffset(const TensorInfo &tensor) {
  Value offset = constant(0);
  for (const std::string &axis : tensor.axes) {
    StringRef through = reachedThrough(axis);
    if (through.empty() || places[through].kind != AxisPlace::Batch)
      continue;
    offset = add(offset, mul(index(axis, b.getI64Type()), stride(tensor, axis)));
  }
  return offset;
}

/// Elements that every row of a view starts at a multiple of: provable when the
/// innermost axis is the view's column axis and its length is fixed or padded.
int64_t ProgramBuilder::alignment(const TensorInfo &tensor,
                                  StringRef columnAxis) {
  if (tensor.axes.empty() || tensor.axes.back() != columnAxis)
    return 0;
  int64_t bytes = std::max<int64_t>(
      1, tensor.element.getIntOrFloatBitWidth() / 8);
  int64_t wanted = 16 / bytes;
  auto found = axes.find(columnAxis);
  int64_t extent = found == axes.end() ? 0 : found->second.extent;
  bool padded = tensor.pad % wanted == 0;
  bool fixed = extent > 0 && extent % wanted == 0;
  return padded || fixed ? wanted : 0;
}

Value ProgramBuilder::view(const TensorInfo &tensor, StringRef rowAxis,
                           StringRef columnAxis, bool loading) {
  auto strideOf = [&](StringRef axis) {
    return axis.empty() || !llvm::is_contained(tensor.axes, axis)
               ? constant(0)
               : stride(tensor, axis);
  };
  int64_t aligned = columnAxis.empty() ? 0 : alignment(tensor, columnAxis);
  Value columnEnd = length(columnAxis);
  if (auto place = places.find(columnAxis);
      loading && place != places.end() && place->second.loadEnd)
    columnEnd = place->second.loadEnd;
  return tile::ViewOp::create(
      b, program.getLoc(),
      tile::ViewType::get(b.getContext(), tensor.element), pointer(tensor),
      batchOffset(tensor), length(rowAxis), columnEnd,
      strideOf(rowAxis), columnAxis.empty() ? constant(1) : strideOf(columnAxis),
      b.getI64IntegerAttr(aligned));
}

Value ProgramBuilder::load(const TensorInfo &tensor) {
  Location loc = program.getLoc();
  StringRef rowAxis, columnAxis;
  bool nested = false;
  for (const std::string &axis : tensor.axes) {
    StringRef through = reachedThrough(axis);
    if (through.empty() || places[through].kind == AxisPlace::Batch)
      continue;
    nested |= through != axis;
    (places[through].kind == AxisPlace::Row ? rowAxis : columnAxis) = axis;
  }
  if (nested) {
    SmallVector<Value> indices;
    for (const std::string &axis : tensor.axes)
      indices.push_back(index(axis, b.getI64Type()));
    return gather(tensor, indices);
  }
  if (rowAxis.empty() && columnAxis.empty())
    return tile::GatherOp::create(b, loc, tensor.element, pointer(tensor),
                                  batchOffset(tensor), constant(1, 1));
  Value window = view(tensor, rowAxis, columnAxis, /*loading=*/true);
  auto start = [&](StringRef axis) {
    return axis.empty() ? constant(0) : places[axis].start;
  };
  auto type = RankedTensorType::get(
      {rowAxis.empty() ? 1 : rows, columnAxis.empty() ? 1 : columns},
      tensor.element);
  bool mappable = boxRows > 0 && !rowAxis.empty() && !columnAxis.empty() &&
                  tensor.axes.back() == columnAxis && tensor.axes.size() <= 5 &&
                  (tensor.element.isF16() || tensor.element.isBF16());
  if (mappable)
    return tile::LoadMappedOp::create(
        b, loc, type, mapped(tensor),
        map(tensor, rowAxis, columnAxis, boxRows, /*optional=*/true),
        coordinates(tensor, rowAxis, columnAxis, start(rowAxis),
                    start(columnAxis)),
        window, start(rowAxis), start(columnAxis));
  return tile::LoadOp::create(b, loc, type, window, start(rowAxis),
                              start(columnAxis));
}

Value ProgramBuilder::gather(const TensorInfo &tensor, ValueRange indices) {
  Location loc = program.getLoc();
  Value valid = constant(1, 1);
  Value offset = constant(0);
  for (auto [axis, given] : llvm::zip(tensor.axes, indices)) {
    Value length = this->length(axis);
    if (!matchPattern(length, m_Constant())) {
      Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                         length, constant(0));
      valid = b.createOrFold<arith::AndIOp>(loc, valid, some);
    }
    Value at = given;
    if (!elementOf(at).isInteger(64))
      at = arith::ExtSIOp::create(b, loc, typeLike(at, b.getI64Type()), at);
    Value last = sub(length, constant(1));
    auto clamped = [&](auto op, Value bound) {
      Value pair[] = {at, bound};
      unify(pair);
      at = decltype(op)::create(b, loc, pair[0], pair[1]);
    };
    clamped(arith::MinSIOp(), last);
    clamped(arith::MaxSIOp(), constant(0));
    Value scaled[] = {at, stride(tensor, axis)};
    unify(scaled);
    Value term = arith::MulIOp::create(b, loc, scaled[0], scaled[1]);
    Value sum[] = {offset, term};
    unify(sum);
    offset = arith::AddIOp::create(b, loc, sum[0], sum[1]);
  }
  return tile::GatherOp::create(b, loc, typeLike(offset, tensor.element),
                                pointer(tensor), offset, valid);
}
