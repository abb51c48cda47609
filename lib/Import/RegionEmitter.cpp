//===- RegionEmitter.cpp - elementwise expressions as region code ---------===//

#include "lib/Import/RegionEmitter.h"

#include "dialect/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace attn;
using spec::DType;
using spec::Expr;
using spec::ExprKind;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<double> attn::constantValue(const spec::Kernel &kernel,
                                          const Expr &expr) {
  auto operand = [&](size_t i) { return constantValue(kernel, *expr.operands[i]); };
  switch (expr.kind) {
  case ExprKind::IntLiteral:
    return static_cast<double>(expr.integer);
  case ExprKind::FloatLiteral:
    return expr.real;
  case ExprKind::AxisLength:
    if (kernel.axes[expr.ref].extent)
      return static_cast<double>(*kernel.axes[expr.ref].extent);
    return std::nullopt;
  case ExprKind::Unary: {
    std::optional<double> x = operand(0);
    if (!x)
      return std::nullopt;
    switch (expr.op) {
    case spec::Op::Neg: return -*x;
    case spec::Op::Abs: return std::fabs(*x);
    case spec::Op::Floor: return std::floor(*x);
    case spec::Op::Exp: return std::exp(*x);
    case spec::Op::Exp2: return std::exp2(*x);
    case spec::Op::Log: return std::log(*x);
    case spec::Op::Sqrt: return std::sqrt(*x);
    case spec::Op::Rsqrt: return 1 / std::sqrt(*x);
    case spec::Op::Tanh: return std::tanh(*x);
    case spec::Op::Sigmoid: return 1 / (1 + std::exp(-*x));
    default: return std::nullopt;
    }
  }
  case ExprKind::Binary: {
    if (!spec::isFloat(expr.type.dtype))
      return std::nullopt; // Exact integers stay integers.
    std::optional<double> x = operand(0), y = operand(1);
    if (!x || !y)
      return std::nullopt;
    switch (expr.op) {
    case spec::Op::Add: return *x + *y;
    case spec::Op::Sub: return *x - *y;
    case spec::Op::Mul: return *x * *y;
    case spec::Op::Div: return *x / *y;
    case spec::Op::Min: return std::fmin(*x, *y);
    case spec::Op::Max: return std::fmax(*x, *y);
    default: return std::nullopt;
    }
  }
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

RegionEmitter::RegionEmitter(MLIRContext *context, const Context &surroundings)
    : c(surroundings), region(std::make_unique<Region>()), b(context) {
  region->emplaceBlock();
  b.setInsertionPointToEnd(&region->front());
}

void RegionEmitter::emit(const Expr &expr, Type element) {
  Location loc = c.location(expr.span);
  Value result;
  if (element.isInteger(1)) {
    result = condition(expr);
  } else if (isa<FloatType>(element)) {
    result = real(expr);
    if (result.getType() != element)
      result = arith::TruncFOp::create(b, loc, element, result);
  } else {
    result = integer(expr).value;
    if (element.isInteger(64))
      result = widen(result, 64);
    else if (!result.getType().isInteger(32))
      result = arith::TruncIOp::create(b, loc, element, result);
  }
  YieldOp::create(b, loc, result);
}

Value RegionEmitter::constant(int64_t v, unsigned width, Location loc) {
  return arith::ConstantIntOp::create(b, loc, v, width);
}

Value RegionEmitter::constantReal(double v, Location loc) {
  return arith::ConstantOp::create(b, loc,
                                   b.getF32FloatAttr(static_cast<float>(v)));
}

Value RegionEmitter::widen(Value v, unsigned width) {
  if (v.getType().isInteger(width))
    return v;
  return b.createOrFold<arith::ExtSIOp>(v.getLoc(), b.getIntegerType(width), v);
}

Value RegionEmitter::toFloat(Typed v, Location loc) {
  Type f32 = b.getF32Type();
  Type type = v.value.getType();
  if (type == f32)
    return v.value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, f32, v.value);
  return arith::SIToFPOp::create(b, loc, f32, v.value);
}

Value RegionEmitter::real(const Expr &expr) {
  Location loc = c.location(expr.span);
  if (std::optional<double> v = constantValue(c.kernel, expr))
    return constantReal(*v, loc);
  return toFloat(value(expr), loc);
}

Value RegionEmitter::condition(const Expr &expr) { return value(expr).value; }

RegionEmitter::Typed RegionEmitter::integer(const Expr &expr) {
  return value(expr);
}

/// The element of `tensor` at this point.
RegionEmitter::Typed RegionEmitter::element(Value tensor, const Expr &expr) {
  Value &argument = elements[tensor];
  Type type = mlir::cast<RankedTensorType>(tensor.getType()).getElementType();
  if (!argument) {
    argument = region->front().addArgument(type, c.location(expr.span));
    operands.push_back(tensor);
  }
  Interval interval = type.isInteger(32) ? Interval::i32() : Interval();
  return {argument, interval};
}

RegionEmitter::Typed RegionEmitter::value(const Expr &expr) {
  Location loc = c.location(expr.span);
  switch (expr.kind) {
  case ExprKind::IntLiteral: {
    Interval interval = Interval::exactly(expr.integer);
    return {constant(expr.integer, interval.fits32() ? 32 : 64, loc), interval};
  }
  case ExprKind::FloatLiteral:
    return {constantReal(expr.real, loc), {}};
  case ExprKind::BoolLiteral:
    return {constant(expr.integer, 1, loc), {}};
  case ExprKind::AxisIndex:
    return {IndexOp::create(b, loc, b.getI32Type(),
                            c.kernel.axes[expr.ref].name),
            {0, (int64_t(1) << 30) - 1}};
  case ExprKind::AxisLength: {
    const spec::Axis &axis = c.kernel.axes[expr.ref];
    if (axis.extent)
      return {constant(*axis.extent, 32, loc), Interval::exactly(*axis.extent)};
    return {LengthOp::create(b, loc, b.getI32Type(), axis.name),
            Interval::length()};
  }
  case ExprKind::Argument: {
    Value argument = c.argument(expr.ref);
    if (!c.kernel.arguments[expr.ref].scalar)
      return element(argument, expr);
    bool narrow = argument.getType().isInteger(32);
    return {argument, narrow ? Interval::i32() : Interval()};
  }
  case ExprKind::Local: {
    if (const Expr *definition = c.inlined(expr.ref)) {
      auto known = locals.find(expr.ref);
      if (known != locals.end())
        return known->second;
      Typed result = value(*definition);
      return locals[expr.ref] = result;
    }
    return element(c.tensor(expr), expr);
  }
  case ExprKind::Unary:
    return unary(expr);
  case ExprKind::Binary:
    return binary(expr);
  case ExprKind::Select: {
    Value which = condition(*expr.operands[0]);
    if (spec::isFloat(expr.type.dtype))
      return {arith::SelectOp::create(b, loc, which, real(*expr.operands[1]),
                                      real(*expr.operands[2])),
              {}};
    Typed yes = value(*expr.operands[1]), no = value(*expr.operands[2]);
    if (expr.type.dtype != DType::I1 &&
        yes.value.getType() != no.value.getType()) {
      yes.value = widen(yes.value, 64);
      no.value = widen(no.value, 64);
    }
    return {arith::SelectOp::create(b, loc, which, yes.value, no.value),
            yes.interval.join(no.interval)};
  }
  case ExprKind::Cast:
    return cast(expr);
  case ExprKind::Read:
    return read(expr);
  case ExprKind::Matmul:
  case ExprKind::Scale:
  case ExprKind::Mask:
  case ExprKind::Softmax:
    return element(c.tensor(expr), expr);
  }
  llvm_unreachable("all expressions handled");
}

RegionEmitter::Typed RegionEmitter::unary(const Expr &expr) {
  Location loc = c.location(expr.span);
  const Expr &operand = *expr.operands[0];
  if (expr.op == spec::Op::Not)
    return {arith::XOrIOp::create(b, loc, condition(operand),
                                  constant(1, 1, loc)),
            {}};
  if (spec::isInteger(expr.type.dtype)) {
    Typed x = integer(operand);
    if (expr.op == spec::Op::Floor)
      return x;
    Interval negated = Interval::exactly(0) - x.interval;
    bool narrow = negated.fits32() && x.value.getType().isInteger(32);
    Value v = narrow ? x.value : widen(x.value, 64);
    Value minus = arith::SubIOp::create(b, loc,
                                        constant(0, narrow ? 32 : 64, loc), v);
    if (expr.op == spec::Op::Neg)
      return {minus, negated};
    Interval magnitude{0, std::max(negated.high, x.interval.high)};
    if (negated.low == Interval().low && negated.high == Interval().high)
      magnitude = Interval();
    return {arith::MaxSIOp::create(b, loc, v, minus), magnitude};
  }
  Value x = real(operand);
  Value one;
  switch (expr.op) {
  case spec::Op::Neg:
    return {arith::NegFOp::create(b, loc, x), {}};
  case spec::Op::Abs:
    return {math::AbsFOp::create(b, loc, x), {}};
  case spec::Op::Floor:
    return {math::FloorOp::create(b, loc, x), {}};
  case spec::Op::Exp:
    return {math::ExpOp::create(b, loc, x), {}};
  case spec::Op::Exp2:
    return {math::Exp2Op::create(b, loc, x), {}};
  case spec::Op::Log:
    return {math::LogOp::create(b, loc, x), {}};
  case spec::Op::Sqrt:
    return {math::SqrtOp::create(b, loc, x), {}};
  case spec::Op::Rsqrt:
    return {math::RsqrtOp::create(b, loc, x), {}};
  case spec::Op::Tanh:
    return {math::TanhOp::create(b, loc, x), {}};
  case spec::Op::Sigmoid:
    one = constantReal(1, loc);
    x = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
    return {arith::DivFOp::create(b, loc, one,
                                  arith::AddFOp::create(b, loc, one, x)),
            {}};
  default:
    llvm_unreachable("not a unary operator");
  }
}

RegionEmitter::Typed RegionEmitter::compare(const Expr &expr) {
  Location loc = c.location(expr.span);
  const Expr &left = *expr.operands[0], &right = *expr.operands[1];
  if (spec::isInteger(left.type.dtype) && spec::isInteger(right.type.dtype)) {
    Value x = integer(left).value, y = integer(right).value;
    if (x.getType() != y.getType()) {
      x = widen(x, 64);
      y = widen(y, 64);
    }
    auto predicate = expr.op == spec::Op::Eq   ? arith::CmpIPredicate::eq
                     : expr.op == spec::Op::Ne ? arith::CmpIPredicate::ne
                     : expr.op == spec::Op::Lt ? arith::CmpIPredicate::slt
                     : expr.op == spec::Op::Le ? arith::CmpIPredicate::sle
                     : expr.op == spec::Op::Gt ? arith::CmpIPredicate::sgt
                                         : arith::CmpIPredicate::sge;
    return {arith::CmpIOp::create(b, loc, predicate, x, y), {}};
  }
  auto predicate = expr.op == spec::Op::Eq   ? arith::CmpFPredicate::OEQ
                   : expr.op == spec::Op::Ne ? arith::CmpFPredicate::UNE
                   : expr.op == spec::Op::Lt ? arith::CmpFPredicate::OLT
                   : expr.op == spec::Op::Le ? arith::CmpFPredicate::OLE
                   : expr.op == spec::Op::Gt ? arith::CmpFPredicate::OGT
                                       : arith::CmpFPredicate::OGE;
  return {arith::CmpFOp::create(b, loc, predicate, real(left), real(right)), {}};
}

RegionEmitter::Typed RegionEmitter::binary(const Expr &expr) {
  Location loc = c.location(expr.span);
  if (expr.op >= spec::Op::Eq && expr.op <= spec::Op::Ge)
    return compare(expr);
  if (expr.op == spec::Op::And || expr.op == spec::Op::Or) {
    Value x = condition(*expr.operands[0]), y = condition(*expr.operands[1]);
    if (expr.op == spec::Op::And)
      return {arith::AndIOp::create(b, loc, x, y), {}};
    return {arith::OrIOp::create(b, loc, x, y), {}};
  }
  if (spec::isInteger(expr.type.dtype))
    return integerBinary(expr);
  Value x = real(*expr.operands[0]), y = real(*expr.operands[1]);
  switch (expr.op) {
  case spec::Op::Add:
    return {arith::AddFOp::create(b, loc, x, y), {}};
  case spec::Op::Sub:
    return {arith::SubFOp::create(b, loc, x, y), {}};
  case spec::Op::Mul:
    return {arith::MulFOp::create(b, loc, x, y), {}};
  case spec::Op::Div:
    return {arith::DivFOp::create(b, loc, x, y), {}};
  case spec::Op::Min:
    return {arith::MinNumFOp::create(b, loc, x, y), {}};
  case spec::Op::Max:
    return {arith::MaxNumFOp::create(b, loc, x, y), {}};
  default:
    llvm_unreachable("not a binary operator");
  }
}

RegionEmitter::Typed RegionEmitter::integerBinary(const Expr &expr) {
  Location loc = c.location(expr.span);
  Typed x = integer(*expr.operands[0]), y = integer(*expr.operands[1]);
  Interval interval;
  switch (expr.op) {
  case spec::Op::Add:
    interval = x.interval + y.interval;
    break;
  case spec::Op::Sub:
    interval = x.interval - y.interval;
    break;
  case spec::Op::Mul:
    interval = x.interval * y.interval;
    break;
  case spec::Op::Min:
    interval = {std::min(x.interval.low, y.interval.low),
                std::min(x.interval.high, y.interval.high)};
    break;
  case spec::Op::Max:
    interval = {std::max(x.interval.low, y.interval.low),
                std::max(x.interval.high, y.interval.high)};
    break;
  default:
    return divide(x, y, loc);
  }
  bool narrow = interval.fits32() && x.value.getType().isInteger(32) &&
                y.value.getType().isInteger(32);
  Value l = narrow ? x.value : widen(x.value, 64);
  Value r = narrow ? y.value : widen(y.value, 64);
  switch (expr.op) {
  case spec::Op::Add:
    return {arith::AddIOp::create(b, loc, l, r), interval};
  case spec::Op::Sub:
    return {arith::SubIOp::create(b, loc, l, r), interval};
  case spec::Op::Mul:
    return {arith::MulIOp::create(b, loc, l, r), interval};
  case spec::Op::Min:
    return {arith::MinSIOp::create(b, loc, l, r), interval};
  default:
    return {arith::MaxSIOp::create(b, loc, l, r), interval};
  }
}

/// Floor division; x / 0 = 0. No operand can trap.
RegionEmitter::Typed RegionEmitter::divide(Typed x, Typed y, Location loc) {
  bool narrow = x.value.getType().isInteger(32) &&
                y.value.getType().isInteger(32) &&
                x.interval.low > Interval::i32().low;
  unsigned width = narrow ? 32 : 64;
  Value n = widen(x.value, width), d = widen(y.value, width);
  Value zero = constant(0, width, loc), one = constant(1, width, loc);
  Value byZero;
  if (y.interval.contains(0)) {
    byZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, d, zero);
    d = arith::SelectOp::create(b, loc, byZero, one, d);
  }
  Value quotient;
  Interval interval = x.interval.low >= 0 && y.interval.low >= 0
                          ? Interval{0, x.interval.high}
                      : narrow ? Interval::i32()
                               : Interval();
  if (x.interval.low >= 0 && y.interval.low >= 0) {
    quotient = arith::DivUIOp::create(b, loc, n, d);
  } else {
    // The one quotient that overflows is by -1; that division is a negation.
    Value byMinusOne;
    Value safe = d;
    if (y.interval.contains(-1)) {
      byMinusOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, d,
                                         constant(-1, width, loc));
      safe = arith::SelectOp::create(b, loc, byMinusOne, one, d);
    }
    Value q = arith::DivSIOp::create(b, loc, n, safe);
    Value r = arith::SubIOp::create(b, loc, n,
                                    arith::MulIOp::create(b, loc, q, safe));
    // Truncation went up where the remainder and the divisor differ in sign.
    Value signs = arith::XOrIOp::create(b, loc, r, safe);
    Value differ =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, signs, zero);
    Value inexact =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, r, zero);
    Value down = arith::AndIOp::create(b, loc, differ, inexact);
    quotient = arith::SelectOp::create(
        b, loc, down, arith::SubIOp::create(b, loc, q, one), q);
    if (byMinusOne)
      quotient = arith::SelectOp::create(
          b, loc, byMinusOne, arith::SubIOp::create(b, loc, zero, n), quotient);
  }
  if (byZero)
    quotient = arith::SelectOp::create(b, loc, byZero, zero, quotient);
  return {quotient, interval};
}

