//===- Arguments.cpp - a program's tensors on a device --------------------===//

#include "tools/attn-bench/Arguments.h"

#include <fmt/format.h>

using namespace attn;
using namespace attn::bench;

ArgumentSet::ArgumentSet(runtime::Device &device,
                         const bundle::Program &program, const RunBinds &binds,
                         const reference::Inputs &inputs)
    : device(device) {
  list.lengths = binds.lengths;
  for (const bundle::Tensor &tensor : program.tensors) {
    int64_t bytes = runtime::denseBytes(tensor, binds.lengths);
    runtime::Buffer buffer(device, bytes);
    if (tensor.role == bundle::Role::Output) {
      outputs.push_back(tensor.name);
    } else {
      auto found = inputs.tensors.find(tensor.name);
      if (found == inputs.tensors.end() ||
          int64_t(found->second.data.size()) != bytes)
        throw InputError(fmt::format(
            "the bundle's tensor {} is not the one in its spec.attn; make the "
            "bundle again with attnc",
            tensor.name));
      device.copyIn(buffer.data(), found->second.data.data(), bytes);
    }
    list.tensors[tensor.name] = {buffer.data(), {}};
    buffers[tensor.name] = std::move(buffer);
  }
  for (const bundle::Scalar &scalar : program.scalars)
    list.scalars[scalar.name] = inputs.scalars.at(scalar.name);
}

void ArgumentSet::poisonOutputs() {
  for (const std::string &output : outputs)
    device.fill(buffers.at(output).data(), 0xff, buffers.at(output).bytes());
}

std::vector<std::byte> ArgumentSet::download(const std::string &output) const {
  const runtime::Buffer &buffer = buffers.at(output);
  std::vector<std::byte> bytes(size_t(buffer.bytes()));
  device.copyOut(bytes.data(), buffer.data(), buffer.bytes());
  return bytes;
}

int64_t attn::bench::argumentBytes(const bundle::Program &program,
                                   const runtime::Lengths &lengths) {
  int64_t total = 0;
  for (const bundle::Tensor &tensor : program.tensors)
    total += runtime::denseBytes(tensor, lengths);
  return total;
}
