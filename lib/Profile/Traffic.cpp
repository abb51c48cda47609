//===- Traffic.cpp - which bytes come from device memory, and how often ---===//

#include "lib/Profile/Traffic.h"

#include "lib/Profile/Reuse.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

using namespace attn;
using namespace attn::profile;

Tile attn::profile::tileOf(const std::string &schedule) {
  Tile tile;
  const char *at = schedule.c_str();
  auto says = [&](const char *words) {
    return schedule.find(words) != std::string::npos;
  };
  tile.grouped = says(" group");
  tile.dynamic = says("dynamic");
  tile.queriesAhead = says("queries ahead");
  size_t groups = schedule.find(" x "); // "2 groups x 64x128"
  bool grouped = groups != std::string::npos && tile.grouped;
  if (grouped || schedule.rfind("tile ", 0) == 0) {
    char *end = nullptr;
    tile.rows = std::strtoll(grouped ? at + groups + 3 : at + 5, &end, 10);
    if (*end == 'x')
      tile.columns = std::strtoll(end + 1, nullptr, 10);
    if (grouped)
      tile.rows *= std::strtoll(at, nullptr, 10);
  }
  if (size_t depth = schedule.find("depth "); depth != std::string::npos)
    tile.depth = std::strtoll(at + depth + 6, nullptr, 10);
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

std::string attn::profile::walkedAxis(const bundle::Kernel &kernel) {
  for (const bundle::Term &term : kernel.prediction.bytesWritten)
    for (const std::string &axis : term.axes)
      if (std::none_of(
              kernel.grid.begin(), kernel.grid.end(),
              [&](const bundle::GridAxis &g) { return g.axis == axis; }))
        return axis;
  return "";
}

RowBlocks attn::profile::rowBlocks(const bundle::Kernel &kernel,
                                   const Lengths &lengths,
                                   const std::string &rowAxis) {
  RowBlocks blocks;
  for (const bundle::GridAxis &axis : kernel.grid) {
    if (axis.axis == rowAxis && blocks.rows == 0) {
      blocks.rows = axis.tile;
      blocks.length = lengths.at(axis.axis);
      continue;
    }
    int64_t tiles = axis.axis.empty()
                        ? 1
                        : (lengths.at(axis.axis) + axis.tile - 1) / axis.tile;
    (blocks.rows == 0 ? blocks.within : blocks.repeats) *= tiles;
  }
  return blocks;
}

int64_t attn::profile::keysTouched(const LiveKeys &live, int64_t begin,
                                   int64_t end, int64_t step, int64_t keys) {
  LiveRow hull{begin, 0, keys};
  if (live.told())
    hull = live.hull(begin, end);
  if (hull.behind <= hull.first)
    return 0;
  int64_t first = hull.first / step * step;
  return (hull.behind - first + step - 1) / step * step;
}

int64_t attn::profile::keysLoaded(const LiveRow &row, int64_t columns) {
  constexpr int64_t kPiece = 16;
  if (row.behind <= row.first)
    return 0;
  int64_t first = columns > 0 ? row.first / columns * columns : row.first;
  return (row.behind + kPiece - 1) / kPiece * kPiece - first;
}

double attn::profile::touchedShare(const bundle::Kernel &kernel,
                                   const Lengths &lengths, const LiveKeys &live) {
  RowBlocks blocks = rowBlocks(kernel, lengths, live.rowAxis);
  if (!live.told() || blocks.rows == 0)
    return live.pairs;
  int64_t keys = lengths.at(live.keyAxis);
  Tile tile = tileOf(kernel.schedule);
  double touched = 0;
  for (int64_t begin = 0; begin < blocks.length; begin += blocks.rows) {
    int64_t end = std::min(begin + blocks.rows, blocks.length);
    int64_t keysHere = tile.depth > 0
                           ? keysTouched(live, begin, end, tile.depth, keys)
                           : keysLoaded(live.hull(begin, end), tile.columns);
    touched += double(end - begin) * double(std::min(keys, keysHere));
  }
  return touched / (double(blocks.length) * double(keys));
}

double attn::profile::goneShare(double distance, int64_t cacheBytes) {
  if (cacheBytes <= 0)
    return 1;
  // No cache forgets all at once, and a line that both halves of this one want
  // takes two places. Counted on an H200 (2026-12-02): of a row's second reading
  // 34 % at 0.52 of the L2's size, of a mask that every head reads again 85 % at
  // 0.80.
  constexpr double kFirst = 0.31, kAll = 0.86;
  double filled = distance / double(cacheBytes);
  return std::clamp((filled - kFirst) / (kAll - kFirst), 0.0, 1.0);
}

double attn::profile::blockBytes(const bundle::Term &term,
                                 const bundle::Kernel &kernel,
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
                                const Lengths &lengths, const LiveKeys &live,
                                int64_t blocks, int64_t resident,
                                int64_t cacheBytes) {
  const bundle::Prediction &p = kernel.prediction;
  double share = touchedShare(kernel, lengths, live);
  double once = evaluate(p.bytesRead, lengths, share), total = once;

  // Where tiles are taken in turns, who shares keys is simulated.
  KeyWalks walks = keyWalks(kernel, lengths, live, resident);
  double sharedTimes = walks.rows.empty() ? 1 : 1 + readAgain(walks, cacheBytes);

  // Otherwise an operand without one of the grid's axes is read again at each step of it.
  for (const bundle::Term &term : p.bytesRead) {
    double times = 1;
    for (size_t g = 0; g < kernel.grid.size(); ++g) {
      const bundle::GridAxis &axis = kernel.grid[g];
      if (axis.axis.empty() || hasAxis(term, axis.axis))
        continue;
      double distance = 0;
      for (const std::vector<bundle::Term> *list :
           {&p.bytesRead, &p.bytesWritten})
        for (const bundle::Term &other : *list)
          distance += blockBytes(other, kernel, lengths, g);
      double steps = double(lengths.at(axis.axis)) / double(axis.tile);
      times *= 1 + goneShare(distance, cacheBytes) * std::max(0.0, steps - 1);
    }
    if (!walks.rows.empty() && hasAxis(term, live.keyAxis) &&
        !hasAxis(term, live.rowAxis))
      times = sharedTimes;
    if (times > 1)
      total += (times - 1) * evaluate({term}, lengths, share);
  }

  // A row longer than the tile is read twice: for its sum, and to be written.
  Tile tile = tileOf(kernel.schedule);
  std::string row = walkedAxis(kernel);
  bool twice = p.tensorFlops.empty() && !p.exponentials.empty() &&
               tile.columns > 0 && !row.empty() &&
               lengths.at(row) > tile.columns;
  if (!twice || blocks <= 0)
    return total;
  // Between its two readings a block, and each of those beside it, does half of
  // what it does for its rows in all.
  double written = evaluate(p.bytesWritten, lengths, 1) / double(blocks);
  double beside = double(std::min(blocks, resident)) / 2;
  for (const bundle::Term &term : p.bytesRead) {
    if (!hasAxis(term, row))
      continue;
    double whole = evaluate({term}, lengths, 1);
    auto again = [&](double keys) { // Share of the row's keys.
      double distance = beside * (keys * whole / double(blocks) + written);
      return keys * double(lengths.at(row)) > double(tile.columns)
                 ? keys * goneShare(distance, cacheBytes)
                 : 0;
    };
    if (!term.live || !live.told()) {
      total += whole * again(term.live ? share : 1);
      continue;
    }
    double sum = 0;
    for (const LiveRow &told : live.rows)
      sum += again(double(keysLoaded(told, tile.columns)) / double(lengths.at(row)));
    total += whole * sum / double(live.rows.size());
  }
  return total;
}
