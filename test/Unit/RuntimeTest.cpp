//===- RuntimeTest.cpp - plans and launches on the CPU device -------------===//
//
// The fixture is a bundle made by hand: a C file compiled by the system's
// compiler and a program that describes it.
//
//===----------------------------------------------------------------------===//

#include "lib/Bundle/Signature.h"
#include "lib/Bundle/Timeline.h"
#include "lib/Runtime/HostMemory.h"
#include "lib/Runtime/Launch.h"
#include "lib/Runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

using namespace attn;
using namespace attn::runtime;
namespace fs = std::filesystem;

// t[m, n] = x[m, n] * factor, then y[m] = sum of t[m, n]; a block is a row of
// `double_rows` and four rows of `sum_rows`.
static const char *kSource = R"c(
#include <stdint.h>
#include <string.h>
void scale_rows(const uint64_t *s, int64_t first, int64_t last) {
  const float *x = (const float *)s[0];
  float *t = (float *)s[1];
  float factor;
  memcpy(&factor, &s[5], 4);
  for (int64_t m = first; m < last; ++m)
    for (int64_t n = 0; n < (int64_t)s[4]; ++n)
      t[m * (int64_t)s[3] + n] = x[m * (int64_t)s[2] + n] * factor;
}
void sum_rows(const uint64_t *s, int64_t first, int64_t last) {
  const float *t = (const float *)s[0];
  float *y = (float *)s[1];
  for (int64_t m = first * 4; m < last * 4 && m < (int64_t)s[3]; ++m) {
    y[m] = 0;
    for (int64_t n = 0; n < (int64_t)s[4]; ++n)
      y[m] += t[m * (int64_t)s[2] + n];
  }
}
// Writes a 32-bit word at the place that is its block.
void stamp_words(const uint64_t *s, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i)
    ((uint32_t *)s[0])[i] += 7;
}
)c";

namespace {
class CpuBundle : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "attn-runtime-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    program.name = "rows";
    program.axes = {{"M", {}, "", ""}, {"N", {}, "", ""}};
    program.tensors = {{"x", "f32", {"M", "N"}, bundle::Role::Input, 1},
                       {"y", "f32", {"M"}, bundle::Role::Output, 1}};
    program.scalars = {{"factor", "f32"}};
    level.name = "naive";
    level.target = "cpu";
    level.temporaries = {{"t", "f32", {"M", "N"}, bundle::Role::Temporary, 16}};
    using Kind = bundle::Arg::Kind;
    bundle::Kernel scale;
    scale.symbol = "scale_rows";
    scale.grid = {{"M", 1}};
    scale.args = {{Kind::Pointer, "x", ""}, {Kind::Pointer, "t", ""},
                  {Kind::Stride, "x", "M"}, {Kind::Stride, "t", "M"},
                  {Kind::Length, "", "N"},  {Kind::Scalar, "factor", ""}};
    bundle::Kernel sum;
    sum.symbol = "sum_rows";
    sum.grid = {{"M", 4}};
    sum.args = {{Kind::Pointer, "t", ""},
                {Kind::Pointer, "y", ""},
                {Kind::Stride, "t", "M"},
                {Kind::Length, "", "M"},
                {Kind::Length, "", "N"}};
    level.kernels = {scale, sum};
    level.files = {{"so", "k.so"}};
    compile();
  }
  /// Makes the code of the program and level as they now are.
  void compile() {
    std::string source = kSource;
    for (const bundle::Kernel &kernel : level.kernels) {
      std::string lines = bundle::signature(program, level, kernel);
      for (size_t at; (at = lines.find('\n')) != std::string::npos;)
        lines.replace(at, 1, "\\n");
      source += "const char " + kernel.symbol + "_signature[] __asm__(\"" +
                bundle::signatureSymbol(kernel) + "\") = \"" + lines + "\";\n";
    }
    bundle::writeFileAtomically(folder + "/k.c", source);
    // In place of the old one, which a process may have loaded.
    std::string command = std::string(ATTN_TEST_CC) + " -shared -fPIC -O1 -o " +
                          folder + "/new.so " + folder + "/k.c";
    ASSERT_EQ(std::system(command.c_str()), 0);
    fs::rename(folder + "/new.so", folder + "/k.so");
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string folder;
  bundle::Program program;
  bundle::Level level;

  /// Runs the level on M x N ones-and-indices; returns y and its guards.
  std::vector<float> run(Device &device, int64_t m, int64_t n, int64_t stride,
                         float factor) {
    Buffer x(device, m * stride * 4), y(device, (m + 4) * 4);
    std::vector<float> values(size_t(m * stride), 1e30f);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        values[size_t(i * stride + j)] = float(i);
    device.copyIn(x.data(), values.data(), m * stride * 4);
    device.fill(y.data(), 0xff, (m + 4) * 4);
    Arguments arguments;
    arguments.lengths = {{"M", m}, {"N", n}};
    arguments.tensors["x"] = {x.data(), {stride, 1}};
    arguments.tensors["y"] = {y.data(), {}};
    arguments.scalars["factor"] = double(factor);
    Plan plan(device, program, level, device.load(level, folder), arguments);
    plan.launch();
    plan.launch();
    device.synchronize();
    std::vector<float> result(size_t(m) + 4);
    device.copyOut(result.data(), y.data(), (m + 4) * 4);
    return result;
  }

  /// The error of a plan after `change`; y must stay as it was.
  template <typename Fn> std::string errorOf(Fn change) {
    auto device = openCpu(2);
    Buffer x(*device, 1024), y(*device, 1024);
    device->fill(y.data(), 0x5a, 1024);
    Arguments arguments;
    arguments.lengths = {{"M", 4}, {"N", 8}};
    arguments.tensors["x"] = {x.data(), {}};
    arguments.tensors["y"] = {y.data(), {}};
    arguments.scalars["factor"] = int64_t(2);
    change(arguments);
    try {
      Plan plan(*device, program, level, device->load(level, folder),
                arguments);
    } catch (const LaunchError &error) {
      for (int i = 0; i < 1024; ++i)
        EXPECT_EQ(static_cast<unsigned char *>(y.data())[i], 0x5a);
      return error.what();
    }
    return "no error";
  }
};

