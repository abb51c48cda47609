//===- RuntimeCudaTest.cpp - the CUDA device, where there is one ----------===//

#include "lib/Runtime/Launch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

using namespace attn;
using namespace attn::runtime;
namespace fs = std::filesystem;

// A block of 128 threads writes x[i] * factor to y[i] for its 128 elements.
static const char *kPtx = R"ptx(
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry scale(.param .u64 xs, .param .u64 ys, .param .u64 length,
                      .param .f32 factor)
{
  .reg .pred %p;
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %d<8>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d0, %r0, 128;
  cvt.u64.u32 %d1, %r1;
  add.u64 %d0, %d0, %d1;
  ld.param.u64 %d2, [length];
  setp.ge.u64 %p, %d0, %d2;
  @%p bra done;
  ld.param.u64 %d3, [xs];
  ld.param.u64 %d4, [ys];
  shl.b64 %d5, %d0, 2;
  add.u64 %d3, %d3, %d5;
  add.u64 %d4, %d4, %d5;
  ld.global.f32 %f0, [%d3];
  ld.param.f32 %f1, [factor];
  mul.f32 %f2, %f0, %f1;
  st.global.f32 [%d4], %f2;
done:
  ret;
}
)ptx";

namespace {
class CudaBundle : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why;
    if (!cudaAvailable(why))
      GTEST_SKIP() << why;
    device = openCuda();
    std::string pattern =
        (fs::temp_directory_path() / "attn-cuda-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    bundle::writeFileAtomically(folder + "/k.ptx", kPtx);

    program.name = "scale";
    program.axes = {{"N", {}, "", ""}};
    program.tensors = {{"x", "f32", {"N"}, bundle::Role::Input, 1},
                       {"y", "f32", {"N"}, bundle::Role::Output, 1}};
    program.scalars = {{"factor", "f32"}};
    level.name = "flash";
    level.target = "sm_80";
    using Kind = bundle::Arg::Kind;
    bundle::Kernel kernel;
    kernel.symbol = "scale";
    kernel.grid = {{"N", 128}};
    kernel.threads = 128;
    kernel.args = {{Kind::Pointer, "x", ""},
                   {Kind::Pointer, "y", ""},
                   {Kind::Length, "", "N"},
                   {Kind::Scalar, "factor", ""}};
    level.kernels = {kernel};
    level.files = {{"ptx", "k.ptx"}};
  }
  void TearDown() override {
    if (!folder.empty())
      fs::remove_all(folder);
  }

  Arguments arguments(const Buffer &x, const Buffer &y, int64_t n) {
    Arguments list;
    list.lengths = {{"N", n}};
    list.tensors["x"] = {x.data(), {}};
    list.tensors["y"] = {y.data(), {}};
    list.scalars["factor"] = 3.0;
    return list;
  }

  std::unique_ptr<Device> device;
  std::string folder;
  bundle::Program program;
  bundle::Level level;
};

TEST_F(CudaBundle, CompilesPtxRunsItAndTellsItsRegisters) {
  constexpr int64_t n = 128 * 70000 + 5; // More blocks than 65 535.
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i)
    values[size_t(i)] = float(i % 1000);
  Buffer x(*device, n * 4), y(*device, (n + 128) * 4);
  device->copyIn(x.data(), values.data(), n * 4);
  device->fill(y.data(), 0xff, (n + 128) * 4);
  Plan plan(*device, program, level, device->load(level, folder),
            arguments(x, y, n));
  EXPECT_EQ(plan.code().kind(), "ptx");
  EXPECT_EQ(plan.blocks(0), 70001);
  auto start = device->createEvent(), end = device->createEvent();
  device->record(*start);
  plan.launch();
  device->record(*end);
  device->synchronize();
  EXPECT_GT(device->milliseconds(*start, *end), 0);
  std::vector<float> result(n + 128);
  device->copyOut(result.data(), y.data(), (n + 128) * 4);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(result[size_t(i)], 3 * float(i % 1000)) << i;
  for (int64_t i = n; i < n + 128; ++i)
    ASSERT_NE(result[size_t(i)], result[size_t(i)]);
  FunctionFacts facts = plan.facts(0);
  EXPECT_GT(facts.registers.value_or(0), 0);
  EXPECT_EQ(facts.sharedBytes.value_or(-1), 0);
  EXPECT_GT(facts.residentBlocks.value_or(0), 0);
}

TEST_F(CudaBundle, LaunchTakesUnderFiveMicrosecondsOfTheHost) {
  Buffer x(*device, 1024), y(*device, 1024);
  Plan plan(*device, program, level, device->load(level, folder),
            arguments(x, y, 128));
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    device->synchronize();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i)
      plan.launch();
    std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / 100);
  }
  device->synchronize();
  RecordProperty("microseconds", std::to_string(best));
  EXPECT_LT(best, 5);
}

TEST_F(CudaBundle, C12SharedMemoryBeyondTheDeviceIsALaunchError) {
  level.kernels[0].dynamicShared = device->info().sharedPerBlock;
  auto code = device->load(level, folder);
  EXPECT_NO_THROW(code->function(program, level, level.kernels[0]));
  level.kernels[0].dynamicShared += 16;
  try {
    code->function(program, level, level.kernels[0]);
    FAIL();
  } catch (const LaunchError &error) {
    EXPECT_NE(std::string(error.what()).find("of shared memory a block"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(CudaBundle, ArgumentsOtherThanTheCodeTakesAreRefused) {
  auto code = device->load(level, folder);
  auto errorOf = [&](const std::vector<bundle::Arg> &args) {
    bundle::Kernel kernel = level.kernels[0];
    kernel.args = args;
    try {
      code->function(program, level, kernel);
    } catch (const DeviceError &error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  std::vector<bundle::Arg> args = level.kernels[0].args;
  EXPECT_EQ(errorOf(args), "no error");
  args.pop_back();
  std::string fewer = errorOf(args);
  if (fewer == "no error")
    GTEST_SKIP() << "a driver before CUDA 12.4 does not tell";
  EXPECT_NE(fewer.find("it takes 4 arguments, the manifest lists 3"),
            std::string::npos)
      << fewer;
  args = level.kernels[0].args;
  args.push_back(args[0]);
  EXPECT_NE(errorOf(args).find("it takes 4 arguments, the manifest lists 5"),
            std::string::npos);
  args = level.kernels[0].args;
  std::swap(args[2], args[3]); // The length is where the code takes a float.
  EXPECT_NE(errorOf(args).find("argument 4 has 4 bytes, the manifest's has 8"),
            std::string::npos)
      << errorOf(args);
}

TEST_F(CudaBundle, RejectedPtxShowsTheDriversWords) {
  bundle::writeFileAtomically(folder + "/k.ptx",
                              ".version 7.0\n.target sm_80\n"
                              ".address_size 64\nnonsense;\n");
  try {
    device->load(level, folder);
    FAIL();
  } catch (const DeviceError &error) {
    std::string text = error.what();
    EXPECT_NE(text.find("the driver rejects k.ptx"), std::string::npos) << text;
    EXPECT_NE(text.find("nonsense"), std::string::npos) << text;
  }
}

TEST_F(CudaBundle, CodeForTheCpuDoesNotLoad) {
  level.target = "cpu";
  EXPECT_THROW(device->load(level, folder), LaunchError);
}

TEST_F(CudaBundle, MoreMemoryThanThereIsIsALaunchError) {
  EXPECT_THROW(device->allocate(int64_t(1) << 45), LaunchError);
}
} // namespace
