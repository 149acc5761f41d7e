#pragma once
// The policy that a daemon asks: whatever the one inside does, the answer is legal. When that
// throws, or its answer breaks a rule, everything stays as it is and the log says why. (The policy
// "guarded" goes further: it hands over to a teacher for good.) Also measures decisions, and warns
// of those that take longer than the interval. Of failures and slow decisions in a row the log
// reports the first, second, fourth, eighth and so on.
//
// This is where a live allocation is validated, once: log, shadow and cluster behind it rely on it
// (ADR 29).

#include <cstdint>
#include <memory>
#include <string>

#include "sched/incremental.h"

namespace allot {

struct DecisionCounts {
  std::int64_t decisions = 0;
  std::int64_t failed = 0;  // everything stayed as it was
  double seconds = 0;       // of all decisions
  double last_seconds = 0;
  double worst_seconds = 0;
  double last_at = kUnknown;  // Unix time
  // Decisions of at most 2^i x 10 us, of at most twice that, ...: for a histogram.
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
  // That of the one inside; none after an error.
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
  bool kept_ = false;           // everything stayed as it was, at the last decision
  std::uint64_t failures_ = 0;  // in a row
  std::uint64_t slow_ = 0;      // decisions in a row that took longer than the interval
};

}  // namespace allot
