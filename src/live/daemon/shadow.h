#pragma once
// A policy beside the active one, for trying it before it replaces that one. It gets every
// observation; its answers are compared and logged, but never applied. Its failures (an answer that
// breaks a rule, an exception, a decision that takes too long) are counted and logged, and do not
// affect the active policy. 'allot pretrain' and 'train --from-log' learn from its log. Owned by
// the Daemon.

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
  // `name` is for texts. After a decision that takes longer than the interval it is not asked
  // again.
  Shadow(std::string name, std::unique_ptr<Policy> policy)
      : name_(std::move(name)), policy_(std::move(policy)) {}

  void OnEpisodeStart(const EpisodeContext& context);
  void LogTo(DecisionListener* log) { log_ = log; }  // gets legal answers; must outlive the run

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
