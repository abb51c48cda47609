//===- Protocol.h - the warp groups' hand-over, run as an abstract machine ===//
//
// A program of warp groups, with roles (tile.specialize) or without, is correct
// only if the groups never wait for each other in a circle and never touch a
// stage that somebody else still uses. Here each group is executed without data:
// scalars are computed, everything that happens to signals, stages and turns
// becomes a list of events, and the lists are run against each other in many
// orders, copies landing early or late.
//
// Found: a role that waits for ever; a stage refilled while a product may still
// read it; a stage read before its copy has landed; more arrivals than a signal
// counts; a product that nobody waits for, and operands in registers that are
// rebuilt before the wait that frees them; a tile that failed its check and is not
// done again, or again and again; a flag read before all have had their say.
//
// Blocks of a cluster (tile.cluster) are run together, with signals and stages of
// their own that the others reach. Found besides: parts of different tiles in one
// stage; a block reached before its signals are there, or after it has ended.
//
// Whether a tile fails its check is up to its data, so tile.any is drawn by lot.
// The producer's way then depends on the consumers': they are followed in turn,
// until what the producer takes for flagged is what the consumers flag. The
// machine then checks that every order shows the producer those flags.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_PROTOCOL_H
#define ATTN_LIB_ANALYSIS_PROTOCOL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <map>
#include <string>

namespace attn {

struct ProtocolRun {
  std::map<std::string, int64_t> lengths; ///< Of axes; others are 1.
  std::map<std::string, int64_t> scalars; ///< Scalar arguments; others are 0.
  int64_t stride = 8;   ///< Of every axis; multiples of 8 let optional maps be.
  int64_t block = 0;    ///< The block that is run, with its whole cluster.
  int64_t launched = 1; ///< Blocks of the launch (persistent programs), rounded up to
                        ///< whole clusters.
  int64_t doubt = 30;   ///< Of 100 tile.any, how many hold.
  int64_t orders = 20;  ///< Interleavings tried.
  uint64_t seed = 1;
};

/// One line that says what is wrong, or "" when nothing was found. Fails with an
/// error on the program when it cannot be followed (bounds that depend on data
/// other than integers, say).
mlir::FailureOr<std::string> checkProtocol(mlir::func::FuncOp program,
                                           const ProtocolRun &run);

} // namespace attn

#endif // ATTN_LIB_ANALYSIS_PROTOCOL_H
