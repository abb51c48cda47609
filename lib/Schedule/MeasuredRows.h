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
  /// Overrides on top where scores drift (Problem::drifts) and tiles would be done
  /// again, or tiles are short (Choose.cpp); "" where the maximum moves anyhow.
  const char *drifting = "";
};

/// "of cuDNN": speed relative to cuDNN 9.19 in the same run, bf16, B L = 16384,
/// H D = 2048, at L1024, L4096, L16384 (tools/peers/sdpa.py --sweep=main).
inline constexpr MeasuredRow kMeasuredRows[] = {
    {Unit::Wgmma, false, 2, 64, 64, false,
     "groups=4,columns=64,stages=4,vote=2,turns=1,persistent=1", "2026-12-02",
     "NVIDIA H200",
     "1.26, 1.31, 1.28 of cuDNN, frozen; turns 0: 1.24, 1.30, 1.25; 3 x 128, turns 2: "
     "1.12, 1.27, 1.34; by vote, turns 0: 1.17, 1.18, 1.17. Every tile done twice, "
     "L4096: 0.60, by vote 0.95",
     "vote=1,turns=0"},
    {Unit::Wgmma, false, 2, 64, 64, true,
     "groups=4,columns=64,stages=4,vote=2,turns=1,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.25, 1.38, 1.39 of cuDNN, frozen; turns 0: 1.22, 1.36, 1.35; by vote, turns 0: "
     "1.17, 1.26, 1.27; tiles a grid apart: 1.19, 1.17, 1.17. Every tile done twice, "
     "L4096: 0.63, by vote 1.06",
     "vote=1,turns=0"},
    {Unit::Wgmma, false, 2, 128, 128, false,
     "groups=2,columns=128,stages=2,vote=2,turns=1,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.17, 1.22, 1.22 of cuDNN, frozen; static 1.15, 1.18, 1.19; 3 x 80: 1.09, 1.19, "
     "1.23; by vote, 3 x 80, turns 2: 1.05, 1.14, 1.16; 2 x 128 by vote: 1.09, 1.08, "
     "1.10. Every tile done twice, L4096: 0.58, by vote 0.94",
     "groups=3,columns=80,stages=3,vote=1,turns=2"},
    {Unit::Wgmma, false, 2, 128, 128, true,
     "groups=2,columns=128,stages=2,vote=2,turns=1,persistent=2", "2026-12-02",
     "NVIDIA H200",
     "1.16, 1.37, 1.40 of cuDNN, frozen; 3 x 64: 1.11, 1.35, 1.38; by vote, 3 x 64: "
     "1.09, 1.29, 1.34; 2 x 128 by vote: 1.14, 1.24, 1.27. Every tile done twice, "
     "L4096: 0.65, by vote 0.98",
     "groups=3,columns=64,stages=4,vote=1,turns=0"},
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
