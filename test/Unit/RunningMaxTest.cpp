//===- RunningMaxTest.cpp - whole maxima, computed ------------------------===//
//
// tile.running_max ... whole as its expansion computes it, run on the host. Packed
// exponentials take the maximum from their offset and rely on that being exact.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/CpuProgram.h"

#include "dialect/Tile/Exp2Offset.h"
#include "dialect/Tile/Tile.h"
#include "lib/Schedule/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace attn::test;

static const char *kProgram = R"(
func.func @maxima(%scores: !tile.ptr<f32>, %maxima: !tile.ptr<f32>, %next: !tile.ptr<f32>,
                  %correction: !tile.ptr<f32>)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 64 : i64
  %columns = arith.constant 128 : i64
  %vs = tile.view %scores[%zero] size [%rows, %columns] stride [%columns, %one] aligned 0 : !tile.ptr<f32>
  %vm = tile.view %maxima[%zero] size [%rows, %one] stride [%one, %one] aligned 0 : !tile.ptr<f32>
  %vn = tile.view %next[%zero] size [%rows, %one] stride [%one, %one] aligned 0 : !tile.ptr<f32>
  %vc = tile.view %correction[%zero] size [%rows, %one] stride [%one, %one] aligned 0 : !tile.ptr<f32>
  %s = tile.load %vs[%zero, %zero] : !tile.view<f32> -> tensor<64x128xf32>
  %m = tile.load %vm[%zero, %zero] : !tile.view<f32> -> tensor<64x1xf32>
  %n, %c, %moved = tile.running_max running %s, %m factor 1.0 whole : tensor<64x128xf32>, tensor<64x1xf32>
  tile.store %n, %vn[%zero, %zero] : tensor<64x1xf32>, !tile.view<f32>
  tile.store %c, %vc[%zero, %zero] : tensor<64x1xf32>, !tile.view<f32>
  return
}
)";

static std::string expanded() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<attn::tile::TileDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect,
                      mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kProgram, &context);
  mlir::PassManager pm(&context);
  pm.addNestedPass<mlir::func::FuncOp>(attn::createExpandRunningMaxPass());
  if (!module || mlir::failed(pm.run(*module)))
    return "";
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out);
  return text;
}

namespace {
struct Row {
  float next, correction;
};
} // namespace

/// The rows' next maxima, of a largest score and the maximum before.
static std::array<Row, 64> run(const std::array<float, 64> &largest,
                               const std::array<float, 64> &before) {
  static const CpuProgram program(expanded(), "maxima");
  EXPECT_TRUE(program) << program.error;
  std::vector<float> scores(64 * 128, -std::numeric_limits<float>::infinity());
  for (size_t row = 0; row < 64; ++row)
    scores[row * 128 + row] = largest[row];
  std::array<float, 64> maxima = before, next{}, correction{};
  program.run({slot(scores.data()), slot(maxima.data()), slot(next.data()),
               slot(correction.data())},
              0, 1);
  std::array<Row, 64> rows;
  for (size_t row = 0; row < 64; ++row)
    rows[row] = {next[row], correction[row]};
  return rows;
}

/// A row without a key keeps minus infinity, which nothing is taken from.
TEST(RunningMax, WholeIsRoundedUpWhileFloatsHoldEveryInteger) {
  const float inf = std::numeric_limits<float>::infinity();
  std::array<float, 64> scores{}, before;
  before.fill(-3);
  scores[0] = 2.5f, scores[1] = -2.5f, scores[2] = 7, scores[3] = -1e5f;
  scores[4] = 8123456.0f, scores[5] = -inf, scores[6] = 1e-30f;
  before[5] = -inf;
  std::array<Row, 64> rows = run(scores, before);
  EXPECT_EQ(rows[0].next, 3);
  EXPECT_EQ(rows[1].next, -2);
  EXPECT_EQ(rows[2].next, 7);
  EXPECT_EQ(rows[3].next, -3); // The maximum before.
  EXPECT_EQ(rows[4].next, 8123456);
  EXPECT_EQ(rows[5].next, -inf);
  EXPECT_EQ(rows[6].next, 1);
  EXPECT_EQ(rows[0].correction, std::exp2(-6.0f));
  EXPECT_EQ(rows[3].correction, 1);
}

// From 2^24 on, and where the offset takes the difference beyond, floats are more than
// 1 apart. A maximum that is merely rounded up is then one that the offset cannot be
// taken from: the difference of an odd one is no float.
TEST(RunningMax, TheOffsetIsTakenFromAWholeMaximumExactly) {
  int moved = 0;
  // Between the last two of each power of two the difference of a negative one is beyond.
  for (double size : {0x1p23, 0x1p24 - 50000, 0x1p24, 0x1p25 - 50000, 0x1p25, 0x1p27 - 50000,
                      0x1p27, 0x1p29})
    for (double sign : {-1.0, 1.0}) {
      std::array<float, 64> scores, before;
      before.fill(-std::numeric_limits<float>::infinity());
      float x = float(sign * size);
      for (float &score : scores) {
        score = x;
        x = std::nextafter(x, -std::numeric_limits<float>::infinity());
      }
      std::array<Row, 64> rows = run(scores, before);
      for (size_t row = 0; row < 64; ++row) {
        double whole = rows[row].next, offset = attn::tile::kExp2Offset;
        EXPECT_EQ(whole, std::floor(whole));
        EXPECT_EQ(double(float(offset - whole)), offset - whole) << whole;
        // By no more than floats there are apart.
        EXPECT_LE(std::fabs(whole - std::ceil(scores[row])), 128) << whole;
        EXPECT_LE(std::fabs(whole - std::ceil(scores[row])),
                  std::fabs(scores[row]) * 0x1p-22)
            << whole;
        moved += whole != std::ceil(scores[row]);
      }
    }
  EXPECT_GT(moved, 20); // Else rounding up were enough.
}

// Beyond 2^30 nothing is taken from it.
TEST(RunningMax, AVeryLargeMaximumStaysAsItIs) {
  std::array<float, 64> scores, before;
  before.fill(0);
  for (size_t row = 0; row < 64; ++row)
    scores[row] = float(std::ldexp(1.5, 31 + int(row)));
  std::array<Row, 64> rows = run(scores, before);
  for (size_t row = 0; row < 64; ++row)
    EXPECT_EQ(rows[row].next, scores[row]);
}
