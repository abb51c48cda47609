//===- AttnDialect.cpp - registration and attributes ----------------------===//

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

#include "dialect/Attn/AttnDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Attn/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Attn/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Attn/AttnOps.cpp.inc"
      >();
}

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseName))
    return {};
  return AxesAttr::getChecked(
      [&] { return parser.emitError(location); }, parser.getContext(), names);
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getNames(), printer, [&](StringAttr name) {
    printer.printKeywordOrString(name.getValue());
  });
  printer << '>';
}

LogicalResult AxesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names) {
  llvm::StringSet<> seen;
  for (StringAttr name : names)
    if (name.empty() || !seen.insert(name.getValue()).second)
      return emitError() << "axis '" << name.getValue()
                         << "' must be named once";
  return success();
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, int64_t extent,
                               StringAttr group, StringAttr inner) {
  if (!name || name.empty())
    return emitError() << "axis needs a name";
  if (extent < 0 || extent > (int64_t(1) << 30))
    return emitError() << "length of axis '" << name.getValue()
                       << "' must lie in 0 .. 2^30";
  if (!group != !inner)
    return emitError() << "axis '" << name.getValue()
                       << "' needs both group and inner, or neither";
  return success();
}

/// The types of the language's elements and scalars.
static bool isElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isInteger(1) ||
         type.isInteger(32) || type.isInteger(64);
}

/// Axes are listed once, and nest one level deep in axes that are listed.
static LogicalResult verifyAxisTable(func::FuncOp program, ArrayAttr axes) {
  llvm::StringMap<AxisAttr> table;
  for (auto axis : axes.getAsRange<AxisAttr>())
    if (!table.try_emplace(axis.getName().getValue(), axis).second)
      return program.emitError("axis '")
             << axis.getName().getValue() << "' is listed twice in 'attn.axes'";
  for (auto axis : axes.getAsRange<AxisAttr>()) {
    if (!axis.getInner())
      continue;
    int64_t product = 1;
    for (StringAttr name : {axis.getGroup(), axis.getInner()}) {
      AxisAttr part = table.lookup(name.getValue());
      if (!part || part.getInner() || axis.getGroup() == axis.getInner())
        return program.emitError("axis '")
               << axis.getName().getValue() << "' must nest two other axes of "
               << "'attn.axes' that do not nest themselves";
      product *= part.getExtent();
    }
    if (product && axis.getExtent() && product != axis.getExtent())
      return program.emitError("length of axis '")
             << axis.getName().getValue() << "' must be the product of those it "
             << "nests, " << product;
  }
  return success();
}

/// A tensor of a program's signature has axes that are listed, in their lengths.
static LogicalResult verifyParameter(func::FuncOp program, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto axes = tensor ? dyn_cast_or_null<AxesAttr>(tensor.getEncoding())
                     : AxesAttr();
  if (!axes || !isElement(tensor.getElementType()) ||
      axes.getNames().size() != static_cast<size_t>(tensor.getRank()))
    return program.emitError("tensors of a program need #attn.axes, one name for "
                             "each dimension, and elements of f16, bf16, f32, "
                             "i1, i32 or i64; ")
           << type << " is none";
  for (auto [name, length] : llvm::zip(axes.getNames(), tensor.getShape())) {
    AxisAttr axis = lookUpAxis(program, name.getValue());
    if (!axis)
      return program.emitError("axis '")
             << name.getValue() << "' of the signature is not in 'attn.axes'";
    if (length != (axis.getExtent() ? axis.getExtent() : ShapedType::kDynamic))
      return program.emitError("length of axis '")
             << name.getValue() << "' in the signature differs from 'attn.axes'";
  }
  return success();
}

