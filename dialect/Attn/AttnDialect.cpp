//===- AttnDialect.cpp - registration and attributes ----------------------===//

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
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

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kAxesAttr) {
    auto axes = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<func::FuncOp>(op) || !axes ||
        !llvm::all_of(axes, [](Attribute a) { return isa<AxisAttr>(a); }))
      return op->emitError("'attn.axes' must be an array of #attn.axis on a "
                           "func.func");
    auto function = cast<func::FuncOp>(op);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!function.getArgAttrOfType<StringAttr>(i, kNameAttr))
        return op->emitError("argument ") << i << " needs a string 'attn.name'";
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!function.getResultAttrOfType<StringAttr>(i, kNameAttr))
        return op->emitError("result ") << i << " needs a string 'attn.name'";
    auto named = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || isa_and_nonnull<AxesAttr>(tensor.getEncoding());
    };
    if (!llvm::all_of(function.getArgumentTypes(), named) ||
        !llvm::all_of(function.getResultTypes(), [&](Type type) {
          return isa<RankedTensorType>(type) && named(type);
        }))
      return op->emitError("tensors of a program need #attn.axes, and results "
                           "are tensors");
  }
  return success();
}

ArrayRef<StringAttr> attn::axisNames(Type tensor) {
  return cast<AxesAttr>(cast<RankedTensorType>(tensor).getEncoding()).getNames();
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
