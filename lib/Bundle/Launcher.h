//===- Launcher.h - a C++ header that launches a bundle -------------------===//
#ifndef ATTN_LIB_BUNDLE_LAUNCHER_H
#define ATTN_LIB_BUNDLE_LAUNCHER_H

#include "lib/Bundle/Manifest.h"

namespace attn::bundle {

/// The text of DIR/<program>.h: a C++17 header that needs the CUDA driver API
/// and nothing else, with one inline function for each GPU level that loads the
/// level's code from the bundle's folder and launches it on a stream. It compiles
/// whatever names the spec uses.
std::string launcherHeader(const Program &program);

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_LAUNCHER_H
