#include "workload/job_ids.h"

#include <bit>
#include <functional>

#include "core/check.h"

namespace allot {

JobIds::JobIds(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2), kFree) {}

std::optional<std::size_t> JobIds::Enter(const std::vector<Job>& jobs, std::size_t position) {
  ALLOT_CHECK_EQ(position, entered_);
  const std::size_t slot = SlotOf(jobs, jobs[position].id);
  if (slots_[slot] != kFree) return slots_[slot];
  slots_[slot] = static_cast<std::uint32_t>(position);
  ++entered_;
  if (2 * (entered_ + 1) > slots_.size()) Grow(jobs);
  return std::nullopt;
}

std::size_t JobIds::SlotOf(const std::vector<Job>& jobs, std::string_view id) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(id) & mask;
  while (slots_[slot] != kFree && jobs[slots_[slot]].id != id) slot = (slot + 1) & mask;
  return slot;
}

void JobIds::Grow(const std::vector<Job>& jobs) {
  slots_.assign(2 * slots_.size(), kFree);
  for (std::size_t i = 0; i < entered_; ++i) {
    slots_[SlotOf(jobs, jobs[i].id)] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace allot
