#include "envs/thread_team.h"

#include "core/check.h"

namespace allot {
namespace {

// About the time of one environment step: sections follow each other closely while a batch runs,
// but a trainer's update between two batches must not burn the cores it runs on.
constexpr int kSpins = 100;

template <typename Ready>
bool SpinUntil(const Ready& ready) {
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) return true;
    std::this_thread::yield();
  }
  return ready();
}

}  // namespace

ThreadTeam::ThreadTeam(int parts) {
  ALLOT_CHECK_GE(parts, 1);
  threads_.reserve(static_cast<std::size_t>(parts - 1));
  for (int part = 1; part < parts; ++part) threads_.emplace_back([this, part] { Work(part); });
}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    section_.fetch_add(1, std::memory_order_release);
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::RunErased(Call call, const void* context) {
  if (!threads_.empty()) {
    // The lock keeps a thread from parking between its look at section_ and its wait.
    const std::lock_guard lock(mutex_);
    call_ = call;
    context_ = context;
    pending_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    section_.fetch_add(1, std::memory_order_release);
  }
  begun_.notify_all();
  call(context, 0);
  const auto all_done = [this] { return pending_.load(std::memory_order_acquire) == 0; };
  if (SpinUntil(all_done)) return;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, all_done);
}

void ThreadTeam::Work(int part) {
  std::uint64_t seen = 0;
  const auto begun = [&] { return section_.load(std::memory_order_acquire) != seen; };
  while (true) {
    if (!SpinUntil(begun)) {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, begun);
    }
    // No section is missed: the next one begins only after this thread left the present one.
    ++seen;
    if (stop_) return;
    call_(context_, part);
    // Notified under the lock: the caller may destroy the team as soon as it sees zero, but not
    // before this thread, which it then joins, has left.
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);
      ended_.notify_one();
    }
  }
}

}  // namespace allot
