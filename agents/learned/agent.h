#pragma once
// A learned agent: a network of some kind, its weights, and the known run times. The registry of
// networks holds the kinds, how each is initialised and how it decides. Serving, training and the
// commands use the registry and name no kind. A new kind is one file
// agents/learned/*_network.cc that registers a NetworkInfo.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "length_model/length_model.h"
#include "models/checkpoint.h"
#include "sched/policy.h"

namespace allot {

struct Agent {
  NetWeights weights;
  LengthModel lengths;  // knowledge of run times before the first use
};

class Explainer;  // agents/learned/explanation.h

// How weights are served.
struct Serving {
  std::string placement = "packed";
  // For a network that adds to the fixed index of each world: the world whose index it uses, among
  // those of its weights ("" stands for the only one), or another index by its spec.
  std::string world{};
  std::string index{};
};

class LearnedPolicy : public Policy {
 public:
  // Feeds an observation that another policy decided, which keeps this policy's state current.
  virtual void Observe(const Observation& observation) = 0;
};

struct NetworkInfo {
  std::string id;  // NetWeights::kind
  std::string summary;
  // The output: "index" (numbers per job for the hull fill), "numbers" (per job, for another rule;
  // job_numbers.h) or "sequence" (the next unit).
  std::string actions;
  int feature_version = 0;
  std::vector<ParamSpec> params;  // for fresh weights
  std::function<NetWeights(const Params&, std::uint64_t seed)> make_weights;
  // DataError that begins with `origin` if this build cannot use these weights.
  std::function<void(const NetWeights&, const std::string& origin)> check;
  std::function<std::unique_ptr<LearnedPolicy>(const Agent&, const Serving&)> make_policy;
  // Makes the explainer of its decisions; empty if there is none.
  std::function<std::unique_ptr<Explainer>(const Agent&, const std::string& placement)>
      make_explainer{};
  // Sets the fixed index, by spec, to which weights add in a world, unless they have one. Empty for
  // networks without such an index.
  std::function<void(NetWeights*, const std::string& world, const std::string& index)> begin_in{};
  // The one net that decides in a world, of weights with parts of worlds (OwnTensor): a sum of
  // theirs and the shared ones. Empty: the weights as they are.
  std::function<NetWeights(const NetWeights&, const std::string& world)> in_world{};
  // Values of `params`, "key=value,...", with which fresh weights decide as well-known rules do:
  // where learning from a log may begin.
  std::vector<std::string> rules{};
};

// Of these weights; UsageError when the kind is not known.
const NetworkInfo& NetworkOf(const NetWeights& weights);

// The net that decides in `world`.
NetWeights WeightsIn(const NetWeights& weights, const std::string& world);

// Fresh weights: "index:alpha=0.25" or "shared:hidden=24". UsageError with did-you-mean.
NetWeights MakeNetwork(std::string_view spec, std::uint64_t seed);

// UsageError where the network needs a world and has none of that name.
std::unique_ptr<LearnedPolicy> MakeLearnedPolicy(const Agent& agent, const Serving& serving = {});

// Info of the registered policy "learned" (parameter: checkpoint folder).
const PolicyInfo& LearnedPolicyInfo();

// DataError unless this build knows the checkpoint's kind of network, feature version and shape.
void RequireServable(const Checkpoint& checkpoint, const std::string& path);

// What of the length model is kept in a checkpoint's state, and back (docs/formats/checkpoint.md);
// UsageError for what it cannot be.
void AddLengths(const LengthModel& lengths, nlohmann::json* state);
LengthModel LengthsOf(const nlohmann::json& state);

// Loads and checks a checkpoint folder. DataError when it is damaged or not servable.
Agent LoadAgent(const std::string& path);

}  // namespace allot
