//===- Chip.h - hardware as data ------------------------------------------===//
//
// The only place with chip numbers. Everything else asks a row of a table or
// a Roofs made from one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_CHIP_H
#define ATTN_LIB_TARGET_CHIP_H

#include <cstdint>
#include <map>
#include <string>

namespace attn::target {

/// What one multiprocessor (SM) of a GPU architecture holds and does. Rates are
/// per SM and clock; 0 where the architecture lacks the unit.
struct Architecture {
  int capability;             ///< Compute capability times ten: 80, 90.
  int maxWarps;               ///< Resident, per SM.
  int maxBlocks;              ///< Resident, per SM.
  int registers;              ///< 32-bit, per SM.
  int64_t sharedPerSm;        ///< Bytes, what all resident blocks share.
  int64_t sharedPerBlock;     ///< Bytes, the most one block may ask for.
  int64_t sharedReserved;     ///< Bytes the system takes from each block's share.
  double mmaF16;              ///< FLOP of mma.sync, f16 or bf16 in, f32 sums.
  double mmaTf32;             ///< FLOP of mma.sync, tf32 in.
  double wgmmaF16;            ///< FLOP of wgmma, f16 or bf16 in.
  double wgmmaTf32;           ///< FLOP of wgmma, tf32 in.
  double fmaF32;              ///< FLOP of the f32 pipe, an FMA counting two.
  double specialFunctions;    ///< ex2, rcp, rsqrt, ... results.
};

/// How near generated kernels come to a GPU's ceilings. Neutral by default, as
/// on a CPU, whose ceilings are measured with the code that it runs.
struct Habits {
  /// Of the matmul unit's rate, by unit: what a matmul kernel reaches, and what
  /// the matmuls inside a flash kernel reach.
  std::map<std::string, double> matmulShare, flashShare;
  /// A flash kernel's softmax runs under other warp groups' matmuls.
  std::map<std::string, bool> overlapped;
  double fragmentStores = 1;  ///< Of the bandwidth: stores from accumulators.
  double boxStores = 1;       ///< The same by the copy engine.
  double cacheRate = 0;       ///< Bytes a second of whole lines that the L2 cache
                              ///< gives or takes; 0: it is never what is short.
  double rowOperation = 1;    ///< Instructions of a row kernel per operation
                              ///< of the spec: addresses, shuffles, converts.
  double rowCrowding = 0;     ///< As `crowding`, in a row kernel: a warp loads a
                              ///< row and then works on it.
  double flashOperation = 1;  ///< Instructions of a flash kernel per operation of
                              ///< its softmax: multiplications and additions
                              ///< contract.
  double pipeCrowding = 0;    ///< As `crowding`, of the pipes beside wgmma.
  double tensorSlowdown = 0;  ///< Of the clock, lost at wgmma's full rate: the
                              ///< card's power is what is limited.
  double blockFill = 0;       ///< Seconds of a flash block on mma.sync that no
                              ///< other one covers.
  double tileFill = 0;        ///< Of a tile on wgmma, the latency of its first loads
                              ///< and last stores; blocks side by side share it.
  double persistentFill = 0;  ///< The same where a producer already loads the next.
  double mapFillSeconds = 0;  ///< As `fillSeconds`, of a flash kernel on wgmma.
  double exposedLoads = 0;    ///< As `latency`, of loads in a flash kernel of one
                              ///< stage; it falls with the square of their number.
  double latency = 0;         ///< Time share lost at one warp a scheduler; it
                              ///< falls with the cube of their number.
  double crowding = 0;        ///< Exponent of the norm that joins memory's time
                              ///< and arithmetic's; 0: the larger one counts.
  double fillSeconds = 0;     ///< First loads and last stores of a kernel.
  double loadSeconds = 0;     ///< Of that the loads, which some kernels do not have.
  double blockSeconds = 0;    ///< To start a block, over the whole device.
};

/// A product: how many SMs, how fast, which memory.
struct Chip {
  std::string name;           ///< As the driver spells it.
  int capability = 0;
  int multiprocessors = 0;
  double clockGHz = 0;        ///< Kept under load on the tensor cores.
  double bandwidth = 0;       ///< Bytes per second, by the data sheet.
  double bandwidthShare = 0;  ///< Of `bandwidth`, what a long copy reaches.
  int64_t l2Bytes = 0;
  double launchSeconds = 0;   ///< From one kernel's end to the next one's start.
};

/// What the driver says of a device, for chips that have no row of their own.
struct DeviceFacts {
  std::string name;
  int capability = 0;
  int multiprocessors = 0;
  double clockGHz = 0;
  double bandwidth = 0;       ///< Bytes per second; 0 when unknown.
  int64_t l2Bytes = 0;
};

/// The row for a compute capability: its own, else the newest older one with
/// the same leading digit, else the newest older one, else the oldest.
const Architecture &architecture(int capability);

/// The row whose name begins the driver's name, else one made from `facts`.
Chip chipFor(const DeviceFacts &facts);

/// The ceilings of a roofline, for a whole device.
struct Roofs {
  double bandwidth = 0;       ///< Bytes per second that a long copy reaches.
  std::map<std::string, double> matmul; ///< FLOP/s by unit ("mma.f16", ...).
  double scalar = 0;          ///< FLOP/s of elementwise f32 work.
  double exponentials = 0;    ///< Special-function results per second.
  /// One pipe does matmuls, elementwise work and exponentials (a CPU): their
  /// times add up instead of overlapping.
  bool onePipe = false;
  double launchSeconds = 0;
  int multiprocessors = 1;    ///< Blocks that run side by side at occupancy 1.
  int64_t cacheBytes = 0;     ///< Last level, where operands may stay.
  int capability = 0;         ///< 0: a CPU.
  Habits habits;
};

Roofs roofsOf(const Chip &chip);

} // namespace attn::target

#endif // ATTN_LIB_TARGET_CHIP_H
