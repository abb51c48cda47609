//===- Float.cpp - the storage formats, bit by bit ------------------------===//

#include "lib/Reference/Float.h"

#include "lib/Runtime/Half.h"

#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::reference;
using spec::DType;

template <typename T> static T bitsOf(const std::byte *memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

template <typename To, typename From> static To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// `value` as f32 rounded to odd: the last bit says that something was cut off,
/// so that rounding the f32 to fewer bits rounds the float64 correctly.
static float toOdd(double value) {
  float nearest = float(value);
  if (double(nearest) == value || std::isnan(value))
    return nearest;
  uint32_t bits = bitCast<uint32_t>(nearest);
  if (std::fabs(double(nearest)) > std::fabs(value))
    --bits; // Towards zero; from infinity to the largest number.
  return bitCast<float>(bits | 1);
}

uint16_t attn::reference::toHalfBits(double value) {
  return runtime::halfBits(toOdd(value));
}

uint16_t attn::reference::toBfloatBits(double value) {
  return runtime::bfloatBits(toOdd(value));
}

double attn::reference::fromHalfBits(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) // Subnormal: a multiple of 2^-24.
    return double(mantissa) * (sign ? -0x1p-24 : 0x1p-24);
  if (exponent == 31)
    exponent = 255;
  else
    exponent += 112;
  return bitCast<float>(sign | exponent << 23 | mantissa << 13);
}

double attn::reference::fromBfloatBits(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

double attn::reference::load(DType dtype, const std::byte *memory) {
  switch (dtype) {
  case DType::F16:
    return fromHalfBits(bitsOf<uint16_t>(memory));
  case DType::BF16:
    return fromBfloatBits(bitsOf<uint16_t>(memory));
  case DType::F32:
    return bitsOf<float>(memory);
  case DType::I32:
    return bitsOf<int32_t>(memory);
  case DType::I64:
    return double(bitsOf<int64_t>(memory));
  case DType::I1:
    return bitsOf<uint8_t>(memory) != 0;
  case DType::F8E4M3:
  case DType::F8E5M2:
    break; // The checker rejects them.
  }
  return NAN;
}

void attn::reference::store(DType dtype, std::byte *memory, double value) {
  auto put = [memory](auto bits) { std::memcpy(memory, &bits, sizeof bits); };
  switch (dtype) {
  case DType::F16:
    return put(toHalfBits(value));
  case DType::BF16:
    return put(toBfloatBits(value));
  case DType::F32:
    return put(float(value));
  case DType::I32:
    return put(int32_t(value));
  case DType::I64:
    return put(int64_t(value));
  case DType::I1:
    return put(uint8_t(value != 0));
  case DType::F8E4M3:
  case DType::F8E5M2:
    break;
  }
}

double attn::reference::roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F16:
    return fromHalfBits(toHalfBits(value));
  case DType::BF16:
    return fromBfloatBits(toBfloatBits(value));
  case DType::F32:
    return float(value);
  default:
    return value;
  }
}

float attn::reference::roundToTf32(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  return bitCast<float>((bits + 0x1000) & ~uint32_t(0x1fff));
}

double attn::reference::spacing(DType dtype, double value) {
  int mantissa, smallest;
  switch (dtype) {
  case DType::F16:
    mantissa = 10, smallest = -24;
    break;
  case DType::BF16:
    mantissa = 7, smallest = -133;
    break;
  case DType::F32:
    mantissa = 23, smallest = -149;
    break;
  default:
    return 0;
  }
  double magnitude = std::fabs(value);
  if (!(magnitude > 0) || std::isinf(magnitude))
    return std::ldexp(1, smallest);
  // The exponent from the bits; a subnormal float64 is below every format.
  int exponent = int(bitCast<uint64_t>(magnitude) >> 52) - 1023;
  int power = exponent - mantissa;
  if (power < smallest)
    power = smallest;
  return bitCast<double>(uint64_t(power + 1023) << 52);
}
