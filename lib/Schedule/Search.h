//===- Search.h - schedules worth timing beside a choice ------------------===//
#ifndef ATTN_LIB_SCHEDULE_SEARCH_H
#define ATTN_LIB_SCHEDULE_SEARCH_H

#include "lib/Schedule/Choose.h"

#include <string>
#include <vector>

namespace attn {

/// Overrides (see applyOverrides) of schedules near `chosen` that fit the shared
/// memory and, by estimate, the registers: tiles of other sizes with every order
/// of the warp groups, and each other field changed alone. Each names every field
/// it depends on, so that it does not lean on a default. At most about 50, for a
/// problem of kind Flash; the assembler has the last word on registers.
std::vector<std::string> neighbours(const Problem &problem,
                                    const ScheduleTarget &target,
                                    const Schedule &chosen);

/// Overrides that name every field which decides a flash kernel on `unit`.
std::string spellOverrides(const Schedule &schedule, Unit unit);

/// A problem and a schedule from numbers by name, as a bundle's manifest holds
/// them. Unknown names are left out.
Problem problemFrom(const std::map<std::string, int64_t> &numbers);
Schedule scheduleFrom(const std::map<std::string, int64_t> &numbers);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_SEARCH_H
