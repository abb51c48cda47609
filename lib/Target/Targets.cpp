//===- Targets.cpp - what code can be compiled for ------------------------===//

#include "lib/Target/Targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

using namespace attn::target;

bool CompileTarget::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

const std::vector<CompileTarget> &attn::target::compileTargets() {
  static const std::vector<CompileTarget> targets = {
      {"cpu",
       0,
       false,
       {},
       0,
       {"reference", "naive", "inplace", "fused", "flash"}},
      // 99 KiB is what compute capability 8.6 and 8.9 leave a block, so that
      // sm_80 code runs on every later GPU.
      {"sm_80",
       80,
       false,
       {Feature::MmaSync, Feature::CpAsync},
       99 * 1024,
       {"reference", "naive", "inplace", "fused", "flash", "pipelined"}},
      {"sm_90a",
       90,
       true,
       {Feature::MmaSync, Feature::CpAsync, Feature::Wgmma, Feature::Tma},
       227 * 1024,
       {"reference", "naive", "inplace", "fused", "flash", "pipelined",
        "specialized"}},
  };
  return targets;
}

std::vector<std::string> attn::target::targetNames() {
  std::vector<std::string> names;
  for (const CompileTarget &target : compileTargets())
    names.push_back(target.name);
  return names;
}

const CompileTarget *attn::target::findTarget(const std::string &name) {
  for (const CompileTarget &target : compileTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

std::vector<std::string>
attn::target::timelineLevels(const CompileTarget &target) {
  // Phases are stamped where both products are in one kernel, by a GPU's clock.
  if (target.isCpu())
    return {};
  return {std::find(target.levels.begin(), target.levels.end(), "flash"),
          target.levels.end()};
}

std::string attn::target::timelineTargets() {
  std::vector<std::string> list;
  for (const CompileTarget &target : compileTargets())
    if (std::vector<std::string> levels = timelineLevels(target); !levels.empty())
      list.push_back(
          fmt::format("{} ({})", target.name, fmt::join(levels, ", ")));
  return fmt::format("{}", fmt::join(list, ", "));
}

bool attn::target::runsOn(const std::string &name, int capability,
                          std::string &why) {
  const CompileTarget *target = findTarget(name);
  if (!target) {
    why = fmt::format("target '{}' is unknown to this build; compile the spec "
                      "for one of: cpu, sm_80, sm_90a",
                      name);
    return false;
  }
  if (target->isCpu() != (capability == 0)) {
    why = target->isCpu()
              ? "code for target 'cpu' does not run on a GPU; run on the "
                "CPU (attn-bench --target=cpu, attn-check --device=cpu) or compile "
                "with attnc --targets=sm_80"
              : fmt::format("code for target '{}' needs a GPU; use a machine "
                            "that has one or compile with attnc --targets=cpu",
                            name);
    return false;
  }
  if (target->isCpu() || capability == target->capability ||
      (!target->exact && capability > target->capability))
    return true;
  why = fmt::format("code for {} needs compute capability {}.{}{}, this device "
                    "has {}.{}; compile for an older target or use a {} GPU",
                    name, target->capability / 10, target->capability % 10,
                    target->exact ? "" : " or later", capability / 10,
                    capability % 10, target->exact ? "matching" : "newer");
  return false;
}

std::string attn::target::checkArch(const std::string &arch) {
  size_t digits = 0;
  bool named = arch.rfind("sm_", 0) == 0;
  while (named && 3 + digits < arch.size() && std::isdigit(arch[3 + digits]))
    ++digits;
  std::string suffix = named ? arch.substr(3 + digits) : "";
  if (!named || digits < 2 || digits > 3 ||
      !(suffix.empty() || suffix == "a" || suffix == "f"))
    return fmt::format("'{}' is no GPU; write sm_ and its compute capability, such "
                       "as sm_80 or sm_90, or none",
                       arch);
  int capability = std::stoi(arch.substr(3));
  if (capability < 80)
    return fmt::format("{} is too old, the oldest target is sm_80", arch);
  return "";
}

const std::vector<std::string> &attn::target::archNames() {
  // PTX ISA 9.0, the table of target architectures.
  static const std::vector<std::string> names = {
      "sm_80",  "sm_86",   "sm_87",   "sm_88",  "sm_89",   "sm_90",   "sm_90a",
      "sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_103f", "sm_110",
      "sm_110a", "sm_110f", "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a",
      "sm_121f"};
  return names;
}
