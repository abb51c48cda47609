//===- BenchInputTest.cpp - bundles that attn-bench opens -----------------===//

#include "tools/attn-bench/Input.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace attn;
using namespace attn::bench;
namespace fs = std::filesystem;

namespace {
/// The hand-made bundle of the tool's tests, as if it were for a GPU.
class GpuBundle : public ::testing::Test {
protected:
  void SetUp() override {
    fs::copy(ATTN_TEST_BUNDLE, folder.path(), fs::copy_options::recursive);
    manifest = bundle::fromJson(bundle::readFile(folder.path() + "/manifest.json"));
    for (bundle::Level &level : manifest.programs[0].levels)
      level.target = "sm_80";
    manifest.binds = {{"D", 16}};
    options.input = folder.path();
    options.timeline = true;
  }
  std::string errorOfOpening(int capability) {
    bundle::writeFileAtomically(folder.path() + "/manifest.json",
                                bundle::toJson(manifest));
    try {
      openInput(options, capability);
    } catch (const InputError &error) {
      return error.what();
    }
    return "no error";
  }

  bundle::ScratchFolder folder{
      (fs::temp_directory_path() / "attn-bench-input-").string()};
  bundle::Manifest manifest;
  Options options;
};

TEST_F(GpuBundle, ATimelineNeedsStampedKernels) {
  std::string error = errorOfOpening(90);
  EXPECT_NE(error.find("has no kernels that record their phases (levels naive, "
                       "flash); make it again with attnc"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("/spec.attn --timeline --targets=sm_80 --bind=D=16 -o DIR"),
            std::string::npos)
      << error;
  // One level that has them is enough, but it must be among those that run.
  bundle::Level &flash = manifest.programs[0].levels[1];
  flash.timeline = {flash};
  EXPECT_EQ(errorOfOpening(90), "no error");
  options.levels = {"naive"};
  EXPECT_NE(errorOfOpening(90).find("(levels naive)"), std::string::npos);
}

TEST_F(GpuBundle, ATimelineNeedsAGpu) {
  EXPECT_NE(errorOfOpening(0).find("on the CPU there is none"), std::string::npos);
}
} // namespace
