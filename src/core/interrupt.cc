#include "core/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "core/error.h"

namespace allot {

namespace {

std::atomic<bool> requested{false};
std::atomic<bool> acknowledged{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler must not lock");

void OnSignal(int /*signal*/) {
  if (requested.exchange(true)) ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

}  // namespace

void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags =
      SA_RESTART;  // file writes of libraries continue; sleeps and polls still wake up
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() {
  return requested.load(std::memory_order_relaxed) && !acknowledged.load(std::memory_order_relaxed);
}

void AcknowledgeInterrupt() {
  if (Interrupted()) acknowledged.store(true, std::memory_order_relaxed);
}

void ThrowIfInterrupted() {
  if (Interrupted()) throw Error(ExitCode::kInterrupted, "interrupted");
}

}  // namespace allot
