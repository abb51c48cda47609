//===- attn-lsp-server.cpp - the dialects' IR in an editor ----------------===//

#include "lib/Pipelines/Compile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  // Before the server adds its options: what is there now is LLVM's.
  static llvm::cl::OptionCategory none("attn-lsp-server options");
  llvm::cl::HideUnrelatedOptions(none);
  mlir::DialectRegistry registry;
  attn::registerAllAttnDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
