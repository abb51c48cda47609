//===- ReadManifest.cpp - JSON to manifest, with errors that name places --===//

#include "lib/Bundle/ManifestWords.h"
#include "lib/Bundle/Timeline.h"
#include "lib/Spec/Ast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace attn::bundle;
using Json = nlohmann::ordered_json;

namespace {
/// A JSON value and the way to it, for errors that name the place.
class Node {
public:
  Node(const Json &value, std::string path)
      : value(value), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error(fmt::format("manifest: {}: {}", path, what));
  }

  std::optional<Node> find(const char *key) const {
    if (!value.is_object())
      fail("expected an object");
    auto it = value.find(key);
    if (it == value.end())
      return std::nullopt;
    return Node(*it, path == "top level" ? key : path + "." + key);
  }
  Node at(const char *key) const {
    if (auto node = find(key))
      return *node;
    fail(fmt::format("'{}' is missing", key));
  }

  std::string text() const {
    if (!value.is_string())
      fail("expected a string");
    return value.get<std::string>();
  }
  int64_t integer(int64_t least, int64_t most) const {
    if (!value.is_number_integer())
      fail("expected an integer");
    // An unsigned number beyond int64 would wrap into the range.
    bool wraps = value.is_number_unsigned() &&
                 value.get<uint64_t>() > uint64_t(INT64_MAX);
    int64_t number = value.get<int64_t>();
    if (wraps || number < least || number > most)
      fail(fmt::format("{} is outside {} .. {}", value.dump(), least, most));
    return number;
  }
  double real() const {
    if (!value.is_number())
      fail("expected a number");
    return value.get<double>();
  }
  bool boolean() const {
    if (!value.is_boolean())
      fail("expected true or false");
    return value.get<bool>();
  }

  /// One `read(element)` for each element of an array.
  template <typename Fn> auto list(Fn read) const {
    if (!value.is_array())
      fail("expected an array");
    std::vector<decltype(read(*this))> items;
    for (size_t i = 0; i < value.size(); ++i)
      items.push_back(read(Node(value[i], fmt::format("{}[{}]", path, i))));
    return items;
  }
  /// `read(key, element)` for each member of an object.
  template <typename Fn> void members(Fn read) const {
    if (!value.is_object())
      fail("expected an object");
    for (auto it = value.begin(); it != value.end(); ++it)
      read(it.key(), Node(it.value(), path + "." + it.key()));
  }

private:
  const Json &value;
  std::string path;
};
} // namespace

static constexpr int64_t kMost = int64_t(1) << 62;

static std::string readText(const Node &node) { return node.text(); }

/// A type that a spec has or a kernel stores.
static std::string readDtype(const Node &node) {
  std::vector<std::string> known;
  for (attn::spec::DType type : attn::spec::supportedDTypes())
    known.push_back(attn::spec::spelling(type));
  std::string dtype = node.text();
  if (std::find(known.begin(), known.end(), dtype) == known.end())
    node.fail(fmt::format("'{}' is none of {}", dtype, fmt::join(known, ", ")));
  return dtype;
}

static Axis readAxis(const Node &node) {
  Axis axis;
  axis.name = node.at("name").text();
  if (auto extent = node.find("extent"))
    axis.extent = extent->integer(0, kMost);
  if (auto group = node.find("group")) {
    axis.group = group->text();
    axis.inner = node.at("inner").text();
  }
  return axis;
}

static Tensor readTensor(const Node &node) {
  Tensor tensor;
  tensor.name = node.at("name").text();
  tensor.dtype = readDtype(node.at("dtype"));
  tensor.axes = node.at("axes").list(readText);
  std::string role = node.at("role").text();
  if (role == spelling(Role::Input))
    tensor.role = Role::Input;
  else if (role == spelling(Role::Output))
    tensor.role = Role::Output;
  else if (role == spelling(Role::Temporary))
    tensor.role = Role::Temporary;
  else
    node.at("role").fail(
        fmt::format("'{}' is not input, output or temporary", role));
  if (auto pad = node.find("pad"))
    tensor.pad = pad->integer(1, 1 << 20);
  return tensor;
}

