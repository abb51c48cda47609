//===- DotAsync.cpp - Hopper: products in flight --------------------------===//
//
// Instructions are written as PTX text, one volatile statement each. Encodings:
//
// Matrix descriptor (64 bits): address / 16 in bits 0-13, leading offset / 16 in
// 16-29, stride offset / 16 in 32-45, 1 << 62 for the 128-byte swizzle. Kept as
// a low word and a constant high word, so that a stage or a k-step is one 32-bit
// addition. Stride offset: 1024 bytes, the next 8 rows of a slab.
//   K-major (rows of the summed axis, `transposed` b and a): a k-step of 16 is 32
//   bytes inside a slab of 64 columns, every fourth step the next slab. The
//   leading offset is ignored.
//   MN-major (b as KxN): a k-step is 16 rows, 2048 bytes; the leading offset is
//   the distance of slabs, the next 64 columns of the result.
//
// Row sums. Columns 64 to 71 of an MN-major b lie in the next slab, wherever the
// leading offset says that is: for b's last slab, in one of ones. Those are 16 rows
// only, the same for every k-step, so a step moves the address on and the leading
// offset back. Where b's last slab is not full its columns of zeros would come
// first; the sums are then a product of their own, 8 columns wide.
//
// A product and the close of its group are one statement, so nothing can come
// between; a wait ties every register it gives back, so nothing can pass it.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpu;

static constexpr int64_t kDescriptorHigh = (1024 >> 4) | (1 << 30);
/// Of a k-step of an MN-major operand, 16 rows of 128 bytes.
static constexpr int64_t kStepBytes = 2048;

/// Of a descriptor's low word: the leading offset, in bytes.
static constexpr int64_t leading(int64_t bytes) { return (bytes / 16) << 16; }

/// 2048 bytes, 16 for each of the first 128 threads. The tensor cores read shared
/// memory by way of the copy engine's proxy, hence the fence; the barrier is the
/// program's.
LogicalResult GpuEmitter::emitFillOnes(tile::FillOnesOp op) {
  const SlabRing ring = slabRings.lookup(op.getSlabs());
  bool half = op.getSlabs().getType().getElement().isF16();
  Value pair = t.c32(half ? 0x3C003C00 : 0x3F803F80);
  Value address = t.add(t.add(sharedBase, ring.offset), t.mul(blockThread, 16));
  t.assembly({}, {t.less(blockThread, t.c32(ring.stageBytes() / 16)), address, pair},
             "@$0 st.shared.v4.b32 [$1], {$2, $2, $2, $2};\n\t"
             "fence.proxy.async.shared::cta;",
             "b,r,r,~{memory}", true);
  return success();
}

