//===- Levels.h - --levels of attnc, attn-check and attn-bench ------------===//
#ifndef ATTN_TOOLS_LEVELS_H
#define ATTN_TOOLS_LEVELS_H

#include "lib/Spec/Diagnostics.h"
#include "lib/Spec/Printable.h"
#include "lib/Target/Targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace attn {

/// The levels of every target, least fused first.
inline std::vector<std::string> levelNames() {
  std::vector<std::string> names;
  for (const target::CompileTarget &target : target::compileTargets())
    for (const std::string &level : target.levels)
      if (std::find(names.begin(), names.end(), level) == names.end())
        names.push_back(level);
  return names;
}

/// Reads what --levels was given, once or several times: "naive, flash" names two levels,
/// "all" among them all. `levels` gets each once, and none where all are meant. What is
/// wrong, or "". Whether a target or a bundle has a level is for the tool to say.
inline std::string readLevels(const std::vector<std::string> &texts,
                              std::vector<std::string> &levels) {
  const std::vector<std::string> known = levelNames();
  bool all = texts.empty();
  for (const std::string &text : texts)
    for (size_t begin = 0; begin <= text.size();) {
      size_t end = std::min(text.find(',', begin), text.size());
      std::string name = text.substr(begin, end - begin);
      begin = end + 1;
      name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
      name.erase(name.find_last_not_of(' ') + 1);
      if (name.empty())
        return fmt::format("--levels: '{}' {}; write names with commas between them, such "
                           "as naive,flash, or all",
                           spec::printable(text),
                           text.find(',') == std::string::npos ? "names no level"
                                                               : "has a comma too many");
      if (name == "all") {
        all = true;
        continue;
      }
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        std::optional<std::string> near = spec::nearest(name, known);
        return fmt::format("--levels: '{}' is no level; {}", spec::printable(name),
                           near ? "did you mean " + *near + "?"
                                : fmt::format("there are {}, and all",
                                              fmt::join(known, ", ")));
      }
      if (std::find(levels.begin(), levels.end(), name) == levels.end())
        levels.push_back(name);
    }
  if (all)
    levels.clear();
  return "";
}

} // namespace attn

#endif // ATTN_TOOLS_LEVELS_H
