//===- Kernels.h - one function per kind of kernel ------------------------===//
#ifndef ATTN_LIB_SCHEDULE_KERNELS_H
#define ATTN_LIB_SCHEDULE_KERNELS_H

#include "lib/Schedule/Choose.h"
#include "lib/Schedule/ElementwiseLowering.h"
#include "lib/Target/Targets.h"

#include "dialect/Attn/Attn.h"

namespace attn {

struct MeasuredKeys;

/// What the lowering of one kernel reads.
struct KernelContext {
  KernelOp kernel;
  const AxisTable &axes;
  ElementwiseLowering::TensorOf tensorOf;
  /// Tensors that receive result i of the kernel.
  std::function<llvm::ArrayRef<TensorInfo>(unsigned)> destinations;
  Schedule schedule;
  bool tf32 = false;
  /// Flash: its masks, and what was measured of them; null: find out yourself.
  const MeasuredKeys *measured = nullptr;
};

/// What kind of kernel the region holds; failure emits an error.
mlir::FailureOr<KernelKind> classify(KernelOp kernel);
/// The axes that a function's kernels compute over.
AxisTable readAxes(mlir::func::FuncOp function);
/// Whether a tensor travels between kernels only; its rows are then padded to 16
/// bytes.
bool isTemporary(mlir::Value tensor);
/// What of a target decides the schedules of a level's kernels of that kind.
ScheduleTarget scheduleTarget(const target::CompileTarget &target,
                              llvm::StringRef level, KernelKind kind);
/// Its problem: lengths from types.
Problem describeProblem(KernelOp kernel, KernelKind kind, const AxisTable &axes);

mlir::LogicalResult lowerPointwise(const KernelContext &kernel, ProgramBuilder &p);
mlir::LogicalResult lowerRows(const KernelContext &kernel, ProgramBuilder &p);
mlir::LogicalResult lowerMatmul(const KernelContext &kernel, ProgramBuilder &p);
mlir::LogicalResult lowerFlash(const KernelContext &kernel, ProgramBuilder &p);

/// Evaluates the kernel's results at the builder's place and stores them.
/// `rowAxis` and `columnAxis` are the axes of the output tile (may be empty).
mlir::LogicalResult storeResults(const KernelContext &kernel, ProgramBuilder &p,
                                 ElementwiseLowering &values,
                                 llvm::StringRef rowAxis,
                                 llvm::StringRef columnAxis,
                                 llvm::ArrayRef<unsigned> which = {});

/// Axis names of a tensor value, outermost first.
llvm::SmallVector<std::string> axesOf(mlir::Value tensor);

/// Attribute of a program whose tanh of small arguments is a polynomial.
inline constexpr llvm::StringLiteral kShortTanh = "tile.tanh";

/// Attribute of a program of warp groups that keep their queries in registers.
inline constexpr llvm::StringLiteral kHeldQueries = "tile.held_queries";

/// Sets `tile.layout`, `tile.stages` and what a schedule of warp groups says.
void setAccumulatorLayout(ProgramBuilder &p, const Schedule &schedule);
/// Moves the program's place along `rowAxis` to its warp group's rows, `rows`
/// each; gives the first of them.
mlir::Value placeGroup(ProgramBuilder &p, llvm::StringRef rowAxis, int64_t rows);
/// The same to the rows of its block of a cluster.
mlir::Value placeInCluster(ProgramBuilder &p, llvm::StringRef rowAxis, int64_t rows);
/// Says, for the prediction, that the program passes over pairs of a row and a key
/// that masks make dead.
void sayLive(ProgramBuilder &p, llvm::StringRef row, llvm::StringRef key);
void setRowsLayout(ProgramBuilder &p, const Schedule &schedule);

} // namespace attn

#endif // ATTN_LIB_SCHEDULE_KERNELS_H
