//===- BundleTest.cpp - manifest, files, launcher header ------------------===//

#include "lib/Bundle/Launcher.h"
#include "lib/Bundle/Manifest.h"
#include "lib/Bundle/Outputs.h"
#include "lib/Bundle/ScratchFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attn::bundle;
namespace fs = std::filesystem;

static Manifest example() {
  Manifest m;
  m.compiler = "attn test";
  m.assembler = "none";
  m.binds = {{"D", 64}};
  Program p;
  p.name = "demo";
  p.axes = {{"B", {}, "", ""},   {"Hq", {}, "G", "Hkv"}, {"G", {}, "", ""},
            {"Hkv", {}, "", ""}, {"M", {}, "", ""},      {"D", 64, "", ""}};
  p.tensors = {{"q", "bf16", {"B", "Hq", "M", "D"}, Role::Input, 1},
               {"k", "bf16", {"B", "Hkv", "M", "D"}, Role::Input, 1},
               {"new", "f32", {}, Role::Input, 1},
               {"o", "bf16", {"B", "Hq", "M", "D"}, Role::Output, 1}};
  p.scalars = {{"window", "i32"}, {"c", "f32"}};
  Level level;
  level.name = "naive";
  level.target = "sm_80";
  level.temporaries = {{"t0", "f32", {"B", "Hq", "M"}, Role::Temporary, 16}};
  Kernel k;
  k.symbol = "demo_naive_0";
  k.label = "matmul";
  k.grid = {{"M", 128}, {"Hq", 1}, {"B", 1}};
  k.threads = 128;
  k.dynamicShared = 65536;
  k.args = {{Arg::Kind::Pointer, "q", ""},    {Arg::Kind::Pointer, "new", ""},
            {Arg::Kind::Stride, "q", "Hq"},   {Arg::Kind::Pointer, "t0", ""},
            {Arg::Kind::Stride, "t0", "Hq"},  {Arg::Kind::Length, "", "M"},
            {Arg::Kind::Scalar, "window", ""}};
  Arg map{Arg::Kind::Map, "q", ""};
  map.axes = {"D", "M", "Hq", "B"};
  map.box = {64, 192, 1, 1};
  k.args.push_back(map);
  k.args.push_back({Arg::Kind::Scheduler, "", ""});
  k.persistent = 1;
  k.cluster = 2;
  k.schedule = "tile 128x64, 4 warps";
  k.prediction.bytesRead = {{2, {"B", "Hq", "M", "D"}, false}};
  k.prediction.tensorFlops = {{2.5, {"B", "M"}, true}};
  k.prediction.tensorUnit = "mma.f16";
  k.prediction.steps = {{"live", {3.125, 1}}, {"masked", {9.5, 2}}};
  k.resources = Resources{168, 0, 1024};
  level.kernels = {k};
  level.files = {{"ptx", "demo.sm_80.naive.ptx"},
                 {"cubin:sm_90", "demo.sm_80.naive.sm_90.cubin"}};
  Level stamped = level;
  stamped.kernels[0].args.push_back({Arg::Kind::Timeline, "", ""});
  stamped.kernels[0].stamps =
      Stamps{1024, 8192, {"setup", "load_wait"}, {"producer", "consumer 1"}};
  stamped.files = {{"ptx", "demo.sm_80.naive.timeline.ptx"}};
  level.timeline = {stamped};
  Level variant = level;
  variant.timeline.clear();
  variant.schedule = "columns=32";
  variant.kernels[0].choice = Choice{{{"contracted", 64}}, {{"columns", 32}}};
  variant.files = {{"ptx", "demo.sm_80.naive.v1.ptx"}};
  level.variants = {variant};
  p.levels = {level};
  m.programs = {p};
  return m;
}