RegionEmitter::Typed RegionEmitter::read(const Expr &expr) {
  Location loc = c.location(expr.span);
  Value tensor = c.argument(expr.ref);
  SmallVector<Value> indices;
  for (const auto &operand : expr.operands)
    indices.push_back(integer(*operand).value);
  Type type = mlir::cast<RankedTensorType>(tensor.getType()).getElementType();
  return {ReadOp::create(b, loc, type, tensor, indices),
          type.isInteger(32) ? Interval::i32() : Interval()};
}

RegionEmitter::Typed RegionEmitter::cast(const Expr &expr) {
  Location loc = c.location(expr.span);
  const Expr &operand = *expr.operands[0];
  DType to = expr.type.dtype, from = operand.type.dtype;
  if (to == DType::I1)
    return value(operand);
  if (from == DType::I1) {
    Value bit = condition(operand);
    if (spec::isFloat(to))
      return {arith::UIToFPOp::create(b, loc, b.getF32Type(), bit), {}};
    return {arith::ExtUIOp::create(b, loc, b.getI32Type(), bit), {0, 1}};
  }
  if (spec::isInteger(to)) {
    Typed x = integer(operand);
    if (to == DType::I32 && !x.interval.fits32())
      return {arith::TruncIOp::create(b, loc, b.getI32Type(), x.value),
              Interval::i32()};
    return x;
  }
  Value x = real(operand);
  if (to != DType::F32) { // Round, then go on in f32.
    Type narrow = to == DType::F16 ? Type(b.getF16Type()) : b.getBF16Type();
    x = arith::TruncFOp::create(b, loc, narrow, x);
    x = arith::ExtFOp::create(b, loc, b.getF32Type(), x);
  }
  return {x, {}};
}
