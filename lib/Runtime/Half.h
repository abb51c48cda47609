//===- Half.h - f32 to 16-bit floats, to nearest even ---------------------===//
#ifndef ATTN_LIB_RUNTIME_HALF_H
#define ATTN_LIB_RUNTIME_HALF_H

#include <cstdint>
#include <cstring>

namespace attn::runtime {

inline uint16_t bfloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40); // NaN stays NaN.
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline uint16_t halfBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return uint16_t(sign | 0x7e00);
  if (bits >= 0x47800000) // 2^16 and more: infinity.
    return uint16_t(sign | 0x7c00);
  if (bits < 0x38800000) { // Below 2^-14: adding 1/2 leaves the subnormal's
    float magnitude;       // bits, rounded, at the low end of the sum.
    std::memcpy(&magnitude, &bits, sizeof bits);
    magnitude += 0.5f;
    std::memcpy(&bits, &magnitude, sizeof bits);
    return uint16_t(sign | (bits - 0x3f000000));
  }
  bits += 0xfff + (bits >> 13 & 1);
  return uint16_t(sign | ((bits >> 13) - (112 << 10)));
}

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_HALF_H