namespace {
TEST(Manifest, RoundTripKeepsEveryField) {
  std::string text = toJson(example());
  Manifest again = fromJson(text);
  EXPECT_EQ(toJson(again), text);
  const Kernel &k = again.programs[0].levels[0].kernels[0];
  EXPECT_EQ(k.args[4].axis, "Hq");
  EXPECT_EQ(k.resources->registers, 168);
  EXPECT_TRUE(k.prediction.tensorFlops[0].live);
  EXPECT_DOUBLE_EQ(k.prediction.tensorFlops[0].coefficient, 2.5);
  EXPECT_DOUBLE_EQ(k.prediction.steps.at("live").slots, 3.125);
  EXPECT_DOUBLE_EQ(k.prediction.steps.at("masked").special, 2);
  EXPECT_EQ(again.programs[0].axes[1].inner, "Hkv");
  EXPECT_EQ(again.programs[0].axes[5].extent, 64);
  EXPECT_EQ(again.programs[0].levels[0].temporaries[0].pad, 16);
  EXPECT_EQ(again.binds.at("D"), 64);
  EXPECT_EQ(k.args[7].axes, (std::vector<std::string>{"D", "M", "Hq", "B"}));
  EXPECT_EQ(k.args[7].box, (std::vector<int64_t>{64, 192, 1, 1}));
  EXPECT_EQ(k.args[8].kind, Arg::Kind::Scheduler);
  EXPECT_EQ(k.persistent, 1);
  EXPECT_EQ(k.cluster, 2);
  EXPECT_FALSE(k.choice);
  const Level &variant = again.programs[0].levels[0].variants.at(0);
  EXPECT_EQ(variant.schedule, "columns=32");
  EXPECT_EQ(variant.kernels[0].choice->problem.at("contracted"), 64);
  EXPECT_EQ(variant.kernels[0].choice->schedule.at("columns"), 32);
  EXPECT_EQ(variant.files.at("ptx"), "demo.sm_80.naive.v1.ptx");
  EXPECT_FALSE(k.stamps);
  const Level &stamped = again.programs[0].levels[0].timeline.at(0);
  EXPECT_EQ(stamped.kernels[0].args[9].kind, Arg::Kind::Timeline);
  EXPECT_EQ(stamped.kernels[0].stamps->steps, 8192);
  EXPECT_EQ(stamped.kernels[0].stamps->phases[1], "load_wait");
  EXPECT_EQ(stamped.kernels[0].stamps->roles[1], "consumer 1");
}

TEST(Manifest, ALevelInsideALevelIsTheLast) {
  Manifest m = example();
  Level &level = m.programs[0].levels[0];
  level.variants[0].variants = {level.variants[0]};
  try {
    fromJson(toJson(m));
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("a level inside a level holds none"),
              std::string::npos)
        << error.what();
  }
  // Names are checked in there as well.
  m = example();
  m.programs[0].levels[0].variants[0].kernels[0].grid[0].axis = "Z";
  EXPECT_THROW(fromJson(toJson(m)), std::runtime_error);
}

static std::string errorOf(const std::string &text) {
  try {
    fromJson(text);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "no error";
}

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, MalformedTextNamesThePlace) {
  std::string good = toJson(example());
  EXPECT_NE(errorOf("").find("not JSON"), std::string::npos);
  EXPECT_NE(errorOf(good.substr(0, good.size() / 2)).find("cut off"),
            std::string::npos);
  EXPECT_EQ(errorOf("[]"), "manifest: top level: expected an object");
  EXPECT_NE(errorOf(replaced(good, "\"version\": 1", "\"version\": 7"))
                .find("bundle version 7, this program reads 1"),
            std::string::npos);
  EXPECT_EQ(
      errorOf(replaced(good, "\"threads\": 128", "\"threads\": 4096")),
      "manifest: programs[0].levels[0].kernels[0].threads: 4096 is outside 1 "
      ".. 1024");
  EXPECT_EQ(errorOf(replaced(good, "\"threads\": 128", "\"threads\": 1.5")),
            "manifest: programs[0].levels[0].kernels[0].threads: expected an "
            "integer");
  EXPECT_EQ(errorOf(replaced(good, "\"role\": \"input\"", "\"role\": \"in\"")),
            "manifest: programs[0].tensors[0].role: 'in' is not input, output "
            "or temporary");
  EXPECT_EQ(errorOf(replaced(good, "demo.sm_80.naive.ptx", "../../secret")),
            "manifest: programs[0].levels[0].files.ptx: '../../secret' is not "
            "a file name");
  EXPECT_EQ(errorOf(replaced(good, "\"axis\": \"M\"", "\"axis\": \"Q\"")),
            "manifest: programs[0]: kernel demo_naive_0 mentions unknown axis "
            "'Q'");
}

