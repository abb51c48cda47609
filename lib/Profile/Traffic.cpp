//===- Traffic.cpp - which bytes come from device memory, and how often ---===//

#include "lib/Profile/Traffic.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

using namespace attn;
using namespace attn::profile;

Tile attn::profile::tileOf(const std::string &schedule) {
  Tile tile;
  const char *at = schedule.c_str();
  size_t groups = schedule.find(" x "); // "2 groups x 64x128"
  bool grouped = groups != std::string::npos &&
                 schedule.find(" group") != std::string::npos;
  if (grouped || schedule.rfind("tile ", 0) == 0) {
    char *end = nullptr;
    tile.rows = std::strtoll(grouped ? at + groups + 3 : at + 5, &end, 10);
    if (*end == 'x')
      tile.columns = std::strtoll(end + 1, nullptr, 10);
    if (grouped)
      tile.rows *= std::strtoll(at, nullptr, 10);
  }
  size_t stage = schedule.find(" stage");
  if (stage != std::string::npos) {
    size_t digit = stage;
    while (digit > 0 &&
           std::isdigit(static_cast<unsigned char>(schedule[digit - 1])))
      --digit;
    tile.stages = std::atoi(at + digit);
  }
  return tile;
}

double attn::profile::evaluate(const std::vector<bundle::Term> &terms,
                               const Lengths &lengths, double live) {
  double sum = 0;
  for (const bundle::Term &term : terms) {
    double product = term.coefficient;
    for (const std::string &axis : term.axes)
      product *= double(lengths.at(axis));
    sum += term.live ? product * live : product;
  }
  return sum;
}

static bool has(const std::vector<std::string> &axes, const std::string &axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string attn::profile::walkedAxis(const bundle::Kernel &kernel) {
  for (const bundle::Term &term : kernel.prediction.bytesWritten)
    for (const std::string &axis : term.axes)
      if (std::none_of(
              kernel.grid.begin(), kernel.grid.end(),
              [&](const bundle::GridAxis &g) { return g.axis == axis; }))
        return axis;
  return "";
}

double attn::profile::goneShare(double distance, int64_t cacheBytes) {
  if (cacheBytes <= 0)
    return 1;
  // No cache forgets all at once: seen on an H200, an operand begins to go at
  // 0.62 of the L2's size (17 % at 0.8, 34 % at 1.0, 65 % at 1.34).
  constexpr double kFirst = 0.62, kAll = 1.72;
  double filled = distance / double(cacheBytes);
  return std::clamp((filled - kFirst) / (kAll - kFirst), 0.0, 1.0);
}

/// Bytes of a term that the blocks touch while the grid's axes from `step` on
/// stand still.
static double touched(const bundle::Term &term, const bundle::Kernel &kernel,
                      const Lengths &lengths, size_t step) {
  double bytes = term.coefficient;
  for (const std::string &axis : term.axes) {
    int64_t length = lengths.at(axis);
    for (size_t g = step; g < kernel.grid.size(); ++g)
      if (kernel.grid[g].axis == axis)
        length = std::min(length, kernel.grid[g].tile);
    bytes *= double(length);
  }
  return bytes;
}

double attn::profile::bytesRead(const bundle::Kernel &kernel,
                                const Lengths &lengths, double live,
                                int64_t blocks, int64_t resident,
                                int64_t cacheBytes) {
  const bundle::Prediction &p = kernel.prediction;
  double once = evaluate(p.bytesRead, lengths, live), total = once;

  // An operand without one of the grid's axes is read again at each step of it.
  for (const bundle::Term &term : p.bytesRead) {
    double times = 1;
    for (size_t g = 0; g < kernel.grid.size(); ++g) {
      const bundle::GridAxis &axis = kernel.grid[g];
      if (axis.axis.empty() || has(term.axes, axis.axis))
        continue;
      double distance = 0;
      for (const std::vector<bundle::Term> *list :
           {&p.bytesRead, &p.bytesWritten})
        for (const bundle::Term &other : *list)
          distance += touched(other, kernel, lengths, g);
      double steps = double(lengths.at(axis.axis)) / double(axis.tile);
      times *= 1 + goneShare(distance, cacheBytes) * std::max(0.0, steps - 1);
    }
    if (times > 1)
      total += (times - 1) * evaluate({term}, lengths, live);
  }

  // A row longer than the tile is read twice: for its sum, and to be written.
  Tile tile = tileOf(kernel.schedule);
  std::string row = walkedAxis(kernel);
  bool twice = p.tensorFlops.empty() && !p.exponentials.empty() &&
               tile.columns > 0 && !row.empty() &&
               lengths.at(row) > tile.columns;
  if (twice && blocks > 0) {
    double perBlock =
        (once + evaluate(p.bytesWritten, lengths, live)) / double(blocks);
    double distance = perBlock * double(std::min(blocks, resident));
    double rows = 0;
    for (const bundle::Term &term : p.bytesRead)
      if (has(term.axes, row))
        rows += evaluate({term}, lengths, live);
    total += goneShare(distance, cacheBytes) * rows;
  }
  return total;
}