TEST_F(CpuBundle, RunsAllKernelsOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 7}) {
    auto device = openCpu(threads);
    for (int64_t m : {1, 3, 4, 5, 1000}) {
      std::vector<float> y = run(*device, m, 5, 9, 2);
      for (int64_t i = 0; i < m; ++i)
        ASSERT_EQ(y[size_t(i)], float(i) * 10) << threads << " " << m;
      for (int64_t i = m; i < m + 4; ++i)
        ASSERT_TRUE(std::isnan(y[size_t(i)]));
    }
  }
}

TEST_F(CpuBundle, EmptyAxesLaunchNothingOrSumNothing) {
  auto device = openCpu(2);
  std::vector<float> y = run(*device, 0, 5, 5, 1);
  EXPECT_TRUE(std::isnan(y[0]));
  y = run(*device, 6, 0, 1, 1);
  EXPECT_EQ(y[5], 0);
  EXPECT_TRUE(std::isnan(y[6]));
}

TEST_F(CpuBundle, C12ImpossibleLaunchesSayWhyAndTouchNothing) {
  EXPECT_EQ(errorOf([](Arguments &) {}), "no error");
  EXPECT_EQ(errorOf([](Arguments &a) { a.tensors.erase("x"); }),
            "tensor x of program rows is not given");
  EXPECT_EQ(errorOf([](Arguments &a) { a.tensors["z"] = {}; }),
            "program rows has no tensor z");
  EXPECT_EQ(errorOf([](Arguments &a) { a.tensors["x"].data = nullptr; }),
            "tensor x: the pointer is null");
  EXPECT_NE(errorOf([](Arguments &a) {
              a.tensors["x"].data =
                  static_cast<char *>(a.tensors["x"].data) + 4;
            }).find("is not a multiple of 16 bytes"),
            std::string::npos);
  EXPECT_EQ(errorOf([](Arguments &a) {
              a.tensors["x"].strides = {8, 2};
            }),
            "tensor x: stride 2 of its innermost axis N; it must be 1, copy "
            "the tensor to make it so");
  EXPECT_EQ(errorOf([](Arguments &a) {
              a.tensors["x"].strides = {-8, 1};
            }),
            "tensor x: stride -8 of axis M is outside 0 .. 2^58");
  EXPECT_EQ(errorOf([](Arguments &a) { a.tensors["x"].strides = {8}; }),
            "tensor x has 2 axes, 1 strides are given");
  EXPECT_EQ(errorOf([](Arguments &a) { a.scalars.clear(); }),
            "scalar factor of program rows has no value; give one with --bind "
            "factor=...");
  EXPECT_EQ(errorOf([](Arguments &a) { a.scalars["g"] = 1.0; }),
            "program rows has no scalar g");
  EXPECT_NE(errorOf([](Arguments &a) {
              a.lengths["M"] = int64_t(1) << 31;
            }).find("the most is 2^30"),
            std::string::npos);
  EXPECT_NE(errorOf([](Arguments &a) {
              a.lengths["M"] = int64_t(1) << 30;
              a.lengths["N"] = int64_t(1) << 20;
            }).find("GiB for intermediate tensors"),
            std::string::npos);
}

