//===- Binds.h - lengths and scalars of a run -----------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_BINDS_H
#define ATTN_TOOLS_ATTN_BENCH_BINDS_H

#include "lib/Bundle/Manifest.h"
#include "lib/Runtime/Launch.h"
#include "lib/Spec/Ast.h"
#include "tools/attn-bench/Options.h"

namespace attn::bench {

/// Names and values as written.
using Binds = std::map<std::string, std::string>;

/// The README that may tell a spec's sizes.
std::string readmeBeside(const std::string &specPath);

/// "B=1,H=8" from the row `| name | B=1,H=8 |` of the README beside a spec.
/// Empty when there is no such file or row.
Binds defaultBinds(const std::string &specPath, const std::string &program);

/// What a run uses: every axis and scalar of the program.
struct RunBinds {
  runtime::Lengths lengths;
  std::map<std::string, runtime::ScalarValue> scalars;
  Binds shown; ///< Everything, in words, for the table.
};

/// Completes the caller's binds from `defaults`, then from sizes that suit any
/// spec (batch 1, 8 heads, lengths of 1024). Throws InputError or
/// runtime::LaunchError on names and values that do not fit the program.
RunBinds resolveBinds(const bundle::Program &program, const Binds &given,
                      const Binds &defaults);

/// The binds that the compiler must know, as "D=64": axes with a fixed length
/// in the spec and axes whose length code is made for. `given` wins over
/// `defaults`.
std::vector<std::string> compileBinds(const spec::Module &module,
                                      const Binds &given,
                                      const Binds &defaults);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_BINDS_H
