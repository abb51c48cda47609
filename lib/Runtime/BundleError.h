//===- BundleError.h - code that is broken, not the device ----------------===//
#ifndef ATTN_LIB_RUNTIME_BUNDLEERROR_H
#define ATTN_LIB_RUNTIME_BUNDLEERROR_H

#include "lib/Runtime/Device.h"

namespace attn::runtime {

/// A bundle's code is absent, cut off or not what its manifest says. To a user this
/// is wrong input (exit code 2), where other DeviceErrors are the device's (3).
class BundleError : public DeviceError {
public:
  using DeviceError::DeviceError;
};

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_BUNDLEERROR_H
