#include "live/port/keep_on_error_policy.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "core/wall_clock.h"
#include "live/port/live_rules.h"

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
    ReportFailure(o, why);
    allocation->Clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (o.running[At(row)] < 0) continue;
      allocation->Add(o.job[At(row)], o.running[At(row)], o.shares_of(row));
    }
  }
  if (!kept_ && failures_ > 0) {
    spdlog::info("policy '{}' works again after {} failed decisions in a row", info().id,
                 std::exchange(failures_, 0));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ++counts_.decisions;
  counts_.seconds += took.count();
  counts_.last_seconds = took.count();
  counts_.last_at = WallSeconds();
  ReportSlowness(o);
  counts_.worst_seconds = std::max(counts_.worst_seconds, took.count());
  for (int bucket = 0; bucket < DecisionCounts::kBuckets; ++bucket) {
    if (took.count() <= DecisionCounts::BucketEnd(bucket)) ++counts_.by_bucket[bucket];
  }
}

void KeepOnErrorPolicy::ReportFailure(const Observation& o, const std::string& why) {
  if (!std::has_single_bit(++failures_)) return;
  // Errors of Python policies name policy and decision already.
  const std::string text =
      why.starts_with(fmt::format("policy '{}'", info().id))
          ? why
          : fmt::format("policy '{}', decision {}: {}", info().id, o.decision, why);
  const std::string times =
      failures_ == 1 ? "" : fmt::format(" ({} failed decisions in a row)", failures_);
  spdlog::error("{}; all jobs keep their allocations{}", text, times);
}

void KeepOnErrorPolicy::ReportSlowness(const Observation& o) {
  if (!(o.interval > 0) || counts_.last_seconds <= o.interval) {
    slow_ = 0;
    return;
  }
  if (!std::has_single_bit(++slow_)) return;
  spdlog::warn(
      "policy '{}' took {:.1f} s for decision {}, longer than the interval of {:g} s: decisions "
      "come "
      "late; --interval gives it more time{}",
      info().id, counts_.last_seconds, o.decision, o.interval,
      slow_ == 1 ? "" : fmt::format(" ({} slow decisions in a row)", slow_));
}

}  // namespace allot
