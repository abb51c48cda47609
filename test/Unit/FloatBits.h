//===- FloatBits.h - a float's bits, for tests of arithmetic on them -------===//
#ifndef ATTN_TEST_UNIT_FLOATBITS_H
#define ATTN_TEST_UNIT_FLOATBITS_H

#include <cstdint>
#include <cstring>

namespace attn::test {

inline uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

} // namespace attn::test

#endif // ATTN_TEST_UNIT_FLOATBITS_H
