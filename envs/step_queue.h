#pragma once
// Environments that are stepped as their actions come, by threads of their own: what is behind
// VectorEnv::Send and Receive. Each environment is in flight at most once.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace allot {

class StepQueue {
 public:
  // `step(i)` steps environment i, on one of `threads` threads.
  StepQueue(std::size_t environments, int threads, std::function<void(std::size_t)> step);
  ~StepQueue();  // lets the steps that are under way end
  StepQueue(const StepQueue&) = delete;
  StepQueue& operator=(const StepQueue&) = delete;

  // UsageError where one is in flight, or named twice.
  void RequireIdle(std::span<const std::int64_t> environments) const;
  void Push(std::span<const std::int64_t> environments);
  // Waits for `count`; UsageError unless 1 <= count <= in_flight(). Rethrows what a step threw;
  // that environment is no longer in flight.
  std::vector<std::int64_t> Pop(std::int64_t count);
  std::int64_t in_flight() const { return in_flight_; }

 private:
  void Work();

  struct Done {
    std::int64_t environment;
    std::exception_ptr error;
  };

  std::function<void(std::size_t)> step_;
  std::vector<std::uint8_t> busy_;  // by environment; of the caller's thread
  std::int64_t in_flight_ = 0;      // likewise

  std::mutex mutex_;  // of what follows
  std::condition_variable sent_;
  std::condition_variable done_;
  std::deque<std::int64_t> waiting_;
  std::deque<Done> finished_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace allot
