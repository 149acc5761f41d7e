#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace allot {

int CoreCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void ParallelFor(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  const std::size_t wanted = static_cast<std::size_t>(threads > 0 ? threads : CoreCount());
  const std::size_t workers = std::min(wanted, count);
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }

  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_index = count;
  const auto work = [&] {
    while (!stop.load()) {
      const std::size_t i = next.fetch_add(1);
      if (i >= count) return;
      try {
        body(i);
      } catch (...) {
        // Indices are handed out in order, so everything below `i` has begun and will finish:
        // keeping the lowest makes the reported error independent of the thread count.
        const std::lock_guard lock(mutex);
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
        stop = true;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace allot
