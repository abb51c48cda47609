//===- CodegenCpuTest.cpp - tile programs against plain C++ ---------------===//
//
// The programs of test/Codegen/cpu-*.mlir, compiled, loaded and compared with a
// naive computation in double. Memory outside every view is NaN or a sentinel.
//
//===----------------------------------------------------------------------===//

#include "test/Unit/CpuProgram.h"
#include "test/Unit/FloatBits.h"

#include <gtest/gtest.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <pthread.h>
#include <random>
#include <regex>

using namespace attn::test;

static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kSentinel = -12345.f;

//===----------------------------------------------------------------------===//
// Narrow floats, without the compiler's help
//===----------------------------------------------------------------------===//

static float fromBf16(uint16_t x) { return fromBits(uint32_t(x) << 16); }
static uint16_t toBf16(float x) {
  uint32_t bits = bitsOf(x);
  if (std::isnan(x))
    return uint16_t(bits >> 16) | 0x40;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static float fromF16(uint16_t x) {
  int exponent = (x >> 10) & 31, fraction = x & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, exponent - 25);
  return float(x & 0x8000 ? -value : value);
}
static uint16_t toF16(float x) {
  uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  double a = std::fabs(double(x));
  if (std::isnan(x))
    return sign | 0x7e00;
  if (a >= 65520)
    return sign | 0x7c00;
  if (a < std::ldexp(1, -14)) // Denormal: a fixed point of 2^-24.
    return sign | uint16_t(std::nearbyint(std::ldexp(a, 24)));
  int exponent;
  double fraction = std::frexp(a, &exponent); // [0.5, 1)
  auto scaled = uint32_t(std::nearbyint(std::ldexp(fraction, 11)));
  return sign | uint16_t(((exponent + 14) << 10) + (scaled - 1024));
}

struct Dtype {
  const char *name;
  int bytes;
};
static const Dtype kF32{"f32", 4}, kBf16{"bf16", 2}, kF16{"f16", 2};

/// Elements of a dtype, read and written as float.
struct Array {
  Dtype dtype;
  std::vector<uint8_t> bytes;
  Array(Dtype dtype, size_t count, float value = 0)
      : dtype(dtype), bytes(count * dtype.bytes) {
    for (size_t i = 0; i < count; ++i)
      set(i, value);
  }
  size_t size() const { return bytes.size() / dtype.bytes; }
  uint64_t slot() { return attn::test::slot(bytes.data()); }
  float get(size_t i) const {
    if (dtype.bytes == 4) {
      float x;
      std::memcpy(&x, &bytes[4 * i], 4);
      return x;
    }
    uint16_t x;
    std::memcpy(&x, &bytes[2 * i], 2);
    return std::string(dtype.name) == "bf16" ? fromBf16(x) : fromF16(x);
  }
  void set(size_t i, float value) {
    if (dtype.bytes == 4) {
      std::memcpy(&bytes[4 * i], &value, 4);
      return;
    }
    uint16_t x =
        std::string(dtype.name) == "bf16" ? toBf16(value) : toF16(value);
    std::memcpy(&bytes[2 * i], &x, 2);
  }
};

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

#define ASSERT_COMPILED(program) ASSERT_TRUE(program) << program.error

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

/// rows x columns random values at stride `stride`, NaN between and behind
/// them.
static Array randomMatrix(Dtype dtype, int64_t rows, int64_t columns,
                          int64_t stride, unsigned seed) {
  Array a(dtype, std::max<int64_t>(rows * stride + 64, 1), kNaN);
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      a.set(r * stride + c, normal(generator));
  return a;
}

static void checkMatmul(const CpuProgram &program, Dtype dtype, int64_t M,
                        int64_t N, int64_t K) {
  SCOPED_TRACE(testing::Message()
               << dtype.name << " " << M << "x" << N << "x" << K);
  int64_t sa = K + 3, sb = N + 5, sc = N + 7;
  Array a = randomMatrix(dtype, M, K, sa, 1),
        b = randomMatrix(dtype, K, N, sb, 2);
  Array c(kF32, M * sc + 16, kSentinel);
  int64_t blocks = (M + 63) / 64 * ((N + 47) / 48);
  program.run({a.slot(), b.slot(), c.slot(), slot(M), slot(N), slot(K),
               slot(sa), slot(sb), slot(sc)},
              0, blocks);
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < sc; ++n) {
      float got = c.get(m * sc + n);
      if (n >= N) {
        ASSERT_EQ(got, kSentinel) << m << "," << n;
        continue;
      }
      double want = 0, size = 0;
      for (int64_t k = 0; k < K; ++k) {
        double term = double(a.get(m * sa + k)) * b.get(k * sb + n);
        want += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(got, want, 1e-6 * size + 1e-30) << m << "," << n;
    }
  for (size_t i = M * sc; i < c.size(); ++i)
    ASSERT_EQ(c.get(i), kSentinel);
}

