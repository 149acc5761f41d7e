#pragma once
// A moment of a running daemon: an observation that owns everything it points to, and the rules in
// force. Forecasts and quotes look ahead from it in threads of their own.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "rules/gpu_usage.h"
#include "rules/operator_rules.h"
#include "sim/simulated_rules.h"

namespace allot {

// WaitForecastOptions::step: decisions every few seconds do not improve the forecast of a time that
// is a day ahead.
inline constexpr double kLiveStep = 0.02;

struct RulesInForce {
  std::shared_ptr<const OperatorRules> rules;  // null: none
  std::optional<GpuUsage> usage{};
};

// Stays where it was made.
struct LiveMoment {
  LiveMoment() = default;
  LiveMoment(const LiveMoment&) = delete;
  LiveMoment& operator=(const LiveMoment&) = delete;

  std::chrono::steady_clock::time_point taken = std::chrono::steady_clock::now();
  Observation observation;
  ClusterSpec cluster;  // what may be allocated, and GPUs that jobs still have
  ClusterSpec nominal;  // with the nodes that are away
  std::vector<std::string> users;
  std::vector<std::string> groups;
  std::vector<std::shared_ptr<const ConfigurationTable>> tables;
  std::vector<std::string> names;  // by row
  RulesInForce rules;
  std::vector<RulesPast::KnownJob> rules_of_jobs;  // by row

  // What the rules know of the time before; points into this.
  RulesPast Past() const { return {rules_of_jobs, rules.usage ? &*rules.usage : nullptr}; }
};

}  // namespace allot
