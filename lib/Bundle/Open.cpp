//===- Open.cpp - a bundle's manifest and spec, known to belong together --===//

#include "lib/Bundle/Open.h"

#include "lib/Bundle/ManifestWords.h"
#include "lib/Spec/Diagnostics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

using namespace attn;
using namespace attn::bundle;

Program bundle::describeProgram(const spec::Kernel &kernel) {
  Program program;
  program.name = kernel.name;
  auto names = [&](const std::vector<int> &axes) {
    std::vector<std::string> list;
    for (int axis : axes)
      list.push_back(kernel.axes[size_t(axis)].name);
    return list;
  };
  for (const spec::Axis &axis : kernel.axes) {
    Axis entry;
    entry.name = axis.name;
    if (axis.extent.value_or(0) > 0)
      entry.extent = axis.extent;
    if (axis.group >= 0) {
      entry.group = kernel.axes[size_t(axis.group)].name;
      entry.inner = kernel.axes[size_t(axis.inner)].name;
    }
    program.axes.push_back(entry);
  }
  for (const spec::Argument &argument : kernel.arguments) {
    if (argument.scalar)
      program.scalars.push_back(
          {argument.name, spec::spelling(argument.type.dtype)});
    else
      program.tensors.push_back({argument.name, spec::spelling(argument.type.dtype),
                                 names(argument.type.axes), Role::Input, 1});
  }
  for (const spec::Result &result : kernel.results)
    program.tensors.push_back({result.name, spec::spelling(result.type.dtype),
                               names(result.type.axes), Role::Output, 1});
  return program;
}

std::string bundle::hashOfSpec(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("fnv1a-{:016x}", hash);
}

/// The kernel of that name, or null.
static const spec::Kernel *findKernel(const spec::ParseResult &spec,
                                      const std::string &name) {
  for (const spec::Kernel &kernel : spec.module.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

const spec::Kernel &Opened::kernelOf(const Program &program) const {
  return *findKernel(spec, program.name);
}

static std::string show(const Axis &axis) {
  std::string text = "an axis";
  if (axis.extent)
    text += fmt::format(" of length {}", *axis.extent);
  if (!axis.group.empty())
    text += fmt::format(" of {} * {}", axis.group, axis.inner);
  return text;
}

static std::string show(const Tensor &tensor) {
  return fmt::format("{} {}[{}]", spelling(tensor.role), tensor.dtype,
                     fmt::join(tensor.axes, ", "));
}

static std::string show(const Scalar &scalar) { return "scalar " + scalar.dtype; }

/// The first entry of two lists of named things, in whatever order, that says
/// something else in one of them, or stands in one alone; "" when there is none.
template <typename T>
static std::string difference(const std::vector<T> &manifest,
                              const std::vector<T> &spec) {
  auto find = [](const std::vector<T> &list, const std::string &name) {
    return std::find_if(list.begin(), list.end(),
                        [&](const T &entry) { return entry.name == name; });
  };
  auto told = [&](const std::vector<T> &list, const std::string &name) {
    auto found = find(list, name);
    return found == list.end() ? "nothing" : show(*found);
  };
  for (const std::vector<T> *list : {&manifest, &spec})
    for (const T &entry : *list)
      if (std::string in = told(manifest, entry.name), of = told(spec, entry.name);
          in != of)
        return fmt::format("{} is {} in its manifest, {} in its spec", entry.name, in,
                           of);
  return "";
}

/// In which way a program is not what the spec says, or "".
static std::string difference(const Program &program, const spec::Kernel &kernel) {
  Program described = describeProgram(kernel);
  std::string axes = difference(program.axes, described.axes);
  if (!axes.empty())
    return axes;
  std::string tensors = difference(program.tensors, described.tensors);
  return tensors.empty() ? difference(program.scalars, described.scalars) : tensors;
}

Opened bundle::open(const std::string &folder) {
  auto fail = [&](const std::string &why) {
    throw std::runtime_error(fmt::format("bundle {}: {}", folder, why));
  };
  Opened opened;
  opened.manifest = fromJson(readFile(folder + "/manifest.json"));
  const std::string text = readFile(folder + "/spec.attn");
  // The hash first: it tells a text that is merely another from one that is broken.
  if (const std::string &made = opened.manifest.specHash;
      !made.empty() && made != hashOfSpec(text))
    fail(fmt::format("its spec.attn is not the text that the bundle was made of "
                     "(hash {}, that was {}); put that back, or make the bundle again "
                     "with attnc",
                     hashOfSpec(text), made));
  opened.spec = spec::parse(folder + "/spec.attn", text, opened.manifest.binds);
  if (!opened.spec.ok())
    fail("its spec is broken: " + opened.spec.diagnostics.front().message);
  for (const Program &program : opened.manifest.programs) {
    const spec::Kernel *kernel = findKernel(opened.spec, program.name);
    if (!kernel)
      fail(fmt::format("its spec has no kernel {}, which is in its manifest; make the "
                       "bundle again with attnc",
                       program.name));
    if (std::string what = difference(program, *kernel); !what.empty())
      fail(fmt::format("program {}: {}; make the bundle again with attnc",
                       program.name, what));
  }
  return opened;
}
