//===- Interrupt.h - what to undo when a user stops the program -----------===//
#ifndef ATTN_LIB_BUNDLE_INTERRUPT_H
#define ATTN_LIB_BUNDLE_INTERRUPT_H

#include <functional>
#include <list>

namespace attn::bundle {

/// While it lives, SIGINT, SIGTERM and SIGHUP run `undo` before they end the
/// process as they would have; the latest object first. `undo` runs on a thread of
/// its own, so it may do what a signal handler may not. A signal that was ignored
/// when the first object was made stays so.
class OnInterrupt {
public:
  /// Throws what `begin` throws; then there is nothing to undo.
  explicit OnInterrupt(std::function<void()> undo,
                       const std::function<void()> &begin = [] {});
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt &) = delete;
  OnInterrupt &operator=(const OnInterrupt &) = delete;

private:
  std::list<std::function<void()>>::iterator place;
};

} // namespace attn::bundle

#endif // ATTN_LIB_BUNDLE_INTERRUPT_H
