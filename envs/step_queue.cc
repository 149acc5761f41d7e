#include "envs/step_queue.h"

#include <utility>

#include "core/error.h"
#include "core/index.h"

namespace allot {

StepQueue::StepQueue(std::size_t environments, int threads, std::function<void(std::size_t)> step)
    : step_(std::move(step)), busy_(environments) {
  threads_.reserve(At(threads));
  for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { Work(); });
}

StepQueue::~StepQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  sent_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void StepQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    sent_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    Done done{waiting_.front(), nullptr};
    waiting_.pop_front();
    lock.unlock();
    try {
      step_(static_cast<std::size_t>(done.environment));
    } catch (...) {
      done.error = std::current_exception();
    }
    lock.lock();
    finished_.push_back(std::move(done));
    done_.notify_one();
  }
}

void StepQueue::RequireIdle(std::span<const std::int64_t> environments) const {
  std::vector<std::uint8_t> named(busy_.size());
  for (const std::int64_t i : environments) {
    const auto at = static_cast<std::size_t>(i);
    if (busy_[at] != 0) throw UsageError("environment {} is in flight: receive it first", i);
    if (named[at] != 0) throw UsageError("environment {} is named twice", i);
    named[at] = 1;
  }
}

void StepQueue::Push(std::span<const std::int64_t> environments) {
  for (const std::int64_t i : environments) busy_[static_cast<std::size_t>(i)] = 1;
  in_flight_ += static_cast<std::int64_t>(environments.size());
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), environments.begin(), environments.end());
  }
  sent_.notify_all();
}

std::vector<std::int64_t> StepQueue::Pop(std::int64_t count) {
  if (count < 1 || count > in_flight_) {
    throw UsageError("cannot receive {} environments: {} are in flight", count, in_flight_);
  }
  std::vector<std::int64_t> ready;
  ready.reserve(static_cast<std::size_t>(count));
  std::unique_lock lock(mutex_);
  while (static_cast<std::int64_t>(ready.size()) < count) {
    done_.wait(lock, [this] { return !finished_.empty(); });
    const Done done = std::move(finished_.front());
    finished_.pop_front();
    busy_[static_cast<std::size_t>(done.environment)] = 0;
    --in_flight_;
    if (done.error) {
      for (const std::int64_t other : ready) {  // they stay to be received
        finished_.push_front({other, nullptr});
        busy_[static_cast<std::size_t>(other)] = 1;
        ++in_flight_;
      }
      std::rethrow_exception(done.error);
    }
    ready.push_back(done.environment);
  }
  return ready;
}

}  // namespace allot
