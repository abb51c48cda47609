//===- Units.cpp - figures for people -------------------------------------===//

#include "lib/Profile/Units.h"

#include <fmt/format.h>

#include <cmath>

using namespace attn::profile;

/// `value` at three significant digits, without an exponent.
static std::string threeDigits(double value) {
  double magnitude = std::fabs(value);
  // What rounds up to the next decade has one digit less behind the point.
  int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

static std::string scaled(double value, double step,
                          std::initializer_list<const char *> units) {
  auto unit = units.begin();
  while (std::fabs(value) >= step * 0.9995 && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", threeDigits(value), *unit);
}

std::string attn::profile::humanTime(double milliseconds) {
  if (milliseconds == 0)
    return "0";
  return scaled(milliseconds * 1e6, 1000, {"ns", "us", "ms", "s"});
}

std::string attn::profile::humanBytes(double bytes) {
  if (bytes < 1000)
    return fmt::format("{:.0f} B", bytes);
  return scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
}

std::string attn::profile::humanFlops(double flopsPerSecond) {
  if (flopsPerSecond == 0)
    return "0";
  return scaled(flopsPerSecond / 1e6, 1000, {"MF/s", "GF/s", "TF/s", "PF/s"});
}

std::string attn::profile::humanMiss(double miss) {
  double percent = std::round(miss * 100);
  if (percent == 0)
    return "0 %";
  if (percent > 999)
    return fmt::format("x{}", threeDigits(miss + 1));
  return fmt::format("{:+.0f} %", percent);
}
