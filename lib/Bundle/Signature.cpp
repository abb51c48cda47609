//===- Signature.cpp - what a CPU kernel's code expects of its manifest ---===//

#include "lib/Bundle/Signature.h"

#include "lib/Bundle/ManifestWords.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

using namespace attn;
using namespace attn::bundle;

/// "bf16[B, M, D=64]", and what its rows are padded to.
static std::string typeOf(const Program &program, const Level &level,
                          const std::string &name) {
  for (const std::vector<Tensor> *list : {&program.tensors, &level.temporaries})
    for (const Tensor &tensor : *list) {
      if (tensor.name != name)
        continue;
      std::vector<std::string> axes;
      for (const std::string &used : tensor.axes) {
        axes.push_back(used);
        for (const Axis &axis : program.axes)
          if (axis.name == used && axis.extent)
            axes.back() += fmt::format("={}", *axis.extent);
      }
      return fmt::format("{}[{}]{}", tensor.dtype, fmt::join(axes, ", "),
                         tensor.pad == 1 ? "" : fmt::format(" pad {}", tensor.pad));
    }
  return "unknown";
}

static std::string describe(const Program &program, const Level &level,
                            const Kernel &kernel, const Arg &arg) {
  std::string kind = spelling(arg.kind);
  switch (arg.kind) {
  case Arg::Kind::Pointer:
    return fmt::format("{} {}: {}", kind, arg.name,
                       typeOf(program, level, arg.name));
  case Arg::Kind::Stride:
    return fmt::format("{} {} of {}", kind, arg.axis, arg.name);
  case Arg::Kind::Length:
    return fmt::format("{} {}", kind, arg.axis);
  case Arg::Kind::Scalar:
    for (const Scalar &scalar : program.scalars)
      if (scalar.name == arg.name)
        return fmt::format("{} {}: {}", kind, arg.name, scalar.dtype);
    return fmt::format("{} {}: unknown", kind, arg.name);
  case Arg::Kind::Scheduler:
    return kind;
  case Arg::Kind::Timeline:
    return kernel.stamps ? fmt::format("{} of {} lanes, {} steps", kind,
                                       kernel.stamps->lanes, kernel.stamps->steps)
                         : kind;
  case Arg::Kind::Map:
    return fmt::format("{} {}: {} box {} along {}", kind, arg.name,
                       typeOf(program, level, arg.name), fmt::join(arg.box, "x"),
                       fmt::join(arg.axes, ", "));
  }
  return kind;
}

std::string bundle::signature(const Program &program, const Level &level,
                              const Kernel &kernel) {
  std::string text;
  for (const Arg &arg : kernel.args)
    text += describe(program, level, kernel, arg) + "\n";
  std::vector<std::string> grid;
  for (const GridAxis &axis : kernel.grid)
    grid.push_back(fmt::format("{}/{}", axis.axis, axis.tile));
  return text + fmt::format("grid {}\n", fmt::join(grid, ", "));
}

std::string bundle::signatureSymbol(const Kernel &kernel) {
  return kernel.symbol + ".signature"; // No kernel's name has a dot.
}

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

/// What stands in a broken file may be anything.
static std::string quoted(std::string line) {
  line.resize(std::min<size_t>(line.size(), 80));
  for (char &c : line)
    if (!std::isprint(static_cast<unsigned char>(c)))
      c = '?';
  return "'" + line + "'";
}

std::string bundle::signatureMismatch(const std::string &code,
                                      const std::string &manifest) {
  if (code == manifest)
    return "";
  std::vector<std::string> made = linesOf(code), said = linesOf(manifest);
  if (made.size() != said.size())
    return fmt::format("it takes {} arguments, the manifest lists {}",
                       int(made.size()) - 1, int(said.size()) - 1);
  for (size_t i = 0; i < made.size(); ++i)
    if (made[i] != said[i])
      return fmt::format("{} in the code is {} in the manifest", quoted(made[i]),
                         quoted(said[i]));
  return "it and the manifest differ";
}
