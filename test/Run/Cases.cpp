//===- Cases.cpp - the grid of lengths, scalars and inputs ----------------===//

#include "test/Run/Cases.h"

#include "lib/Runtime/Launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

using namespace attn;
using namespace attn::check;
using reference::InputError;

static constexpr const char *kKinds[] = {
    "normal", "strided", "spread", "equal",  "negative",
    "huge",   "masked",  "sliced", "expanded",
    "jumps",  "wild",    "canary"};

const char *attn::check::spelling(InputKind kind) { return kKinds[int(kind)]; }

std::string attn::check::allInputKinds() {
  std::string list = kKinds[0];
  for (size_t i = 1; i < std::size(kKinds); ++i)
    list += (i + 1 == std::size(kKinds) ? " or " : ", ") +
            std::string(kKinds[i]);
  return list;
}

std::optional<InputKind> attn::check::parseInputKind(const std::string &word) {
  for (int i = 0; i < int(std::size(kKinds)); ++i)
    if (word == kKinds[i])
      return InputKind(i);
  return std::nullopt;
}

std::string Case::options() const {
  std::string binds;
  for (const auto &[name, length] : lengths)
    binds += fmt::format("{}{}={}", binds.empty() ? "" : ",", name, length);
  for (const auto &[name, value] : scalars)
    binds +=
        std::visit([&, &scalar = name](
                       auto v) { return fmt::format(",{}={}", scalar, v); },
                   value);
  return fmt::format("--bind {} --input={} --seed={}", binds, spelling(kind),
                     seed);
}

namespace {
class CaseMaker {
public:
  CaseMaker(const spec::Kernel &kernel, const CaseOptions &options)
      : kernel(kernel), options(options), random(options.seed) {
    for (const auto &[name, value] : options.binds) {
      bool known = kernel.findAxis(name) >= 0;
      for (const spec::Argument &argument : kernel.arguments)
        known |= argument.scalar && argument.name == name;
      if (known)
        continue;
      std::vector<std::string> names;
      for (const spec::Axis &axis : kernel.axes)
        names.push_back(axis.name);
      for (const spec::Argument &argument : kernel.arguments)
        if (argument.scalar)
          names.push_back(argument.name);
      throw InputError(fmt::format("--bind: kernel {} has no axis or scalar '{}'; it "
                                   "has {}",
                                   kernel.name, name, fmt::join(names, ", ")));
    }
  }

  std::vector<Case> run() {
    std::vector<Case> cases;
    const std::vector<int64_t> &list = options.lengths;
    for (int i = 0; i < options.count; ++i) {
      bool diagonal = size_t(i) < list.size();
      int64_t m = diagonal ? list[size_t(i)] : pick(list);
      int64_t n = diagonal ? list[size_t(i)] : pick(list);
      cases.push_back(make(i, m, n));
      if (options.kind && allBound())
        break; // One case was asked for.
    }
    return cases;
  }

private:
  int64_t pick(const std::vector<int64_t> &list) {
    return list[random() % list.size()];
  }

  bool allBound() const {
    for (size_t i = 0; i < kernel.axes.size(); ++i)
      if (!kernel.axes[i].extent && !isOuter(int(i)) &&
          !options.binds.count(kernel.axes[i].name))
        return false;
    return true;
  }

  Case make(int number, int64_t m, int64_t n) {
    Case c;
    c.seed = options.seed + uint64_t(number);
    c.kind = options.kind ? *options.kind : kindOf(number);
    for (size_t axis = 0; axis < kernel.axes.size(); ++axis)
      chooseLength(int(axis), m, n, c.lengths);
    for (auto &[name, length] : c.lengths)
      if (auto bound = options.binds.find(name); bound != options.binds.end())
        length = whole(name, bound->second);
    completeNests(c.lengths);
    shrink(c.lengths);
    for (const spec::Axis &axis : kernel.axes)
      if (auto bound = options.binds.find(axis.name);
          bound != options.binds.end() &&
          whole(axis.name, bound->second) != c.lengths.at(axis.name))
        throw InputError(fmt::format("--bind: {0} is {1} times {2}, and no length of "
                                     "them makes {0} = {3}; bind two "
                                     "of the three, so that it does",
                                     axis.name, kernel.axes[size_t(axis.group)].name,
                                     kernel.axes[size_t(axis.inner)].name,
                                     bound->second));
    for (const spec::Argument &argument : kernel.arguments)
      if (argument.scalar)
        c.scalars[argument.name] = scalar(argument, m, n);
    return c;
  }

  InputKind kindOf(int number) {
    // Normal as often as all others together.
    if (number % 2 == 0)
      return number % 8 == 0     ? InputKind::Strided
             : number % 8 == 4   ? InputKind::Sliced
             : number % 16 == 14 ? InputKind::Expanded
                               : InputKind::Normal;
    static const InputKind kinds[] = {InputKind::Negative, InputKind::Huge,
                                      InputKind::Masked, InputKind::Spread,
                                      InputKind::Equal, InputKind::Jumps};
    InputKind kind = kinds[(number / 2) % std::size(kinds)];
    return kind == InputKind::Masked && !hasMaskData(kernel) ? InputKind::Normal
                                                             : kind;
  }

  /// Whether an axis is the outer one of a nest: its length follows.
  bool isOuter(int axis) const { return kernel.axes[size_t(axis)].group >= 0; }

