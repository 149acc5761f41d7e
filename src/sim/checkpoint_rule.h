#pragma once
// How often jobs write checkpoints, and what that costs them. A change of allocation writes one in
// any case; a failure of a node loses what was done since the last. While it is written a job makes
// no progress: its rate has `every` / (`every` + `cost`) of what its configuration has.
//
// A new rule is a file in sim/checkpointing/ that registers a CheckpointRuleInfo, for
// --checkpoints.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "core/types.h"

namespace allot {

struct Checkpoints {
  Seconds every = 0;  // of training between two; 0: at every moment; kNever: none
  Seconds cost = 0;   // of one

  // Of the time in which a job runs, the share in which it makes progress.
  double progress() const { return every == 0 || every == kNever ? 1.0 : every / (every + cost); }
};

// Immutable; thread-safe.
class CheckpointRule {
 public:
  virtual ~CheckpointRule() = default;
  // Of a job on `nodes` nodes, each of which fails so many times in a second (FaultLaw::rate()).
  virtual Checkpoints Of(std::int32_t nodes, double failure_rate) const = 0;
};

struct CheckpointRuleInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // UsageError for values that the rule does not accept.
  std::function<std::unique_ptr<CheckpointRule>(const Params&)> make;
};

// "fixed:every=1h,cost=2min". UsageError with did-you-mean, or naming the range.
std::unique_ptr<CheckpointRule> MakeCheckpointRule(std::string_view spec);

}  // namespace allot
