#pragma once
// What limits decisions on a cluster at one moment, beside the rules of legal allocations. Who
// knows the jobs states it as a value (ConstraintSource); ConstrainedCluster applies it.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "core/error.h"
#include "rules/change_history.h"
#include "rules/gpu_usage.h"
#include "rules/operator_rules.h"

namespace allot {

// What a job requires of its nodes and no policy knows.
struct NodeRequirements {
  std::shared_ptr<const std::vector<std::string>> only_on{};  // nodes that may run it; null: all
  bool even = false;                 // it needs as many GPUs on each of its nodes
  std::vector<NodeIndex> avoided{};  // nodes where it gets no GPUs that it does not have
  std::string request{};             // the user's text that says so, for people
};

// Which GPUs of a node a decision may give.
enum class NodeUse : std::uint8_t {
  kOpen,
  kNoFreeGpus,  // only those that jobs have
  kNoStarts,    // only those that jobs have, and each to the job that has it
};

struct Constraints {
  struct Owner {
    Submitter submitter;
    double account_weight = 1;  // of fair shares
    double user_weight = 1;
    std::optional<GpuCount> asks{};  // GPUs; unset: what it requested
  };
  // By row of the observation.
  std::vector<bool> hidden;                // policies do not see the job, and decide nothing for it
  std::vector<std::int32_t> guarantee;     // index of its account's guarantee; -1: none
  std::vector<Owner> owners;               // whose job it is
  std::vector<NodeRequirements> nodes_of;  // empty: no job requires anything
  // What the owners' jobs have used; null: no fair shares. Outlives the constraints.
  const GpuUsage* usage = nullptr;
  // By node.
  std::vector<std::uint64_t> withheld;  // GPUs that are not the cluster's to give; empty: none
  std::vector<NodeUse> node_use;        // empty: all are open
  std::vector<std::string> node_names;  // empty: nodes_of is
  // When time alone makes these others; kNever: never.
  Seconds valid_until = kNever;

  // The next row. A job that a rule pins is hidden until then.
  void AddRow(const Pin& pin, bool is_hidden, const JobRules& rules, Submitter submitter,
              std::optional<GpuCount> asks = {}) {
    hidden.push_back(is_hidden || pin);
    guarantee.push_back(rules.guarantee);
    owners.push_back({submitter, rules.account_weight, rules.user_weight, asks});
    if (pin) valid_until = std::min(valid_until, pin.until);
  }
  NodeUse UseOf(NodeIndex node) const {
    return node_use.empty() ? NodeUse::kOpen : node_use[static_cast<std::size_t>(node)];
  }
};

// What constraints have changed in an answer.
struct Corrections {
  struct Unplaced {
    JobIndex job = 0;
    std::string why;    // for people
    bool soon = false;  // nodes that it does not avoid can hold it: one of them will be free
  };
  // The answer left an account below its guarantee, or else a user below his fair share.
  enum class Reason : std::uint8_t { kNone, kGuarantees, kFairShares };
  Reason reason = Reason::kNone;
  Status not_kept = Status::Ok();  // a fault: the corrected answer would break this rule
  std::vector<Unplaced> unplaced;  // these jobs keep what they have, or wait
};

class ConstraintSource {
 public:
  virtual ~ConstraintSource() = default;

  // The constraints on `all`, which the cluster shows now. Valid until the next call.
  virtual const Constraints& ConstraintsOn(const Observation& all) = 0;

  // Called before a corrected answer is applied, and before one that needed no correction.
  virtual void OnCorrections(const Corrections& corrections) = 0;
};

}  // namespace allot