TEST(Manifest, EveryTruncationIsAnError) {
  std::string good = toJson(example());
  for (size_t n = 0; n + 2 < good.size(); n += 7)
    EXPECT_NE(errorOf(good.substr(0, n)), "no error") << n;
}

TEST(Manifest, DamagedTextNeverCrashes) {
  std::string good = toJson(example());
  std::mt19937 random(1);
  int rejected = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int edit = 0; edit < 1 + round % 3; ++edit) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = char(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 20);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    rejected += errorOf(text) != "no error";
  }
  EXPECT_GT(rejected, 1500);
  EXPECT_NE(errorOf(std::string(1000000, '[')), "no error");
}

class Folder : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "attn-bundle-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    path = pattern;
  }
  void TearDown() override { fs::remove_all(path); }
  fs::path path;
};

TEST_F(Folder, WriteReplacesWholeFilesAndLeavesNothingBeside) {
  std::string file = (path / "a.txt").string();
  writeFileAtomically(file, std::string(100000, 'x'));
  writeFileAtomically(file, std::string("short\0text", 10));
  EXPECT_EQ(readFile(file), std::string("short\0text", 10));
  EXPECT_EQ(std::distance(fs::directory_iterator(path), {}), 1);
}

TEST_F(Folder, WritingThroughALinkKeepsTheLink) {
  writeFileAtomically((path / "real.txt").string(), "old");
  fs::create_directory(path / "links");
  fs::create_symlink("../real.txt", path / "links" / "one");
  writeFileAtomically((path / "links" / "one").string(), "new");
  EXPECT_TRUE(fs::is_symlink(path / "links" / "one"));
  EXPECT_FALSE(fs::is_symlink(path / "real.txt"));
  EXPECT_EQ(readFile((path / "real.txt").string()), "new");
}

TEST_F(Folder, APipeIsWrittenToAndStaysAPipe) {
  std::string pipe = (path / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string contents(300000, 'x'), read; // More than a pipe holds.
  std::thread reader([&] { read = readFile(pipe); });
  writeFileAtomically(pipe, contents);
  reader.join();
  EXPECT_EQ(read, contents);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_NO_THROW(writeFileAtomically("/dev/null", contents));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Folder, AScratchFolderGoesWithItsObject) {
  std::string made;
  {
    ScratchFolder scratch((path / "scratch-").string());
    made = scratch.path();
    writeFileAtomically(made + "/a.txt", "x");
    EXPECT_TRUE(fs::exists(made));
  }
  EXPECT_FALSE(fs::exists(made));
  EXPECT_THROW(ScratchFolder((path / "no" / "scratch-").string()),
               std::runtime_error);
}

// In a process of its own: a forked one would share the pipe that signals go through
// with this one, if an earlier test made it.
TEST_F(Folder, AnInterruptUndoesTheLatestFirstAndEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto interrupted = [&] {
    std::string order;
    OnInterrupt first([&] {
      auto left = std::distance(fs::directory_iterator(path), {});
      std::fprintf(stderr, "[%sfirst, %d left]", order.c_str(), int(left));
      fs::remove_all(path);
    });
    OnInterrupt second([&] { order += "second "; });
    { OnInterrupt gone([&] { order += "gone "; }); }
    ScratchFolder scratch((path / "scratch-").string());
    writeFileAtomically(scratch.path() + "/a.txt", "x");
    raise(SIGTERM);
    sleep(30);
    _exit(0);
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM),
              "\\[second first, 0 left\\]");
}

