#include "live/runtimes/slurm/array_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "clients/slurm/value_text.h"

namespace allot {
namespace {

struct Own {  // tasks that are jobs of their own, and not over
  std::size_t all = 0;
  std::size_t waiting = 0;
};

std::size_t Ahead(const SlurmJob& array, const Own& own) {
  std::size_t most = kTasksAhead - std::min(kTasksAhead, own.waiting);
  if (array.at_most > 0) {
    most = std::min(most, array.at_most - std::min<std::size_t>(array.at_most, own.all));
  }
  return most;
}

}  // namespace

std::map<std::uint32_t, std::string> TasksToSplit(const SlurmJobs& jobs, const SlurmJobs& arrays) {
  std::map<std::uint32_t, std::string> split;
  if (arrays.empty()) return split;
  std::map<std::uint32_t, Own> own;
  for (const auto& job : jobs) {
    if (job->task < 0 || job->over()) continue;
    ++own[job->array].all;
    if (job->state == SlurmState::kPending) ++own[job->array].waiting;
  }
  for (const auto& array : arrays) {
    if (array->on_hold || !array->waits.empty()) continue;  // its tasks wait together
    const std::size_t ahead = Ahead(*array, own[array->array]);
    std::vector<std::int64_t> tasks =
        ParseArrayTasks(array->tasks, ahead + 1).value_or(std::vector<std::int64_t>());
    if (tasks.size() < 2) continue;
    tasks.pop_back();  // the one that may be the last
    split[array->array] = fmt::format("{}_[{}]", array->array, fmt::join(tasks, ","));
  }
  return split;
}

std::set<std::uint32_t> TasksBeyondLimit(const SlurmJobs& jobs, const std::string& queue) {
  struct Limited {
    std::size_t at_most = 0;
    std::size_t begun = 0;
    std::map<std::int64_t, std::uint32_t> waiting;  // by task
  };
  std::map<std::uint32_t, Limited> arrays;
  for (const auto& job : jobs) {
    if (job->task < 0 || job->at_most == 0 || job->over()) continue;
    Limited& array = arrays[job->array];
    array.at_most = job->at_most;
    if (job->partition == queue) {
      array.waiting[job->task] = job->id;
    } else {
      ++array.begun;
    }
  }
  std::set<std::uint32_t> beyond;
  for (const auto& [number, array] : arrays) {
    std::size_t begun = array.begun;
    for (const auto& [task, id] : array.waiting) {
      if (++begun > array.at_most) beyond.insert(id);
    }
  }
  return beyond;
}

}  // namespace allot
