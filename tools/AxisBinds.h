//===- AxisBinds.h - --bind AXIS=LENGTH,... of the compilers --------------===//
#ifndef ATTN_TOOLS_AXISBINDS_H
#define ATTN_TOOLS_AXISBINDS_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Printable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace attn {

/// Reads "D=64" and the like into `binds`. What is wrong, or "".
inline std::string readAxisBinds(llvm::ArrayRef<std::string> items,
                                 spec::Binds &binds) {
  for (const std::string &item : items) {
    auto [name, value] = llvm::StringRef(item).split('=');
    int64_t length = 0;
    if (name.empty() || value.getAsInteger(10, length) || length < 0)
      return "--bind takes AXIS=LENGTH, such as D=64, not '" + item +
             "'; scalars get their values when the kernels run (--bind of attn-bench and "
             "attn-check)";
    if (!binds.emplace(name.str(), length).second)
      return "--bind: " + name.str() + " is given twice; give it one length";
  }
  return "";
}

/// Why a parsed text and these binds do not go together, or "": a name that is no
/// axis, or errors that the text alone does not have.
inline std::string checkAxisBinds(const spec::ParseResult &parsed,
                                  const spec::Binds &binds) {
  if (!parsed.ok() && !binds.empty() &&
      spec::parse(parsed.module.path, parsed.module.text).ok())
    return "--bind: " + spec::printable(parsed.diagnostics.front().message);
  if (!parsed.ok())
    return "";
  std::set<std::string> axes;
  for (const spec::Kernel &kernel : parsed.module.kernels)
    for (const spec::Axis &axis : kernel.axes)
      axes.insert(axis.name);
  for (const auto &[name, length] : binds) {
    if (axes.count(name))
      continue;
    for (const spec::Kernel &kernel : parsed.module.kernels)
      for (const spec::Argument &argument : kernel.arguments)
        if (argument.name == name)
          return "--bind: '" + name + "' is a " +
                 (argument.scalar
                      ? "scalar of kernel " + kernel.name +
                            ", which gets its value when the kernels run (--bind " +
                            name + "=" + std::to_string(length) +
                            " of attn-bench and attn-check)"
                      : "tensor of kernel " + kernel.name) +
                 "; here lengths of axes are bound: " + llvm::join(axes, ", ");
    std::vector<std::string> list(axes.begin(), axes.end());
    std::optional<std::string> near = spec::nearest(name, list);
    return "--bind: no kernel has an axis '" + name + "'" +
           (near ? "; did you mean " + *near + "?"
                 : "; the axes are " + llvm::join(list, ", "));
  }
  return "";
}

} // namespace attn

#endif // ATTN_TOOLS_AXISBINDS_H
