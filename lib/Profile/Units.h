//===- Units.h - figures for people ---------------------------------------===//
#ifndef ATTN_LIB_PROFILE_UNITS_H
#define ATTN_LIB_PROFILE_UNITS_H

#include <string>

namespace attn::profile {

/// Three significant digits with the unit that fits: "12.3 us", "1.05 ms".
std::string humanTime(double milliseconds);
/// "0 B", "67.1 MB", "12.3 GB"; powers of 1000.
std::string humanBytes(double bytes);
/// "54.2 TF/s".
std::string humanFlops(double flopsPerSecond);
/// "+3 %", "-12 %", "0 %" of a ratio less one.
std::string humanMiss(double miss);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_UNITS_H
