#include "agents/learned/agent.h"

#include "core/error.h"

namespace allot {
namespace {

constexpr const char* kRunTimes = "run_times";
constexpr const char* kSubmitters = "run_times_by_submitter";

template <typename T>
T Get(const nlohmann::json& json, const char* key) {
  try {
    return json.get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw UsageError("'{}' must be lists of numbers: {}", key, error.what());
  }
}

}  // namespace

const NetworkInfo& NetworkOf(const NetWeights& weights) {
  return Registry<NetworkInfo>::Global().Get("network", weights.kind);
}

NetWeights WeightsIn(const NetWeights& weights, const std::string& world) {
  const NetworkInfo& network = NetworkOf(weights);
  return network.in_world ? network.in_world(weights, world) : weights;
}

NetWeights MakeNetwork(std::string_view spec, std::uint64_t seed) {
  const NamedParams named = ParseNamedParams(spec);
  const NetworkInfo& info = Registry<NetworkInfo>::Global().Get("network", named.name);
  return info.make_weights(Params(fmt::format("network '{}'", info.id), info.params, named.given),
                           seed);
}

std::unique_ptr<LearnedPolicy> MakeLearnedPolicy(const Agent& agent, const Serving& serving) {
  return NetworkOf(agent.weights).make_policy(agent, serving);
}

const PolicyInfo& LearnedPolicyInfo() {
  return Registry<PolicyInfo>::Global().Get("policy", "learned");
}

void RequireServable(const Checkpoint& checkpoint, const std::string& path) {
  const std::string& kind = checkpoint.weights.kind;
  const NetworkInfo* info = Registry<NetworkInfo>::Global().Find(kind);
  if (info == nullptr) {
    throw DataError("{}: checkpoint is of kind '{}', this allot knows {}", path, kind,
                    fmt::join(Registry<NetworkInfo>::Global().ids(), ", "));
  }
  RequireFeatureVersion(checkpoint, info->feature_version, path);
  info->check(checkpoint.weights, path);
}

void AddLengths(const LengthModel& lengths, nlohmann::json* state) {
  (*state)[kRunTimes] = lengths.learned();
  if (!lengths.submitters().empty()) (*state)[kSubmitters] = lengths.submitters();
}

LengthModel LengthsOf(const nlohmann::json& state) {
  LengthModel lengths;
  const auto run_times = state.find(kRunTimes);
  if (run_times == state.end()) return lengths;
  const auto submitters = state.find(kSubmitters);
  const auto counts = Get<std::vector<std::vector<double>>>(*run_times, kRunTimes);
  lengths.SetLearned(
      counts, submitters == state.end() ? RunsByName() : Get<RunsByName>(*submitters, kSubmitters));
  return lengths;
}

Agent LoadAgent(const std::string& path) {
  Checkpoint loaded = LoadCheckpoint(path);
  RequireServable(loaded, path);
  Agent agent{std::move(loaded.weights), {}};
  try {
    agent.lengths = LengthsOf(loaded.state);
  } catch (const Error& error) {
    throw DataError("{}: {}", path, error.what());
  }
  return agent;
}

}  // namespace allot
