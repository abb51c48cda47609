//===- ManifestWords.h - enumerators as the manifest spells them ----------===//
#ifndef ATTN_LIB_BUNDLE_MANIFESTWORDS_H
#define ATTN_LIB_BUNDLE_MANIFESTWORDS_H

#include "lib/Bundle/Manifest.h"

namespace attn::bundle {

inline const char *spelling(Role role) {
  switch (role) {
  case Role::Input:
    return "input";
  case Role::Output:
    return "output";
  case Role::Temporary:
    return "temporary";
  }
  return "";
}

inline const char *spelling(Arg::Kind kind) {
  switch (kind) {
  case Arg::Kind::Pointer:
    return "pointer";
  case Arg::Kind::Stride:
    return "stride";
  case Arg::Kind::Length:
    return "length";
  case Arg::Kind::Scalar:
    return "scalar";
  case Arg::Kind::Scheduler:
    return "scheduler";
  case Arg::Kind::Timeline:
    return "timeline";
  case Arg::Kind::Map:
    return "map";
  }
  return "";
}

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_MANIFESTWORDS_H