static LogicalResult verifySignature(func::FuncOp program) {
  llvm::StringSet<> names;
  auto isNew = [&](StringAttr name) {
    return success(names.insert(name.getValue()).second);
  };
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    if (!program.getArgAttrOfType<StringAttr>(i, kNameAttr))
      return program.emitError("argument ") << i << " needs a string 'attn.name'";
    auto name = program.getArgAttrOfType<StringAttr>(i, kNameAttr);
    if (failed(isNew(name)))
      return program.emitError("the name ") << name << " is given twice";
    Type type = program.getArgumentTypes()[i];
    if (type.isF32() || type.isInteger(1) || type.isInteger(32) ||
        type.isInteger(64))
      continue;
    if (!isa<RankedTensorType>(type))
      return program.emitError("argument ")
             << i << " is " << type
             << "; a program takes tensors and scalars of f32, i1, i32 or i64";
    if (failed(verifyParameter(program, type)))
      return failure();
  }
  for (unsigned i = 0; i < program.getNumResults(); ++i) {
    if (!program.getResultAttrOfType<StringAttr>(i, kNameAttr))
      return program.emitError("result ") << i << " needs a string 'attn.name'";
    auto name = program.getResultAttrOfType<StringAttr>(i, kNameAttr);
    if (failed(isNew(name)))
      return program.emitError("the name ") << name << " is given twice";
    if (failed(verifyParameter(program, program.getResultTypes()[i])))
      return failure();
  }
  return success();
}

/// Arithmetic on scalars, as regions hold it.
static bool isScalarArithmetic(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") &&
         op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         (OpTrait::hasElementwiseMappableTraits(op) ||
          op->hasTrait<OpTrait::ConstantLike>()) &&
         llvm::all_of(op->getOperandTypes(), isElement) &&
         llvm::all_of(op->getResultTypes(), isElement);
}

/// Tensor operations stand in the function or in a kernel, indices and reads in
/// the region of an elementwise operation, scalar arithmetic anywhere.
static LogicalResult verifyBody(func::FuncOp program) {
  if (!program.getBody().hasOneBlock() || program.getBody().front().empty() ||
      !isa<func::ReturnOp>(program.getBody().front().back()))
    return program.emitError("a program has a body of one block that returns");
  WalkResult walked = program.getBody().walk([&](Operation *op) {
    Operation *parent = op->getParentOp();
    bool inElement = isa<MapOp, ScaleOp, MaskOp>(parent);
    bool belongs =
        op->hasTrait<OpTrait::IsTerminator>() || isScalarArithmetic(op) ||
        isa<LengthOp>(op) ||
        (inElement ? isa<IndexOp, ReadOp>(op)
                   : isa<MatmulOp, MapOp, ScaleOp, MaskOp, RoundOp, CopyOp,
                         SoftmaxOp, OnlineSoftmaxOp, KernelOp>(op));
    if (belongs)
      return WalkResult::advance();
    op->emitOpError("does not belong here in a program");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != kAxesAttr)
    return success();
  auto axes = dyn_cast<ArrayAttr>(attribute.getValue());
  auto program = dyn_cast<func::FuncOp>(op);
  if (!program || !axes || !llvm::all_of(axes, llvm::IsaPred<AxisAttr>))
    return op->emitError("'attn.axes' must be an array of #attn.axis on a "
                         "func.func");
  return failure(failed(verifyAxisTable(program, axes)) ||
                 failed(verifySignature(program)) ||
                 failed(verifyBody(program)));
}

ArrayRef<StringAttr> attn::axisNames(Type tensor) {
  return cast<AxesAttr>(cast<RankedTensorType>(tensor).getEncoding()).getNames();
}

bool attn::hasAxis(Type tensor, StringRef axis) {
  return llvm::any_of(axisNames(tensor),
                      [&](StringAttr name) { return name.getValue() == axis; });
}

AxisAttr attn::lookUpAxis(Operation *op, StringRef axis) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  auto axes = function ? function->getAttrOfType<ArrayAttr>(kAxesAttr) : nullptr;
  if (axes)
    for (Attribute attribute : axes)
      if (auto found = dyn_cast<AxisAttr>(attribute))
        if (found.getName().getValue() == axis)
          return found;
  return nullptr;
}

bool attn::reaches(Operation *op, StringRef outer, StringRef axis) {
  if (outer == axis)
    return true;
  AxisAttr info = lookUpAxis(op, outer);
  return info && info.getInner() &&
         (info.getInner().getValue() == axis ||
          info.getGroup().getValue() == axis);
}

bool attn::isOfOneOperand(MatmulOp matmul, StringRef axis) {
  auto touches = [&](Value operand) {
    return llvm::any_of(axisNames(operand.getType()), [&](StringAttr name) {
      return reaches(matmul, axis, name) || reaches(matmul, name, axis);
    });
  };
  Value a = matmul.getA(), b = matmul.getB();
  return (hasAxis(a.getType(), axis) && !touches(b)) ||
         (hasAxis(b.getType(), axis) && !touches(a));
}
