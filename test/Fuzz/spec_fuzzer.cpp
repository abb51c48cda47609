//===- spec_fuzzer.cpp - any bytes through the front end ------------------===//

#include "lib/Spec/Parse.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  attn::spec::ParseResult result = attn::spec::parse("fuzz.attn", text);
  attn::spec::render(result);
  return 0;
}
