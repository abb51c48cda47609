//===- Tune.h - schedules of one level side by side -----------------------===//
#ifndef ATTN_LIB_PROFILE_TUNE_H
#define ATTN_LIB_PROFILE_TUNE_H

#include "lib/Bundle/Manifest.h"
#include "lib/Profile/Compare.h"
#include "lib/Profile/Results.h"

namespace attn::profile {

/// One schedule at one size.
struct TunedTime {
  Summary time;     ///< Milliseconds.
  double speed = 1; ///< The default's time over this one's: median of the rounds' own.
  std::optional<Shift> change; ///< Of the time, against the default's.
};

/// One schedule of a level. The first of a level is what it runs, the base of all
/// speeds: the compiler's choice (the default), or a user's in its place.
struct TunedSchedule {
  std::string overrides;   ///< As attnc got them; "": the compiler's choice.
  std::string description; ///< "3 groups x 64x80, ..."
  bundle::Choice choice;   ///< Of its flash kernel.
  std::optional<int> registers; ///< Per thread.
  std::optional<double> error;  ///< Largest absolute error, over sizes.
  std::string failure;          ///< Why it differs or does not run; "" when it does.
  bool wrong = false;           ///< The failure is a wrong result.
  std::vector<TunedTime> times; ///< By size; empty when it failed.
};

struct TunedLevel {
  std::string name;
  std::vector<TunedSchedule> schedules;
};

struct TuneResults {
  std::string spec, program, target, device, compiler;
  std::string date;               ///< "2026-12-02".
  std::vector<std::string> sizes; ///< What differs: "M=1024 N=1024".
  std::map<std::string, std::string> binds; ///< What all sizes share.
  std::vector<TunedLevel> levels; ///< Those with more than one schedule.
};

/// Geometric mean of the speeds over the sizes; 0 for a schedule that failed.
double meanSpeed(const TunedSchedule &schedule);

/// Place of the schedule of highest mean speed that is significantly faster than
/// the default somewhere and slower nowhere; 0 (the default) when none is.
size_t fastest(const TunedLevel &level);

/// Its row for lib/Schedule/MeasuredRows.h: key, schedule, date, device, figure.
std::string measuredRow(const TuneResults &results, const TunedLevel &level,
                        size_t schedule);

/// Speed of each schedule at each size, fastest first; then rows, failures.
std::string tuneTable(const TuneResults &results);
std::string tuneJson(const TuneResults &results);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_TUNE_H
