//===- Exp2Packed.h - 2^x for bf16, two at a time -------------------------===//
//
// x + 98432 lies between 2^16 and 2^17, where floats are 2^-7 apart: less the bits of
// 98305 it is (x + 127) 2^7, the bits of a bf16 whose exponent is that of 2^x and
// whose mantissa is x's fraction f: the straight line 2^n (1 + f), `power`. 98432 is a
// multiple of 128, so that its sum with a whole maximum can be exact however large
// that is (tile.running_max ... whole).
//
// One instruction takes the bits away, cuts below at 0 and above at infinity, where
// NaN ends, too. It wraps where the sum is negative and above -98304: there x, far
// below, comes out infinite. Who is not `checked` cuts the sum from below first.
//
// 2^f lies below the line by at most 11 steps of a bf16's last place. A cubic in
// m = 1 + f, computed in bf16 around 176, where numbers are 1 apart, counts them:
// `bend`, whose bits are those of 176 less that count. It is 0 at f = 0, so whole
// powers, 0 and infinity are exact. Error of the whole, x uniform: 2.25e-3 rms, of
// which 1.56e-3 are x's rounding and the rest that of the result; mean 5e-5. (The
// best that 2^-7 and bf16 can do is 2.22e-3, a quadratic for 2^f itself 2.52e-3.)
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_EXP2PACKED_H
#define ATTN_LIB_CODEGEN_GPU_EXP2PACKED_H

#include "dialect/Tile/Exp2Offset.h"

#include <cstdint>

namespace attn::gpu {

struct Exp2Packed {
  static constexpr float kOffset = tile::kExp2Offset;
  static constexpr uint32_t kLowest = 0x47c00080;   ///< Bits of 98305: x = -127.
  static constexpr uint32_t kInfinity = 0x7f80;     ///< Of a bf16.
  static constexpr uint32_t kFraction = 0x007f007f; ///< Of a pair.
  static constexpr uint32_t kOne = 0x3f803f80;
  static constexpr uint32_t kBase = 0x43304330; ///< 176, what bends are counted from.
  /// Pairs of 11.4375, -6.15625, -61.25 and 232.
  static constexpr uint32_t kCubic = 0x41374137, kSquare = 0xc0c5c0c5,
                            kLinear = 0xc275c275, kConstant = 0x43684368;

  /// A pair of numbers, two registers.
  template <typename Value> struct Halves {
    Value power, bend;
  };

  /// From x + kOffset, rounded once, of two neighbours. `Code` writes or does one
  /// machine's arithmetic: bits (a constant), bitsOf (of a float), maxInt (signed),
  /// addAndCut (x + y, wrapping, then cut to 0 and a limit), join (two low halves),
  /// maskOr ((x & y) | z), fmaPair (of bf16).
  template <typename Code, typename Value>
  static Halves<Value> from(Code &code, Value low, Value high, bool checked) {
    auto line = [&](Value sum) {
      Value whole = code.bitsOf(sum);
      if (!checked)
        whole = code.maxInt(whole, code.bits(kLowest));
      return code.addAndCut(whole, code.bits(0u - kLowest), code.bits(kInfinity));
    };
    Value power = code.join(line(low), line(high));
    Value m = code.maskOr(power, code.bits(kFraction), code.bits(kOne));
    Value bend = code.fmaPair(m, code.bits(kCubic), code.bits(kSquare));
    bend = code.fmaPair(bend, m, code.bits(kLinear));
    bend = code.fmaPair(bend, m, code.bits(kConstant));
    return {power, bend};
  }

  /// The pair of bf16. The sums of both halves stay within them.
  template <typename Code, typename Value>
  static Value together(Code &code, Value power, Value bend) {
    return code.add(code.add(power, bend), code.bits(0u - kBase));
  }
};

} // namespace attn::gpu

#endif // ATTN_LIB_CODEGEN_GPU_EXP2PACKED_H