TEST_F(Folder, FailuresSayWhy) {
  try {
    writeFileAtomically((path / "no" / "a.txt").string(), "x");
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("No such file or directory"),
              std::string::npos);
  }
  EXPECT_THROW(readFile((path / "absent").string()), std::runtime_error);
  EXPECT_THROW(readFile(path.string()), std::runtime_error);
}

TEST(Outputs, AreToldFromInputsByIdentity) {
  ScratchFolder folder((fs::temp_directory_path() / "attn-outputs-").string());
  const std::string base = folder.path() + "/";
  for (const char *name : {"a", "b", "manifest.json", "results.json"})
    writeFileAtomically(base + name, name);
  fs::create_symlink("a", base + "soft");
  fs::create_hard_link(base + "a", base + "hard");
  auto why = [&](const std::string &output, const std::string &input) {
    return writesOver({{"--json", base + output}}, {base + input});
  };
  EXPECT_EQ(why("b", "a"), "");
  EXPECT_EQ(why("new", "a"), "");
  for (const char *same : {"a", "./a", "soft", "hard"})
    EXPECT_EQ(why(same, "a").find("--json: '" + base + same + "' is "), 0u) << same;
  EXPECT_NE(why("soft", "hard"), "");
  // Of a bundle's folder what attnc wrote; results kept beside it may be replaced.
  EXPECT_NE(why("manifest.json", ""), "");
  EXPECT_EQ(why("results.json", ""), "");
  EXPECT_EQ(writesOver({{"--json", "/dev/null"}, {"--trace", "/dev/null"}},
                       {"/dev/null"}),
            "");
  EXPECT_EQ(writesOver({{"--json", base + "x"}, {"--trace", base + "./x"}}, {}),
            "--json and --trace both write '" + base + "./x'; name two files");
}

TEST(ScratchFolder, ATemporaryFolderThatIsNoneIsNamed) {
  std::string old = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "";
  setenv("TMPDIR", "/dev/null/none", 1);
  std::string why = temporaryProblem();
  old.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
  EXPECT_EQ(why, "TMPDIR: temporary files cannot be written in '/dev/null/none': Not a "
                 "directory; set TMPDIR to a folder that can be written");
  EXPECT_EQ(temporaryProblem(), "");
}

TEST(Launcher, HoldsOneFunctionAGpuLevel) {
  Manifest m = example();
  Level cpu = m.programs[0].levels[0];
  cpu.target = "cpu";
  m.programs[0].levels.push_back(cpu);
  std::string text = launcherHeader(m.programs[0]);
  EXPECT_NE(text.find("inline CUresult naive_sm_80("), std::string::npos);
  EXPECT_EQ(text.find("naive_cpu"), std::string::npos);
  EXPECT_NE(text.find("CUdeviceptr data_new = 0;"), std::string::npos);
  // A grid of whole clusters, as many as fit.
  EXPECT_NE(text.find("grid = std::min(grid, unsigned(std::max(code.multiprocessors * 1 "
                      "/ 2, 1)));\n    grid *= 2;"),
            std::string::npos);
  m.programs[0].levels[0].kernels[0].cluster = 1;
  text = launcherHeader(m.programs[0]);
  EXPECT_NE(text.find("grid = std::min(grid, unsigned(code.multiprocessors * 1));"),
            std::string::npos);
  EXPECT_EQ(text.find("grid *="), std::string::npos);
}

