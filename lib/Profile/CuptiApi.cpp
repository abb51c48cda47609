//===- CuptiApi.cpp - loading CUPTI ---------------------------------------===//

#include "lib/Profile/CuptiApi.h"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using namespace attn::profile::cupti;

std::string Api::describe(Result result) const {
  const char *text = nullptr;
  if (resultString(result, &text) != 0 || !text)
    return fmt::format("CUPTI error {}", result);
  return text;
}

/// Where toolkits and their Python packages put the library, best first.
static std::vector<std::string> candidates() {
  if (const char *given = std::getenv("ATTN_CUPTI"))
    return {given};
  std::vector<std::string> list;
  const char *home = std::getenv("CUDA_HOME");
  std::vector<std::string> toolkits;
  if (home)
    toolkits.push_back(home);
  toolkits.push_back("/usr/local/cuda");
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12",
                                 "libcupti.so"};
  list.insert(list.end(), names.begin(), names.end());
  for (const std::string &toolkit : toolkits)
    for (const char *folder : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"})
      for (const std::string &name : names)
        list.push_back(toolkit + folder + name);
  return list;
}

static void *openLibrary(std::string &path) {
  for (const std::string &candidate : candidates()) {
    // Its counter libraries stand beside it and are looked for by name only.
    size_t slash = candidate.rfind('/');
    if (slash != std::string::npos)
      for (const char *part : {"libnvperf_host.so", "libnvperf_target.so"})
        dlopen((candidate.substr(0, slash + 1) + part).c_str(),
               RTLD_NOW | RTLD_GLOBAL);
    if (void *library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      path = candidate;
      return library;
    }
  }
  return nullptr;
}

/// Fills `api`; returns what stands in the way, empty when nothing does.
static std::string load(Api &api) {
  void *library = openLibrary(api.path);
  if (!library)
    return "no CUPTI (libcupti.so) on this machine; install it with the CUDA "
           "Toolkit, or name it in ATTN_CUPTI";
#define ATTN_FIND(member, name, arguments)                                     \
  api.member = reinterpret_cast<Result(*) arguments>(dlsym(library, name));    \
  if (!api.member && missing.empty())                                          \
    missing = name;
  std::string missing;
  ATTN_CUPTI_ACTIVITY(ATTN_FIND)
  if (!missing.empty())
    return fmt::format("{} is no CUPTI: it lacks {}", api.path, missing);
  ATTN_CUPTI_PROFILER(ATTN_FIND)
#undef ATTN_FIND
  if (!missing.empty())
    api.noCounters = fmt::format("{} is too old to count in ranges: it lacks "
                                 "{}; 12.6 or later is needed",
                                 api.path, missing);
  return "";
}

const Api *attn::profile::cupti::api(std::string &why) {
  static Api loaded;
  static const std::string obstacle = load(loaded);
  why = obstacle;
  return obstacle.empty() ? &loaded : nullptr;
}
