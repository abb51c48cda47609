//===- Traffic.cpp - which bytes come from device memory, and how often ---===//

#include "lib/Profile/Traffic.h"

#include "lib/Profile/Reuse.h"
#include "lib/Profile/SecondReading.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>

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

/// How many times as many lines of the cache pieces of `elements` of this operand's
/// rows touch as pieces that begin where a line does.
static double linesShare(const bundle::Term &term, const Lengths &lengths,
                         int64_t elements) {
  constexpr int64_t kLine = 128;
  if (term.axes.empty() || elements <= 0)
    return 1;
  int64_t length = lengths.at(term.axes.back());
  auto pitch = int64_t(term.coefficient * double(length));
  auto piece = int64_t(term.coefficient * double(elements));
  if (length <= elements || pitch <= 0 || piece <= 0)
    return 1;
  // Pieces start at all multiples of what rows, pieces and lines share.
  int64_t apart = std::gcd(std::gcd(pitch, piece), kLine);
  double lines = double(piece + kLine - apart) / double(kLine);
  return lines / double((piece + kLine - 1) / kLine);
}

/// The grid's step along the last axis of an operand's rows; 0: the grid has none.
static int64_t columnsOfBlock(const bundle::Term &term, const bundle::Kernel &kernel) {
  if (!term.axes.empty())
    for (const bundle::GridAxis &axis : kernel.grid)
      if (axis.axis == term.axes.back())
        return axis.tile;
  return 0;
}

double attn::profile::bytesOfWrittenLines(const bundle::Kernel &kernel,
                                          const Lengths &lengths) {
  double bytes = 0;
  for (const bundle::Term &term : kernel.prediction.bytesWritten)
    bytes += evaluate({term}, lengths, 1) *
             linesShare(term, lengths, columnsOfBlock(term, kernel));
  return bytes;
}

double attn::profile::cacheBytesMoved(const bundle::Kernel &kernel,
                                      const Lengths &lengths, const LiveKeys &live,
                                      int64_t blocks) {
  const bundle::Prediction &p = kernel.prediction;
  int64_t depth = tileOf(kernel.schedule).depth;
  bool passesOver = countsLive(p.tensorFlops) && live.told();
  double share = passesOver ? touchedShare(kernel, lengths, live) : 1, bytes = 0;
  for (const bundle::Term &term : p.bytesRead)
    bytes += double(blocks) * blockBytes(term, kernel, lengths) *
             (hasAxis(term, live.keyAxis) ? share : 1) *
             (columnsOfBlock(term, kernel) ? 1 : linesShare(term, lengths, depth));
  return bytes + evaluate(p.bytesWritten, lengths, 1);
}

/// Bytes that the copy engine brings beside the pieces of rows it is asked for, when a
/// block walks along an operand's rows. Tensor maps have the L2 cache fetch 256 bytes at
/// a time (lib/Runtime/CudaDevice.cpp). What lies beside a row's part is the next row's,
/// or dead, and gone when it is asked for.
static double bytesBesideRows(const bundle::Term &term, const bundle::Kernel &kernel,
                              const Lengths &lengths, const LiveKeys &live) {
  constexpr int64_t kFetched = 256;
  const int64_t depth = tileOf(kernel.schedule).depth;
  if (term.axes.empty() || depth <= 0 || lengths.at(term.axes.back()) <= depth)
    return 0;
  const int64_t keys = lengths.at(term.axes.back());
  auto bytes = [&](int64_t count) { return int64_t(term.coefficient * double(count)); };
  const int64_t pitch = bytes(keys), apart = std::gcd(pitch, kFetched);
  // Of the part [first, behind) of a row.
  auto beside = [&](int64_t first, int64_t behind) -> int64_t {
    int64_t begin = bytes(first), end = bytes(behind);
    if (end <= begin)
      return 0;
    if (apart < kFetched) // Rows begin at all multiples of it.
      return (end - begin + apart - 1) / apart * apart - (end - begin) + kFetched - apart;
    return begin % kFetched + (kFetched - end % kFetched) % kFetched;
  };
  const double rows = evaluate({{term.coefficient, term.axes, false}}, lengths, 1) /
                      double(pitch);
  RowBlocks blocks = rowBlocks(kernel, lengths, live.rowAxis);
  if (!live.told() || blocks.rows == 0 || !countsLive(kernel.prediction.tensorFlops))
    return rows * double(beside(0, keys));
  double sum = 0;
  for (int64_t begin = 0; begin < blocks.length; begin += blocks.rows) {
    int64_t end = std::min(begin + blocks.rows, blocks.length);
    LiveRow hull = live.hull(begin, end);
    int64_t behind = std::min((hull.behind + depth - 1) / depth * depth, keys);
    sum += double(end - begin) * double(beside(hull.first / depth * depth, behind));
  }
  return rows * sum / double(blocks.length);
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

  if (Tile tile = tileOf(kernel.schedule); tile.grouped)
    for (const bundle::Term &term : p.bytesRead)
      if (!columnsOfBlock(term, kernel))
        total += bytesBesideRows(term, kernel, lengths, live);

  return total + readAgainInRows(kernel, lengths, live, blocks, resident, cacheBytes);
}
