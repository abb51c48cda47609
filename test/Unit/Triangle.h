//===- Triangle.h - a causal mask for tests of predictions ----------------===//
#ifndef ATTN_TEST_UNIT_TRIANGLE_H
#define ATTN_TEST_UNIT_TRIANGLE_H

#include "lib/Profile/LiveKeys.h"

#include <map>
#include <string>

namespace attn::profile {

/// Row m sees keys 0 .. m, of 64 rows and keys.
inline LiveKeys triangle() {
  LiveKeys live(65.0 / 128);
  live.rowAxis = "M";
  live.keyAxis = "N";
  live.rows = {{0, 0, 1}, {32, 0, 33}, {63, 0, 64}};
  return live;
}
inline const std::map<std::string, int64_t> kSquare{{"M", 64}, {"N", 64}, {"D", 4}};

} // namespace attn::profile

#endif // ATTN_TEST_UNIT_TRIANGLE_H
