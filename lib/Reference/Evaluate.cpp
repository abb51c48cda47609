//===- Evaluate.cpp - boxes of points, and their results ------------------===//

#include "lib/Reference/Evaluate.h"
#include "lib/Reference/Interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>

using namespace attn;
using namespace attn::reference;
using spec::Expr;
using spec::ExprKind;

/// Rows of one box: enough to reuse the keys, few enough to fit the cache.
static constexpr int64_t kRowsOfBox = 64;

namespace {
/// What the body does along its axes.
struct AxisUse {
  std::set<int> summed;
  const Expr *softmax = nullptr, *lastMatmul = nullptr;

  explicit AxisUse(const spec::Kernel &kernel) {
    for (const spec::Statement &statement : kernel.body)
      visit(*statement.value);
  }
  void visit(const Expr &expr) {
    for (const auto &operand : expr.operands)
      visit(*operand);
    if (expr.kind == ExprKind::Matmul)
      lastMatmul = &expr;
    else if (expr.kind == ExprKind::Softmax)
      softmax = softmax ? softmax : &expr;
    else
      return;
    summed.insert(expr.ref);
  }
};
} // namespace

/// The axes whose points can be evaluated one by one: nothing sums over them.
/// An axis that the scores lack (that of the values) would be right as well,
/// but every point of it would compute the scores again; it stays whole.
static std::vector<int> sampledAxes(const spec::Kernel &kernel) {
  AxisUse use(kernel);
  std::vector<int> candidates = kernel.results.front().type.axes;
  if (use.softmax) {
    candidates = use.softmax->type.axes;
  } else if (use.lastMatmul) {
    for (const auto &operand : use.lastMatmul->operands)
      if (operand->kind != ExprKind::Argument) {
        candidates = operand->type.axes;
        break;
      }
  }
  std::vector<int> axes;
  for (int axis : candidates) {
    const spec::Axis &info = kernel.axes[size_t(axis)];
    // The parts of a nest follow from the outer axis, never the other way.
    bool nests = false, free = !use.summed.count(axis);
    for (const spec::Axis &other : kernel.axes)
      nests |= other.group == axis || other.inner == axis;
    for (int part : {info.group, info.inner})
      free &= !use.summed.count(part);
    if (free && !nests)
      axes.push_back(axis);
  }
  return axes;
}

/// `count` coordinates below `length`, ascending: the ends, the neighbourhood
/// of tile borders while there is room, and random others.
static std::vector<int64_t> choose(int64_t length, int64_t count,
                                   std::mt19937_64 &random) {
  std::vector<int64_t> all(static_cast<size_t>(std::min(length, count)));
  if (count >= length) {
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::set<int64_t> chosen = {0, length - 1};
  for (int64_t border : {63, 64, 127, 128})
    if (border < length && int64_t(chosen.size()) < count / 2)
      chosen.insert(border);
  while (int64_t(chosen.size()) < count)
    chosen.insert(int64_t(random() % uint64_t(length)));
  return {chosen.begin(), chosen.end()};
}

/// Coordinates of the sampled axes for every box.
static std::vector<std::vector<std::vector<int64_t>>>
planBoxes(const std::vector<int> &axes, const AxisLengths &lengths,
          const Options &options, bool &sampled) {
  std::vector<std::vector<std::vector<int64_t>>> boxes;
  int64_t total = 1;
  for (int axis : axes)
    total *= lengths[size_t(axis)];
  sampled = options.points > 0 && total > options.points;
  if (axes.empty())
    return {{}};
  if (total == 0)
    return {};
  // The longest axis is cut into rows of a box, the others go one by one.
  size_t longest = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    if (lengths[size_t(axes[i])] >= lengths[size_t(axes[longest])])
      longest = i;
  int64_t length = lengths[size_t(axes[longest])];
  std::mt19937_64 random(options.seed);
  int64_t outer = total / length;
  int64_t rows = sampled ? std::min<int64_t>(length, 16) : length;
  int64_t wanted =
      sampled ? std::max<int64_t>(2, options.points / rows) : outer;
  std::set<int64_t> numbers = {0, outer - 1};
  if (wanted >= outer)
    for (int64_t i = 0; i < outer; ++i)
      numbers.insert(i);
  else
    while (int64_t(numbers.size()) < wanted)
      numbers.insert(int64_t(random() % uint64_t(outer)));
  for (int64_t number : numbers) {
    std::vector<std::vector<int64_t>> box(axes.size());
    int64_t rest = number;
    for (size_t i = axes.size(); i-- > 0;)
      if (i != longest) {
        box[i] = {rest % lengths[size_t(axes[i])]};
        rest /= lengths[size_t(axes[i])];
      }
    std::vector<int64_t> all = choose(length, rows, random);
    for (size_t first = 0; first < all.size(); first += kRowsOfBox) {
      box[longest].assign(all.begin() + int64_t(first),
                          all.begin() + int64_t(std::min<size_t>(
                                            all.size(), first + kRowsOfBox)));
      boxes.push_back(box);
    }
  }
  return boxes;
}

static Slice resultSlice(const Box &box, const spec::Result &result,
                         const ValuePtr &held) {
  ValuePtr v = broadcast(box, held, result.type.axes);
  Slice slice;
  for (int axis : result.type.axes)
    slice.coordinates.push_back(box.coordinates[size_t(axis)]);
  size_t count = size_t(v->size());
  slice.exact.resize(count);
  slice.model.resize(count);
  slice.variance.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!v->real) {
      slice.exact[i] = slice.model[i] = double(v->whole[i]);
      if (v->unsureAt(int64_t(i)))
        slice.variance[i] = std::numeric_limits<double>::infinity();
      continue;
    }
    slice.exact[i] = v->exact[i];
    slice.model[i] = spec::isFloat(result.type.dtype)
                         ? roundTo(result.type.dtype, v->modelAt(int64_t(i)))
                         : v->modelAt(int64_t(i));
    slice.variance[i] = v->varianceAt(int64_t(i));
  }
  return slice;
}

