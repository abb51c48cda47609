//===- Check.cpp - one case of one level against the reference ------------===//

#include "test/Run/Check.h"

#include "lib/Reference/Compare.h"
#include "test/Run/Canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::check;

/// Rows judged of a large case; a smaller one is judged whole.
static constexpr int64_t kPoints = 256, kWholeBelow = 2000;
/// A canary looks at more rows: registers are wrong here and there.
static constexpr int64_t kCanaryPoints = 2048;

Expected::Expected(const spec::Kernel &kernel, const Case &c)
    : theCase(c), kernel(kernel),
      lengths(reference::axisLengths(kernel, c.lengths)),
      inputs(makeInputs(kernel, lengths, c)) {}

const reference::Evaluation &Expected::results(bool tf32,
                                               std::function<void(double)> progress) {
  std::optional<reference::Evaluation> &evaluation = evaluations[tf32];
  if (!evaluation) {
    reference::Options options;
    options.seed = theCase.seed;
    options.tf32 = tf32;
    options.progress = std::move(progress);
    int64_t elements = 1;
    for (int64_t length : reference::shapeOf(kernel.results[0].type, lengths))
      elements *= length;
    options.points = elements > 64 * kWholeBelow ? kPoints : kWholeBelow;
    if (theCase.kind == InputKind::Canary)
      options.points = kCanaryPoints;
    evaluation = reference::evaluate(kernel, lengths, inputs, options);
  }
  return *evaluation;
}

bool attn::check::usesTf32(const bundle::Level &level) {
  return std::any_of(level.kernels.begin(), level.kernels.end(),
                     [](const bundle::Kernel &kernel) {
                       return kernel.prediction.tensorUnit.find("tf32") !=
                              std::string::npos;
                     });
}

namespace {
using Outputs = std::map<std::string, std::vector<std::byte>>;

/// The arguments of one case on the device, and launches of one level on them.
class Runner {
public:
  Runner(runtime::Device &device, const bundle::Program &program,
         const bundle::Level &level, const std::shared_ptr<runtime::Code> &code,
         Expected &expected)
      : device(device), program(program), level(level) {
    const Case &c = expected.theCase;
    GuardedTensor::Layout layout =
        c.kind == InputKind::Strided  ? GuardedTensor::Layout::Padded
        : c.kind == InputKind::Sliced ? GuardedTensor::Layout::Sliced
                                      : GuardedTensor::Layout::Dense;
    arguments.lengths = c.lengths;
    arguments.scalars = expected.inputs.scalars;
    for (const bundle::Tensor &tensor : program.tensors) {
      bool output = tensor.role == bundle::Role::Output;
      auto [at, isNew] = tensors.try_emplace(
          tensor.name, device, tensor, c.lengths,
          c.kind == InputKind::Expanded && !output
              ? GuardedTensor::Layout::Expanded
              : layout,
          0xff);
      if (!output)
        at->second.upload(expected.inputs.tensors.at(tensor.name).data);
      arguments.tensors[tensor.name] = at->second.ref();
    }
    scratch = std::make_shared<runtime::Temporaries>(device, level, c.lengths);
    plan.emplace(device, program, level, code, arguments, scratch);
    this->code = code;
  }

  /// Slices whose start, or whose rows, lie off 16 bytes: what was not refused
  /// by an error that names the tensor, or "".
  std::string takesUnaligned() {
    for (const bundle::Tensor &tensor : program.tensors) {
      int64_t element = runtime::elementBytes(tensor.dtype);
      runtime::Arguments wrong = arguments;
      runtime::TensorRef &ref = wrong.tensors.at(tensor.name);
      ref.data = static_cast<char *>(ref.data) + element;
      if (!refuses(wrong, tensor.name))
        return fmt::format("a slice of {} that starts {} bytes off a multiple "
                           "of {} was not refused (C12)",
                           tensor.name, element, runtime::kAlignment);
      // Rows of a known length are moved 16 bytes at a time.
      size_t rank = tensor.axes.size();
      const bundle::Axis *innermost = nullptr;
      for (const bundle::Axis &axis : program.axes)
        if (rank > 1 && axis.name == tensor.axes.back())
          innermost = &axis;
      bool inPieces = innermost && innermost->extent &&
                      *innermost->extent * element % runtime::kAlignment == 0;
      if (!inPieces || arguments.lengths.at(tensor.axes[rank - 2]) < 2)
        continue;
      wrong = arguments;
      for (size_t i = 0; i + 1 < rank; ++i) // Outer ones grow along.
        ++wrong.tensors.at(tensor.name).strides[i];
      if (!refuses(wrong, tensor.name))
        return fmt::format("a stride of {} that is no multiple of {} bytes was "
                           "not refused (C12)",
                           tensor.name, runtime::kAlignment);
    }
    return "";
  }

