#include "sched/longer_share.h"

#include <algorithm>
#include <cmath>

#include "core/packed_sort.h"

namespace allot {

const std::vector<float>& LongerShare::Of(std::span<const float> values,
                                          std::span<const JobIndex> jobs) {
  const std::size_t rows = values.size();
  by_job_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    by_job_[r] = static_cast<std::uint64_t>(jobs[r]) << 32 | r;
  }
  if (!std::is_sorted(by_job_.begin(), by_job_.end())) std::sort(by_job_.begin(), by_job_.end());
  by_value_.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    by_value_[i] = PackKey(values[PackedIndex(by_job_[i])], i);
  }
  SortPacked(&by_value_, &scratch_);
  for (std::size_t k = ln_.size(); k <= rows; ++k) {
    ln_.push_back(std::log(static_cast<float>(k)));
  }
  shares_.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    shares_[PackedIndex(by_job_[PackedIndex(by_value_[i])])] = ln_[rows - i] - ln_[rows];
  }
  return shares_;
}

}  // namespace allot