  void chooseLength(int axis, int64_t m, int64_t n,
                    std::map<std::string, int64_t> &lengths) {
    const spec::Axis &info = kernel.axes[size_t(axis)];
    if (isOuter(axis))
      return;
    bool isGroup =
        std::any_of(kernel.axes.begin(), kernel.axes.end(),
                    [&](const spec::Axis &a) { return a.group == axis; });
    int64_t &length = lengths[info.name];
    uint64_t draw = random();
    if (info.extent)
      length = *info.extent;
    else if (info.name == "M")
      length = m;
    else if (info.name == "N")
      length = n;
    else if (isGroup)
      length = std::vector<int64_t>{1, 2, 3, 5, 8}[draw % 5];
    else if (info.name == "B")
      length = options.batchHeads ? 7 : std::vector<int64_t>{1, 2, 3}[draw % 3];
    else if (info.name == "R")
      length = std::vector<int64_t>{1, 2, 32, 100}[draw % 4];
    else
      length =
          options.batchHeads ? 10001 : std::vector<int64_t>{1, 2, 3}[draw % 3];
  }

  /// The length that the bundle or --bind gives an axis.
  std::optional<int64_t> fixedLength(const spec::Axis &axis) const {
    if (auto bound = options.binds.find(axis.name); bound != options.binds.end())
      return whole(axis.name, bound->second);
    return axis.extent;
  }

  /// An outer length follows from its parts; where it is fixed, a part that is not
  /// follows from it.
  void completeNests(std::map<std::string, int64_t> &lengths) {
    for (const spec::Axis &axis : kernel.axes) {
      if (axis.group < 0)
        continue;
      const spec::Axis &group = kernel.axes[size_t(axis.group)],
                       &inner = kernel.axes[size_t(axis.inner)];
      int64_t &g = lengths[group.name], &i = lengths[inner.name];
      if (std::optional<int64_t> outer = fixedLength(axis)) {
        bool groupFixed = fixedLength(group).has_value();
        if (!groupFixed && fixedLength(inner))
          g = i > 0 ? *outer / i : 1;
        else if (!groupFixed && *outer % g != 0)
          g = 1;
        if (!fixedLength(inner) && g > 0)
          i = *outer / g;
      }
      lengths[axis.name] = g * i;
    }
  }

  /// Whether a length follows from that of a nest's outer axis.
  bool follows(const spec::Axis &part) const {
    return std::any_of(kernel.axes.begin(), kernel.axes.end(),
                       [&](const spec::Axis &axis) {
                         return axis.group >= 0 && fixedLength(axis) &&
                                (&kernel.axes[size_t(axis.group)] == &part ||
                                 &kernel.axes[size_t(axis.inner)] == &part);
                       });
  }

  double work(const std::map<std::string, int64_t> &lengths) const {
    double product = 1;
    for (size_t i = 0; i < kernel.axes.size(); ++i) {
      bool part = std::any_of(kernel.axes.begin(), kernel.axes.end(),
                              [&](const spec::Axis &a) {
                                return a.group == int(i) || a.inner == int(i);
                              });
      if (!part && kernel.axes[i].name != "R")
        product *=
            double(std::max<int64_t>(1, lengths.at(kernel.axes[i].name)));
    }
    return product;
  }

  /// Fewer heads where long sequences would take too long.
  void shrink(std::map<std::string, int64_t> &lengths) {
    for (const spec::Axis &axis : kernel.axes) {
      if (work(lengths) <= options.work)
        return;
      bool free = !fixedLength(axis) && axis.group < 0 && axis.name != "M" &&
                  axis.name != "N" && !follows(axis);
      if (free && lengths[axis.name] > 1) {
        lengths[axis.name] = 1;
        completeNests(lengths);
      }
    }
  }

  static int64_t whole(const std::string &name, const std::string &text) {
    std::optional<int64_t> value = runtime::readInteger(text);
    if (!value || *value < 0 || *value > runtime::kMaxLength)
      throw InputError(fmt::format("--bind {}={}: a length is a whole number from 0 to "
                                   "2^30",
                                   name, text));
    return *value;
  }

  reference::ScalarValue scalar(const spec::Argument &argument, int64_t m,
                                int64_t n) {
    uint64_t draw = random();
    bool real = spec::isFloat(argument.type.dtype);
    if (auto bound = options.binds.find(argument.name);
        bound != options.binds.end()) {
      reference::ScalarValue value;
      try {
        value = runtime::readScalar(
            {argument.name, spec::spelling(argument.type.dtype)}, bound->second);
      } catch (const runtime::LaunchError &error) {
        throw InputError(fmt::format("--bind: {}", error.what()));
      }
      // Of the kind that the reference's arithmetic has for the type.
      if (const int64_t *whole = std::get_if<int64_t>(&value); whole && real)
        return double(*whole);
      if (const double *number = std::get_if<double>(&value); number && !real)
        return int64_t(*number);
      return value;
    }
    if (real)
      return std::vector<double>{1, 0.5, -2, 30, 1e-3}[draw % 5];
    if (argument.type.dtype == spec::DType::I1)
      return int64_t(draw & 1);
    // Bounds of masks: usual ones, none, everything and the far ends.
    return std::vector<int64_t>{n / 4 + 1, 1,   64, n,  0,
                                m / 2,     100, -3, 65, INT32_MAX}[draw % 10];
  }

  const spec::Kernel &kernel;
  const CaseOptions &options;
  std::mt19937_64 random;
};
} // namespace

std::vector<Case> attn::check::makeCases(const spec::Kernel &kernel,
                                         const CaseOptions &options) {
  return CaseMaker(kernel, options).run();
}
