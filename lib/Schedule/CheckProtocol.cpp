//===- CheckProtocol.cpp - the protocol check as a pass -------------------===//

#include "lib/Analysis/Protocol.h"
#include "lib/Schedule/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace attn {
#define GEN_PASS_DEF_CHECKPROTOCOLPASS
#include "lib/Schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct CheckProtocol : attn::impl::CheckProtocolPassBase<CheckProtocol> {
  using CheckProtocolPassBase::CheckProtocolPassBase;

  /// "M=64;N=300"; false when it does not read like that.
  bool readBinds(std::map<std::string, int64_t> &binds) {
    SmallVector<StringRef> items;
    StringRef(lengths).split(items, ';', -1, /*KeepEmpty=*/false);
    for (StringRef item : items) {
      auto [name, value] = item.split('=');
      int64_t number;
      if (value.getAsInteger(10, number))
        return false;
      binds[name.str()] = number;
    }
    return true;
  }

  void runOnOperation() override {
    func::FuncOp program = getOperation();
    ProtocolRun run;
    if (!readBinds(run.lengths)) {
      program.emitError("lengths are written NAME=NUMBER;NAME=NUMBER");
      return signalPassFailure();
    }
    run.scalars = run.lengths;
    run.block = block;
    run.launched = launched;
    run.stride = stride;
    run.orders = orders;
    run.doubt = doubt;
    run.seed = seed;
    FailureOr<std::string> wrong = checkProtocol(program, run);
    if (failed(wrong))
      return signalPassFailure();
    if (!wrong->empty()) {
      program.emitError("protocol: ") << *wrong;
      signalPassFailure();
    }
  }
};
} // namespace