/// "{$first, $first+1, ...}"
static std::string registerList(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

namespace {
/// Columns of a product that one instruction a k-step computes.
struct Columns {
  int64_t first, count;
  Value low; ///< Of b's descriptor at the first k-step.
  /// What is added to `low` for a k-step.
  llvm::function_ref<int64_t(int64_t step)> ahead;
};
} // namespace

LogicalResult GpuEmitter::emitDotAsync(tile::DotAsyncOp op) {
  auto b = slabOperands.find(op.getB());
  if (b == slabOperands.end())
    return op.emitOpError("operand b must come from tile.slab_read");
  const SlabOperand &right = b->second;
  auto bType = cast<RankedTensorType>(op.getB().getType());
  auto cType = cast<RankedTensorType>(op.getType());
  auto aType = cast<RankedTensorType>(op.getA().getType());
  int64_t columns = cType.getDimSize(1), steps = aType.getDimSize(1) / 16;
  int64_t registers = columns / 2;
  std::string element = aType.getElementType().isF16() ? "f16" : "bf16";
  bool transposed = op.getTransposed();
  auto a = slabOperands.find(op.getA());
  bool aInShared = a != slabOperands.end();

  auto alongRows = [](int64_t step, int64_t slabBytes) {
    return (step / 4 * slabBytes + step % 4 * 32) / 16;
  };
  auto ofB = [&](int64_t step) {
    return transposed ? alongRows(step, right.ring.slabBytes()) : step * kStepBytes / 16;
  };
  auto toOnes = [](int64_t step) {
    return step * (kStepBytes / 16 - leading(kStepBytes));
  };
  auto staysThere = [](int64_t) -> int64_t { return 0; };
  SmallVector<Columns> parts;
  Value bLow = t.add(right.low, leading(transposed ? 16 : right.ring.slabBytes()));
  if (!op.getOnes()) {
    parts.push_back({0, columns, bLow, ofB});
  } else {
    const SlabRing ring = slabRings.lookup(op.getOnes());
    if (ring.offset < right.ring.offset)
      return op.emitOpError("ones must be reserved after the slabs of b");
    Value ones = t.shiftRight(t.bitAnd(t.add(sharedBase, ring.offset), 0x3FFFF), 4);
    int64_t own = bType.getDimSize(1), beside = own % 64 == 0 ? 64 : 0;
    if (own > beside)
      parts.push_back({0, own - beside, bLow, ofB});
    if (beside) {
      Value last = t.add(right.low, (own / 64 - 1) * right.ring.slabBytes() / 16);
      Value low = t.add(last, t.mul(t.sub(ones, last), int64_t(1) << 16));
      parts.push_back({own - beside, beside + tile::kSumColumns, low, toOnes});
    } else {
      parts.push_back({own, tile::kSumColumns, t.add(ones, leading(16)), staysThere});
    }
  }

  // Operands: the results, b's descriptors, a's descriptor or registers, what the
  // sum starts from.
  SmallVector<Value> operands;
  std::string constraints;
  for (int64_t i = 0; i < registers; ++i)
    constraints += "=&f,";
  for (const Columns &part : parts) {
    constraints += operands.empty() ? "r" : ",r";
    operands.push_back(part.low);
  }
  int64_t bAt = registers, aAt = bAt + static_cast<int64_t>(parts.size());
  if (aInShared) {
    operands.push_back(t.add(a->second.low, leading(16)));
    constraints += ",r";
  } else {
    Slots slots = expanded(op.getA());
    for (int64_t s = 0; s < steps; ++s)
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t h = 0; h < 2; ++h) {
          Value pair = t.pair(slots.at(h, 4 * s + 2 * half),
                              slots.at(h, 4 * s + 2 * half + 1));
          operands.push_back(t.bitcast(pair, t.i32()));
          constraints += ",r";
        }
  }
  if (op.getAccumulator()) {
    Slots sum = expanded(op.getAccumulator());
    for (int64_t i = 0; i < registers; ++i) {
      // Register i: row slot (i / 2) % 2, column slots two a fragment.
      operands.push_back(sum.at((i / 2) % 2, 2 * (i / 4) + i % 2));
      constraints += "," + std::to_string(i);
    }
  }

  std::string text = "{\n\t.reg .b64 da, db;\n\t.reg .b32 ta, tb, hi;\n\t.reg .pred on;\n\t"
                     "mov.b32 hi, " + std::to_string(kDescriptorHigh) + ";\n\t";
  if (op.getFence())
    text += "wgmma.fence.sync.aligned;\n\t";
  auto descriptor = [&](const std::string &name, int64_t at, int64_t ahead) {
    text += "add.u32 t" + name + ", $" + std::to_string(at) + ", " +
            std::to_string(static_cast<uint32_t>(ahead)) + ";\n\tmov.b64 d" + name +
            ", {t" + name + ", hi};\n\t";
  };
  for (int64_t s = 0; s < steps; ++s) {
    bool fresh = s == 0 && !op.getAccumulator();
    if (s == 0 || (s == 1 && !op.getAccumulator()))
      text += std::string("setp.ne.b32 on, ") + (fresh ? "0" : "1") + ", 0;\n\t";
    std::string left = aInShared ? "da" : registerList(aAt + 4 * s, 4);
    for (auto [i, part] : llvm::enumerate(parts)) {
      descriptor("b", bAt + static_cast<int64_t>(i), part.ahead(s));
      if (aInShared && i == 0)
        descriptor("a", aAt, alongRows(s, a->second.ring.slabBytes()));
      text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(part.count) +
              "k16.f32." + element + "." + element + " " +
              registerList(part.first / 2, part.count / 2) + ", " + left +
              ", db, on, 1, 1, " + (aInShared ? "0, " : "") +
              (transposed ? "0" : "1") + ";\n\t";
    }
  }
  text += "wgmma.commit_group.sync.aligned;\n\t}";
  SmallVector<Type> types(registers, t.f32());
  SmallVector<Value> values =
      t.assembly(types, operands, text, constraints + ",~{memory}", true);

  Slots to;
  to.rows = 2;
  to.columns = columns / 4;
  to.values.resize(registers);
  for (int64_t i = 0; i < registers; ++i)
    to.values[(i / 2) % 2 * to.columns + 2 * (i / 4) + i % 2] = values[i];
  tiles[op.getResult()] = to;
  return success();
}

LogicalResult GpuEmitter::emitDotWait(tile::DotWaitOp op) {
  Slots from = expanded(op.getValue());
  SmallVector<Value> operands(from.values);
  std::string constraints;
  for (size_t i = 0; i < from.values.size(); ++i)
    constraints += (i ? ",=f" : "=f");
  for (size_t i = 0; i < from.values.size(); ++i)
    constraints += "," + std::to_string(i);
  for (Value held : op.getHolding()) {
    Slots slots = expanded(held);
    for (int64_t i = 0; i < slots.rows; ++i)
      for (int64_t k = 0; k < slots.columns; k += 2) {
        operands.push_back(
            t.bitcast(t.pair(slots.at(i, k), slots.at(i, k + 1)), t.i32()));
        constraints += ",r";
      }
  }
  SmallVector<Type> types(from.values.size(), t.f32());
  from.values = t.assembly(types, operands,
                           "wgmma.wait_group.sync.aligned " +
                               std::to_string(op.getPending()) + ";",
                           constraints + ",~{memory}", true);
  tiles[op.getResult()] = from;
  return success();
}

LogicalResult GpuEmitter::emitSplitSums(tile::SplitSumsOp op) {
  if (!layout.accumulator)
    return op.emitOpError("needs #tile.accumulator");
  Slots from = expanded(op.getValue()), product, sums;
  product.rows = sums.rows = from.rows;
  product.columns = columnSlots(op.getProduct().getType());
  for (int64_t i = 0; i < from.rows; ++i) {
    for (int64_t k = 0; k < product.columns; ++k)
      product.values.push_back(from.at(i, k));
    sums.values.push_back(from.at(i, product.columns));
  }
  tiles[op.getProduct()] = product;
  tiles[op.getSums()] = sums;
  return success();
}
