#include "core/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "core/error.h"

namespace allot {

namespace {

std::atomic<bool> requested{false};
std::atomic<bool> acknowledged{false};
std::atomic<bool> reload{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler must not lock");

void OnSignal(int /*signal*/) {
  if (requested.exchange(true)) ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

// Of the scopes.
std::mutex scope_mutex;
int scopes = 0;
struct sigaction outer = {};  // written before OnSignalInScope is installed

void OnSignalInScope(int signal, siginfo_t* info, void* context) {
  requested.store(true);
  if ((outer.sa_flags & SA_SIGINFO) != 0) {
    outer.sa_sigaction(signal, info, context);
  } else if (outer.sa_handler != SIG_DFL && outer.sa_handler != SIG_IGN) {
    outer.sa_handler(signal);
  }
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::lock_guard lock(scope_mutex);
  if (scopes++ > 0) return;
  requested.store(false);
  acknowledged.store(false);
  sigaction(SIGINT, nullptr, &outer);
  struct sigaction action = {};
  action.sa_sigaction = OnSignalInScope;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(scope_mutex);
  if (--scopes > 0) return;
  sigaction(SIGINT, &outer, nullptr);
  requested.store(false);
  acknowledged.store(false);
}

void InstallInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags =
      SA_RESTART;  // file writes of libraries continue; sleeps and polls still wake up
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void InstallServiceHandlers() {
  struct sigaction action = {};
  action.sa_handler = [](int) { reload.store(true); };
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool TakeReloadRequest() { return reload.exchange(false); }

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
