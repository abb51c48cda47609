//===- Inputs.cpp - deterministic inputs for any kernel -------------------===//

#include "lib/Reference/Inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

using namespace attn;
using namespace attn::reference;
using spec::Expr;
using spec::ExprKind;
using spec::Op;

/// A hash of a counter: element i is the same whoever computes it.
static uint64_t hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Nearly standard normal: the sum of eight uniform numbers, which reaches
/// +-4.9 and costs no logarithm; inputs have tens of millions of elements.
static double normal(uint64_t seed, uint64_t element) {
  int64_t sum = 0;
  for (uint64_t half : {0, 1}) {
    uint64_t bits = hash(seed ^ hash(2 * element + half));
    for (int part = 0; part < 4; ++part)
      sum += int64_t(bits >> (16 * part) & 0xffff);
  }
  double centred = double(sum) + 4 - 4 * 65536.0;
  return centred * (1.224744871391589 / 65536); // sqrt(12 / 8)
}

void attn::reference::fillNormal(HostTensor &tensor, uint64_t seed,
                                 double amplitude, double mean) {
  seed = hash(seed);
  int64_t count = tensor.elements();
  auto fill = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      tensor.set(i, mean + amplitude * normal(seed, uint64_t(i)));
  };
  // A thread a few million elements; a bias tensor has a thousand million.
  int64_t threads = std::clamp<int64_t>(
      count >> 21, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  for (int64_t t = 1; t < threads; ++t)
    pool.emplace_back(fill, count * t / threads, count * (t + 1) / threads);
  fill(0, count / threads);
  for (std::thread &thread : pool)
    thread.join();
}

namespace {
/// How the body uses an argument.
struct Use {
  int boundsAxis = -1; ///< Compared with the index or length of this axis.
  int indexesArgument = -1, indexesDimension = 0;
  bool slope = false; ///< Multiplies an integer.
};

struct UseFinder {
  const spec::Kernel &kernel;
  std::vector<Use> uses;

  /// Arguments read in a subtree, and an axis index or length in it.
  void leaves(const Expr &expr, std::vector<int> &arguments, int &axis) {
    if (expr.kind == ExprKind::Argument || expr.kind == ExprKind::Read)
      arguments.push_back(expr.ref);
    if (expr.kind == ExprKind::AxisIndex ||
        (expr.kind == ExprKind::AxisLength && axis < 0))
      axis = expr.ref;
    if (expr.kind == ExprKind::Read)
      return; // Its indices are not compared.
    for (const auto &operand : expr.operands)
      leaves(*operand, arguments, axis);
  }

  void visit(const Expr &expr) {
    if (expr.kind == ExprKind::Binary && expr.op >= Op::Lt &&
        expr.op <= Op::Ge) {
      std::vector<int> left, right;
      int leftAxis = -1, rightAxis = -1;
      leaves(*expr.operands[0], left, leftAxis);
      leaves(*expr.operands[1], right, rightAxis);
      for (int argument : left)
        uses[size_t(argument)].boundsAxis =
            rightAxis >= 0 ? rightAxis : leftAxis;
      for (int argument : right)
        uses[size_t(argument)].boundsAxis =
            leftAxis >= 0 ? leftAxis : rightAxis;
    }
    if (expr.kind == ExprKind::Binary && expr.op == Op::Mul)
      for (int side : {0, 1}) {
        const Expr &x = *expr.operands[size_t(side)];
        const Expr &y = *expr.operands[size_t(1 - side)];
        if ((x.kind == ExprKind::Argument || x.kind == ExprKind::Read) &&
            spec::isFloat(x.type.dtype) && spec::isInteger(y.type.dtype))
          uses[size_t(x.ref)].slope = true;
      }
    if (expr.kind == ExprKind::Read)
      for (size_t d = 0; d < expr.operands.size(); ++d) {
        std::vector<int> inside;
        int axis = -1;
        leaves(*expr.operands[d], inside, axis);
        for (int argument : inside) {
          uses[size_t(argument)].indexesArgument = expr.ref;
          uses[size_t(argument)].indexesDimension = int(d);
        }
      }
    for (const auto &operand : expr.operands)
      visit(*operand);
  }
};
} // namespace

