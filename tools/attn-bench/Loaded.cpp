//===- Loaded.cpp - a level ready to launch on copies of its arguments ----===//

#include "tools/attn-bench/Loaded.h"

#include <algorithm>

using namespace attn;
using namespace attn::bench;

ArgumentCopies attn::bench::copyArguments(runtime::Device &device,
                                          const bundle::Program &program,
                                          const RunBinds &binds,
                                          const reference::Inputs &inputs,
                                          int64_t cacheBytes) {
  ArgumentCopies copies;
  int64_t bytes = std::max<int64_t>(argumentBytes(program, binds.lengths), 1);
  int64_t wanted = 2 * cacheBytes;
  int64_t room = device.freeBytes() / 4 / bytes;
  int64_t count =
      std::clamp<int64_t>((wanted + bytes - 1) / bytes, 1,
                          std::max<int64_t>(1, std::min<int64_t>(room, 4)));
  for (int64_t i = 0; i < count; ++i)
    copies.sets.push_back(
        std::make_unique<ArgumentSet>(device, program, binds, inputs));
  if (device.info().kind != "cpu" && count * bytes < wanted)
    copies.flushBytes = wanted;
  return copies;
}

LoadedLevel attn::bench::loadLevel(runtime::Device &device,
                                   const std::string &folder,
                                   const bundle::Program &program,
                                   const bundle::Level &level,
                                   const runtime::Lengths &lengths,
                                   const ArgumentCopies &copies) {
  LoadedLevel loaded;
  loaded.code = device.load(level, folder);
  loaded.temporaries =
      std::make_shared<runtime::Temporaries>(device, level, lengths);
  for (const std::unique_ptr<ArgumentSet> &set : copies.sets) {
    loaded.plans.push_back(std::make_unique<runtime::Plan>(
        device, program, level, loaded.code, set->arguments(),
        loaded.temporaries));
    loaded.list.push_back(loaded.plans.back().get());
  }
  return loaded;
}
