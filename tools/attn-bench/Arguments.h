//===- Arguments.h - a program's tensors on a device ----------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_ARGUMENTS_H
#define ATTN_TOOLS_ATTN_BENCH_ARGUMENTS_H

#include "lib/Reference/Tensor.h"
#include "lib/Runtime/Launch.h"
#include "tools/attn-bench/Binds.h"

namespace attn::bench {

/// One copy of a program's inputs and outputs in device memory.
class ArgumentSet {
public:
  /// Uploads `inputs`. Throws runtime::LaunchError when memory runs out.
  ArgumentSet(runtime::Device &device, const bundle::Program &program,
              const RunBinds &binds, const reference::Inputs &inputs);

  const runtime::Arguments &arguments() const { return list; }
  /// Fills every output with a NaN pattern, so that what a kernel forgets to
  /// write is noticed.
  void poisonOutputs();
  /// An output's bytes, dense.
  std::vector<std::byte> download(const std::string &output) const;

private:
  runtime::Device &device;
  std::map<std::string, runtime::Buffer> buffers;
  std::vector<std::string> outputs;
  runtime::Arguments list;
};

/// Bytes of all inputs and outputs.
int64_t argumentBytes(const bundle::Program &program,
                      const runtime::Lengths &lengths);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_ARGUMENTS_H
