//===- Exp2Polynomial.h - 2^x from additions and multiplications ----------===//
//
// For machines whose special-function unit is busier than their multipliers.
//
// x + 768 lies in [512, 1024), where floats are 2^-14 apart, so that its bits hold
// x = n + f as two fields, n (9 bits) above f (14 bits): x is rounded to 2^-15,
// which is 2.1e-5 of the result, and nothing has to be converted. Shifted up by 9
// they are what a float's exponent and mantissa need for 2^n (1 + f); the mantissa
// still has to become 2^f - 1. A cubic gives
//
//   g(f) = (1 + 2^f - f) / 2,   0.957 < g <= 1,
//
// whose bits are those of 1 plus 2^23 (2^f - 1 - f): floats below 1 are twice as
// dense as those above it. One addition of integers puts both together.
//
// g is written as v^3 + a v + e with v = k f + h, three operations; its error is
// 8.6e-5 of 2^f at most (the best that a cubic exact at 0 can do) and g(0) is
// exactly 1, so that 2^-127, which everything below is raised to, has the bits of
// 0. The sign of -g takes the top bit of the shifted field away again. NaN passes:
// max and and keep all ones in the exponent, the cubic makes it the canonical NaN,
// and the addition leaves its exponent as it is.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_EXP2POLYNOMIAL_H
#define ATTN_LIB_CODEGEN_GPU_EXP2POLYNOMIAL_H

#include <cstdint>

namespace attn::gpu {

struct Exp2Polynomial {
  static constexpr float kOffset = 768.0f;
  static constexpr float kLowest = 768.0f - 127.0f;  ///< 2^-127: its bits are 0's.
  static constexpr float kHighest = 768.0f + 128.0f; ///< 2^128: infinity's bits.
  /// Keeps sign, exponent and f: 512 + f, or NaN.
  static constexpr uint32_t kFraction = 0xff803fff;
  /// Of (512 + f), for -v; of v^2 + a; -e.
  static constexpr float kSlope = -0x1.59deb6p-2f;
  static constexpr float kStart = 0x1.593470p+7f;
  static constexpr float kLinear = -0x1.90f5cep-1f;
  static constexpr float kConstant = -0x1.3941b2p+0f;

  /// 2^x from `sum`, x + kOffset rounded once; x below 128 unless `unbounded`.
  /// `Code` writes or does one machine's arithmetic: real, fma, max and min that
  /// keep NaN; maskBits (and), addBits (y + (x << shift), on bits).
  template <typename Code, typename Value>
  static Value from(Code &code, Value sum, bool unbounded) {
    sum = code.max(sum, code.real(kLowest));
    if (unbounded)
      sum = code.min(sum, code.real(kHighest));
    Value whole = code.maskBits(sum, kFraction);
    Value v = code.fma(whole, code.real(kSlope), code.real(kStart));
    Value g = code.fma(v, v, code.real(kLinear));
    g = code.fma(g, v, code.real(kConstant));
    return code.addBits(g, sum, 9);
  }
};

} // namespace attn::gpu

#endif // ATTN_LIB_CODEGEN_GPU_EXP2POLYNOMIAL_H
