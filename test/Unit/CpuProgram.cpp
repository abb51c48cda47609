//===- CpuProgram.cpp - compiles a tile program and calls it --------------===//

#include "test/Unit/CpuProgram.h"

#include "dialect/Tile/Tile.h"
#include "lib/Codegen/Cpu/CompileCpu.h"
#include "lib/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::test;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

CpuProgram::CpuProgram(const std::string &text, const std::string &symbol,
                       bool portable) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::func::FuncDialect>();
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &said) {
    if (error.empty())
      error = said.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return;
  double start = now();
  mlir::PassManager pm(&context);
  addCpuCodegenPasses(pm, portable);
  if (mlir::failed(pm.run(*module)))
    return;
  passSeconds = now() - start;
  start = now();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code =
      translateForCpu(*module, llvmContext, {portable});
  if (!code)
    return;
  if (std::getenv("ATTN_TEST_DUMP"))
    llvm::errs() << *code;
  optimizeSeconds = now() - start;
  start = now();
  mlir::FailureOr<std::string> bytes =
      linkSharedObject(*module, *code, {portable});
  if (mlir::failed(bytes))
    return;
  linkSeconds = now() - start;
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("attn-test", "so", path)) {
    error = "cannot create a temporary file";
    return;
  }
  llvm::FileRemover remove(path);
  std::ofstream(path.c_str(), std::ios::binary) << *bytes;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, symbol.c_str()) : nullptr;
  if (!address) {
    error = dlerror();
    return;
  }
  entry = reinterpret_cast<decltype(entry)>(address);
}

CpuProgram::~CpuProgram() {
  if (library)
    dlclose(library);
}

std::string attn::test::readProgram(const std::string &file) {
  std::ifstream in(std::string(ATTN_TEST_CODEGEN_DIR) + "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
