//===- Manifest.h - the contract between compiler and runner --------------===//
//
// A bundle is a folder: manifest.json, the spec's text, and for each target
// and level the code (PTX, cubin or shared object). The compiler writes it, the
// runner reads it; neither needs the other.
//
//   DIR/manifest.json
//   DIR/spec.attn
//   DIR/<program>.<target>.<level>.{ptx,cubin,so}
//   DIR/<program>.h            launcher header
//
// Calling convention. A kernel's arguments are a list of 8-byte slots (see
// Arg). On a GPU each slot is one kernel parameter (pointer, i64, or a scalar
// of its own type in the low bytes, or a tensor map). On the CPU the entry point is
//   void symbol(const uint64_t *slots, int64_t first, int64_t last);
// and runs blocks first .. last-1; beside it stands what it expects of the manifest
// (Signature.h). A grid is one-dimensional on both: the
// product over `grid` of ceil(length(axis) / tile), first entry fastest, times the
// blocks of a cluster (Kernel::cluster).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_BUNDLE_MANIFEST_H
#define ATTN_LIB_BUNDLE_MANIFEST_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::bundle {

inline constexpr int kVersion = 1;

/// An axis of a program. Fixed when `extent` is set; `outer = group * inner`
/// when `group` is set (the runner checks that the lengths agree).
struct Axis {
  std::string name;
  std::optional<int64_t> extent;
  std::string group;
  std::string inner;
};

enum class Role { Input, Output, Temporary };

/// A tensor in memory, axes outermost first, innermost stride 1. The length of
/// the innermost axis of a temporary is rounded up to a multiple of `pad`
/// elements, so that its rows start aligned.
struct Tensor {
  std::string name;
  std::string dtype;
  std::vector<std::string> axes;
  Role role = Role::Input;
  int64_t pad = 1;
};

struct Scalar {
  std::string name;
  std::string dtype;
};

/// One 8-byte slot of a launch.
struct Arg {
  enum class Kind {
    Pointer, ///< base address of `tensor`
    Stride,  ///< stride of `axis` in `tensor`, in elements, i64
    Length,  ///< length of `axis`, i64
    Scalar,  ///< the scalar argument `name`
    Scheduler, ///< 8 zeroed bytes of device memory that launches in order share
    Timeline,  ///< where the kernel's stamps go, see Timeline.h; 0: nowhere
    Map,     ///< a tensor map of `tensor`, 128 bytes by value; the slot holds
             ///< the host address of the encoded map
  };
  Kind kind = Kind::Pointer;
  std::string name; ///< Tensor or scalar.
  std::string axis;
  std::vector<std::string> axes; ///< Map: innermost first, the first of stride 1.
  std::vector<int64_t> box;      ///< Map: elements along each axis; 128-byte
                                 ///< swizzle, zeros outside the tensor.
  /// Map: may be left zero when a stride (of an axis longer than 1) is 0 or not a
  /// multiple of 16 bytes; the kernel then reads another way.
  bool optional = false;
};

struct GridAxis {
  std::string axis; ///< Empty: a single block.
  int64_t tile = 1;
};

/// coefficient * product of the lengths of `axes`, times the fraction of
/// (row, key) pairs that the spec's masks leave alive when `live` is set.
struct Term {
  double coefficient = 0;
  std::vector<std::string> axes;
  bool live = false;
};

/// What a flash kernel on wgmma computes for a score of a block of keys, between its
/// two products (lib/Schedule/CountSteps.cpp).
struct Step {
  double slots = 0;   ///< Of the f32 pipe: an addition takes one.
  double special = 0; ///< Results of the special-function unit.
};

/// What the compiler says of one launch before anyone measures it.
struct Prediction {
  std::vector<Term> bytesRead;    ///< Device memory, each operand once.
  std::vector<Term> bytesWritten;
  std::vector<Term> tensorFlops;  ///< Multiply-adds count two.
  std::vector<Term> scalarFlops;  ///< Elementwise and reductions, f32 pipe.
  std::vector<Term> exponentials; ///< Special-function pipe.
  std::string tensorUnit;         ///< "mma.f16", "mma.tf32", "fma.f32" or "".
  std::map<std::string, Step> steps; ///< By kind of block: "live", "masked".
};

/// From the assembler's report; absent for a kernel that was not assembled.
struct Resources {
  int registers = 0;    ///< Per thread.
  int spillBytes = 0;   ///< Stores and loads together, per thread.
  int64_t sharedBytes = 0; ///< Static, per block.
};