TEST(Manifest, LaunchesStartWholeClusters) {
  Kernel k;
  EXPECT_EQ(launchedBlocks(k, 24, 10), 24);
  k.persistent = 1;
  EXPECT_EQ(launchedBlocks(k, 24, 10), 10);
  EXPECT_EQ(launchedBlocks(k, 24, 132), 24);
  EXPECT_EQ(launchedBlocks(k, 24, 0), 24); // A device without multiprocessors.
  k.cluster = 2;
  EXPECT_EQ(launchedBlocks(k, 24, 10), 10);
  EXPECT_EQ(launchedBlocks(k, 24, 11), 10);
  EXPECT_EQ(launchedBlocks(k, 24, 132), 48);
  EXPECT_EQ(launchedBlocks(k, 24, 1), 2);
  EXPECT_EQ(launchedBlocks(k, 0, 132), 0);
  k.persistent = 0;
  EXPECT_EQ(launchedBlocks(k, 24, 10), 48);
}

#ifdef ATTN_TEST_CUDA_INCLUDE
/// A compiler's exit code, with the driver API's header where it looks.
static bool compiles(const fs::path &folder, const std::string &flags) {
  std::string command = std::string(ATTN_TEST_CXX) + " -std=c++17 " + flags + " -I" +
                        ATTN_TEST_CUDA_INCLUDE + " " + (folder / "use.cpp").string();
  int status = std::system(command.c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *kWarnings = "-Wall -Wextra -Werror -fsyntax-only";

TEST_F(Folder, LauncherCompilesAlone) {
  writeFileAtomically((path / "demo.h").string(),
                      launcherHeader(example().programs[0]));
  writeFileAtomically((path / "use.cpp").string(),
                      "#include \"demo.h\"\n#include \"demo.h\"\n"
                      "CUresult go(attn_demo::Arguments a, CUstream s) {\n"
                      "  a.scalar_window = 3; a.length_B = 1;\n"
                      "  return attn_demo::naive_sm_80(\"x\", a, s);\n}\n");
  EXPECT_TRUE(compiles(path, kWarnings));
}

/// Each macro that common headers define, each keyword, and names that the header
/// itself uses, as an axis, a tensor and a scalar.
TEST_F(Folder, NoNameOfASpecMeetsAnythingInTheLauncher) {
  const std::string headers =
      "#include <cerrno>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n"
      "#include <csignal>\n#include <cstdio>\n#include <cuda.h>\n"
      "#define N 3\n#define I 7\n"; // A user's own.
  writeFileAtomically((path / "use.cpp").string(), headers);
  std::string macros = (path / "macros").string();
  ASSERT_TRUE(compiles(path, "-dM -E -o " + macros));
  std::set<std::string> names = {
      "int",     "class",  "and",       "constexpr", "q_strides",
      "std",     "detail", "Arguments", "data_q",    "strides_q", "memory_q",
      "CUresult", "stream",  "a",       "folder",    "why",       "result",
      "size0",   "p0",     "parameters"};
  std::istringstream lines(readFile(macros));
  for (std::string line; std::getline(lines, line);) { // "#define NAME..."
    std::string rest = line.substr(8);
    names.insert(rest.substr(0, rest.find_first_of(" (")));
  }
  ASSERT_GT(names.size(), 1000u);
  ASSERT_TRUE(names.count("NULL") && names.count("errno") && names.count("I"));
  Program p = example().programs[0];
  for (const std::string &name : names) {
    p.axes.push_back({name, {}, "", ""});
    p.tensors.push_back({name, "bf16", {name, "D"}, Role::Input, 1});
    p.scalars.push_back({name, "i32"});
  }
  writeFileAtomically((path / "demo.h").string(), launcherHeader(p));
  writeFileAtomically((path / "use.cpp").string(),
                      headers + "#include \"demo.h\"\n"
                      "CUresult go(attn_demo::Arguments a, CUstream s) {\n"
                      "  a.length_NULL = 1; a.data_errno = 16; a.scalar_I = 2;\n"
                      "  return attn_demo::naive_sm_80(\"x\", a, s);\n}\n");
  EXPECT_TRUE(compiles(path, kWarnings));
}
#endif
} // namespace
