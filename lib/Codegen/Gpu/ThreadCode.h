//===- ThreadCode.h - writing one thread's instructions -------------------===//
//
// Thin helpers over the builder: integer arithmetic that folds constants, and
// the few instructions (predicated memory accesses, shuffles, matrix loads)
// that have no op of their own or a long-winded one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CODEGEN_GPU_THREADCODE_H
#define ATTN_LIB_CODEGEN_GPU_THREADCODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

#include <string>

namespace attn::gpu {

using namespace mlir;

struct ThreadCode {
  OpBuilder b;
  Location loc;

  explicit ThreadCode(MLIRContext *context)
      : b(context), loc(UnknownLoc::get(context)) {}

  Type i1() { return b.getI1Type(); }
  Type i32() { return b.getI32Type(); }
  Type i64() { return b.getI64Type(); }
  Type f32() { return b.getF32Type(); }
  Type global() { return LLVM::LLVMPointerType::get(b.getContext(), 1); }
  Type shared() { return LLVM::LLVMPointerType::get(b.getContext(), 3); }

  Value integer(int64_t value, Type type);
  Value c32(int64_t value) { return integer(value, i32()); }
  Value c64(int64_t value) { return integer(value, i64()); }
  Value real(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value add(Value x, int64_t y) { return y ? add(x, integer(y, x.getType())) : x; }
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, integer(y, x.getType())); }
  Value div(Value x, int64_t y); ///< Unsigned.
  Value rem(Value x, int64_t y); ///< Unsigned.
  Value bitAnd(Value x, int64_t y);
  Value bitXor(Value x, Value y) { return b.createOrFold<arith::XOrIOp>(loc, x, y); }
  Value bitXor(Value x, int64_t y) { return y ? bitXor(x, integer(y, x.getType())) : x; }
  Value shiftRight(Value x, int64_t y); ///< Unsigned.
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
  Value less(Value x, Value y); ///< Signed.
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value select(Value c, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(loc, c, x, y);
  }
  Value wide(Value x);   ///< i32 -> i64, signed.
  Value narrow(Value x); ///< i64 -> i32, the low half.

  /// `pointer + elements * sizeof(element)`.
  Value element(Value pointer, Value elements, Type element);
  /// The shared-memory pointer at a byte address (i32) plus a constant.
  Value sharedAt(Value address, int64_t bytes = 0);

  Value extract(Value aggregate, int64_t position);
  Value bitcast(Value value, Type type);
  /// Two 16-bit floats as one vector, low half first.
  Value pair(Value low, Value high);

  /// Reads `count` consecutive elements at `pointer` + `bytes` when `predicate`
  /// holds, else gives zeros. At most 16 bytes, aligned to their size.
  SmallVector<Value> loadGlobal(Value predicate, Value pointer, int64_t bytes,
                                Type element, int64_t count);
  /// Writes them, likewise.
  void storeGlobal(Value predicate, Value pointer, int64_t bytes,
                   ArrayRef<Value> values);

  /// The value of the lane whose number is this one's exclusive or `mask`.
  Value shuffleXor(Value value, int64_t mask);
  /// The value of lane `lane` (i32).
  Value shuffleFrom(Value value, Value lane);
  /// ldmatrix.x4: four i32.
  SmallVector<Value> loadMatrices(Value address, int64_t bytes, bool transpose);
  /// d = a x b + c on one 16 x 8 fragment; i32 registers except f16's pairs.
  SmallVector<Value> mma(Type element, ArrayRef<Value> a, ArrayRef<Value> bs,
                         ArrayRef<Value> c);

  SmallVector<Value> assembly(ArrayRef<Type> results, ValueRange operands,
                              const std::string &text,
                              const std::string &constraints, bool effects);
};

/// Bytes an element takes in memory; i1 takes one.
int64_t byteSize(Type element);

} // namespace attn::gpu

#endif // ATTN_LIB_CODEGEN_GPU_THREADCODE_H
