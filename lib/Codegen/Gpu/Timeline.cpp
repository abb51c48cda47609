//===- Timeline.cpp - stamps of a program that records its phases ---------===//
//
// A stamp must cost little and disturb nothing, least of all the products in
// flight around it. It is three instructions without a branch: read the clock,
// add the phase, store if this thread writes. Where to is a register of its own,
// the lane's place, named in the text and never seen by LLVM, so that no loop has
// to carry it; stamps that follow each other on one way through the program stand
// at constant distances from it, and it moves on once for all of them. There it
// is also asked whether there is room, which is why a few rows more than the
// buffer's are there. Threads that do not write have a place beyond every limit.
//
// A wait for a signal that is there already is no phase: it is stamped in the branch
// that it takes when it has to wait, where time is free.
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

/// Stamps at constant distances from the lane's place. A wait adds two.
static constexpr int64_t kMostAhead = 12;
static_assert(kMostAhead + 2 <= bundle::kSpareSteps);
/// The place of threads that do not write: beyond every buffer, and so far from
/// the end of the address space that no count gets there.
static const std::string kNowhere = std::to_string(uint64_t(1) << 62);

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
  t.assembly(
      {}, {writes, lane, scalar(op.getRecords())},
      ".reg .u64 attn_place;\n\t.reg .pred attn_writes;\n\t"
      "{\n\t.reg .pred on;\n\t.reg .u64 head, now;\n\t.reg .u32 sm;\n\t"
      "setp.ne.u64 on, $2, 0;\n\t"
      "and.pred on, on, $0;\n\t"
      "mad.wide.u32 attn_place, $1, 4, $2;\n\t"
      "add.u64 attn_place, attn_place, " + number(headerBytes()) + ";\n\t"
      "selp.u64 attn_place, attn_place, " + kNowhere + ", on;\n\t"
      "mov.pred attn_writes, on;\n\t"
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

uint64_t GpuEmitter::headerBytes() { return lanes.getLanes() * sizeof(LaneHeader); }

std::string GpuEmitter::stampText(uint32_t phase, int64_t ahead) {
  return "{\n\t.reg .u32 at;\n\t"
         "mov.u32 at, %clock;\n\t"
         "mad.lo.u32 at, at, " + number(1u << bundle::kPhaseBits) + ", " +
         number(phase) + ";\n\t"
         "@attn_writes st.global.u32 [attn_place+" +
         number(uint64_t(ahead) * 4 * lanes.getLanes()) + "], at;\n\t}";
}

std::string GpuEmitter::advanceText(int64_t made, int records) {
  uint64_t row = 4 * lanes.getLanes();
  return "{\n\t.reg .u64 end;\n\t"
         "add.u64 attn_place, attn_place, " + number(uint64_t(made) * row) + ";\n\t"
         "add.u64 end, $" + number(uint64_t(records)) + ", " +
         number(headerBytes() + row * lanes.getSteps()) + ";\n\t"
         "setp.lt.u64 attn_writes, attn_place, end;\n\t}";
}

void GpuEmitter::settleStamps() {
  if (stampsAhead == 0)
    return;
  t.assembly({}, {scalar(lanes.getRecords())}, advanceText(stampsAhead, 0),
             "l,~{memory}", true);
  stampsAhead = 0;
}

void GpuEmitter::emitStampOf(uint32_t phase) {
  t.assembly({}, {}, stampText(phase, stampsAhead), "~{memory}", true);
  if (++stampsAhead == kMostAhead)
    settleStamps();
}

LogicalResult GpuEmitter::emitStamp(tile::StampOp op) {
  emitStampOf(static_cast<uint32_t>(op.getPhase()));
  return success();
}

LogicalResult GpuEmitter::emitCloseLane(tile::CloseLaneOp) {
  emitStampOf(bundle::kLaneEnd);
  settleStamps();
  std::string count = number(lanes.getLanes());
  t.assembly({}, {scalar(lanes.getRecords())},
             "{\n\t.reg .pred on;\n\t.reg .u32 made, lane;\n\t"
             ".reg .u64 head, now;\n\t"
             "sub.u64 now, attn_place, $0;\n\t"
             "sub.u64 now, now, " + number(headerBytes()) + ";\n\t"
             "shr.u64 now, now, 2;\n\t"
             "setp.lt.u64 on, now, " + number(bundle::kMostStamps) + ";\n\t"
             "cvt.u32.u64 lane, now;\n\t"
             "div.u32 made, lane, " + count + ";\n\t"
             "rem.u32 lane, lane, " + count + ";\n\t"
             "mad.wide.u32 head, lane, " + kHeaderBytes + ", $0;\n\t"
             "mov.u64 now, %globaltimer;\n\t" +
             storeField("u64", offsetof(LaneHeader, closeNs), "now") +
             "mov.u64 now, %clock64;\n\t" +
             storeField("u64", offsetof(LaneHeader, closeClock), "now") +
             storeField("u32", offsetof(LaneHeader, stamps), "made") + "}",
             "l,~{memory}", true);
  return success();
}