/// Of a flash kernel, in numbers: what the compiler knew when it chose the
/// schedule, and the schedule. Names as in lib/Schedule/Choose.h.
struct Choice {
  std::map<std::string, int64_t> problem;  ///< "contracted", "columns", "uneven", ...
  std::map<std::string, int64_t> schedule; ///< "rows", "columns", "stages", ...
};

/// How a kernel that records its phases does so, see Timeline.h.
struct Stamps {
  int64_t lanes = 0;               ///< Of the buffer.
  int64_t steps = 0;               ///< Stamps a lane has room for.
  std::vector<std::string> phases; ///< By number. "..._wait": idle.
  std::vector<std::string> roles;  ///< A block's lanes: "producer", ...
};

struct Kernel {
  std::string symbol;
  std::string label; ///< Short, for tables: "matmul", "softmax", "flash".
  std::vector<GridAxis> grid;
  int threads = 1;             ///< Per block; 1 on the CPU.
  int64_t dynamicShared = 0;   ///< Bytes.
  /// Not 0: blocks work on several tiles each; at most that many blocks a
  /// multiprocessor are launched, and `grid` counts tiles.
  int64_t persistent = 0;
  /// Not 1: so many neighbouring blocks, a cluster, work on one tile of `grid`
  /// together. The code says so itself; a launch only starts whole clusters.
  int64_t cluster = 1;
  std::vector<Arg> args;
  std::string schedule;        ///< "tile 128x64, 4 warps, 2 stages".
  std::optional<Choice> choice;
  Prediction prediction;
  std::optional<Resources> resources;
  std::optional<Stamps> stamps; ///< Of a kernel in Level::timeline.
};

/// One level of one program on one target.
struct Level {
  std::string name;   ///< "naive", "flash", ...
  std::string target; ///< "cpu", "sm_80", ...
  std::vector<Tensor> temporaries;
  std::vector<Kernel> kernels; ///< In launch order.
  /// Kind of file ("ptx", "cubin:sm_90", "so") to its name in the bundle.
  std::map<std::string, std::string> files;
  std::string schedule; ///< The overrides it was made with; "": the compiler's own.
  /// The same level with other schedules, for attn-bench --tune. They have no
  /// variants themselves, and whoever runs a bundle may ignore them.
  std::vector<Level> variants;
  /// Empty, or one: the same level in kernels that record their phases. They
  /// compute the same, slower, and are never what a time is taken from.
  std::vector<Level> timeline;
};

struct Program {
  std::string name;
  std::vector<Axis> axes;
  std::vector<Tensor> tensors; ///< Inputs and outputs in the spec's order.
  std::vector<Scalar> scalars;
  std::vector<Level> levels;
};

struct Manifest {
  int version = kVersion;
  std::string compiler;  ///< "attn 0.1.0, LLVM 22.1.8"
  std::string assembler; ///< "nvJitLink 13.0", or "" when none ran.
  std::map<std::string, int64_t> binds; ///< From the compiler's command line.
  /// Of the text in spec.attn (hashOfSpec in Open.h), so that another is noticed; "":
  /// not known, as in a manifest written by hand.
  std::string specHash;
  std::vector<Program> programs;
};

/// Blocks that a launch of `tiles` tiles (the product over `grid`) starts on so many
/// multiprocessors; 0 of these: a device that runs as many as there are.
inline int64_t launchedBlocks(const Kernel &kernel, int64_t tiles,
                              int64_t multiprocessors) {
  int64_t clusters = tiles;
  if (kernel.persistent && multiprocessors > 0) {
    int64_t resident = multiprocessors * kernel.persistent / kernel.cluster;
    clusters = std::min(tiles, std::max<int64_t>(resident, 1));
  }
  return clusters * kernel.cluster;
}

/// JSON text, stable key order.
std::string toJson(const Manifest &manifest);
/// Throws std::runtime_error with a one-line reason on anything malformed.
Manifest fromJson(const std::string &text);

/// Writes `contents` to `path` by writing beside it and renaming, so that a
/// reader never sees half a file. Throws std::runtime_error with the reason.
void writeFileAtomically(const std::string &path, const std::string &contents);
/// Throws std::runtime_error with the reason.
std::string readFile(const std::string &path);

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_MANIFEST_H
