//===- Timeline.cpp - stamps of a program that records its phases ---------===//
//
// A stamp must cost little and disturb nothing, least of all the products in
// flight around it. It is one statement without a branch: read the clock, which
// is one instruction, add the phase, store if this thread writes. What it
// remembers is one 32-bit register of its own, step * lanes + lane, named in the
// text and never seen by LLVM, so that no loop has to carry it. Threads that
// do not write have a number there that stays beyond every limit.
//
// Clocks, not the global timer: that one moves in steps of up to a microsecond
// on some chips. It is read where a lane opens and closes, beside the clock, which
// places the lane in time.
//
// The store names no address that LLVM or the assembler may see as another
// tensor's; `volatile` statements keep their order among waits and products.
// Plain arithmetic may still be moved across a stamp by the assembler, so the
// bounds of the softmax are as sharp as its scheduling is.
//
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Gpu/GpuEmitter.h"

#include "lib/Bundle/Timeline.h"

#include <cstddef>

using namespace mlir;
using namespace attn;
using namespace attn::gpu;
using bundle::LaneHeader;

/// A warp group's first thread writes.
static constexpr int64_t kGroupThreads = 128;
static const std::string kHeaderBytes = std::to_string(sizeof(LaneHeader));

static std::string number(uint64_t value) { return std::to_string(value); }

/// "st.global.T [head + field], register;" of a header.
static std::string storeField(const char *type, size_t field, const char *from) {
  return std::string("@on st.global.") + type + " [head+" + number(field) + "], " +
         from + ";\n\t";
}

LogicalResult GpuEmitter::emitOpenLane(tile::OpenLaneOp op) {
  lanes = op;
  auto roles = program->getAttrOfType<ArrayAttr>(tile::kTimelineAttr);
  if (!roles)
    return op.emitOpError("needs 'tile.timeline' on its program, which says what "
                          "the lanes of a block are");
  auto groups = static_cast<int64_t>(roles.size());
  Value block = NVVM::BlockIdXOp::create(t.b, t.loc, t.i32());
  Value lane = t.add(t.mul(block, groups), t.shiftRight(blockThread, 7));
  Value writes = t.less(t.bitAnd(blockThread, kGroupThreads - 1), t.c32(1));
  // Unsigned: a large grid's lane numbers may pass 2^31.
  writes = t.both(writes, arith::CmpIOp::create(
                              t.b, t.loc, arith::CmpIPredicate::ult, lane,
                              t.c32(static_cast<int64_t>(op.getLanes()))));
  std::string top = number(bundle::kMostStamps);
  t.assembly(
      {}, {writes, lane, scalar(op.getRecords())},
      ".reg .u32 attn_stamp;\n\t"
      "{\n\t.reg .pred on;\n\t.reg .u64 head, now;\n\t.reg .u32 sm;\n\t"
      "setp.ne.u64 on, $2, 0;\n\t"
      "and.pred on, on, $0;\n\t"
      "selp.u32 attn_stamp, $1, " + top + ", on;\n\t"
      "mad.wide.u32 head, $1, " + kHeaderBytes + ", $2;\n\t"
      "mov.u64 now, %globaltimer;\n\t" +
      storeField("u64", offsetof(LaneHeader, openNs), "now") +
      "mov.u64 now, %clock64;\n\t" +
      storeField("u64", offsetof(LaneHeader, openClock), "now") +
      "mov.u64 now, 0;\n\t" +
      storeField("u64", offsetof(LaneHeader, closeNs), "now") +
      "mov.u32 sm, %smid;\n\t" +
      storeField("u32", offsetof(LaneHeader, multiprocessor), "sm") + "}",
      "b,r,l,~{memory}", true);
  emitStampOf(static_cast<uint32_t>(tile::Phase::Setup));
  return success();
}

void GpuEmitter::emitStampOf(uint32_t phase) {
  uint64_t count = lanes.getLanes(), room = count * lanes.getSteps();
  t.assembly({}, {scalar(lanes.getRecords())},
             "{\n\t.reg .pred on;\n\t.reg .u32 at;\n\t.reg .u64 to;\n\t"
             "mov.u32 at, %clock;\n\t"
             "setp.lt.u32 on, attn_stamp, " + number(room) + ";\n\t"
             "mad.lo.u32 at, at, " + number(1u << bundle::kPhaseBits) + ", " +
                 number(phase) + ";\n\t"
             "mad.wide.u32 to, attn_stamp, 4, $0;\n\t"
             "@on st.global.u32 [to+" + number(count * sizeof(LaneHeader)) +
                 "], at;\n\t"
             "add.u32 attn_stamp, attn_stamp, " + number(count) + ";\n\t"
             "min.u32 attn_stamp, attn_stamp, " + number(bundle::kMostStamps) +
                 ";\n\t}",
             "l,~{memory}", true);
}

LogicalResult GpuEmitter::emitStamp(tile::StampOp op) {
  emitStampOf(static_cast<uint32_t>(op.getPhase()));
  return success();
}

LogicalResult GpuEmitter::emitCloseLane(tile::CloseLaneOp) {
  emitStampOf(bundle::kLaneEnd);
  std::string count = number(lanes.getLanes());
  t.assembly({}, {scalar(lanes.getRecords())},
             "{\n\t.reg .pred on;\n\t.reg .u32 made, lane;\n\t"
             ".reg .u64 head, now;\n\t"
             "setp.lt.u32 on, attn_stamp, " + number(bundle::kMostStamps) + ";\n\t"
             "div.u32 made, attn_stamp, " + count + ";\n\t"
             "rem.u32 lane, attn_stamp, " + count + ";\n\t"
             "mad.wide.u32 head, lane, " + kHeaderBytes + ", $0;\n\t"
             "mov.u64 now, %globaltimer;\n\t" +
             storeField("u64", offsetof(LaneHeader, closeNs), "now") +
             "mov.u64 now, %clock64;\n\t" +
             storeField("u64", offsetof(LaneHeader, closeClock), "now") +
             storeField("u32", offsetof(LaneHeader, stamps), "made") + "}",
             "l,~{memory}", true);
  return success();
}