/// Document numbers: each row starts in [0, 4) and goes up at three places,
/// which are the same fractions of its length in every tensor of that seed, so
/// that queries and keys of one batch entry share documents.
static void fillDocuments(HostTensor &tensor, uint64_t seed) {
  int64_t row = std::max<int64_t>(1, tensor.shape.back());
  for (int64_t r = 0, rows = tensor.elements() / row; r < rows; ++r) {
    uint64_t bits = hash(seed ^ hash(uint64_t(r)));
    int64_t start = int64_t(bits & 3);
    for (int64_t i = 0; i < row; ++i) {
      int64_t document = start;
      for (int cut = 0; cut < 3; ++cut)
        document += i * 1024 >= row * int64_t(bits >> (2 + 10 * cut) & 1023);
      tensor.set(r * row + i, double(document));
    }
  }
}

Inputs attn::reference::makeInputs(const spec::Kernel &kernel,
                                   const AxisLengths &lengths,
                                   const InputOptions &options) {
  UseFinder finder{kernel, std::vector<Use>(kernel.arguments.size())};
  for (const spec::Statement &statement : kernel.body)
    finder.visit(*statement.value);
  for (const auto &[name, value] : options.scalars) {
    bool known = std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                             [&, &scalar = name](const spec::Argument &a) {
                               return a.scalar && a.name == scalar;
                             });
    if (!known)
      throw InputError(fmt::format("kernel {} has no scalar argument {}",
                                   kernel.name, name));
  }
  int64_t longest = 1;
  for (int64_t length : lengths)
    longest = std::max(longest, length);

  Inputs inputs;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const spec::Argument &argument = kernel.arguments[i];
    const Use &use = finder.uses[i];
    if (argument.scalar) {
      auto given = options.scalars.find(argument.name);
      int64_t reach =
          use.boundsAxis >= 0 ? lengths[size_t(use.boundsAxis)] : longest;
      if (given != options.scalars.end())
        inputs.scalars[argument.name] = given->second;
      else if (spec::isFloat(argument.type.dtype))
        inputs.scalars[argument.name] = 1.0;
      else
        inputs.scalars[argument.name] = std::max<int64_t>(1, reach / 4);
      continue;
    }
    HostTensor tensor(argument.type.dtype, shapeOf(argument.type, lengths));
    uint64_t seed = options.seed * 0x9e3779b97f4a7c15u + i + 1;
    std::mt19937_64 random(seed);
    int64_t count = tensor.elements();
    if (spec::isFloat(argument.type.dtype) && use.slope) {
      for (int64_t e = 0; e < count; ++e) // 2^-8/n, 2^-16/n, ... as ALiBi has.
        tensor.set(e, std::exp2(-8.0 * double(e + 1) / double(count)));
    } else if (spec::isFloat(argument.type.dtype)) {
      fillNormal(tensor, seed, options.amplitude);
    } else if (argument.type.dtype == spec::DType::I1) {
      for (int64_t e = 0; e < count; ++e)
        tensor.set(e, double(random() % 4 != 0));
    } else if (use.indexesArgument >= 0) {
      const spec::Type &read =
          kernel.arguments[size_t(use.indexesArgument)].type;
      int64_t length = lengths[size_t(read.axes[size_t(use.indexesDimension)])];
      for (int64_t e = 0; e < count; ++e)
        tensor.set(e,
                   double(random() % uint64_t(std::max<int64_t>(1, length))));
    } else if (use.boundsAxis >= 0) {
      int64_t length = lengths[size_t(use.boundsAxis)];
      for (int64_t e = 0; e < count; ++e)
        tensor.set(e, double(random() % uint64_t(length + 1)));
    } else {
      fillDocuments(tensor, options.seed);
    }
    inputs.tensors[argument.name] = std::move(tensor);
  }
  return inputs;
}
