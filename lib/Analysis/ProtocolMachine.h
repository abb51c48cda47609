//===- ProtocolMachine.h - roles run against each other ---------*- C++ -*-===//
#ifndef ATTN_LIB_ANALYSIS_PROTOCOLMACHINE_H
#define ATTN_LIB_ANALYSIS_PROTOCOLMACHINE_H

#include "lib/Analysis/ProtocolRoles.h"

namespace attn::protocol {

/// Runs the roles of all blocks of a cluster to the end in one random order, copies
/// landing early or, with `late`, only when nothing else can happen. One line that
/// says what is wrong, or "". Roles come block by block, each block's by group.
std::string runInSomeOrder(const std::vector<Role> &roles, const Numbers &numbers,
                           int64_t blocks, bool turns, bool late, uint64_t seed);

} // namespace attn::protocol

#endif // ATTN_LIB_ANALYSIS_PROTOCOLMACHINE_H
