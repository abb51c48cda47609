//===- Special.cpp - inputs that try a kernel -----------------------------===//

#include "test/Run/Canary.h"
#include "test/Run/Cases.h"
#include "test/Run/Scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace attn;
using namespace attn::check;
using reference::HostTensor;
using reference::Inputs;
/// Sets element 0 along `axis` of a tensor everywhere.
static void setFirst(HostTensor &tensor, const spec::Type &type, int axis,
                     double value) {
  Along along(tensor, type, axis);
  for (int64_t e = 0; e < tensor.elements(); ++e)
    if (along.at(e) == 0)
      tensor.set(e, value);
}

/// Moves every scaled score down by about `depth`.
static void lowerScores(const Scores &scores, double depth, Inputs &inputs) {
  if (!scores.queries || scores.factor == 0)
    return;
  double size = std::sqrt(depth / std::fabs(scores.factor));
  setFirst(inputs.tensors.at(scores.queries->name), scores.queries->type,
           scores.over, scores.factor > 0 ? -size : size);
  setFirst(inputs.tensors.at(scores.keys->name), scores.keys->type, scores.over,
           size);
}

/// Moves the scaled scores of each 64 keys by a multiple of 64 ln 2: up by one
/// every time, or up and down.
static void jump(const Scores &scores, uint64_t seed, Inputs &inputs) {
  if (!scores.queries || scores.factor == 0 || scores.keyAxis < 0)
    return;
  constexpr double kJump = 44.4, kQuery = 4;
  bool ascending = seed % 2 == 0;
  setFirst(inputs.tensors.at(scores.queries->name), scores.queries->type,
           scores.over, kQuery);
  HostTensor &keys = inputs.tensors.at(scores.keys->name);
  Along over(keys, scores.keys->type, scores.over),
      key(keys, scores.keys->type, scores.keyAxis);
  for (int64_t e = 0; e < keys.elements(); ++e) {
    if (over.at(e) != 0)
      continue;
    int64_t block = key.at(e) / 64;
    int64_t jumps = ascending ? block : block * 5 % 7;
    keys.set(e, double(jumps) * kJump / kQuery / scores.factor);
  }
}

/// Numbers that leave the range of a kernel that takes the first keys it visits for
/// the rest, and NaN. Blocks are visited from either end.
static void makeWild(const Scores &scores, uint64_t seed, Inputs &inputs) {
  if (!scores.queries || !scores.values || scores.factor == 0 || scores.keyAxis < 0)
    return;
  constexpr double kStep = 8, kQuery = 4;
  setFirst(inputs.tensors.at(scores.queries->name), scores.queries->type,
           scores.over, kQuery);
  HostTensor &keys = inputs.tensors.at(scores.keys->name);
  HostTensor &values = inputs.tensors.at(scores.values->name);
  Along over(keys, scores.keys->type, scores.over),
      key(keys, scores.keys->type, scores.keyAxis),
      valueKey(values, scores.values->type, scores.keyAxis);
  for (int64_t e = 0; e < keys.elements(); ++e)
    if (over.at(e) == 0) {
      int64_t step = key.at(e) / 64 % 12;
      keys.set(e, double(seed & 1 ? step : -step) * kStep / kQuery / scores.factor);
    }
  std::mt19937_64 random(seed);
  auto poison = [&](HostTensor &tensor) {
    if (tensor.elements() > 0)
      tensor.set(static_cast<int64_t>(random() % uint64_t(tensor.elements())),
                 std::numeric_limits<double>::quiet_NaN());
  };
  switch (seed / 2 % 4) {
  case 0: { // The result stays a number.
    double largest = values.dtype == spec::DType::F16 ? 3e4 : 1e37;
    for (int64_t e = 0; e < values.elements(); ++e)
      if (valueKey.at(e) % 16 == 3)
        values.set(e, (e & 1 ? -1 : 1) * largest);
    break;
  }
  case 1:
    poison(inputs.tensors.at(scores.queries->name));
    break;
  case 2:
    poison(keys);
    break;
  default: // The scores alone.
    break;
  }
}

static bool isMaskData(const spec::Argument &argument) {
  return !argument.scalar && !spec::isFloat(argument.type.dtype);
}

bool attn::check::hasMaskData(const spec::Kernel &kernel) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     isMaskData);
}

/// Integer data that matches nothing: everywhere, in a first tile, or here and
/// there. Each argument has a value of its own, so that none equals another.
static void hide(const spec::Kernel &kernel, uint64_t seed, Inputs &inputs) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const spec::Argument &argument = kernel.arguments[i];
    if (!isMaskData(argument))
      continue;
    HostTensor &tensor = inputs.tensors.at(argument.name);
    double value =
        argument.type.dtype == spec::DType::I1 ? 0 : -7.0 - double(i);
    int64_t row = std::max<int64_t>(1, tensor.shape.back());
    uint64_t way = random() % 3;
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      bool hidden = way == 0 || (way == 1 && e % row < 64) ||
                    (way == 2 && random() % 3 == 0);
      if (hidden)
        tensor.set(e, value);
    }
  }
}

/// The first slab of the outermost axis for all of them.
static void expand(HostTensor &tensor) {
  if (tensor.shape.size() < 2 || tensor.data.empty())
    return;
  size_t slab = tensor.data.size() / size_t(tensor.shape.front());
  for (size_t at = slab; at < tensor.data.size(); at += slab)
    std::copy_n(tensor.data.begin(), slab, tensor.data.begin() + ptrdiff_t(at));
}

Inputs attn::check::makeInputs(const spec::Kernel &kernel,
                               const reference::AxisLengths &lengths,
                               const Case &c) {
  reference::InputOptions options;
  options.seed = c.seed;
  options.scalars = c.scalars;
  if (c.kind == InputKind::Spread)
    options.amplitude = 4;
  Inputs inputs = reference::makeInputs(kernel, lengths, options);
  switch (c.kind) {
  case InputKind::Negative:
    lowerScores(Scores(kernel, lengths), 60, inputs);
    break;
  case InputKind::Huge:
    lowerScores(Scores(kernel, lengths), 6e4, inputs);
    break;
  case InputKind::Masked:
    hide(kernel, c.seed, inputs);
    break;
  case InputKind::Equal:
    if (Scores scores(kernel, lengths); scores.queries) {
      HostTensor &tensor = inputs.tensors.at(scores.queries->name);
      std::fill(tensor.data.begin(), tensor.data.end(), std::byte(0));
    }
    break;
  case InputKind::Jumps:
    jump(Scores(kernel, lengths), c.seed, inputs);
    break;
  case InputKind::Expanded:
    for (auto &[name, tensor] : inputs.tensors)
      expand(tensor);
    break;
  case InputKind::Wild:
    makeWild(Scores(kernel, lengths), c.seed, inputs);
    break;
  case InputKind::Canary:
    fillCanary(kernel, Scores(kernel, lengths), c.seed, inputs);
    break;
  case InputKind::Normal:
  case InputKind::Strided:
  case InputKind::Sliced:
  case InputKind::Spread:
    break;
  }
  return inputs;
}
