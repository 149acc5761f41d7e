#include "fidelity/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace allot {

double AverageJct(const std::vector<JobRecord>& records) {
  double sum = 0;
  for (const JobRecord& record : records) sum += record.finish - record.submit;
  return sum / static_cast<double>(records.size());
}

void JobComparison::Job(std::string_view id, double peer_jct_s, double our_jct_s, Seconds time) {
  ++jobs_;
  job_ = id;
  time_ = time;
  peer_sum_ += peer_jct_s;
  our_sum_ += our_jct_s;
  const double difference = std::abs(our_jct_s - peer_jct_s);
  difference_sum_ += difference;
  largest_ = std::max(largest_, difference);
}

void JobComparison::Compare(std::string_view figure, double peer, double ours) {
  if (std::abs(peer - ours) <= tolerance_) return;
  if (time_ >= first_time_) return;
  first_time_ = time_;
  first_ =
      fmt::format("job {}: {} {} at the peer, {} here (at {} s)", job_, figure, peer, ours, time_);
}

void JobComparison::Finish(FidelityResult* result) const {
  const auto n = static_cast<double>(std::max<std::int64_t>(jobs_, 1));
  result->jobs = jobs_;
  result->peer_avg_jct_s = peer_sum_ / n;
  result->our_avg_jct_s = our_sum_ / n;
  result->largest_difference_s = largest_;
  result->mean_difference_s = difference_sum_ / n;
  result->first_difference = first_;
  result->verdict =
      first_.empty() ? FidelityResult::Verdict::kEqual : FidelityResult::Verdict::kDifferent;
}

}  // namespace allot
