#include "agents/learned/agent.h"

#include "core/error.h"

namespace allot {

const NetworkInfo& NetworkOf(const NetWeights& weights) {
  return Registry<NetworkInfo>::Global().Get("network", weights.kind);
}

NetWeights MakeNetwork(std::string_view spec, std::uint64_t seed) {
  const NamedParams named = ParseNamedParams(spec);
  const NetworkInfo& info = Registry<NetworkInfo>::Global().Get("network", named.name);
  return info.make_weights(Params(fmt::format("network '{}'", info.id), info.params, named.given),
                           seed);
}

std::unique_ptr<LearnedPolicy> MakeLearnedPolicy(const Agent& agent, const std::string& placement) {
  return NetworkOf(agent.weights).make_policy(agent, placement);
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

Agent LoadAgent(const std::string& path) {
  Checkpoint loaded = LoadCheckpoint(path);
  RequireServable(loaded, path);
  Agent agent{std::move(loaded.weights), {}};
  const auto run_times = loaded.state.find("run_times");
  if (run_times != loaded.state.end()) {
    try {
      agent.lengths.SetLearned(run_times->get<std::vector<std::vector<double>>>());
    } catch (const nlohmann::json::exception& error) {
      throw DataError("{}: 'run_times' must be lists of numbers: {}", path, error.what());
    } catch (const Error& error) {
      throw DataError("{}: {}", path, error.what());
    }
  }
  return agent;
}

}  // namespace allot