TEST(CodegenCpu, MatmulOfEveryShapeAndDtype) {
  for (Dtype dtype : {kF32, kBf16, kF16})
    for (bool portable : {false, true}) {
      SCOPED_TRACE(portable ? "portable" : "this host");
      CpuProgram program(replaced(readProgram("cpu-matmul.mlir"), "!e = f32",
                                  std::string("!e = ") + dtype.name),
                         "matmul", portable);
      ASSERT_COMPILED(program);
      for (auto [M, N, K] : {std::array<int64_t, 3>{64, 48, 32},
                             {1, 1, 1},
                             {3, 5, 7},
                             {65, 49, 33},
                             {128, 96, 100},
                             {130, 17, 64},
                             {64, 48, 0},
                             {0, 10, 10},
                             {10, 0, 10}})
        checkMatmul(program, dtype, M, N, K);
    }
}

TEST(CodegenCpu, RunsOnlyTheBlocksAskedFor) {
  CpuProgram program(readProgram("cpu-matmul.mlir"), "matmul");
  ASSERT_COMPILED(program);
  int64_t M = 200, N = 48, K = 40;
  Array a = randomMatrix(kF32, M, K, K, 1), b = randomMatrix(kF32, K, N, N, 2);
  Array whole(kF32, M * N, kSentinel), parts = whole;
  auto slots = [&](Array &c) {
    return std::vector<uint64_t>{a.slot(), b.slot(), c.slot(), slot(M), slot(N),
                                 slot(K),  slot(K),  slot(N),  slot(N)};
  };
  program.run(slots(whole), 0, 4);
  program.run(slots(parts), 1, 3);
  program.run(slots(parts), 2, 2); // No block at all.
  for (int64_t i = 0; i < M * N; ++i) {
    bool inside = i / N >= 64 && i / N < 192;
    ASSERT_EQ(parts.get(i), inside ? whole.get(i) : kSentinel) << i;
  }
  program.run(slots(parts), 0, 1);
  program.run(slots(parts), 3, 4);
  EXPECT_EQ(parts.bytes, whole.bytes); // The same bits however it was split.
}

//===----------------------------------------------------------------------===//
// Flash and softmax
//===----------------------------------------------------------------------===//

static void checkFlash(const CpuProgram &program, Dtype dtype, int64_t M,
                       int64_t N, bool causal, float spread) {
  SCOPED_TRACE(testing::Message()
               << dtype.name << " M " << M << " N " << N << " causal " << causal
               << " spread " << spread);
  const int64_t D = 64, stride = 68, heads = 2;
  Array q = randomMatrix(dtype, heads * M, D, stride, 1);
  Array k = randomMatrix(dtype, heads * N, D, stride, 2);
  Array v = randomMatrix(dtype, heads * N, D, stride, 3);
  Array o(dtype, heads * M * stride + 1, kSentinel);
  float sentinel = o.get(0);
  float scale = spread / 8;
  program.run({q.slot(), k.slot(), v.slot(), o.slot(), slot(M), slot(N),
               slot(stride), slot(M * stride), slot(N * stride),
               slot<uint8_t>(causal), slot<float>(scale * 1.44269504f)},
              0, heads * ((M + 63) / 64));
  double unit = dtype.bytes == 4                   ? 2e-6
                : std::string(dtype.name) == "f16" ? 1e-3
                                                   : 8e-3;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t m = 0; m < M; ++m) {
      std::vector<double> p;
      double most = -INFINITY, sum = 0;
      for (int64_t n = 0; n < N && (!causal || n <= m); ++n) {
        double s = 0;
        for (int64_t d = 0; d < D; ++d)
          s += double(q.get((h * M + m) * stride + d)) *
               k.get((h * N + n) * stride + d);
        p.push_back(s * scale);
        most = std::max(most, p.back());
      }
      for (double &x : p)
        sum += x = std::exp(x - most);
      for (int64_t d = 0; d < stride; ++d) {
        float got = o.get((h * M + m) * stride + d);
        if (d >= D) {
          ASSERT_EQ(got, sentinel);
          continue;
        }
        double want = 0, size = 0;
        for (size_t n = 0; n < p.size(); ++n) {
          double term = p[n] / sum * v.get((h * N + n) * stride + d);
          want += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(got, want, unit * (size + 1e-3) * std::max(spread, 1.f))
            << "row " << m << " d " << d;
      }
    }
  ASSERT_EQ(o.get(heads * M * stride), sentinel);
}