static Arg readArg(const Node &node) {
  Arg arg;
  std::string kind = node.at("kind").text();
  bool named = true, axis = false;
  if (kind == spelling(Arg::Kind::Pointer)) {
    arg.kind = Arg::Kind::Pointer;
  } else if (kind == spelling(Arg::Kind::Stride)) {
    arg.kind = Arg::Kind::Stride;
    axis = true;
  } else if (kind == spelling(Arg::Kind::Length)) {
    arg.kind = Arg::Kind::Length;
    axis = true;
    named = false;
  } else if (kind == spelling(Arg::Kind::Scalar)) {
    arg.kind = Arg::Kind::Scalar;
  } else if (kind == spelling(Arg::Kind::Scheduler)) {
    arg.kind = Arg::Kind::Scheduler;
    named = false;
  } else if (kind == spelling(Arg::Kind::Timeline)) {
    arg.kind = Arg::Kind::Timeline;
    named = false;
  } else if (kind == spelling(Arg::Kind::Map)) {
    arg.kind = Arg::Kind::Map;
    arg.axes = node.at("axes").list(readText);
    arg.box = node.at("box").list(
        [](const Node &side) { return side.integer(1, 256); });
    if (arg.axes.size() < 2 || arg.axes.size() > 5 ||
        arg.box.size() != arg.axes.size())
      node.fail("a map has 2 to 5 axes and a box along each");
    if (auto optional = node.find("optional"))
      arg.optional = optional->boolean();
  } else {
    node.at("kind").fail(
        fmt::format("'{}' is not pointer, stride, length, scalar, map, scheduler "
                    "or timeline",
                    kind));
  }
  if (named)
    arg.name = node.at("name").text();
  if (axis)
    arg.axis = node.at("axis").text();
  return arg;
}

static Term readTerm(const Node &node) {
  Term term;
  term.coefficient = node.at("coefficient").real();
  term.axes = node.at("axes").list(readText);
  if (auto live = node.find("live"))
    term.live = live->boolean();
  return term;
}

static Stamps readStamps(const Node &node) {
  Stamps stamps;
  stamps.lanes = node.at("lanes").integer(1, 1 << 20);
  stamps.steps = node.at("steps").integer(1, (int64_t(1) << 30) / stamps.lanes);
  stamps.phases = node.at("phases").list(readText);
  stamps.roles = node.at("roles").list(readText);
  if (stamps.phases.empty() || stamps.phases.size() > kLaneEnd)
    node.at("phases").fail(fmt::format("1 to {} are allowed", kLaneEnd));
  if (stamps.roles.empty() || stamps.roles.size() > 32)
    node.at("roles").fail("1 to 32 are allowed");
  return stamps;
}

static Kernel readKernel(const Node &node) {
  Kernel kernel;
  kernel.symbol = node.at("symbol").text();
  kernel.label = node.at("label").text();
  kernel.grid = node.at("grid").list([](const Node &entry) {
    GridAxis axis;
    axis.axis = entry.at("axis").text();
    axis.tile = entry.at("tile").integer(1, kMost);
    return axis;
  });
  kernel.threads = int(node.at("threads").integer(1, 1024));
  kernel.dynamicShared = node.at("dynamicShared").integer(0, INT32_MAX);
  if (auto persistent = node.find("persistent"))
    kernel.persistent = persistent->integer(0, 64);
  if (auto cluster = node.find("cluster"))
    kernel.cluster = cluster->integer(1, 8);
  kernel.args = node.at("args").list(readArg);
  kernel.schedule = node.at("schedule").text();
  if (auto found = node.find("choice")) {
    kernel.choice.emplace();
    auto numbers = [&](const char *name, std::map<std::string, int64_t> &into) {
      found->at(name).members([&](const std::string &key, const Node &value) {
        into[key] = value.integer(0, INT32_MAX);
      });
    };
    numbers("problem", kernel.choice->problem);
    numbers("schedule", kernel.choice->schedule);
  }
  Node p = node.at("prediction");
  kernel.prediction.bytesRead = p.at("bytesRead").list(readTerm);
  kernel.prediction.bytesWritten = p.at("bytesWritten").list(readTerm);
  kernel.prediction.tensorFlops = p.at("tensorFlops").list(readTerm);
  kernel.prediction.scalarFlops = p.at("scalarFlops").list(readTerm);
  kernel.prediction.exponentials = p.at("exponentials").list(readTerm);
  kernel.prediction.tensorUnit = p.at("tensorUnit").text();
  if (auto steps = p.find("steps"))
    steps->members([&](const std::string &blocks, const Node &step) {
      kernel.prediction.steps[blocks] = {step.at("slots").real(),
                                         step.at("special").real()};
    });
  if (auto found = node.find("resources")) {
    Resources resources;
    resources.registers = int(found->at("registers").integer(0, 1 << 16));
    resources.spillBytes = int(found->at("spillBytes").integer(0, INT32_MAX));
    resources.sharedBytes = found->at("sharedBytes").integer(0, INT32_MAX);
    kernel.resources = resources;
  }
  if (auto found = node.find("stamps"))
    kernel.stamps = readStamps(*found);
  return kernel;
}

