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
  LengthModel lengths;  // what is known of run times before it is used
};

class Explainer;  // agents/learned/explanation.h

// How weights are served.
struct Serving {
  std::string placement = "packed";
  // By which index a network decides that adds to the fixed index of each world: that of this
  // world among those that its weights keep (""; the only one), or `index`, by spec, where given.
  std::string world{};
  std::string index{};
};

class LearnedPolicy : public Policy {
 public:
  // To be called for decisions that others make: what it would have seen at Decide.
  virtual void Observe(const Observation& observation) = 0;
};

struct NetworkInfo {
  std::string id;  // NetWeights::kind
  std::string summary;
  // Its output: "index" (numbers per job, for the hull fill), "numbers" (per job, for a rule of its
  // own; job_numbers.h) or "sequence" (next unit).
  std::string actions;
  int feature_version = 0;
  std::vector<ParamSpec> params;  // of fresh weights
  std::function<NetWeights(const Params&, std::uint64_t seed)> make_weights;
  // DataError that opens with `origin` unless weights of this kind are as this build needs them.
  std::function<void(const NetWeights&, const std::string& origin)> check;
  std::function<std::unique_ptr<LearnedPolicy>(const Agent&, const Serving&)> make_policy;
  // What explains its decisions; empty: nothing does.
  std::function<std::unique_ptr<Explainer>(const Agent&, const std::string& placement)>
      make_explainer{};
  // Tells weights the fixed index, by spec, that they add to in a world, unless they have one.
  // Empty: networks that do not want it.
  std::function<void(NetWeights*, const std::string& world, const std::string& index)> begin_in{};
  // The one net that decides in a world, of weights with parts of worlds (OwnTensor): a sum of
  // theirs and the shared ones. Empty: the weights as they are.
  std::function<NetWeights(const NetWeights&, const std::string& world)> in_world{};
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
