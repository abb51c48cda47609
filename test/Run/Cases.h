//===- Cases.h - the grid of lengths, scalars and inputs ------------------===//
#ifndef ATTN_TEST_RUN_CASES_H
#define ATTN_TEST_RUN_CASES_H

#include "lib/Reference/Inputs.h"
#include "lib/Spec/Ast.h"

#include <optional>

namespace attn::check {

/// What is special about a case's inputs.
enum class InputKind {
  Normal,   ///< Standard normal.
  Strided,  ///< Normal, every tensor with gaps between its rows.
  Spread,   ///< Scores far apart: nearly one live key a row.
  Equal,    ///< All scores 0.
  Negative, ///< All scores far below 0: a maximum that starts at 0 fails.
  Huge,     ///< All scores near -6e4.
  Masked,   ///< Data of masks that hides rows, a tile or everything.
  Sliced,   ///< Normal, every tensor the inside of a larger one.
  Expanded, ///< Normal, one and the same slab for every index of the outermost axis,
            ///< whose stride is 0.
  Jumps,    ///< Scores of each 64 keys e^44 (2^64) times the last ones', or
            ///< such jumps up and down.
  Wild,     ///< Scores that fall by e^8 each 64 keys, values near the largest
            ///< number, or NaN in a query or a key. Only on demand.
  Canary,   ///< Integers whose result is exact: see Canary.h. Only on demand.
};

const char *spelling(InputKind kind);
std::optional<InputKind> parseInputKind(const std::string &word);

struct Case {
  std::map<std::string, int64_t> lengths; ///< Every axis.
  std::map<std::string, reference::ScalarValue> scalars;
  InputKind kind = InputKind::Normal;
  uint64_t seed = 1;

  /// The options that run this case alone.
  std::string options() const;
};

struct CaseOptions {
  std::vector<int64_t> lengths; ///< Of the M and N axes.
  int count = 40;               ///< Cases of a program.
  uint64_t seed = 1;
  bool batchHeads = false; ///< More than 65535 heads in the batch.
  /// Fixes axes and scalars.
  std::map<std::string, std::string> binds;
  std::optional<InputKind> kind;
  /// The most multiply-adds of one case's score matrix.
  double work = 4e9;
};

/// The cases of a kernel: every length with itself, then random pairs, with
/// heads, groups, scalars and kinds of input varied beside them. The same for
/// the same options on every machine. Throws reference::InputError.
std::vector<Case> makeCases(const spec::Kernel &kernel,
                            const CaseOptions &options);

/// The names of all kinds, for messages: "normal, strided, ... or canary".
std::string allInputKinds();

/// Special.cpp: the inputs of a case. Throws reference::InputError when its
/// kind means nothing for the kernel.
reference::Inputs makeInputs(const spec::Kernel &kernel,
                             const reference::AxisLengths &lengths,
                             const Case &c);
/// Whether Masked means anything for a kernel.
bool hasMaskData(const spec::Kernel &kernel);

} // namespace attn::check

#endif // ATTN_TEST_RUN_CASES_H
