//===- ThreadCode.cpp - writing one thread's instructions -----------------===//

#include "lib/Codegen/Gpu/ThreadCode.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::gpu;

int64_t attn::gpu::byteSize(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

Value ThreadCode::integer(int64_t value, Type type) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value ThreadCode::div(Value x, int64_t y) {
  if (llvm::isPowerOf2_64(y))
    return shiftRight(x, llvm::Log2_64(y));
  return b.createOrFold<arith::DivUIOp>(loc, x, integer(y, x.getType()));
}
Value ThreadCode::rem(Value x, int64_t y) {
  if (llvm::isPowerOf2_64(y))
    return bitAnd(x, y - 1);
  return b.createOrFold<arith::RemUIOp>(loc, x, integer(y, x.getType()));
}
Value ThreadCode::bitAnd(Value x, int64_t y) {
  return b.createOrFold<arith::AndIOp>(loc, x, integer(y, x.getType()));
}
Value ThreadCode::shiftRight(Value x, int64_t y) {
  return y ? b.createOrFold<arith::ShRUIOp>(loc, x, integer(y, x.getType())) : x;
}
Value ThreadCode::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value ThreadCode::wide(Value x) {
  return b.createOrFold<arith::ExtSIOp>(loc, i64(), x);
}
Value ThreadCode::narrow(Value x) {
  return b.createOrFold<arith::TruncIOp>(loc, i32(), x);
}

Value ThreadCode::element(Value pointer, Value elements, Type element) {
  Type unit = element.isInteger(1) ? b.getI8Type() : element;
  return LLVM::GEPOp::create(b, loc, pointer.getType(), unit, pointer,
                             ArrayRef<LLVM::GEPArg>{elements});
}

Value ThreadCode::sharedAt(Value address, int64_t bytes) {
  Value pointer = LLVM::IntToPtrOp::create(b, loc, shared(), address);
  if (!bytes)
    return pointer;
  return LLVM::GEPOp::create(b, loc, shared(), b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value ThreadCode::extract(Value aggregate, int64_t position) {
  return LLVM::ExtractValueOp::create(b, loc, aggregate, position);
}

Value ThreadCode::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return LLVM::BitcastOp::create(b, loc, type, value);
}

Value ThreadCode::pair(Value low, Value high) {
  Type type = VectorType::get({2}, low.getType());
  Value vector = LLVM::UndefOp::create(b, loc, type);
  vector = LLVM::InsertElementOp::create(b, loc, type, vector, low, c32(0));
  return LLVM::InsertElementOp::create(b, loc, type, vector, high, c32(1));
}

SmallVector<Value> ThreadCode::assembly(ArrayRef<Type> results,
                                        ValueRange operands,
                                        const std::string &text,
                                        const std::string &constraints,
                                        bool effects) {
  Type type;
  if (results.size() == 1)
    type = results[0];
  else if (results.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  auto op = LLVM::InlineAsmOp::create(
      b, loc, type, operands, text, constraints, effects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getRes());
  else
    for (size_t i = 0; i < results.size(); ++i)
      values.push_back(extract(op.getRes(), i));
  return values;
}

namespace {
/// How `count` elements travel in one access: as `units` registers of `bits`.
struct Access {
  int64_t bits;  ///< Of one register: 8, 16, 32 or 64.
  int64_t units; ///< Registers: 1, 2 or 4.
  int64_t perUnit;

  Access(Type element, int64_t count) {
    int64_t size = 8 * byteSize(element), total = size * count;
    assert(llvm::isPowerOf2_64(count) && total <= 128);
    bits = total <= 32 ? total : std::max<int64_t>(32, size);
    units = total / bits;
    perUnit = count / units;
  }
  /// A register that holds `bits`; PTX has none of 8.
  Type reg(OpBuilder &b) const {
    return b.getIntegerType(std::max<int64_t>(16, bits));
  }
  char letter() const { return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h'; }
  std::string suffix() const {
    std::string vector = units == 1 ? "" : ".v" + std::to_string(units);
    return vector + (bits == 8 ? ".u8" : ".b" + std::to_string(bits));
  }
  /// "$first" or "{$first, ...}".
  std::string list(int64_t first) const {
    std::string text = units == 1 ? "" : "{";
    for (int64_t i = 0; i < units; ++i)
      text += (i ? ", $" : "$") + std::to_string(first + i);
    return units == 1 ? text : text + "}";
  }
};
} // namespace

SmallVector<Value> ThreadCode::loadGlobal(Value predicate, Value pointer,
                                          int64_t bytes, Type element,
                                          int64_t count) {
  Access access(element, count);
  Type reg = access.reg(b);
  std::string text, constraints;
  std::string move = " mov.b" + std::to_string(reg.getIntOrFloatBitWidth()) + " $";
  for (int64_t i = 0; i < access.units; ++i) {
    text += move + std::to_string(i) + ", 0;";
    constraints += std::string("=&") + access.letter() + ",";
  }
  std::string p = std::to_string(access.units);
  std::string address = std::to_string(access.units + 1);
  text += " @$" + p + " ld.global" + access.suffix() + " " + access.list(0) +
          ", [$" + address + "+" + std::to_string(bytes) + "];";
  SmallVector<Type> types(access.units, reg);
  SmallVector<Value> registers =
      assembly(types, {predicate, pointer}, text.substr(1), constraints + "b,l", true);
  SmallVector<Value> values;
  for (Value r : registers) {
    if (access.perUnit > 1) {
      Value vector = bitcast(r, VectorType::get({access.perUnit}, element));
      for (int64_t i = 0; i < access.perUnit; ++i)
        values.push_back(LLVM::ExtractElementOp::create(b, loc, vector, c32(i)));
      continue;
    }
    int64_t width = element.getIntOrFloatBitWidth();
    if (width == 1)
      r = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, r,
                                integer(0, r.getType()));
    else if (width < 16)
      r = arith::TruncIOp::create(b, loc, b.getIntegerType(width), r);
    values.push_back(bitcast(r, element));
  }
  return values;
}

void ThreadCode::storeGlobal(Value predicate, Value pointer, int64_t bytes,
                             ArrayRef<Value> values) {
  Type element = values[0].getType();
  Access access(element, values.size());
  Type reg = access.reg(b);
  SmallVector<Value> operands{predicate, pointer};
  std::string constraints = "b,l";
  for (int64_t i = 0; i < access.units; ++i) {
    Value r = values[i * access.perUnit];
    if (access.perUnit > 1) {
      Type type = VectorType::get({access.perUnit}, element);
      r = LLVM::UndefOp::create(b, loc, type);
      for (int64_t k = 0; k < access.perUnit; ++k)
        r = LLVM::InsertElementOp::create(
            b, loc, type, r, values[i * access.perUnit + k], c32(k));
    } else if (element.getIntOrFloatBitWidth() < 16) {
      if (!element.isInteger())
        r = bitcast(r, b.getIntegerType(element.getIntOrFloatBitWidth()));
      r = arith::ExtUIOp::create(b, loc, reg, r);
    }
    operands.push_back(bitcast(r, reg));
    constraints += std::string(",") + access.letter();
  }
  assembly({}, operands,
           "@$0 st.global" + access.suffix() + " [$1+" + std::to_string(bytes) +
               "], " + access.list(2) + ";",
           constraints, true);
}

static Value shuffle(ThreadCode &t, Value value, Value lane, NVVM::ShflKind kind) {
  return NVVM::ShflOp::create(t.b, t.loc, value.getType(), t.c32(-1), value, lane,
                              t.c32(31), kind, UnitAttr());
}
Value ThreadCode::shuffleXor(Value value, int64_t mask) {
  if (value.getType().isInteger(64)) { // Its halves, one after the other.
    Type halves = VectorType::get({2}, i32());
    Value both = bitcast(value, halves);
    Value low = LLVM::ExtractElementOp::create(b, loc, both, c32(0));
    Value high = LLVM::ExtractElementOp::create(b, loc, both, c32(1));
    return bitcast(pair(shuffleXor(low, mask), shuffleXor(high, mask)), i64());
  }
  return shuffle(*this, value, c32(mask), NVVM::ShflKind::bfly);
}
Value ThreadCode::shuffleFrom(Value value, Value lane) {
  return shuffle(*this, value, lane, NVVM::ShflKind::idx);
}

SmallVector<Value> ThreadCode::loadMatrices(Value address, int64_t bytes,
                                            bool transpose) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, i32()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value all = NVVM::LdMatrixOp::create(
      b, loc, type, sharedAt(address, bytes), 4,
      transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> values;
  for (int64_t i = 0; i < 4; ++i)
    values.push_back(extract(all, i));
  return values;
}

SmallVector<Value> ThreadCode::mma(Type element, ArrayRef<Value> a,
                                   ArrayRef<Value> bs, ArrayRef<Value> c) {
  NVVM::MMATypes type = element.isF16()    ? NVVM::MMATypes::f16
                        : element.isBF16() ? NVVM::MMATypes::bf16
                                           : NVVM::MMATypes::tf32;
  SmallVector<Value> left, right;
  Type reg = element.isF16() ? Type(VectorType::get({2}, element)) : i32();
  for (Value v : a)
    left.push_back(bitcast(v, reg));
  for (Value v : bs)
    right.push_back(bitcast(v, reg));
  auto result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, f32()));
  int64_t k = element.isF32() ? 8 : 16;
  Value d = NVVM::MmaOp::create(
      b, loc, result, left, right, c, ArrayRef<int64_t>{16, 8, k}, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> values;
  for (int64_t i = 0; i < 4; ++i)
    values.push_back(extract(d, i));
  return values;
}