Evaluation attn::reference::evaluate(const spec::Kernel &kernel,
                                     const AxisLengths &lengths,
                                     const Inputs &inputs,
                                     const Options &options) {
  for (const spec::Argument &argument : kernel.arguments) {
    if (argument.scalar)
      continue;
    auto found = inputs.tensors.find(argument.name);
    if (found == inputs.tensors.end())
      throw InputError(fmt::format("input {} is missing", argument.name));
    if (found->second.shape != shapeOf(argument.type, lengths))
      throw InputError(fmt::format(
          "input {} does not have the lengths of its axes", argument.name));
  }
  std::vector<int> axes = sampledAxes(kernel);
  Evaluation evaluation;
  auto boxes = planBoxes(axes, lengths, options, evaluation.sampled);
  for (const spec::Result &result : kernel.results) {
    ResultSamples samples;
    samples.name = result.name;
    samples.dtype = result.type.dtype;
    samples.shape = shapeOf(result.type, lengths);
    for (size_t i = result.type.axes.size(); i-- > 0;) {
      if (std::count(axes.begin(), axes.end(), result.type.axes[i]))
        break;
      samples.rowLength *= samples.shape[i];
    }
    samples.slices.resize(boxes.size());
    evaluation.results.push_back(std::move(samples));
  }

  std::atomic<size_t> next{0}, finished{0};
  std::exception_ptr problem;
  std::mutex guard;
  auto work = [&] {
    try {
      for (size_t i; (i = next++) < boxes.size();) {
        Box box = Box::whole(kernel, lengths);
        for (size_t a = 0; a < axes.size(); ++a)
          box.restrict(axes[a], boxes[i][a]);
        Interpreter interpreter(box, inputs, options.tf32);
        for (size_t r = 0; r < kernel.results.size(); ++r)
          evaluation.results[r].slices[i] =
              resultSlice(box, kernel.results[r],
                          interpreter.local(kernel.results[r].local));
        if (options.progress)
          options.progress(double(++finished) / double(boxes.size()));
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(guard);
      problem = std::current_exception();
      next = boxes.size();
    }
  };
  size_t threads = options.threads > 0 ? size_t(options.threads)
                                       : std::thread::hardware_concurrency();
  threads = std::max<size_t>(1, std::min(threads, boxes.size()));
  std::vector<std::thread> pool;
  for (size_t i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  if (problem)
    std::rethrow_exception(problem);
  return evaluation;
}
