//===- Exp2Offset.h - what packed exponentials add to their exponents -----===//
//
// Two who never meet keep it: the code of tile.exp2 packed adds it less a whole
// maximum (lib/Codegen/Gpu/Exp2Packed.h), and tile.running_max ... whole rounds the
// maximum so that the difference is exact (lib/Schedule/ExpandRunningMax.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TILE_EXP2OFFSET_H
#define ATTN_DIALECT_TILE_EXP2OFFSET_H

namespace attn::tile {

/// A multiple of 128 between 2^16 and 2^17.
inline constexpr float kExp2Offset = 98432.0f;

} // namespace attn::tile

#endif // ATTN_DIALECT_TILE_EXP2OFFSET_H
