//===- Options.h - the command line of attn-bench -------------------------===//
#ifndef ATTN_TOOLS_ATTN_BENCH_OPTIONS_H
#define ATTN_TOOLS_ATTN_BENCH_OPTIONS_H

#include "lib/Profile/Cupti.h"

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn::bench {

/// What the process returns; kCheckFailed for a wrong spec as well.
enum ExitCode { kOk = 0, kCheckFailed = 1, kBadInput = 2, kDeviceFailed = 3 };

/// The command line or an input file is wrong: one line, a reason and a fix.
class InputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The spec's text is wrong, or cannot be compiled.
class SpecError : public InputError {
public:
  using InputError::InputError;
};

struct Options {
  std::string input;   ///< A spec or a bundle's folder.
  std::string program; ///< Empty: the only one.
  std::string target;  ///< "cpu", "cuda", "sm_80", ...; empty: best here.
  std::vector<std::string> levels; ///< Empty: all.
  /// Axis lengths and scalars by name, as written.
  std::map<std::string, std::string> binds;
  bool kernels = false;
  std::optional<std::string> json; ///< File, or "-".
  std::string trace;
  std::string report; ///< Folder.
  std::vector<std::string> compare; ///< Two files, each FILE or FILE:LEVEL.
  /// Ask the device's own instruments as well, in a pass of their own.
  bool profile = false;
  profile::CounterSet counters = profile::CounterSet::All;
  /// Record the phases of each level's attention kernels, in their stamped form.
  bool timeline = false;
  int timelineBlocks = 2; ///< Blocks that a trace draws.
  int warmup = -1;
  int repeats = -1;
  int rest = 0; ///< Milliseconds before each timed run.
  int threads = 0;
  bool tf32 = false;    ///< Passed to attnc.
  std::string schedule; ///< Passed to attnc.
  bool tune = false;    ///< Compare schedules instead of levels.
  std::string schedules; ///< With `tune`, passed to attnc.
  /// What differs from size to size, names and values as in `binds`. Without
  /// `tune` each is a run of its own.
  std::vector<std::map<std::string, std::string>> sizes;
  unsigned seed = 1;
  bool check = true;
};

/// Parses the command line. A value is an exit code: the text (help, version,
/// an error) has been printed and the program is done.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace attn::bench

#endif // ATTN_TOOLS_ATTN_BENCH_OPTIONS_H
