#pragma once
// A fixed team of threads that runs short parallel sections many times: what stepping a vector of
// environments needs, where starting threads (core/parallel.h) would cost more than the work. The
// caller is part 0; the others spin briefly for the next section, then park on a condition
// variable.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace allot {

class ThreadTeam {
 public:
  explicit ThreadTeam(int parts);  // parts >= 1 (checked); 1 starts no thread
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int parts() const { return static_cast<int>(threads_.size()) + 1; }

  // Runs body(part) for part in [0, parts()), one thread each, and returns when all have returned.
  // Allocates nothing. `body` must not throw. Called by one thread at a time.
  template <typename Body>
  void Run(const Body& body) {
    RunErased([](const void* context, int part) { (*static_cast<const Body*>(context))(part); },
              &body);
  }

 private:
  using Call = void (*)(const void* context, int part);
  void RunErased(Call call, const void* context);
  void Work(int part);

  Call call_ = nullptr;
  const void* context_ = nullptr;
  bool stop_ = false;
  std::atomic<std::uint64_t> section_{0};  // publishes the three above
  std::atomic<int> pending_{0};            // threads still inside the section
  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  std::vector<std::thread> threads_;
};

}  // namespace allot
