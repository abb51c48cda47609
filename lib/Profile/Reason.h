//===- Reason.h - why a prediction missed, as far as one can tell ---------===//
#ifndef ATTN_LIB_PROFILE_REASON_H
#define ATTN_LIB_PROFILE_REASON_H

#include "lib/Profile/Results.h"

namespace attn::profile {

/// The likeliest reason why `kernel` took longer or shorter than predicted, in
/// a few words; empty within 10 % or when it was not measured.
std::string likeliestReason(const KernelResult &kernel,
                            const target::Roofs &roofs);

/// Whether a kernel whose roof is memory's is above it because its operands stay in the
/// cache: its share of the roofline means nothing.
bool beatsMemory(const KernelResult &kernel, const target::Roofs &roofs);

/// Which kernels are above the roofline, and why that can be, a line a reason; empty
/// when none is.
std::string aboveRoofNote(const Results &results);

/// A sentence where few resident warps are the right choice; empty elsewhere.
std::string occupancyNote(const KernelResult &kernel);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_REASON_H
