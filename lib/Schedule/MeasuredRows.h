//===- MeasuredRows.h - schedules of flash kernels that were measured -----===//
//
// Data only. attn-bench --tune times the schedules of a bundle and prints the row
// of the fastest; it takes the place of the row with the same first six fields.
// The first row that covers a problem is taken, so smaller widths stand first.
// Where no row covers a problem, Choose.cpp decides by rule.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_SCHEDULE_MEASUREDROWS_H
#define ATTN_LIB_SCHEDULE_MEASUREDROWS_H

#include "lib/Schedule/Choose.h"

namespace attn {

struct MeasuredRow {
  Unit unit;
  bool pipelined;       ///< Of level pipelined.
  int bytes;            ///< Of an operand's element.
  int64_t depth, out;   ///< Largest summed axis and output width it covers.
  bool uneven;          ///< A mask leaves rows with different keys.
  const char *schedule; ///< Overrides of what the rule would choose.
  const char *date;     ///< Of the measurement; "": not measured, said so in figure.
  const char *device;
  const char *figure;   ///< What was measured, against what; what was tried and lost.
};

/// "of cuDNN": speed relative to cuDNN 9.19 in the same run, bf16, B L = 16384,
/// H D = 2048, at L1024, L4096, L16384 (tools/peers/sdpa.py --sweep=main).
inline constexpr MeasuredRow kMeasuredRows[] = {
    {Unit::Wgmma, false, 2, 64, 64, false,
     "groups=4,columns=64,stages=4,vote=1,turns=0,persistent=1", "2026-12-02",
     "NVIDIA H200", "1.16, 1.17, 1.19 of cuDNN; 3 x 128: 1.07, 1.16, 1.23"},
    {Unit::Wgmma, false, 2, 64, 64, true,
     "groups=4,columns=64,stages=4,vote=1,turns=0,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.18, 1.24, 1.23 of cuDNN; turns 2: 1.15, 1.16, 1.15; 3 x 128: 0.93, 1.14, "
     "1.18; one tile a block: 1.09, 1.21, 1.22"},
    {Unit::Wgmma, false, 2, 128, 128, false,
     "groups=3,columns=80,stages=3,vote=1,turns=2,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.04 to 1.16, mean 1.11 of cuDNN; turns 1, static: 1.02 to 1.15, 1.10; "
     "2 x 128: 1.06"},
    {Unit::Wgmma, false, 2, 128, 128, true,
     "groups=3,columns=64,stages=4,vote=1,turns=0,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.08 to 1.28, mean 1.21 of cuDNN; 64 keys with turns: 1.20; 80 keys: 1.02 to "
     "1.32, 1.20; one tile a block: 0.91 at L1024"},
    {Unit::Wgmma, false, 2, 192, 128, false,
     "groups=3,columns=80,stages=2,vote=1,turns=2,persistent=2", "", "",
     "not measured; as 128"},
    {Unit::Wgmma, false, 2, 192, 128, true,
     "groups=3,columns=80,stages=2,vote=1,turns=2,persistent=2", "", "",
     "not measured; as 128"},
    {Unit::Wgmma, false, 2, 256, 256, false,
     "groups=2,columns=80,stages=2,vote=1,turns=1,persistent=1", "2026-12-02",
     "NVIDIA H200", "1.19, 1.18, 1.14 of cuDNN; 64 keys: 1.19, 1.16, 1.14"},
    {Unit::Wgmma, false, 2, 256, 256, true,
     "groups=2,columns=64,stages=2,vote=1,turns=1,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.21, 1.34, 1.38 of cuDNN; one tile a block: 1.09, 1.30, 1.24"},
};

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_MEASUREDROWS_H