TEST_F(CpuBundle, C12FixedInnermostAxisNeedsAlignedStrides) {
  program.axes[1].extent = 8;
  compile();
  EXPECT_EQ(errorOf([](Arguments &a) {
              a.tensors["x"].strides = {9, 1};
            }),
            "tensor x: stride 9 of axis M is not a multiple of 4 elements (16 "
            "bytes); pad the rows or copy the tensor");
  EXPECT_EQ(errorOf([](Arguments &a) {
              a.tensors["x"].strides = {12, 1};
            }),
            "no error");
}

TEST_F(CpuBundle, C12OutputsMustNotOverlap) {
  program.tensors[1].axes = {"M", "N"};
  compile();
  EXPECT_EQ(errorOf([](Arguments &a) {
              a.tensors["y"].strides = {7, 1};
            }),
            "output y: stride 7 of axis M makes elements overlap; it must be "
            "at least 8");
}

TEST_F(CpuBundle, C12ScalarsMustFitTheirType) {
  program.scalars[0].dtype = "i32";
  compile();
  EXPECT_EQ(
      errorOf([](Arguments &a) { a.scalars["factor"] = 2.5; }),
      "scalar factor is i32, its value 2.5 is not whole; give an integer");
  EXPECT_EQ(
      errorOf([](Arguments &a) { a.scalars["factor"] = int64_t(1) << 31; }),
      "scalar factor is i32, its value 2147483648 does not fit");
  EXPECT_EQ(errorOf([](Arguments &a) { a.scalars["factor"] = -3.0; }),
            "no error");
}

TEST_F(CpuBundle, BrokenBundlesAreDeviceErrors) {
  auto device = openCpu(1);
  bundle::Level other = level;
  other.target = "sm_80";
  EXPECT_THROW(device->load(other, folder), LaunchError);
  other = level;
  other.files = {{"so", "absent.so"}};
  EXPECT_THROW(device->load(other, folder), DeviceError);
  other.files.clear();
  EXPECT_THROW(device->load(other, folder), DeviceError);
  bundle::writeFileAtomically(folder + "/bad.so", "not an object");
  other.files = {{"so", "bad.so"}};
  EXPECT_THROW(device->load(other, folder), DeviceError);
  bundle::Kernel unknown;
  unknown.symbol = "absent";
  EXPECT_THROW(device->load(level, folder)->function(program, level, unknown),
               DeviceError);
}