static void checkFlashLengths(const CpuProgram &program, Dtype dtype) {
  for (bool causal : {false, true})
    for (auto [M, N] : {std::pair<int64_t, int64_t>{64, 64},
                        {1, 1},
                        {65, 200},
                        {200, 65},
                        {130, 130},
                        {70, 0},
                        {0, 5}})
      checkFlash(program, dtype, M, N, causal, 1);
  checkFlash(program, dtype, 64, 192, false, 20); // Rescaling matters here.
}

TEST(CodegenCpu, FlashF32) {
  CpuProgram program(readProgram("cpu-flash.mlir"), "flash");
  ASSERT_COMPILED(program);
  checkFlashLengths(program, kF32);
}

TEST(CodegenCpu, FlashNarrow) {
  for (Dtype dtype : {kBf16, kF16}) {
    CpuProgram program(replaced(readProgram("cpu-flash-narrow.mlir"),
                                "!e = bf16", std::string("!e = ") + dtype.name),
                       "flash_narrow");
    ASSERT_COMPILED(program);
    checkFlashLengths(program, dtype);
  }
}

TEST(CodegenCpu, SoftmaxOfRows) {
  CpuProgram program(readProgram("cpu-softmax.mlir"), "softmax");
  ASSERT_COMPILED(program);
  for (auto [R, C] :
       {std::pair<int64_t, int64_t>{8, 128}, {1, 1}, {9, 127}, {17, 1000}}) {
    int64_t stride = C + 3;
    Array x = randomMatrix(kF32, R, C, stride, 7),
          y(kF32, R * stride, kSentinel);
    program.run({x.slot(), y.slot(), slot(R), slot(C), slot(stride)}, 0,
                (R + 7) / 8);
    for (int64_t r = 0; r < R; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < C; ++c)
        sum += std::exp(double(x.get(r * stride + c)));
      for (int64_t c = 0; c < stride; ++c)
        if (c < C)
          ASSERT_NEAR(y.get(r * stride + c) * sum /
                          std::exp(x.get(r * stride + c)),
                      1, 3e-6);
        else
          ASSERT_EQ(y.get(r * stride + c), kSentinel);
    }
  }
}

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

TEST(CodegenCpu, IndexMathGathersAndStrides) {
  CpuProgram program(readProgram("cpu-pointwise.mlir"), "pointwise");
  ASSERT_COMPILED(program);
  for (int64_t T : {13, 0})
    for (auto [R, C] : {std::pair<int64_t, int64_t>{8, 32}, {1, 1}, {13, 45}}) {
      Array x(kF32, R * C), table(kF32, T), bias(kF16, R),
          value(kF32, R * C + 8, kSentinel);
      std::vector<uint8_t> even(R * C + 8, 0x77);
      for (int64_t i = 0; i < R * C; ++i)
        x.set(i, i);
      for (int64_t i = 0; i < T; ++i)
        table.set(i, 1000 * i);
      for (int64_t i = 0; i < R; ++i)
        bias.set(i, 0.5f * i);
      // An empty table has no storage at all.
      program.run({x.slot(), T ? table.slot() : 0, bias.slot(), value.slot(),
                   slot(even.data()), slot(R), slot(C), slot(T)},
                  0, (R + 7) / 8 * ((C + 31) / 32));
      for (int64_t r = 0; r < R; ++r)
        for (int64_t c = 0; c < C; ++c) {
          float want =
              (T ? 1000.f * ((r * C + c) % T) : 0) + 0.5f * r + (c * R + r);
          ASSERT_EQ(value.get(r * C + c), want) << r << "," << c;
          ASSERT_EQ(even[r * C + c], c % 2 == 0) << r << "," << c;
        }
      ASSERT_EQ(value.get(R * C), kSentinel);
      ASSERT_EQ(even[R * C], 0x77);
    }
}

