#include "workload/workload.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "core/check.h"
#include "core/error.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// Positions of jobs by id: an open-addressed table half full at most, in one piece of memory.
class Positions {
 public:
  explicit Positions(const std::vector<Job>& jobs)
      : jobs_(jobs), slots_(std::bit_ceil(2 * jobs.size() + 1), kFree) {}

  // The position that has the id of this one already; else takes it.
  std::optional<std::size_t> Claim(std::size_t position) {
    const std::string& id = jobs_[position].id;
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>()(id) & mask;
    for (; slots_[slot] != kFree; slot = (slot + 1) & mask) {
      if (jobs_[slots_[slot]].id == id) return slots_[slot];
    }
    slots_[slot] = static_cast<std::uint32_t>(position);
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  const std::vector<Job>& jobs_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace

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
  Positions positions(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (const auto broken = FindBrokenRule(job)) {
      throw DataError("{}, got {} (job '{}', number {} of workload '{}')", broken->rule,
                      broken->got, job.id, i + 1, name);
    }
    if (const auto first = positions.Claim(i)) {
      throw DataError("job ids must be unique, got '{}' as jobs {} and {} of workload '{}'", job.id,
                      *first + 1, i + 1, name);
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
