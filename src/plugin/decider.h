#pragma once
// The content of an allot_policy (plugin/allot_plugin.h): a policy, and the host's snapshots as
// observations. Throws; plugin.cc turns exceptions into codes.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/learned/explanation.h"
#include "cluster/event_finder.h"
#include "cluster/snapshot.h"
#include "sched/incremental.h"

namespace allot {

class Decider {
 public:
  // UsageError for a policy that needs to know the future, and whatever making it throws.
  static std::unique_ptr<Decider> OfSpec(std::string_view spec);
  static std::unique_ptr<Decider> OfCheckpoint(const std::string& folder,
                                               const std::string& placement = "packed");

  void Reset();
  // The answers live until the next call.
  const std::string& Decide(const char* snapshot);
  const std::string& Explain();

 private:
  Decider(std::unique_ptr<Policy> policy, std::unique_ptr<Explainer> explainer)
      : policy_(std::move(policy)), explainer_(std::move(explainer)) {}
  void CheckTime(const Observation& observation) const;
  void Number(Snapshot* snapshot);
  void DecideOn(Snapshot* snapshot);

  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Explainer> explainer_;    // null: decisions are not explained
  bool started_ = false;                    // the policy has decided since the last reset
  std::unique_ptr<Snapshot> snapshot_;      // the last one
  std::map<std::string, JobIndex> number_;  // of its jobs
  JobIndex next_number_ = 0;
  EventFinder events_;
  NameTable users_;
  NameTable groups_;
  const Observation* last_ = nullptr;  // that was decided on
  Seconds last_time_ = -kNever;

  Allocation allocation_;
  RunningUnder running_;
  Seconds holds_until_ = 0;
  std::string answer_;
};

}  // namespace allot
