//===- Layout.h - which thread holds what, and where in shared memory -----===//
//
// Pure index arithmetic, shared by the emitter and its unit test. No MLIR.
//
// Tiles. In both layouts the elements a thread holds are a product of row slots
// and column slots, and the position of a slot is a base that depends on the
// thread plus a constant that depends on the slot:
//   accumulator<W, F>, thread = 32 w + 4 g + t:
//     row slot i = 2 f + h     at 16 F w + g  +  16 f + 8 h
//     column slot k = 2 j + p  at 2 t         +  8 j + p
//   rows<W, V>, thread = 32 w + l:
//     row slot i               at w           +  W i
//     column slot k = V j + v  at V l         +  32 V j + v
//
// Shared memory. A stage is row-major in 16-byte chunks, n chunks a row. Chunk c
// of row r is kept at chunk c ^ swizzle(r) of the row, with
//   z = min(3, trailing zeros of n),  swizzle(r) = (r mod 8) >> (3 - z).
// Claim: the same chunk of eight rows that start at a multiple of 8 lies in
// eight different bank groups (address / 16 mod 8), so an ldmatrix phase has no
// conflict. The group is (n r + (c ^ swizzle(r))) mod 8. Write n = 2^z m, m odd
// (or any m when z = 3). The low z bits are (c ^ swizzle(r)) mod 2^z, since n r
// does not reach them: they determine the top z bits of r mod 8. The other 3 - z
// bits are m r mod 2^(3-z) plus a constant, m odd: they determine the low 3 - z
// bits of r. So r mod 8 is determined. Eight consecutive chunks (a phase of a
// copy) are conflict-free too: the exclusive or permutes chunks in aligned
// groups of 2^z.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_LAYOUT_H
#define ATTN_LIB_CODEGEN_GPU_LAYOUT_H

#include <algorithm>
#include <cstdint>

namespace attn::gpu {

/// How tiles are spread over the threads of a block.
struct ThreadLayout {
  bool accumulator = true; ///< Else the rows layout.
  int64_t warps = 4;
  int64_t fragments = 1; ///< Accumulator layout: 16-row fragments a warp.
  int64_t vector = 4;    ///< Rows layout: consecutive columns a lane.

  int64_t threads() const { return 32 * warps; }

  /// Whether a tile of that many rows (columns) can be spread. 1 always can: a
  /// column (row) value is held by every thread that needs it.
  bool fitsRows(int64_t rows) const {
    return rows == 1 || (accumulator ? rows == 16 * fragments * warps
                                     : rows % warps == 0);
  }
  bool fitsColumns(int64_t columns) const {
    return columns == 1 || columns % (accumulator ? 8 : 32 * vector) == 0;
  }

  /// Slots a thread has for a tile of that many rows (columns).
  int64_t rowSlots(int64_t rows) const {
    return rows == 1 ? 1 : accumulator ? 2 * fragments : rows / warps;
  }
  int64_t columnSlots(int64_t columns) const {
    return columns == 1 ? 1 : accumulator ? columns / 4 : columns / 32;
  }

  /// Position of a slot relative to the thread's base.
  int64_t rowDelta(int64_t slot) const {
    return accumulator ? 16 * (slot / 2) + 8 * (slot % 2) : warps * slot;
  }
  int64_t columnDelta(int64_t slot) const {
    return accumulator ? 8 * (slot / 2) + slot % 2
                       : 32 * vector * (slot / vector) + slot % vector;
  }

  /// The thread's base, for checks; the emitter computes the same at run time.
  int64_t rowBase(int64_t thread) const {
    int64_t warp = thread / 32, lane = thread % 32;
    return accumulator ? 16 * fragments * warp + lane / 4 : warp;
  }
  int64_t columnBase(int64_t thread) const {
    int64_t lane = thread % 32;
    return accumulator ? 2 * (lane % 4) : vector * lane;
  }
  /// Columns that lie side by side in a thread's slots, from an even slot on.
  int64_t run() const { return accumulator ? 2 : vector; }
};

/// A stage in shared memory: rows of whole 16-byte chunks, swizzled.
struct StageLayout {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t elementBytes = 2;

  int64_t rowBytes() const { return columns * elementBytes; }
  int64_t chunks() const { return rowBytes() / 16; }
  int64_t bytes() const { return rows * rowBytes(); }
  int64_t perChunk() const { return 16 / elementBytes; }

  /// Bits of the chunk number that the row changes.
  int64_t swizzleBits() const {
    int64_t bits = 0;
    while (bits < 3 && chunks() % (int64_t(2) << bits) == 0)
      ++bits;
    return bits;
  }
  int64_t swizzle(int64_t row) const { return (row % 8) >> (3 - swizzleBits()); }
  /// Byte offset of an element.
  int64_t offset(int64_t row, int64_t column) const {
    int64_t chunk = column / perChunk();
    return row * rowBytes() + (chunk ^ swizzle(row)) * 16 +
           column % perChunk() * elementBytes;
  }
};

/// Which row and 16-byte chunk, relative to the corner of a block of 16 rows and
/// 2 chunks, a lane names to ldmatrix.x4.
enum class MatrixOrder {
  /// Matrices: rows 0-7 chunk 0, rows 8-15 chunk 0, rows 0-7 chunk 1, rows
  /// 8-15 chunk 1. Operand a of an mma; operand b from KxN, transposing.
  RowsFirst,
  /// Rows 0-7 chunk 0, rows 0-7 chunk 1, then rows 8-15. Operand b from NxK.
  ChunksFirst,
};
inline int64_t matrixRow(MatrixOrder order, int64_t lane) {
  return order == MatrixOrder::RowsFirst ? lane % 16
                                         : lane % 8 + 8 * (lane / 16);
}
inline int64_t matrixChunk(MatrixOrder order, int64_t lane) {
  return order == MatrixOrder::RowsFirst ? lane / 16 : lane / 8 % 2;
}

/// How the threads of a block share the chunks of a stage. Each participating
/// thread keeps one chunk column (or a few, `chunkStep` apart) and goes down the
/// rows, so that nearly all of its address is computed once.
struct CopyPlan {
  int64_t threads = 0;   ///< Those that take part; the rest are idle.
  int64_t chunkSteps = 1;///< Chunks a thread takes in a row...
  int64_t chunkStep = 0; ///< ...this far apart.
  int64_t rowStep = 1;   ///< Rows between a thread's rows.
  int64_t rowSteps = 1;

  CopyPlan(const StageLayout &stage, int64_t available) {
    int64_t chunks = stage.chunks();
    if (chunks <= available) {
      // Rows at once: a divisor-free choice would leave a ragged last step, so
      // take as many whole rows as fit.
      rowStep = std::min(available / chunks, stage.rows);
      threads = rowStep * chunks;
      rowSteps = (stage.rows + rowStep - 1) / rowStep;
    } else {
      threads = available;
      chunkStep = available;
      chunkSteps = (chunks + available - 1) / available;
      rowSteps = stage.rows;
    }
  }
  int64_t row(const StageLayout &stage, int64_t thread) const {
    return chunkStep ? 0 : thread / stage.chunks();
  }
  int64_t chunk(const StageLayout &stage, int64_t thread) const {
    return chunkStep ? thread : thread % stage.chunks();
  }
};

} // namespace attn::gpu

#endif // ATTN_LIB_CODEGEN_GPU_LAYOUT_H
