//===- Timeline.h - the buffer that stamped kernels write -----------------===//
//
// A stamped kernel takes the address of such a buffer (Arg::Kind::Timeline) and
// each of its warp groups writes a lane of it:
//
//   LaneHeader headers[lanes]
//   uint32_t   stamps[steps][lanes]
//
// A stamp is the low 28 bits of the multiprocessor's clock, shifted left by 4,
// and the number of the phase that begins there (Kernel::timeline names them).
// Stamps of a lane stand a row apart, and whether there is room for more is
// asked once for several: up to kSpareSteps rows behind the last may be written.
// Nobody reads those.
//
// Clocks of two multiprocessors have nothing in common, and the global timer moves
// in steps that differ from chip to chip; so a lane has both at its two ends,
// and stamps are clocks, which are exact and cost one instruction.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_BUNDLE_TIMELINE_H
#define ATTN_LIB_BUNDLE_TIMELINE_H

#include <cstdint>

namespace attn::bundle {

struct LaneHeader {
  uint64_t openNs;     ///< Global timer when the lane opened; 0: it never did.
  uint64_t openClock;  ///< The multiprocessor's clock then.
  uint64_t closeNs;    ///< 0: more stamps than could be counted.
  uint64_t closeClock;
  uint32_t multiprocessor;
  uint32_t stamps;     ///< Made, whether or not there was room.
};
static_assert(sizeof(LaneHeader) == 40, "kernels are compiled for this layout");

inline constexpr int kClockBits = 28; ///< Of a stamp.
inline constexpr int kPhaseBits = 4;
/// The phase number of the stamp that closes a lane.
inline constexpr uint32_t kLaneEnd = (1u << kPhaseBits) - 1;
/// step * lanes + lane stays below this.
inline constexpr uint32_t kMostStamps = 0xf0000000u;

/// Rows behind the last step that stamps may be written to.
inline constexpr int64_t kSpareSteps = 16;

/// Bytes of a buffer.
inline constexpr int64_t timelineBytes(int64_t lanes, int64_t steps) {
  return lanes * (int64_t(sizeof(LaneHeader)) + 4 * (steps + kSpareSteps));
}

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_TIMELINE_H
