//===- AttnDialect.td - the attn dialect ------------------------*- tablegen -*-===//
#ifndef ATTN_DIALECT_ATTN_DIALECT_TD
#define ATTN_DIALECT_ATTN_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "What is computed: attention as tensors with named axes";
  let description = [{
    A program is a `func.func` whose tensors carry the names of their axes in the
    encoding, `tensor<?x?x128xbf16, #attn.axes<B, M, D>>`, outermost first. The
    function attribute `attn.axes` lists every axis; arguments and results carry
    `attn.name`. Nothing here knows a target. Fusion is a partition of the
    operations into `attn.kernel` regions, each of which becomes one launch.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def Attn_AxesAttr : AttrDef<Attn_Dialect, "Axes"> {
  let mnemonic = "axes";
  let summary = "Names of a tensor's axes, outermost first";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Attn_AxisAttr : AttrDef<Attn_Dialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "An axis: its fixed length (0: known at run time) and nesting";
  let description = [{
    `#attn.axis<"D", extent = 128>`; `#attn.axis<"Hq", group = "G", inner = "Hkv">`
    says Hq = G * Hkv: index hq reads hkv = hq / G. No tensor that an operation
    takes or makes has both Hq and one of its parts; attn.read may read such a one,
    element by element.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        DefaultValuedParameter<"int64_t", "0">:$extent,
                        OptionalParameter<"::mlir::StringAttr">:$group,
                        OptionalParameter<"::mlir::StringAttr">:$inner);
  let assemblyFormat = "`<` $name (`,` struct($extent, $group, $inner)^)? `>`";
  let genVerifyDecl = 1;
}

#endif
