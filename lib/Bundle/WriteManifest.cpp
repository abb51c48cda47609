//===- WriteManifest.cpp - manifest to JSON -------------------------------===//

#include "lib/Bundle/ManifestWords.h"

#include <nlohmann/json.hpp>

using namespace attn::bundle;
using Json = nlohmann::ordered_json;

// writeAll finds only what is declared before it.
static Json write(const Scalar &scalar);
static Json write(const Kernel &kernel);
static Json write(const Level &level);
static Json write(const Program &program);

static Json write(const Axis &axis) {
  Json j{{"name", axis.name}};
  if (axis.extent)
    j["extent"] = *axis.extent;
  if (!axis.group.empty()) {
    j["group"] = axis.group;
    j["inner"] = axis.inner;
  }
  return j;
}

static Json write(const Tensor &tensor) {
  Json j{{"name", tensor.name},
         {"dtype", tensor.dtype},
         {"axes", tensor.axes},
         {"role", spelling(tensor.role)}};
  if (tensor.pad != 1)
    j["pad"] = tensor.pad;
  return j;
}

static Json write(const Arg &arg) {
  Json j{{"kind", spelling(arg.kind)}};
  if (!arg.name.empty())
    j["name"] = arg.name;
  if (!arg.axis.empty())
    j["axis"] = arg.axis;
  if (arg.kind == Arg::Kind::Map) {
    j["axes"] = arg.axes;
    j["box"] = arg.box;
    if (arg.optional)
      j["optional"] = true;
  }
  return j;
}

static Json write(const Term &term) {
  Json j{{"coefficient", term.coefficient}, {"axes", term.axes}};
  if (term.live)
    j["live"] = true;
  return j;
}

template <typename T> static Json writeAll(const std::vector<T> &items) {
  Json list = Json::array();
  for (const T &item : items)
    list.push_back(write(item));
  return list;
}

static Json write(const Kernel &kernel) {
  Json grid = Json::array();
  for (const GridAxis &axis : kernel.grid)
    grid.push_back({{"axis", axis.axis}, {"tile", axis.tile}});
  const Prediction &p = kernel.prediction;
  Json j{{"symbol", kernel.symbol},
         {"label", kernel.label},
         {"grid", grid},
         {"threads", kernel.threads},
         {"dynamicShared", kernel.dynamicShared},
         {"args", writeAll(kernel.args)},
         {"schedule", kernel.schedule},
         {"prediction",
          {{"bytesRead", writeAll(p.bytesRead)},
           {"bytesWritten", writeAll(p.bytesWritten)},
           {"tensorFlops", writeAll(p.tensorFlops)},
           {"scalarFlops", writeAll(p.scalarFlops)},
           {"exponentials", writeAll(p.exponentials)},
           {"tensorUnit", p.tensorUnit}}}};
  for (const auto &[blocks, step] : p.steps)
    j["prediction"]["steps"][blocks] = {{"slots", step.slots},
                                        {"special", step.special}};
  if (kernel.choice)
    j["choice"] = {{"problem", kernel.choice->problem},
                   {"schedule", kernel.choice->schedule}};
  if (kernel.persistent)
    j["persistent"] = kernel.persistent;
  if (kernel.cluster > 1)
    j["cluster"] = kernel.cluster;
  if (kernel.resources)
    j["resources"] = {{"registers", kernel.resources->registers},
                      {"spillBytes", kernel.resources->spillBytes},
                      {"sharedBytes", kernel.resources->sharedBytes}};
  if (kernel.stamps)
    j["stamps"] = {{"lanes", kernel.stamps->lanes},
                   {"steps", kernel.stamps->steps},
                   {"phases", kernel.stamps->phases},
                   {"roles", kernel.stamps->roles}};
  return j;
}

static Json write(const Level &level) {
  Json files = Json::object();
  for (const auto &[kind, file] : level.files)
    files[kind] = file;
  Json j{{"name", level.name},
         {"target", level.target},
         {"temporaries", writeAll(level.temporaries)},
         {"kernels", writeAll(level.kernels)},
         {"files", files}};
  if (!level.schedule.empty())
    j["schedule"] = level.schedule;
  if (!level.variants.empty())
    j["variants"] = writeAll(level.variants);
  if (!level.timeline.empty())
    j["timeline"] = write(level.timeline.front());
  return j;
}

static Json write(const Scalar &scalar) {
  return {{"name", scalar.name}, {"dtype", scalar.dtype}};
}

static Json write(const Program &program) {
  return {{"name", program.name},
          {"axes", writeAll(program.axes)},
          {"tensors", writeAll(program.tensors)},
          {"scalars", writeAll(program.scalars)},
          {"levels", writeAll(program.levels)}};
}

std::string attn::bundle::toJson(const Manifest &manifest) {
  Json binds = Json::object();
  for (const auto &[axis, length] : manifest.binds)
    binds[axis] = length;
  Json j{{"version", manifest.version},
         {"compiler", manifest.compiler},
         {"assembler", manifest.assembler},
         {"binds", binds},
         {"programs", writeAll(manifest.programs)}};
  if (!manifest.specHash.empty())
    j["specHash"] = manifest.specHash;
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
