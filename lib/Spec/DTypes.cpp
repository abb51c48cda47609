//===- DTypes.cpp - types of elements and their names --------------------===//

#include "lib/Spec/Ast.h"
#include "lib/Spec/ExprChecker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace attn::spec;

const char *attn::spec::spelling(DType type) {
  static const char *const kNames[] = {"f16",    "bf16", "f32", "f8e4m3",
                                       "f8e5m2", "i32",  "i64", "i1"};
  return kNames[static_cast<int>(type)];
}

int attn::spec::byteSize(DType type) {
  static const int kSizes[] = {2, 2, 4, 1, 1, 4, 8, 1};
  return kSizes[static_cast<int>(type)];
}

const std::vector<DType> &attn::spec::allDTypes() {
  static const std::vector<DType> types = {DType::F16,    DType::BF16,   DType::F32,
                                           DType::F8E4M3, DType::F8E5M2, DType::I32,
                                           DType::I64,    DType::I1};
  return types;
}

const std::vector<DType> &attn::spec::supportedDTypes() {
  static const std::vector<DType> types = {DType::F16, DType::BF16, DType::F32,
                                           DType::I32, DType::I64,  DType::I1};
  return types;
}

static std::vector<std::string> spellings(const std::vector<DType> &types) {
  std::vector<std::string> words;
  for (DType type : types)
    words.push_back(spelling(type));
  return words;
}

std::optional<DType> attn::spec::resolveDType(const std::string &word, Span span,
                                              Diagnostics &diagnostics) {
  for (DType type : supportedDTypes())
    if (spelling(type) == word)
      return type;
  const std::vector<std::string> words = spellings(allDTypes());
  if (std::find(words.begin(), words.end(), word) != words.end()) {
    diagnostics.report("not-yet", span,
                       fmt::format("{} is not supported yet; use bf16 or f16", word));
    return std::nullopt;
  }
  static const std::map<std::string, std::string> kForeign = {
      {"float", "f32"},  {"float32", "f32"}, {"fp32", "f32"},
      {"half", "f16"},   {"float16", "f16"}, {"fp16", "f16"},
      {"bfloat16", "bf16"}, {"int", "i32"},  {"int32", "i32"},
      {"int64", "i64"},  {"bool", "i1"},       {"f64", "f32"},
      {"float64", "f32"}, {"double", "f32"},  {"fp64", "f32"}};
  if (std::optional<std::string> text = notYet(word)) {
    diagnostics.report("not-yet", span, *text);
    return std::nullopt;
  }
  if (word == "f8" || word == "fp8" || word == "float8" ||
      word.find("e4m3") != std::string::npos ||
      word.find("e5m2") != std::string::npos) {
    diagnostics.report("not-yet", span,
                       fmt::format("{} is not supported yet, nor is any 8-bit "
                                   "float; use bf16 or f16",
                                   word));
    return std::nullopt;
  }
  auto foreign = kForeign.find(word);
  diagnostics.report(
      "unknown-dtype", span,
      fmt::format("unknown dtype '{}'; known are {}", word,
                  fmt::join(spellings(supportedDTypes()), ", ")),
      foreign != kForeign.end() ? std::optional<std::string>(foreign->second)
                                : nearest(word, words));
  return std::nullopt;
}