/// y = f(x) over n elements, `body` computes %y from %x.
static std::string pointwise(const std::string &in, const std::string &out,
                             const std::string &body) {
  return "func.func @f(%px: !tile.ptr<" + in + ">, %py: !tile.ptr<" + out +
         R"(>, %n: i64) attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 512 : i64
  %id = tile.block_id : i32
  %id64 = arith.extsi %id : i32 to i64
  %c0 = arith.muli %id64, %width : i64
  %vx = tile.view %px[%zero] size [%one, %n] stride [%n, %one] aligned 0 : !tile.ptr<)" +
         in + R"(>
  %vy = tile.view %py[%zero] size [%one, %n] stride [%n, %one] aligned 0 : !tile.ptr<)" +
         out + R"(>
  %x = tile.load %vx[%zero, %c0] : !tile.view<)" +
         in + "> -> tensor<1x512x" + in + ">\n  " + body +
         "\n  tile.store %y, %vy[%zero, %c0] : tensor<1x512x" + out +
         ">, !tile.view<" + out + ">\n  return\n}\n";
}

template <typename In, typename Out>
static void apply(const CpuProgram &program, std::vector<In> &x,
                  std::vector<Out> &y) {
  int64_t n = x.size();
  y.assign(n, Out());
  program.run({slot(x.data()), slot(y.data()), slot(n)}, 0, (n + 511) / 512);
}

//===----------------------------------------------------------------------===//
// Loops, branches, scratch
//===----------------------------------------------------------------------===//

TEST(CodegenCpu, CarriedTilesAndBranches) {
  CpuProgram program(readProgram("cpu-control.mlir"), "control");
  ASSERT_COMPILED(program);
  for (int64_t steps : {0, 1, 2, 5}) {
    SCOPED_TRACE(steps);
    Array in(kF32, 256), out(kF32, 5 * 256, kSentinel);
    for (int i = 0; i < 256; ++i)
      in.set(i, i % 7 - 3);
    program.run({in.slot(), out.slot(), slot(steps)}, 0, 1);
    for (int i = 0; i < 256; ++i) {
      float x = in.get(i), y = x / 2;
      for (int64_t s = 0; s < steps; ++s) {
        float sum = x + y;
        x = y;
        y = sum;
      }
      float product = 0; // (a / 2) times the transpose of a.
      for (int k = 0; k < 16; ++k)
        product += in.get(i / 16 * 16 + k) / 2 * in.get(i % 16 * 16 + k);
      ASSERT_EQ(out.get(i), x) << i;
      ASSERT_EQ(out.get(256 + i), y) << i;
      ASSERT_EQ(out.get(512 + i), steps % 2 ? x + 3 : x * y + 4) << i;
      ASSERT_EQ(out.get(768 + i), product * steps) << i;
      ASSERT_EQ(out.get(1024 + i),
                steps % 2 ? product * (steps - 1) : kSentinel)
          << i;
    }
  }
}

/// Tiles of a mebibyte, on a thread with the smallest stack there is.
TEST(CodegenCpu, LargeTilesNeedNoStack) {
  CpuProgram program(R"(
func.func @f(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %vi = tile.view %in[%zero] size [%n, %n] stride [%n, %one] aligned 0 : !tile.ptr<f32>
  %vo = tile.view %out[%zero] size [%n, %n] stride [%one, %n] aligned 0 : !tile.ptr<f32>
  %t = tile.load %vi[%zero, %zero] : !tile.view<f32> -> tensor<512x512xf32>
  %e = math.absf %t : tensor<512x512xf32>
  tile.store %e, %vo[%zero, %zero] : tensor<512x512xf32>, !tile.view<f32>
  return
})",
                     "f");
  ASSERT_COMPILED(program);
  int64_t n = 500;
  Array in = randomMatrix(kF32, n, n, n, 3), out(kF32, n * n, kSentinel);
  std::vector<uint64_t> slots{in.slot(), out.slot(), slot(n)};
  std::function<void()> work = [&] { program.run(slots, 0, 1); };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 128 << 10), 0);
  pthread_t thread;
  auto start = [](void *f) -> void * {
    (*static_cast<std::function<void()> *>(f))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  for (int64_t i = 0; i < n * n; ++i)
    ASSERT_EQ(out.get(i % n * n + i / n), std::fabs(in.get(i))) << i;
}

