//===- Binds.cpp - lengths and scalars of a run ---------------------------===//

#include "tools/attn-bench/Binds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

using namespace attn;
using namespace attn::bench;

static std::string trim(const std::string &text) {
  size_t first = text.find_first_not_of(" \t\r");
  size_t last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string attn::bench::readmeBeside(const std::string &specPath) {
  return (std::filesystem::path(specPath).parent_path() / "README.md").string();
}

Binds attn::bench::defaultBinds(const std::string &specPath,
                                const std::string &program) {
  std::string text;
  try {
    text = bundle::readFile(readmeBeside(specPath));
  } catch (const std::runtime_error &) {
    return {}; // A spec needs no README.
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "| name | B=1,H=8 |" has two cells.
    std::vector<std::string> cells;
    std::istringstream columns(line);
    for (std::string cell; std::getline(columns, cell, '|');)
      cells.push_back(trim(cell));
    if (cells.size() < 3 || !cells[0].empty() || cells[1] != program ||
        cells[2].find('=') == std::string::npos)
      continue;
    Binds binds;
    std::istringstream items(cells[2]);
    for (std::string item; std::getline(items, item, ',');) {
      size_t equals = item.find('=');
      if (equals == std::string::npos) {
        binds.clear(); // Prose with an equals sign, not a list of binds.
        break;
      }
      binds[trim(item.substr(0, equals))] = trim(item.substr(equals + 1));
    }
    if (!binds.empty())
      return binds;
  }
  return {};
}

static int64_t parseLength(const std::string &axis, const std::string &text) {
  if (auto value = runtime::readInteger(text))
    return *value;
  throw InputError(
      fmt::format("axis {} has length '{}'; a length is a whole number of at "
                  "most 2^30",
                  axis, text));
}

/// A length for an axis that nobody bound, by what its name usually means.
static int64_t usualLength(const std::string &axis) {
  switch (axis[0]) {
  case 'B':
    return 1;
  case 'H':
    return 8;
  case 'D':
    return 128;
  default:
    return 1024;
  }
}

/// How many of a nest's three lengths are known.
static int knownOfNest(const bundle::Axis &outer,
                       const runtime::Lengths &lengths) {
  return int(lengths.count(outer.name) + lengths.count(outer.group) +
             lengths.count(outer.inner));
}

/// Whether `axis` may still be given a length: two lengths of a nest fix the
/// third, so a default must not contradict them.
static bool isOpen(const bundle::Program &program, const std::string &axis,
                   const runtime::Lengths &lengths) {
  if (lengths.count(axis))
    return false;
  for (const bundle::Axis &outer : program.axes)
    if (!outer.group.empty() &&
        (axis == outer.name || axis == outer.group || axis == outer.inner) &&
        knownOfNest(outer, lengths) >= 2)
      return false;
  return true;
}

static void addUsualLengths(const bundle::Program &program,
                            runtime::Lengths &lengths) {
  // Nests first: eight query heads in groups of four, or groups of one where
  // only one side is known.
  for (const bundle::Axis &outer : program.axes) {
    if (outer.group.empty())
      continue;
    if (knownOfNest(outer, lengths) == 0)
      lengths[outer.name] = 8;
    if (knownOfNest(outer, lengths) == 1 && !lengths.count(outer.group)) {
      bool fours =
          lengths.count(outer.name) ? lengths[outer.name] % 4 == 0 : true;
      lengths[outer.group] = fours ? 4 : 1;
    } else if (knownOfNest(outer, lengths) == 1) {
      lengths[outer.inner] = 2;
    }
  }
  for (const bundle::Axis &axis : program.axes)
    if (axis.group.empty() && isOpen(program, axis.name, lengths))
      lengths[axis.name] = usualLength(axis.name);
}

RunBinds attn::bench::resolveBinds(const bundle::Program &program,
                                   const Binds &given, const Binds &defaults) {
  std::set<std::string> axes;
  std::map<std::string, bundle::Scalar> scalars;
  for (const bundle::Axis &axis : program.axes)
    axes.insert(axis.name);
  for (const bundle::Scalar &scalar : program.scalars)
    scalars[scalar.name] = scalar;

  RunBinds result;
  runtime::Lengths lengths;
  for (const auto &[name, value] : given) {
    if (axes.count(name)) {
      lengths[name] = parseLength(name, value);
    } else if (scalars.count(name)) {
      result.scalars[name] = runtime::readScalar(scalars.at(name), value);
    } else {
      std::set<std::string> all = axes;
      for (const bundle::Scalar &scalar : program.scalars)
        all.insert(scalar.name);
      throw InputError(fmt::format("--bind: program {} has no axis or scalar "
                                   "'{}'; it has {}",
                                   program.name, name, fmt::join(all, ", ")));
    }
  }
  for (const bundle::Axis &axis : program.axes)
    if (axis.extent && !lengths.count(axis.name))
      lengths[axis.name] = *axis.extent;
  for (const auto &[name, value] : defaults) {
    if (axes.count(name) && isOpen(program, name, lengths))
      lengths[name] = parseLength(name, value);
    else if (scalars.count(name) && !result.scalars.count(name))
      result.scalars[name] = runtime::readScalar(scalars.at(name), value);
  }
  addUsualLengths(program, lengths);
  result.lengths = runtime::resolveLengths(program, lengths);

  for (const bundle::Scalar &scalar : program.scalars)
    if (!result.scalars.count(scalar.name))
      throw InputError(fmt::format("scalar {} has no value; give one with "
                                   "--bind {}=...",
                                   scalar.name, scalar.name));
  for (const auto &[name, length] : result.lengths)
    result.shown[name] = std::to_string(length);
  for (const auto &[name, value] : result.scalars)
    result.shown[name] = std::holds_alternative<int64_t>(value)
                             ? std::to_string(std::get<int64_t>(value))
                             : fmt::format("{}", std::get<double>(value));
  return result;
}

namespace {
/// Axes whose length code is made for: summed by the first matmul, or brought
/// in by a later one.
class FixedAxes {
public:
  explicit FixedAxes(const spec::Kernel &kernel) : kernel(kernel) {
    for (const spec::Axis &axis : kernel.axes)
      if (axis.extent)
        names.insert(axis.name);
    for (const spec::Statement &statement : kernel.body)
      if (statement.value)
        visit(*statement.value);
  }
  std::set<std::string> names;

private:
  void visit(const spec::Expr &expr) {
    for (const auto &operand : expr.operands)
      if (operand)
        visit(*operand);
    if (expr.kind != spec::ExprKind::Matmul)
      return;
    if (!scores) {
      scores = &expr.type.axes;
      add(expr.ref);
      return;
    }
    for (int axis : expr.type.axes)
      if (std::find(scores->begin(), scores->end(), axis) == scores->end())
        add(axis);
  }
  void add(int axis) {
    if (axis >= 0 && size_t(axis) < kernel.axes.size())
      names.insert(kernel.axes[size_t(axis)].name);
  }

  const spec::Kernel &kernel;
  const std::vector<int> *scores = nullptr; ///< Axes of the first result.
};
} // namespace

std::vector<std::string> attn::bench::compileBinds(const spec::Module &module,
                                                   const Binds &given,
                                                   const Binds &defaults) {
  std::map<std::string, std::string> chosen;
  for (const spec::Kernel &kernel : module.kernels)
    for (const std::string &axis : FixedAxes(kernel).names) {
      if (auto it = given.find(axis); it != given.end())
        chosen[axis] = it->second;
      else if (auto it = defaults.find(axis); it != defaults.end())
        chosen[axis] = it->second;
    }
  std::vector<std::string> binds;
  for (const auto &[axis, length] : chosen) {
    parseLength(axis, length);
    binds.push_back(axis + "=" + length);
  }
  return binds;
}
