#include "rules/gpu_usage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace allot {

double GpuUsage::Decayed(const Entry& entry, Seconds now) const {
  return entry.gpu_seconds * std::exp2(-std::max(0.0, now - entry.at) / half_life_);
}

void GpuUsage::Add(Submitter submitter, double gpu_seconds, Seconds now) {
  Entry& entry = entries_[submitter];
  entry = {Decayed(entry, now) + gpu_seconds, now};
}

double GpuUsage::Of(Submitter submitter, Seconds now) const {
  const auto found = entries_.find(submitter);
  return found == entries_.end() ? 0 : Decayed(found->second, now);
}

double GpuUsage::OfAccount(std::int32_t account, Seconds now) const {
  double sum = 0;
  auto entry = entries_.lower_bound({account, std::numeric_limits<std::int32_t>::min()});
  for (; entry != entries_.end() && entry->first.account == account; ++entry) {
    sum += Decayed(entry->second, now);
  }
  return sum;
}

}  // namespace allot
