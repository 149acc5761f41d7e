#include "workload/workload.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "workload/job_ids.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// Sorts by submit time, equal times in their present order. Moves each job once: a sort of the jobs
// themselves would need as much memory again.
void SortBySubmit(std::vector<Job>* jobs) {
  std::vector<std::uint32_t> order(jobs->size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [jobs](std::uint32_t a, std::uint32_t b) {
    return (*jobs)[a].submit < (*jobs)[b].submit;
  });
  // Position i gets the job at order[i]: cycle by cycle.
  for (std::uint32_t begin = 0; begin < order.size(); ++begin) {
    if (order[begin] == begin) continue;
    Job first = std::move((*jobs)[begin]);
    std::uint32_t to = begin;
    while (order[to] != begin) {
      const std::uint32_t from = std::exchange(order[to], to);
      (*jobs)[to] = std::move((*jobs)[from]);
      to = from;
    }
    order[to] = to;
    (*jobs)[to] = std::move(first);
  }
}

}  // namespace

std::int32_t NameTable::Intern(std::string_view name) {
  if (name.empty()) return -1;
  const auto [entry, added] =
      index_.emplace(std::string(name), static_cast<std::int32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  return entry->second;
}

std::int16_t NameTable::InternSmall(std::string_view name) {
  const std::int32_t index = Intern(name);
  constexpr std::int32_t kMost = std::numeric_limits<std::int16_t>::max();
  if (index <= kMost) return static_cast<std::int16_t>(index);
  throw DataError("a column has at most {} different names of this kind, got '{}'", kMost + 1,
                  name);
}

const std::string& NameTable::operator[](std::int32_t index) const {
  static const std::string none;
  if (index < 0) return none;
  ALLOT_CHECK_LT(static_cast<std::size_t>(index), names_.size());
  return names_[static_cast<std::size_t>(index)];
}

std::int32_t NameTable::Find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? -1 : found->second;
}

void Workload::Finish() {
  JobIds ids(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (const auto broken = FindBrokenRule(job)) {
      throw DataError("{}, got {} (job '{}', number {} of workload '{}')", broken->rule,
                      broken->got, job.id, i + 1, name);
    }
    if (const auto first = ids.Enter(jobs, i)) {
      throw DataError("job ids must be unique, got '{}' as jobs {} and {} of workload '{}'", job.id,
                      *first + 1, i + 1, name);
    }
  }
  const auto earlier = [](const Job& a, const Job& b) { return a.submit < b.submit; };
  if (!std::is_sorted(jobs.begin(), jobs.end(), earlier)) SortBySubmit(&jobs);
}

std::string Workload::PlaceOf(const Job& job) const {
  return source.empty() || job.line == 0 ? "" : fmt::format(" ({}:{})", source, job.line);
}

Seconds Workload::Span() const {
  return jobs.empty() ? 0 : jobs.back().submit - jobs.front().submit;
}

Seconds Workload::RecordedRunTime(const Job& job) const {
  if (job.ended() || !recorded_until) return job.duration;
  if (job.outcome == Outcome::kPending) return 0;
  return std::min(job.duration, std::max(0.0, *recorded_until - job.recorded_start()));
}

double Workload::GpuSeconds() const {
  double sum = 0;
  for (const Job& job : jobs) sum += job.gpus * RecordedRunTime(job);
  return sum;
}

}  // namespace allot
