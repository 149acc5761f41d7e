#pragma once
// Caches traces by their sources, each read once and then shared, and workloads by their laws,
// while they are in use. For commands that make many worlds of one trace. Thread-safe.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workload/trace_reader.h"

namespace allot {

class WorkloadCache {
 public:
  // workload, format, columns, lenient
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  using Read = std::function<Workload(ReadReport*)>;

  // Calls `read` the first time only, and one caller at a time.
  std::shared_ptr<const Workload> Get(const Key& key, const Read& read, ReadReport* report) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    if (entry.trace == nullptr) {
      entry.trace = std::make_shared<const Workload>(read(&entry.report));
    }
    *report = entry.report;
    return entry.trace;
  }

  using LawKey = std::tuple<std::string, double, std::uint64_t, int, Seconds>;  // id, rate, seed,
                                                                                // jobs, tail

  // Calls `make` if its result is no longer in use; one caller per key at a time.
  std::shared_ptr<const Workload> Share(const LawKey& key, const std::function<Workload()>& make) {
    std::unique_lock all(mutex_);
    Made& made = made_by_law_[key];
    all.unlock();
    const std::lock_guard lock(made.mutex);
    std::shared_ptr<const Workload> workload = made.workload.lock();
    if (workload == nullptr) {
      workload = std::make_shared<const Workload>(make());
      made.workload = workload;
    }
    return workload;
  }

  // Reports of everything that was read.
  std::vector<std::pair<std::string, ReadReport>> reports() {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::string, ReadReport>> reports;
    for (const auto& [key, entry] : entries_) {
      if (entry.trace != nullptr) reports.emplace_back(std::get<0>(key), entry.report);
    }
    return reports;
  }

 private:
  struct Entry {
    std::shared_ptr<const Workload> trace;
    ReadReport report;
  };
  struct Made {
    std::mutex mutex;
    std::weak_ptr<const Workload> workload;
  };
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::map<LawKey, Made> made_by_law_;
};

}  // namespace allot