TEST_F(CpuBundle, AManifestThatDiffersFromItsCodeIsRefused) {
  auto errorAfter = [&](auto change) {
    bundle::Program changedProgram = program;
    bundle::Level changed = level;
    change(changedProgram, changed);
    auto device = openCpu(1);
    try {
      device->load(changed, folder)
          ->function(changedProgram, changed, changed.kernels[0]);
    } catch (const DeviceError &error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string prefix =
      "the code of kernel scale_rows is not what its manifest describes: ";
  const std::string suffix = "; make the bundle again with attnc";
  EXPECT_EQ(errorAfter([](auto &, auto &) {}), "no error");
  EXPECT_EQ(errorAfter([](auto &, auto &l) { l.kernels[0].args.pop_back(); }),
            prefix + "it takes 6 arguments, the manifest lists 5" + suffix);
  EXPECT_EQ(errorAfter([](auto &, auto &l) {
              l.kernels[0].args.push_back(l.kernels[0].args[0]);
            }),
            prefix + "it takes 6 arguments, the manifest lists 7" + suffix);
  EXPECT_EQ(errorAfter([](auto &, auto &l) { l.kernels[0].args.clear(); }),
            prefix + "it takes 6 arguments, the manifest lists 0" + suffix);
  EXPECT_EQ(errorAfter([](auto &, auto &l) {
              std::swap(l.kernels[0].args[0], l.kernels[0].args[4]);
            }),
            prefix + "'pointer x: f32[M, N]' in the code is 'length N' in the "
                     "manifest" +
                suffix);
  EXPECT_EQ(errorAfter([](auto &p, auto &) { p.tensors[0].dtype = "f16"; }),
            prefix + "'pointer x: f32[M, N]' in the code is 'pointer x: f16[M, N]' "
                     "in the manifest" +
                suffix);
  EXPECT_EQ(errorAfter([](auto &, auto &l) { l.temporaries[0].pad = 1; }),
            prefix + "'pointer t: f32[M, N] pad 16' in the code is "
                     "'pointer t: f32[M, N]' in the manifest" +
                suffix);
  EXPECT_EQ(errorAfter([](auto &, auto &l) { l.kernels[0].grid[0].tile = 4; }),
            prefix + "'grid M/1' in the code is 'grid M/4' in the manifest" + suffix);
  // Code that another program made says nothing of itself.
  level.kernels[0].symbol = "stamp_words";
  EXPECT_NE(errorAfter([](auto &, auto &) {})
                .find("does not say what arguments kernel stamp_words takes"),
            std::string::npos);
}

TEST_F(CpuBundle, PlansOfOneShapeShareTemporaries) {
  auto device = openCpu(2);
  Lengths lengths{{"M", 4}, {"N", 8}};
  auto shared = std::make_shared<Temporaries>(*device, level, lengths);
  EXPECT_EQ(shared->bytes(), 4 * 16 * 4);
  Buffer x(*device, 1024), y(*device, 1024);
  Arguments arguments;
  arguments.lengths = lengths;
  arguments.tensors["x"] = {x.data(), {}};
  arguments.tensors["y"] = {y.data(), {}};
  arguments.scalars["factor"] = 1.0;
  auto code = device->load(level, folder);
  Plan one(*device, program, level, code, arguments, shared);
  EXPECT_EQ(one.temporaryBytes(), 256);
  arguments.lengths["N"] = 32;
  EXPECT_THROW(Plan(*device, program, level, code, arguments, shared),
               LaunchError);
}

TEST_F(CpuBundle, AStampedKernelGetsABufferOfItsOwn) {
  auto device = openCpu(1);
  bundle::Kernel stamped;
  stamped.symbol = "stamp_words";
  stamped.grid = {{"M", 1}};
  stamped.args = {{bundle::Arg::Kind::Timeline, "", ""}};
  stamped.stamps = bundle::Stamps{4, 8, {"setup"}, {"producer"}};
  level.kernels.push_back(stamped);
  compile();
  Buffer x(*device, 1024), y(*device, 1024);
  Arguments arguments;
  arguments.lengths = {{"M", 4}, {"N", 8}};
  arguments.tensors["x"] = {x.data(), {}};
  arguments.tensors["y"] = {y.data(), {}};
  arguments.scalars["factor"] = 1.0;
  auto code = device->load(level, folder);
  Plan plan(*device, program, level, code, arguments);
  EXPECT_EQ(plan.stamps(0), nullptr);
  ASSERT_NE(plan.stamps(2), nullptr);
  ASSERT_EQ(plan.stamps(2)->bytes(), bundle::timelineBytes(4, 8));
  plan.launch(2);
  device->synchronize();
  std::vector<uint32_t> words(size_t(plan.stamps(2)->bytes()) / 4, 1);
  device->copyOut(words.data(), plan.stamps(2)->data(), plan.stamps(2)->bytes());
  for (size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(words[i], i < 4 ? 7u : 0u) << i; // Zero before the launch.

  level.kernels[2].stamps.reset();
  compile();
  code = device->load(level, folder);
  EXPECT_THROW(Plan(*device, program, level, code, arguments), DeviceError);
}

std::atomic<int64_t> visits[64];
void visit(const uint64_t *, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i)
    ++visits[i];
}

TEST(ThreadPool, EveryBlockRunsOnceInEveryGrid) {
  ThreadPool pool(5);
  for (int round = 0; round < 2000; ++round) {
    int64_t blocks = round % 64 + 1;
    for (auto &v : visits)
      v = 0;
    pool.run(visit, nullptr, blocks);
    for (int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(visits[i], i < blocks ? 1 : 0);
  }
}

TEST(Cuda, AbsentDriverSaysSo) {
  std::string why;
  if (cudaAvailable(why))
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_NE(why.find("on this machine; install the NVIDIA driver"), std::string::npos) << why;
  EXPECT_THROW(openCuda(), DeviceError);
}

TEST(HostMemory, IsSomeOfTheMachinesMemory) {
  EXPECT_GT(hostFreeBytes(), 1 << 20);
  EXPECT_LE(hostFreeBytes(), openCpu(1)->info().memoryBytes);
  EXPECT_NEAR(double(openCpu(1)->freeBytes()), double(hostFreeBytes()), 1e9);
}
} // namespace
