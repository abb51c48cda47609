//===- Json.cpp - results as JSON -----------------------------------------===//

#include "lib/Profile/Json.h"

#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::profile;
using Json = nlohmann::ordered_json;

template <typename T> static Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json(nullptr);
}

static Json median(const std::optional<Summary> &summary) {
  return summary ? Json(summary->median) : Json(nullptr);
}

static Json samples(const std::optional<Summary> &summary) {
  if (!summary)
    return nullptr;
  return {{"count", summary->count},
          {"least", summary->least},
          {"lower_quartile", summary->lowerQuartile},
          {"median", summary->median},
          {"upper_quartile", summary->upperQuartile},
          {"most", summary->most}};
}

static Json missOf(double predictedMs, const std::optional<Summary> &measured) {
  if (!measured || predictedMs <= 0)
    return nullptr;
  return miss(predictedMs, measured->median);
}

static Json countedJson(const std::optional<Counters> &counted) {
  if (!counted)
    return nullptr;
  Json stalls = Json::object();
  for (const auto &[reason, share] : counted->stalls)
    stalls[reason] = share;
  return {{"bytes_read", orNull(counted->bytesRead)},
          {"bytes_written", orNull(counted->bytesWritten)},
          {"run_bytes_read", orNull(counted->runBytesRead)},
          {"run_bytes_written", orNull(counted->runBytesWritten)},
          {"l2_bytes", orNull(counted->cacheBytes)},
          {"issue_slots", orNull(counted->issueSlots)},
          {"gigahertz", orNull(counted->gigahertz)},
          {"l2_hits", orNull(counted->l2Hits)},
          {"tensor_pipe", orNull(counted->tensorPipe)},
          {"special_pipe", orNull(counted->specialPipe)},
          {"occupancy", orNull(counted->occupancy)},
          {"stalls", stalls}};
}

static Json activityJson(const std::optional<Activity> &activity) {
  if (!activity)
    return nullptr;
  return {{"time", activity->milliseconds},
          {"blocks", activity->blocks},
          {"threads", activity->threads},
          {"registers", activity->registers},
          {"shared_bytes", activity->sharedBytes},
          {"correlation", activity->correlation}};
}

static Json timelineJson(const std::optional<Timeline> &timeline) {
  if (!timeline)
    return nullptr;
  Json roles = Json::array();
  for (const RoleShares &role : timeline->roles) {
    Json shares = Json::object();
    for (size_t phase = 0; phase < role.shares.size(); ++phase)
      if (role.shares[phase] > 0)
        shares[timeline->phases[phase]] = role.shares[phase];
    roles.push_back({{"role", role.role},
                     {"lanes", role.lanes},
                     {"time", role.microseconds * 1e-3},
                     {"waiting", role.waiting},
                     {"shares", shares}});
  }
  return {{"overhead", timeline->cost.ratio - 1},
          {"plain", samples(timeline->cost.first)},
          {"stamped", samples(timeline->cost.second)},
          {"blocks", timeline->blocks},
          {"launched", timeline->launched},
          {"stamps", timeline->stamps},
          {"dropped", timeline->dropped},
          {"gigahertz", timeline->gigahertz},
          {"spill_bytes", timeline->spillBytes},
          {"phases", timeline->phases},
          {"roles", roles}};
}

static Json kernelJson(const KernelResult &kernel) {
  const Estimate &e = kernel.predicted;
  double predictedMs = e.seconds * 1e3;
  Json j{{"name", kernel.symbol},
         {"label", kernel.label},
         {"schedule", kernel.schedule},
         {"blocks", kernel.blocks},
         {"threads", kernel.threads},
         {"predicted", predictedMs},
         {"measured", median(kernel.measured)},
         {"miss", missOf(predictedMs, kernel.measured)},
         {"samples", samples(kernel.measured)},
         {"bound", e.bound},
         {"unit", e.unit},
         {"bytes_read", e.bytesRead},
         {"bytes_written", e.bytesWritten},
         {"bytes", e.bytes()},
         {"flops", e.flops()},
         {"matmul_flops", e.tensorFlops},
         {"exponentials", e.exponentials},
         {"roofline_share",
          kernel.measured && kernel.measured->median > 0
              ? Json(e.roofSeconds * 1e3 / kernel.measured->median)
              : Json(nullptr)},
         {"registers", orNull(kernel.registers)},
         {"spill_bytes", orNull(kernel.spillBytes)},
         {"shared_bytes", orNull(kernel.sharedBytes)},
         {"occupancy", nullptr},
         {"counted", countedJson(kernel.counted)},
         {"activity", activityJson(kernel.activity)},
         {"timeline", timelineJson(kernel.timeline)},
         {"reason", kernel.reason}};
  if (kernel.occupancy)
    j["occupancy"] = {{"share", kernel.occupancy->share},
                      {"blocks", kernel.occupancy->blocks},
                      {"warps", kernel.occupancy->warps},
                      {"limiter", kernel.occupancy->limiter}};
  return j;
}

static const char *spelling(Check check) {
  switch (check) {
  case Check::Passed:
    return "passed";
  case Check::Failed:
    return "failed";
  case Check::Skipped:
    return "skipped";
  }
  return "";
}

static Json levelJson(const LevelResult &level) {
  int64_t bytes = 0;
  double flops = 0;
  Json kernels = Json::array();
  for (const KernelResult &kernel : level.kernels) {
    bytes += kernel.predicted.bytes();
    flops += kernel.predicted.flops();
    kernels.push_back(kernelJson(kernel));
  }
  return {{"name", level.name},
          {"launches", level.launches},
          {"predicted", level.predictedMs},
          {"measured", median(level.measured)},
          {"miss", missOf(level.predictedMs, level.measured)},
          {"samples", samples(level.measured)},
          {"bytes", bytes},
          {"flops", flops},
          {"temporary_bytes", level.temporaryBytes},
          {"host_per_launch", level.hostMicroseconds
                                  ? Json(*level.hostMicroseconds * 1e-3)
                                  : Json(nullptr)},
          {"code", level.codeKind},
          {"check", spelling(level.check)},
          {"error", orNull(level.error)},
          {"failure", level.failure},
          {"kernels", kernels}};
}

/// "4" as a number, whatever else as text.
static Json bindValue(const std::string &text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_number() ? value : Json(text);
}

std::string attn::profile::resultsJson(const Results &results) {
  Json binds = Json::object(), levels = Json::array(), missing = Json::array();
  for (const auto &[name, value] : results.binds)
    binds[name] = bindValue(value);
  for (const LevelResult &level : results.levels)
    levels.push_back(levelJson(level));
  for (const Missing &m : results.missing)
    missing.push_back({{"what", m.what}, {"why", m.why}});
  Json j{{"spec", results.spec},
         {"program", results.program},
         {"target", results.target},
         {"device", results.device},
         {"compiler", results.compiler},
         {"binds", binds},
         {"live", results.live},
         {"levels", levels},
         {"missing", missing}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
