#pragma once
// A policy beside the one in charge: it sees every observation. Its answer is compared and logged,
// and never applied. The policy in charge is never disturbed: an answer that breaks a rule, an
// exception and a decision that takes too long are counted and logged. For replacing one policy by
// another; 'allot pretrain' and 'train --from-log' learn from its log. Owned by the Daemon.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "live/status/status.h"
#include "sched/driver.h"
#include "sched/policy.h"

namespace allot {

class Shadow : public DecisionListener {
 public:
  // `name`: for people. One that takes longer than the interval for a decision is asked no more.
  Shadow(std::string name, std::unique_ptr<Policy> policy)
      : name_(std::move(name)), policy_(std::move(policy)) {}

  void OnEpisodeStart(const EpisodeContext& context);
  void LogTo(DecisionListener* log) { log_ = log; }  // its legal answers; must outlive the run

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  std::int64_t decisions() const { return decisions_; }  // legal ones
  std::int64_t failed() const { return failed_; }
  // Sum of min(own, given) / sum of given, in GPUs over jobs and decisions; unset: nothing given
  // yet.
  std::optional<double> agreement() const {
    return given_ > 0 ? std::optional(same_ / given_) : std::nullopt;
  }
  ShadowStatus status() const;
  std::string MetricsText() const;

 private:
  void Fail(const Observation& observation, const std::string& why);

  std::string name_;
  std::unique_ptr<Policy> policy_;
  DecisionListener* log_ = nullptr;
  Allocation own_;
  bool off_ = false;
  std::int64_t decisions_ = 0;
  std::int64_t failed_ = 0;
  double same_ = 0;
  double given_ = 0;
};

}  // namespace allot
