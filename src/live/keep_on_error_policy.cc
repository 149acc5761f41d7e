#include "live/keep_on_error_policy.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "core/index.h"
#include "core/wall_clock.h"
#include "live/live_rules.h"

namespace allot {

void KeepOnErrorPolicy::Decide(const Observation& o, Allocation* allocation) {
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  try {
    inside_->Decide(o, allocation);
    const Status status = ValidateLiveAllocation(o, *allocation);
    if (!status.ok()) why = status.message();
  } catch (const std::exception& error) {
    why = error.what();
  }
  kept_ = !why.empty();
  if (kept_) {
    ++counts_.failed;
    spdlog::error("policy '{}', decision {}: {}; everything stays as it is", info().id, o.decision,
                  why);
    allocation->Clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (o.running[At(row)] < 0) continue;
      allocation->Add(o.job[At(row)], o.running[At(row)], o.shares_of(row));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ++counts_.decisions;
  counts_.seconds += took.count();
  counts_.last_seconds = took.count();
  counts_.last_at = WallSeconds();
  counts_.worst_seconds = std::max(counts_.worst_seconds, took.count());
  for (int bucket = 0; bucket < DecisionCounts::kBuckets; ++bucket) {
    if (took.count() <= DecisionCounts::BucketEnd(bucket)) ++counts_.by_bucket[bucket];
  }
}

}  // namespace allot
