//===- Float.h - the storage formats, bit by bit --------------------------===//
//
// Conversions between float64 and what lies in memory, rounding to nearest
// even once (never through a second format), and the spacing of each format.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_REFERENCE_FLOAT_H
#define ATTN_LIB_REFERENCE_FLOAT_H

#include "lib/Spec/Ast.h"

#include <cstddef>
#include <cstdint>

namespace attn::reference {

uint16_t toHalfBits(double value);
uint16_t toBfloatBits(double value);
double fromHalfBits(uint16_t bits);
double fromBfloatBits(uint16_t bits);

/// The element at `memory` as a number; i1 is 0 or 1.
double load(spec::DType dtype, const std::byte *memory);
/// Rounds (floats) or converts (integers) `value` into `memory`.
void store(spec::DType dtype, std::byte *memory, double value);

/// `value` rounded to a float dtype: to nearest even, infinity on overflow.
double roundTo(spec::DType dtype, double value);
/// The nearest number with the 10 explicit mantissa bits of tf32, ties away
/// from zero (what cvt.rna.tf32 does).
float roundToTf32(float value);

/// The distance to the next larger number of a float dtype at |value|; the
/// smallest subnormal below the normal range; 0 for integers.
double spacing(spec::DType dtype, double value);

} // namespace attn::reference

#endif // ATTN_LIB_REFERENCE_FLOAT_H
