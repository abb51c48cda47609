//===- Canary.cpp - integers whose result is exact ------------------------===//

#include "test/Run/Canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace attn;
using namespace attn::check;
using reference::HostTensor;

/// A well mixed 64-bit number (the finaliser of splitmix64).
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Of keys, for queries of that shape.
static int64_t classesOf(const std::vector<int64_t> &shape, const Scores &scores) {
  int64_t width = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (scores.queries->type.axes[i] == scores.over)
      width = shape[i];
  return std::clamp<int64_t>(width, 1, 64);
}

int64_t attn::check::canaryKeys(const spec::Kernel &kernel, const Scores &scores,
                                const reference::AxisLengths &lengths) {
  std::vector<int64_t> shape;
  for (int axis : scores.queries->type.axes)
    shape.push_back(lengths[size_t(axis)]);
  // One in each run; where masks leave parts of two runs without a key of the query's
  // class, all of those, which are then as large as each other.
  int64_t classes = classesOf(shape, scores);
  return std::max(lengths[size_t(scores.keyAxis)] / classes + 1, 2 * classes);
}

/// Whether x is a sum of values from -7 to 7 over a number of keys up to `mostKeys`, as
/// near as float64 tells.
static bool isQuotient(double x, int64_t mostKeys) {
  for (int64_t keys = 1; keys <= mostKeys; ++keys)
    if (double sum = x * double(keys); std::fabs(sum - std::round(sum)) <= 0x1p-30)
      return true;
  return false;
}

void attn::check::fillCanary(const spec::Kernel &kernel, const Scores &scores,
                             uint64_t seed, reference::Inputs &inputs) {
  if (!scores.queries || !scores.values || scores.keyAxis < 0 ||
      scores.factor == 0)
    throw reference::InputError(fmt::format(
        "kernel {}: --input=canary needs a softmax of scaled scores of queries "
        "and keys, and a matmul of it with values",
        kernel.name));
  for (const spec::Argument &argument : kernel.arguments)
    if (!argument.scalar && spec::isFloat(argument.type.dtype)) {
      std::vector<std::byte> &data = inputs.tensors.at(argument.name).data;
      std::fill(data.begin(), data.end(), std::byte(0));
    }
  HostTensor &q = inputs.tensors.at(scores.queries->name),
             &k = inputs.tensors.at(scores.keys->name),
             &v = inputs.tensors.at(scores.values->name);
  Along overQ(q, scores.queries->type, scores.over),
      overK(k, scores.keys->type, scores.over),
      key(k, scores.keys->type, scores.keyAxis);
  const int64_t classes = classesOf(q.shape, scores);
  // A power of two, so that products are exact in every format.
  double size = std::exp2(std::ceil(std::log2(1024 / std::fabs(scores.factor)) / 2));
  for (int64_t e = 0; e < q.elements(); ++e)
    if (overQ.at(e) ==
        int64_t(mix(seed ^ uint64_t(overQ.others(e)) << 8) % uint64_t(classes)))
      q.set(e, scores.factor > 0 ? size : -size);
  for (int64_t e = 0; e < k.elements(); ++e) {
    int64_t n = key.at(e), run = n / classes;
    int64_t turn = int64_t(mix(seed + uint64_t(run)) % uint64_t(classes));
    // 67 has no factor in common with a number of classes up to 64.
    bool own = overK.at(e) == (n % classes * 67 + turn) % classes;
    k.set(e, own ? size : -size);
  }
  for (int64_t e = 0; e < v.elements(); ++e)
    v.set(e, double(int64_t(mix(~seed ^ uint64_t(e)) % 15) - 7));
}

bool attn::check::canaryIsExact(const bundle::Level &level) {
  return level.kernels.size() == 1;
}

std::string attn::check::canaryFailure(const reference::ResultSamples &expected,
                                       const HostTensor &actual, const Scores &scores,
                                       int64_t mostKeys) {
  for (const reference::Slice &slice : expected.slices)
    for (size_t i = 0; i < slice.exact.size(); ++i) {
      size_t rest = i;
      int64_t element = 0, stride = 1;
      std::string index;
      for (size_t d = expected.shape.size(); d-- > 0;) {
        const std::vector<int64_t> &list = slice.coordinates[d];
        int64_t at = list[rest % list.size()];
        rest /= list.size();
        element += at * stride;
        stride *= expected.shape[d];
        index = std::to_string(at) + (index.empty() ? "" : ", ") + index;
      }
      // Rounded once: half a unit, and a sixteenth for the f32 division.
      double exact = slice.exact[i], got = actual.at(element);
      if (!isQuotient(exact, mostKeys))
        throw reference::InputError(fmt::format(
            "--input=canary is no test of this kernel: {}[{}] is {:.9g}, no quotient of "
            "whole numbers, since its score functions leave other keys a share; use "
            "--input=normal and --repeats",
            expected.name, index, exact));
      double most = 0.5625 * reference::spacing(expected.dtype, exact);
      if (expected.dtype == spec::DType::F32)
        most = 4 * reference::spacing(expected.dtype, exact);
      if (scores.bounded)
        most += reference::spacing(expected.dtype, exact);
      most += 0x1p-40; // The float64 sum rounds as well: 0 may be 1e-16.
      if (!(std::fabs(got - exact) <= most))
        return fmt::format("canary: {}[{}] is {:.9g}, exactly {:.9g}",
                           expected.name, index, got, exact);
    }
  return "";
}