/// Windows that start before the tensor or end behind it read zero there; rows
/// that are neighbours in memory are read as columns.
TEST(CodegenCpu, WindowsOverEveryEdge) {
  for (bool turned : {false, true})
    for (const char *type : {"f32", "f16", "i1", "i64"}) {
      SCOPED_TRACE(testing::Message() << type << " turned " << turned);
      std::string text = R"(
func.func @f(%in: !tile.ptr<E>, %out: !tile.ptr<E>, %r: i64, %c: i64, %R: i64, %C: i64)
    attributes {tile.layout = #tile.rows<warps = 1, vector = 4>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 32 : i64
  %columns = arith.constant 48 : i64
  %vi = tile.view %in[%zero] size [%R, %C] stride [STRIDES] aligned 0 : !tile.ptr<E>
  %vo = tile.view %out[%zero] size [%rows, %columns] stride [%columns, %one] aligned 0 : !tile.ptr<E>
  %t = tile.load %vi[%r, %c] : !tile.view<E> -> tensor<32x48xE>
  tile.store %t, %vo[%zero, %zero] : tensor<32x48xE>, !tile.view<E>
  return
})";
      text = std::regex_replace(text, std::regex("STRIDES"),
                                turned ? "%one, %R" : "%C, %one");
      text = std::regex_replace(text, std::regex("<E>"),
                                std::string("<") + type + ">");
      text = std::regex_replace(text, std::regex("xE>"),
                                std::string("x") + type + ">");
      CpuProgram program(text, "f");
      ASSERT_COMPILED(program);
      int64_t R = 37, C = 53;
      std::string name = type;
      size_t bytes = name == "i1"    ? 1
                     : name == "f16" ? 2
                     : name == "f32" ? 4
                                     : 8;
      std::vector<uint8_t> in(R * C * bytes), out(32 * 48 * bytes);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = name == "i1" ? i % 3 == 0 : 1 + i % 50; // No NaN: bytes < 0x7c.
      for (int64_t r : {-40, -5, 0, 3, 20, 37})
        for (int64_t c : {-60, -7, 0, 5, 40, 53}) {
          std::fill(out.begin(), out.end(), 0xee);
          program.run({slot(in.data()), slot(out.data()), slot(r), slot(c),
                       slot(R), slot(C)},
                      0, 1);
          for (int64_t i = 0; i < 32; ++i)
            for (int64_t j = 0; j < 48; ++j) {
              int64_t row = r + i, column = c + j;
              bool inside = row >= 0 && row < R && column >= 0 && column < C;
              int64_t at = turned ? column * R + row : row * C + column;
              std::vector<uint8_t> want(bytes);
              if (inside)
                std::memcpy(want.data(), &in[at * bytes], bytes);
              ASSERT_EQ(
                  std::memcmp(&out[(i * 48 + j) * bytes], want.data(), bytes),
                  0)
                  << r << "," << c << " + " << i << "," << j;
            }
        }
    }
}

TEST(CodegenCpu, SaysWhatToInstallWithoutALinker) {
  std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  CpuProgram program(readProgram("cpu-matmul.mlir"), "matmul");
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(program);
  EXPECT_NE(program.error.find("install gcc or clang"), std::string::npos)
      << program.error;
}

//===----------------------------------------------------------------------===//
// Rounding and functions
//===----------------------------------------------------------------------===//

/// Every 257th float, so every exponent with many fractions, and the edges.
static std::vector<float> sampleFloats() {
  std::vector<float> x{0.f,     -0.f,       kInf,      -kInf,    kNaN,
                       1.f,     -1.f,       88.72283f, 88.7229f, 127.99999f,
                       128.f,   128.1f,     -126.f,    -127.f,   -149.f,
                       -150.f,  -87.33654f, -104.f,    FLT_MAX,  -FLT_MAX,
                       FLT_MIN, 0.4f,       0.39999f};
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 257)
    x.push_back(fromBits(uint32_t(bits)));
  return x;
}

