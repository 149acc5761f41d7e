#pragma once
// Wraps the daemon's policy so that every answer is legal. If the policy throws, or its answer
// breaks a rule, all jobs keep their allocations and the log says why. (The policy "guarded" goes
// further: it hands over to a teacher for good.) Also measures decisions, and warns of those that
// take longer than the interval. Of failures and slow decisions in a row it logs the first, second,
// fourth, eighth and so on.
//
// A live allocation is validated here, and only here; log, shadow and cluster rely on that (ADR
// 29).

#include <cstdint>
#include <memory>
#include <string>

#include "sched/incremental.h"

namespace allot {

struct DecisionCounts {
  std::int64_t decisions = 0;
  std::int64_t failed = 0;  // jobs kept their allocations
  double seconds = 0;       // all decisions
  double last_seconds = 0;
  double worst_seconds = 0;
  double last_at = kUnknown;  // Unix time
  // Histogram: the numbers of decisions by BucketEnd.
  static constexpr int kBuckets = 16;
  std::int64_t by_bucket[kBuckets] = {};
  static double BucketEnd(int bucket) { return 10e-6 * static_cast<double>(1 << bucket); }
};

class KeepOnErrorPolicy : public Policy, public IncrementalPolicy {
 public:
  explicit KeepOnErrorPolicy(std::unique_ptr<Policy> inside) : inside_(std::move(inside)) {}
  const PolicyInfo& info() const override { return inside_->info(); }
  void OnEpisodeStart(const EpisodeContext& context) override { inside_->OnEpisodeStart(context); }
  void Decide(const Observation& observation, Allocation* allocation) override;
  PolicyNotes notes() const override { return inside_->notes(); }
  IncrementalPolicy* incremental() override { return this; }
  // The wrapped policy's promise; none after an error.
  Seconds HoldsUntil(const Observation& observation,
                     std::span<const std::int32_t> running) override {
    return kept_ ? 0 : allot::HoldsUntil(*inside_, observation, running);
  }

  const DecisionCounts& counts() const { return counts_; }

 private:
  void ReportFailure(const Observation& observation, const std::string& why);
  void ReportSlowness(const Observation& observation);

  std::unique_ptr<Policy> inside_;
  DecisionCounts counts_;
  bool kept_ = false;           // the last decision failed
  std::uint64_t failures_ = 0;  // in a row
  std::uint64_t slow_ = 0;      // decisions in a row that took longer than the interval
};

}  // namespace allot
