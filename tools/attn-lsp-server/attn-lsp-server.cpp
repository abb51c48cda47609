//===- attn-lsp-server.cpp - the dialects' IR in an editor ----------------===//

#include "lib/Pipelines/Compile.h"
#include "tools/HideOptions.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  // Before the server adds its options: what is there now is LLVM's.
  attn::hideOptions();
  mlir::DialectRegistry registry;
  attn::registerAllAttnDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
