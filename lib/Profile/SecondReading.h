//===- SecondReading.h - rows that a kernel reads twice -------------------===//
#ifndef ATTN_LIB_PROFILE_SECONDREADING_H
#define ATTN_LIB_PROFILE_SECONDREADING_H

#include "lib/Profile/Traffic.h"

namespace attn::profile {

/// Share of rows under way that is gone from a cache of `cacheBytes` when they are
/// read a second time: between its two readings `reads` bytes of new rows pass, and
/// `writes` bytes of results. What is gone comes from memory again and takes a place
/// as well, so the share is the least one that agrees with itself.
double goneSecondTime(double reads, double writes, int64_t cacheBytes);

/// Bytes that a row kernel (a softmax) reads from memory a second time: a row is read
/// for its sum, and again to be written.
double readAgainInRows(const bundle::Kernel &kernel, const Lengths &lengths,
                       const LiveKeys &live, int64_t blocks, int64_t resident,
                       int64_t cacheBytes);

} // namespace attn::profile

#endif // ATTN_LIB_PROFILE_SECONDREADING_H
