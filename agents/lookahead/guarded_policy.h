#pragma once
// A policy that is checked while it decides, with a teacher that can replace it.
//
// - A decision that breaks a rule of allocations, or that cannot be made (an Error), is the
//   teacher's instead; after `most_invalid` of them all further ones are.
// - Every `every` intervals, once `min_jobs` have ended, the mean JCT measured so far is compared
//   with what the teacher has in simulation on the same arrivals; when it is more than `margin`
//   worse, the teacher decides for the rest of the episode.
//
// The teacher sees every observation, so that it can take over at any time. notes() says what
// happened.

#include "agents/lookahead/arrivals_replay.h"
#include "sched/incremental.h"

namespace allot {

struct GuardOptions {
  double margin = 0.1;
  int every = 100;  // intervals
  int min_jobs = 50;
  int most_invalid = 3;
  std::size_t memory = 2000;  // jobs
  SimOptions rules{};         // of the simulation
};

class GuardedPolicy : public Policy, public IncrementalPolicy {
 public:
  // `shadow`: another object of the teacher, for the simulations.
  GuardedPolicy(PolicyInfo info, std::unique_ptr<Policy> own, std::unique_ptr<Policy> teacher,
                std::unique_ptr<Policy> shadow, const GuardOptions& options);

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext& context) override;
  void Decide(const Observation& observation, Allocation* allocation) override;
  PolicyNotes notes() const override;
  IncrementalPolicy* incremental() override { return this; }
  // None before the fall, so that no drift is missed; then the teacher's.
  Seconds HoldsUntil(const Observation& observation,
                     std::span<const std::int32_t> running) override;

 private:
  void CheckDrift(const Observation& observation);
  void CountInvalid(const Observation& observation, const std::string& rule);
  void FallBack(const Observation& observation, std::string reason);

  PolicyInfo info_;
  std::unique_ptr<Policy> own_;
  std::unique_ptr<Policy> teacher_;
  std::unique_ptr<Policy> shadow_;
  GuardOptions options_;
  ArrivalsReplay arrivals_;
  Allocation own_answer_;
  Seconds next_check_ = 0;
  bool fallen_ = false;
  std::int64_t decisions_ = 0;
  std::int64_t by_teacher_ = 0;
  std::int64_t invalid_ = 0;
  std::int64_t checks_ = 0;
  std::string first_invalid_;
  std::string reason_;  // of the fall
};

}  // namespace allot