/// Largest error of `name` in units in the last place; results below the least
/// normal number may be flushed to zero.
static double worstUlp(const char *name, double (*f)(double), float &worstAt) {
  CpuProgram program(
      pointwise("f32", "f32",
                std::string("%y = math.") + name + " %x : tensor<1x512xf32>"),
      "f");
  EXPECT_TRUE(program) << program.error;
  if (!program)
    return kInf;
  std::vector<float> x = sampleFloats(), y;
  apply(program, x, y);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double want = f(x[i]);
    float rounded = float(want);
    double ulps;
    if (std::isnan(rounded) || std::isnan(y[i]))
      ulps = std::isnan(rounded) == std::isnan(y[i]) ? 0 : kInf;
    else if (std::isinf(rounded) || std::isinf(y[i]) || rounded == 0)
      ulps = rounded == y[i] ? 0
             : std::fabs(y[i]) >= FLT_MAX / 1.000001 &&
                     std::fabs(want) >= FLT_MAX / 1.000001
                 ? 1
                 : kInf;
    else if (std::fabs(want) < FLT_MIN)
      ulps = std::fabs(y[i] - want) <= FLT_MIN ? 0 : kInf;
    else
      ulps = std::fabs(y[i] - want) /
             std::ldexp(1, std::max(std::ilogb(rounded), -126) - 23);
    if (ulps > worst || std::isnan(ulps)) {
      worst = ulps;
      worstAt = x[i];
    }
  }
  return worst;
}

static void expectAccurate(const char *name, double (*f)(double),
                           double limit) {
  float at = 0;
  double worst = worstUlp(name, f, at);
  testing::Test::RecordProperty(name, std::to_string(worst));
  EXPECT_LE(worst, limit) << name << "(" << at << ")";
}

static void checkRounding(const char *type, uint16_t (*round)(float),
                          float (*widen)(uint16_t), bool portable) {
  SCOPED_TRACE(testing::Message() << type << (portable ? " portable" : ""));
  std::string name = type;
  CpuProgram narrow(
      pointwise("f32", name,
                "%y = arith.truncf %x : tensor<1x512xf32> to tensor<1x512x" +
                    name + ">"),
      "f", portable);
  ASSERT_COMPILED(narrow);
  CpuProgram wide(pointwise(name, "f32",
                            "%y = arith.extf %x : tensor<1x512x" + name +
                                "> to tensor<1x512xf32>"),
                  "f", portable);
  ASSERT_COMPILED(wide);
  std::vector<uint16_t> all(65536), rounded;
  for (int i = 0; i < 65536; ++i)
    all[i] = i;
  std::vector<float> values, x = sampleFloats();
  apply(wide, all, values);
  for (int i = 0; i < 65536; ++i) {
    float want = widen(i);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(values[i])
                                 : bitsOf(want) == bitsOf(values[i]))
        << i;
    // Halfway to the next value, and one bit to each side.
    for (int around : {-1, 0, 1})
      x.push_back(
          fromBits(bitsOf(want) + (name == "bf16" ? 0x8000 : 0x1000) + around));
  }
  apply(narrow, x, rounded);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(std::isnan(x[i]) ? std::isnan(widen(rounded[i]))
                                 : rounded[i] == round(x[i]))
        << x[i] << " became " << rounded[i] << ", not " << round(x[i]);
}

TEST(CodegenCpuMath, RoundsToNearestEven) {
  for (bool portable : {false, true}) {
    checkRounding("bf16", toBf16, fromBf16, portable);
    checkRounding("f16", toF16, fromF16, portable);
  }
}

TEST(CodegenCpuMath, Exp2) { expectAccurate("exp2", std::exp2, 2); }
TEST(CodegenCpuMath, Exp) { expectAccurate("exp", std::exp, 2); }
TEST(CodegenCpuMath, Log) { expectAccurate("log", std::log, 2); }
TEST(CodegenCpuMath, Tanh) { expectAccurate("tanh", std::tanh, 2.5); }
TEST(CodegenCpuMath, Sqrt) { expectAccurate("sqrt", std::sqrt, 0.5); }
TEST(CodegenCpuMath, Rsqrt) {
  expectAccurate(
      "rsqrt", [](double x) { return 1 / std::sqrt(x); }, 2);
}
TEST(CodegenCpuMath, Floor) { expectAccurate("floor", std::floor, 0); }
TEST(CodegenCpuMath, Absolute) { expectAccurate("absf", std::fabs, 0); }
