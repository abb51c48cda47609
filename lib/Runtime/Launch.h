//===- Launch.h - from arguments to launches, planned once ----------------===//
//
//   auto device = openCpu();
//   auto lengths = resolveLengths(program, {{"B", 1}, {"H", 8}, ...});
//   Plan plan(*device, program, level, device->load(level, folder), arguments);
//   plan.launch();          // as often as wanted; does no planning
//   device->synchronize();
//
// Everything that can be wrong is found by resolveLengths and Plan, before
// anything is launched (contract C12).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_RUNTIME_LAUNCH_H
#define ATTN_LIB_RUNTIME_LAUNCH_H

#include "lib/Runtime/Device.h"

#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace attn::runtime {

inline constexpr int64_t kMaxLength = int64_t(1) << 30; ///< Of any axis.
inline constexpr int64_t kMaxBlocks = (int64_t(1) << 31) - 1;
inline constexpr int64_t kAlignment = 16; ///< Of every pointer, in bytes.

/// Length of every axis by name.
using Lengths = std::map<std::string, int64_t>;

/// Completes `given` from fixed extents and nests (`Hq = G * Hkv` gives the
/// third from two). Throws LaunchError on an unknown, missing, negative, too
/// large or contradictory length.
Lengths resolveLengths(const bundle::Program &program, const Lengths &given);

/// A scalar argument's value; an integer is taken for a float dtype as well.
using ScalarValue = std::variant<int64_t, double>;

/// The whole number that all of `text` writes, if it does and 64 bits hold it.
std::optional<int64_t> readInteger(const std::string &text);

/// The value that `text` writes for a scalar argument: whole numbers are exact. Throws
/// LaunchError on what is no number or does not fit the scalar's dtype.
ScalarValue readScalar(const bundle::Scalar &scalar, const std::string &text);

/// A caller's tensor. `strides` in elements, one an axis in the tensor's order,
/// the last 1; empty means dense.
struct TensorRef {
  void *data = nullptr; ///< On the device, 16-byte aligned.
  std::vector<int64_t> strides;
};

struct Arguments {
  Lengths lengths;                          ///< From resolveLengths.
  std::map<std::string, TensorRef> tensors; ///< Inputs and outputs by name.
  std::map<std::string, ScalarValue> scalars;
};

/// Bytes of an element; throws LaunchError on a dtype that has no storage.
int64_t elementBytes(const std::string &dtype);

/// Strides of a dense tensor, in elements, its innermost length rounded up to
/// `pad`.
std::vector<int64_t> denseStrides(const bundle::Tensor &tensor,
                                  const Lengths &lengths);

/// Bytes of a dense tensor. Throws LaunchError when they exceed 2^62.
int64_t denseBytes(const bundle::Tensor &tensor, const Lengths &lengths);

/// The tiles of a launch, of which each block (or cluster) takes one or, persistent,
/// several; 0 when an axis of the grid is empty. Throws LaunchError above kMaxBlocks.
int64_t gridBlocks(const bundle::Kernel &kernel, const Lengths &lengths);

/// Intermediate tensors of a level, which plans of the same shapes can share as
/// long as their launches are in order on one device.
class Temporaries {
public:
  Temporaries(Device &device, const bundle::Level &level,
              const Lengths &lengths);
  const std::map<std::string, TensorRef> &tensors() const { return refs; }
  int64_t bytes() const { return total; }

private:
  std::vector<Buffer> buffers;
  std::map<std::string, TensorRef> refs;
  int64_t total = 0;
};

/// A level with all its arguments in place. Holds its code and temporaries; the
/// caller keeps the tensors and the device alive.
class Plan {
public:
  /// Throws LaunchError or DeviceError. Without `temporaries` the plan makes
  /// its own.
  Plan(Device &device, const bundle::Program &program,
       const bundle::Level &level, std::shared_ptr<Code> code,
       const Arguments &arguments,
       std::shared_ptr<Temporaries> temporaries = nullptr);

  /// All kernels in order. Returns when they are queued (GPU) or done (CPU).
  void launch() {
    for (Step &step : steps)
      if (step.blocks > 0)
        step.function->launch(step.blocks, step.slots.data());
  }
  /// One kernel of the level. No effect on an empty grid.
  void launch(size_t kernel) {
    Step &step = steps[kernel];
    if (step.blocks > 0)
      step.function->launch(step.blocks, step.slots.data());
  }

  size_t kernels() const { return steps.size(); }
  /// That a launch starts; of a persistent kernel fewer than its tiles.
  int64_t blocks(size_t kernel) const { return steps[kernel].blocks; }
  FunctionFacts facts(size_t kernel) const {
    return steps[kernel].function->facts();
  }
  const Code &code() const { return *loaded; }
  int64_t temporaryBytes() const { return scratch->bytes(); }
  /// Where a kernel that records its phases does so (lib/Bundle/Timeline.h):
  /// what its last launch wrote. Null for other kernels.
  const Buffer *stamps(size_t kernel) const {
    const Buffer &buffer = steps[kernel].stamps;
    return buffer.data() ? &buffer : nullptr;
  }

private:
  struct Step {
    std::unique_ptr<Function> function;
    int64_t blocks = 0;
    Buffer stamps;
    std::vector<uint64_t> slots;
  };
  /// Encoded maps that slots point to; never moved once made.
  std::vector<std::unique_ptr<TensorMap>> maps;
  Buffer counter; ///< Of tiles, zero between launches; kernels run in order.
  Buffer spare; ///< Stands for the memory of empty tensors.
  std::shared_ptr<Code> loaded;
  std::shared_ptr<Temporaries> scratch;
  std::vector<Step> steps;
};

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_LAUNCH_H
