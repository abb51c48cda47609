//===- Memory.cpp - does a run fit this machine? --------------------------===//

#include "tools/attn-bench/Memory.h"

#include "lib/Runtime/HostMemory.h"
#include "tools/attn-bench/Options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

using namespace attn;
using namespace attn::bench;

static double bytesOf(const bundle::Tensor &tensor, const runtime::Lengths &lengths) {
  double bytes = double(runtime::elementBytes(tensor.dtype));
  for (const std::string &axis : tensor.axes)
    bytes *= double(lengths.at(axis));
  return bytes;
}

MemoryNeed attn::bench::memoryNeed(const bundle::Program &program,
                                   const runtime::Lengths &lengths, bool gpu) {
  double inputs = 0, outputs = 0;
  for (const bundle::Tensor &tensor : program.tensors)
    (tensor.role == bundle::Role::Output ? outputs : inputs) +=
        bytesOf(tensor, lengths);
  double fewest = std::numeric_limits<double>::infinity();
  for (const bundle::Level &level : program.levels) {
    double temporaries = 0;
    for (const bundle::Tensor &tensor : level.temporaries)
      temporaries += bytesOf(tensor, lengths);
    fewest = std::min(fewest, temporaries);
  }
  double device = inputs + outputs + (program.levels.empty() ? 0 : fewest);
  double host = inputs + outputs;
  return gpu ? MemoryNeed{host, device} : MemoryNeed{host + device, 0};
}

static bool fits(const MemoryNeed &need, const FreeMemory &free) {
  return need.host <= free.host && need.device <= free.device;
}

/// Axes whose length a user may lower by itself: not fixed, in no nest.
static std::vector<std::string> freeAxes(const bundle::Program &program) {
  std::vector<std::string> names;
  for (const bundle::Axis &axis : program.axes) {
    bool nested = !axis.group.empty();
    for (const bundle::Axis &outer : program.axes)
      nested |= outer.group == axis.name || outer.inner == axis.name;
    if (!axis.extent && !nested)
      names.push_back(axis.name);
  }
  return names;
}

/// The longest `axis` that fits beside the other lengths; 0 when none does.
static int64_t longest(const bundle::Program &program, runtime::Lengths lengths,
                       const std::string &axis, bool gpu, const FreeMemory &free) {
  int64_t low = 0, high = lengths.at(axis);
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    lengths[axis] = middle;
    (fits(memoryNeed(program, lengths, gpu), free) ? low : high) = middle;
  }
  // A round number is easier to type, and leaves room for what others take.
  int64_t step = 1;
  while (low / step >= 100)
    step *= 10;
  return low / step * step;
}

/// "B=1,M=2800000": of the single axes that suffice the one that keeps most of its
/// length; where none does, first those with the most effect become 1. "" where
/// nothing helps.
static std::string smallestChange(const bundle::Program &program,
                                  runtime::Lengths lengths, bool gpu,
                                  const FreeMemory &free) {
  std::vector<std::string> axes = freeAxes(program);
  for (std::string before; !axes.empty();) {
    std::string best;
    double kept = 0;
    for (const std::string &axis : axes) {
      int64_t length = longest(program, lengths, axis, gpu, free);
      double share = double(length) / double(std::max<int64_t>(lengths.at(axis), 1));
      if (share <= kept)
        continue;
      best = fmt::format("{}{}={}", before, axis, length);
      kept = share;
    }
    if (!best.empty())
      return best;
    auto needWithout = [&](const std::string &axis) {
      runtime::Lengths fewer = lengths;
      fewer[axis] = 1;
      MemoryNeed need = memoryNeed(program, fewer, gpu);
      return need.host + need.device;
    };
    auto next = std::min_element(axes.begin(), axes.end(),
                                 [&](const std::string &a, const std::string &b) {
                                   return needWithout(a) < needWithout(b);
                                 });
    lengths[*next] = 1;
    before += *next + "=1,";
    axes.erase(next);
  }
  return "";
}

static double gib(double bytes) { return bytes / double(1 << 30); }

std::optional<std::string> attn::bench::tooLarge(const bundle::Program &program,
                                                 const runtime::Lengths &lengths,
                                                 bool gpu, const FreeMemory &free) {
  MemoryNeed need = memoryNeed(program, lengths, gpu);
  if (fits(need, free))
    return std::nullopt;
  bool onDevice = need.device > free.device;
  std::string change = smallestChange(program, lengths, gpu, free);
  return fmt::format(
      "a run at these lengths needs {:.2f} GiB of {} memory at the least, {:.2f} GiB "
      "are free; {}",
      gib(onDevice ? need.device : need.host), onDevice ? "device" : "host",
      gib(onDevice ? free.device : free.host),
      change.empty() ? "no length of its axes would fit"
                     : fmt::format("--bind {} would fit", change));
}

void attn::bench::requireMemory(const runtime::Device &device,
                                const bundle::Program &program,
                                const runtime::Lengths &lengths) {
  bool gpu = device.info().kind != "cpu";
  FreeMemory free{double(runtime::hostFreeBytes()),
                  gpu ? double(device.freeBytes()) : 0};
  if (std::optional<std::string> why = tooLarge(program, lengths, gpu, free))
    throw InputError(*why);
}