  /// `outside` fills temporaries before the launch.
  Outputs launch(uint8_t outside) {
    for (const bundle::Tensor &tensor : program.tensors)
      if (tensor.role == bundle::Role::Output)
        tensors.at(tensor.name).poison();
    for (const bundle::Tensor &tensor : level.temporaries)
      device.fill(scratch->tensors().at(tensor.name).data, outside,
                  runtime::denseBytes(tensor, arguments.lengths));
    plan->launch();
    device.synchronize();
    Outputs outputs;
    for (const bundle::Tensor &tensor : program.tensors)
      if (tensor.role == bundle::Role::Output)
        outputs[tensor.name] = tensors.at(tensor.name).download();
    return outputs;
  }

  /// A tensor whose guards were written over, or "".
  std::string damaged(const reference::Inputs &inputs) {
    for (const bundle::Tensor &tensor : program.tensors) {
      GuardedTensor &guarded = tensors.at(tensor.name);
      if (tensor.role == bundle::Role::Input &&
          guarded.download() != inputs.tensors.at(tensor.name).data)
        return fmt::format("input {} was written to", tensor.name);
      if (!guarded.intact())
        return fmt::format("memory outside of {} was written to", tensor.name);
    }
    return "";
  }

  /// Of one more launch: threads and buffers that live on are there already.
  ExtraMemory extraMemory() {
    ExtraMemory memory;
    memory.workspace = workspaceBytes(level, arguments.lengths);
    std::optional<int64_t> peak = peakRise([&] {
      plan->launch();
      device.synchronize();
    });
    if (level.target == "cpu")
      memory.peak = peak;
    return memory;
  }

  GuardedTensor &tensor(const std::string &name) { return tensors.at(name); }

private:
  bool refuses(const runtime::Arguments &wrong, const std::string &name) {
    try {
      runtime::Plan plan(device, program, level, code, wrong, scratch);
    } catch (const runtime::LaunchError &error) {
      std::string why = error.what();
      return why.find(name) != std::string::npos;
    }
    return false;
  }

  runtime::Device &device;
  const bundle::Program &program;
  const bundle::Level &level;
  std::shared_ptr<runtime::Code> code;
  std::map<std::string, GuardedTensor> tensors;
  runtime::Arguments arguments;
  std::shared_ptr<runtime::Temporaries> scratch;
  std::optional<runtime::Plan> plan;
};
} // namespace

static std::string firstDifference(const Outputs &a, const Outputs &b) {
  for (const auto &[name, bytes] : a) {
    const std::vector<std::byte> &other = b.at(name);
    auto at = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first;
    if (at != bytes.end())
      return fmt::format("{} at byte {}", name, at - bytes.begin());
  }
  return "";
}

/// An element nobody sampled that was never written, or is NaN though no input
/// is.
static std::string unwritten(const reference::Inputs &inputs,
                             const reference::ResultSamples &samples,
                             const reference::HostTensor &actual) {
  if (!spec::isFloat(samples.dtype))
    return "";
  for (const auto &[name, tensor] : inputs.tensors)
    if (spec::isFloat(tensor.dtype))
      for (int64_t e = 0; e < tensor.elements(); ++e)
        if (std::isnan(tensor.at(e)))
          return "";
  for (const reference::Slice &slice : samples.slices)
    for (double exact : slice.exact)
      if (std::isnan(exact))
        return "";
  for (int64_t e = 0, count = actual.elements(); e < count; ++e)
    if (std::isnan(actual.at(e)))
      return fmt::format("{} is NaN at element {}", samples.name, e);
  return "";
}