/// A level, or (`inner`) one inside a level: a variant or its stamped kernels.
static Level readLevel(const Node &node, bool inner) {
  Level level;
  level.name = node.at("name").text();
  level.target = node.at("target").text();
  level.temporaries = node.at("temporaries").list(readTensor);
  level.kernels = node.at("kernels").list(readKernel);
  node.at("files").members([&](const std::string &kind, const Node &file) {
    std::string name = file.text();
    // A bundle never reaches outside its own folder.
    if (name.empty() || name.find('/') != std::string::npos)
      file.fail(fmt::format("'{}' is not a file name", name));
    level.files[kind] = name;
  });
  if (auto schedule = node.find("schedule"))
    level.schedule = schedule->text();
  auto readInner = [&](const Node &entry) {
    if (inner)
      entry.fail("a level inside a level holds none of its own");
    return readLevel(entry, /*inner=*/true);
  };
  if (auto variants = node.find("variants"))
    level.variants = variants->list(readInner);
  if (auto timeline = node.find("timeline")) {
    level.timeline.push_back(readInner(*timeline));
    if (level.timeline[0].kernels.size() != level.kernels.size())
      timeline->fail("it has not the level's kernels");
  }
  return level;
}

/// Every axis that anything mentions is one of the program's, so that readers
/// can look lengths up without asking.
static void checkNames(const Program &program, const Node &node) {
  std::set<std::string> axes;
  for (const Axis &axis : program.axes)
    axes.insert(axis.name);
  auto check = [&](const std::string &axis, const std::string &where) {
    if (!axes.count(axis))
      node.fail(fmt::format("{} mentions unknown axis '{}'", where, axis));
  };
  for (const Axis &axis : program.axes)
    if (!axis.group.empty()) {
      check(axis.group, "axis " + axis.name);
      check(axis.inner, "axis " + axis.name);
    }
  auto checkTensors = [&](const std::vector<Tensor> &tensors) {
    for (const Tensor &tensor : tensors)
      for (const std::string &axis : tensor.axes)
        check(axis, "tensor " + tensor.name);
  };
  checkTensors(program.tensors);
  std::vector<const Level *> levels;
  for (const Level &level : program.levels) {
    levels.push_back(&level);
    for (const std::vector<Level> *inner : {&level.timeline, &level.variants})
      for (const Level &each : *inner)
        levels.push_back(&each);
  }
  for (const Level *each : levels) {
    const Level &level = *each;
    checkTensors(level.temporaries);
    for (const Kernel &kernel : level.kernels) {
      std::string where = "kernel " + kernel.symbol;
      for (const GridAxis &axis : kernel.grid)
        if (!axis.axis.empty())
          check(axis.axis, where);
      const Prediction &p = kernel.prediction;
      for (const std::vector<Term> *terms :
           {&p.bytesRead, &p.bytesWritten, &p.tensorFlops, &p.scalarFlops,
            &p.exponentials})
        for (const Term &term : *terms)
          for (const std::string &axis : term.axes)
            check(axis, where);
    }
  }
}

static Program readProgram(const Node &node) {
  Program program;
  program.name = node.at("name").text();
  program.axes = node.at("axes").list(readAxis);
  program.tensors = node.at("tensors").list(readTensor);
  program.scalars = node.at("scalars").list([](const Node &entry) {
    return Scalar{entry.at("name").text(), readDtype(entry.at("dtype"))};
  });
  program.levels = node.at("levels").list(
      [](const Node &entry) { return readLevel(entry, /*inner=*/false); });
  checkNames(program, node);
  return program;
}

Manifest attn::bundle::fromJson(const std::string &text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception &error) {
    throw std::runtime_error(
        fmt::format("manifest: not JSON ({}); was the bundle cut off? make it "
                    "again with attnc",
                    error.what()));
  }
  Node top(json, "top level");
  Manifest manifest;
  manifest.version = int(top.at("version").integer(0, INT32_MAX));
  if (manifest.version != kVersion)
    top.at("version").fail(
        fmt::format("bundle version {}, this program reads {}; make the bundle "
                    "again with the attnc of this build",
                    manifest.version, kVersion));
  manifest.compiler = top.at("compiler").text();
  manifest.assembler = top.at("assembler").text();
  top.at("binds").members([&](const std::string &axis, const Node &length) {
    manifest.binds[axis] = length.integer(INT64_MIN, INT64_MAX);
  });
  if (auto hash = top.find("specHash"))
    manifest.specHash = hash->text();
  manifest.programs = top.at("programs").list(readProgram);
  return manifest;
}
