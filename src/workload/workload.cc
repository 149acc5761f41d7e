#include "workload/workload.h"

#include <algorithm>
#include <unordered_map>

#include "core/check.h"
#include "core/error.h"
#include "workload/job_rules.h"

namespace allot {

std::int32_t NameTable::Intern(std::string_view name) {
  if (name.empty()) return -1;
  const auto [entry, added] =
      index_.emplace(std::string(name), static_cast<std::int32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  return entry->second;
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
  std::unordered_map<std::string_view, std::size_t> positions;
  positions.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (const auto broken = FindBrokenRule(job)) {
      throw DataError("{}, got {} (job '{}', number {} of workload '{}')", broken->rule,
                      broken->got, job.id, i + 1, name);
    }
    const auto [first, added] = positions.emplace(job.id, i);
    if (!added) {
      throw DataError("job ids must be unique, got '{}' as jobs {} and {} of workload '{}'", job.id,
                      first->second + 1, i + 1, name);
    }
  }
  const auto earlier = [](const Job& a, const Job& b) { return a.submit < b.submit; };
  // Most come in order, and a sort would copy all of them.
  if (std::is_sorted(jobs.begin(), jobs.end(), earlier)) return;
  std::stable_sort(jobs.begin(), jobs.end(), earlier);
}

std::string Workload::PlaceOf(const Job& job) const {
  return source.empty() || job.line == 0 ? "" : fmt::format(" ({}:{})", source, job.line);
}

Seconds Workload::Span() const {
  return jobs.empty() ? 0 : jobs.back().submit - jobs.front().submit;
}

double Workload::GpuSeconds() const {
  double sum = 0;
  for (const Job& job : jobs) sum += job.gpus * job.duration;
  return sum;
}

}  // namespace allot