static std::string compareAll(const bundle::Level &level, Expected &expected,
                              const Outputs &outputs, double &worstRatio) {
  bool tf32 = usesTf32(level);
  bool canary = expected.theCase.kind == InputKind::Canary &&
                canaryIsExact(level);
  const Scores scores(expected.kernel, expected.lengths);
  for (const reference::ResultSamples &samples :
       expected.results(tf32).results) {
    reference::HostTensor actual;
    actual.dtype = samples.dtype;
    actual.shape = samples.shape;
    actual.data = outputs.at(samples.name);
    reference::Comparison c = reference::compare(actual, samples);
    worstRatio = std::max({worstRatio, c.worstRatio, c.rmsRatio});
    if (!c.pass)
      return fmt::format("{} ({} of {} elements)", c.why, c.failed, c.checked);
    if (std::string why = unwritten(expected.inputs, samples, actual); !why.empty())
      return why;
    if (!canary || samples.name != scores.result)
      continue;
    if (std::string why = canaryFailure(
            samples, actual, scores,
            canaryKeys(expected.kernel, scores, expected.lengths));
        !why.empty())
      return why;
  }
  return "";
}

/// C10: NaN in the last batch entry's floats must not change the others.
/// Returns what changed. Only for programs whose floats and results all have
/// the batch axis outermost.
static std::string otherBatches(Runner &runner, const bundle::Program &program,
                                Expected &expected, const Outputs &before) {
  const std::map<std::string, int64_t> &lengths = expected.theCase.lengths;
  auto batch = lengths.find("B");
  if (batch == lengths.end() || batch->second < 2)
    return "";
  for (const bundle::Tensor &tensor : program.tensors)
    if (tensor.role == bundle::Role::Output && tensor.axes.front() != "B")
      return "";
  for (const bundle::Tensor &tensor : program.tensors) {
    bool isFloat =
        tensor.dtype != "i32" && tensor.dtype != "i64" && tensor.dtype != "i1";
    if (tensor.role != bundle::Role::Input || !isFloat ||
        tensor.axes.front() != "B")
      continue;
    std::vector<std::byte> values =
        expected.inputs.tensors.at(tensor.name).data;
    size_t entry = values.size() / size_t(batch->second);
    std::fill(values.end() - int64_t(entry), values.end(), std::byte(0xff));
    runner.tensor(tensor.name).upload(values);
  }
  Outputs after = runner.launch(0xff);
  for (const bundle::Tensor &tensor : program.tensors)
    if (tensor.role == bundle::Role::Input)
      runner.tensor(tensor.name)
          .upload(expected.inputs.tensors.at(tensor.name).data);
  for (auto &[name, bytes] : after) {
    size_t kept =
        bytes.size() / size_t(batch->second) * size_t(batch->second - 1);
    if (std::memcmp(bytes.data(), before.at(name).data(), kept) != 0)
      return name;
  }
  return "";
}

Outcome attn::check::checkLevel(runtime::Device &device,
                                const bundle::Program &program,
                                const bundle::Level &level,
                                const std::shared_ptr<runtime::Code> &code,
                                Expected &expected,
                                const RunOptions &options) {
  Outcome outcome;
  std::optional<Runner> runner;
  try {
    runner.emplace(device, program, level, code, expected);
  } catch (const runtime::LaunchError &error) {
    outcome.cannotRun = error.what();
    outcome.tooLarge = dynamic_cast<const runtime::TooLargeError *>(&error);
    return outcome;
  }
  Outputs outputs = runner->launch(0xff);
  outcome.failure = compareAll(level, expected, outputs, outcome.worstRatio);
  if (!outcome.failure.empty())
    return outcome;
  outcome.failure = runner->damaged(expected.inputs);
  if (!outcome.failure.empty())
    return outcome;
  if (expected.theCase.kind == InputKind::Sliced)
    if (outcome.failure = runner->takesUnaligned(); !outcome.failure.empty())
      return outcome;
  if (options.memory)
    outcome.memory = runner->extraMemory();
  for (int i = 1; i < options.repeats; ++i)
    if (std::string at = firstDifference(outputs, runner->launch(0xff));
        !at.empty()) {
      outcome.failure = fmt::format("run {} of {} differs in {} (C10)", i + 1,
                                    options.repeats, at);
      return outcome;
    }
  Outputs again = runner->launch(0x00);
  if (std::string at = firstDifference(outputs, again); !at.empty()) {
    outcome.failure = fmt::format("a second run differs in {} (C10)", at);
    return outcome;
  }
  if (expected.theCase.kind == InputKind::Expanded)
    return outcome; // Batch entries may be one and the same memory.
  if (std::string name = otherBatches(*runner, program, expected, outputs);
      !name.empty())
    outcome.failure =
        fmt::format("{} depends on another batch entry's contents (C10)", name);
  return outcome;
}
