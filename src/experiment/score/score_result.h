#pragma once
// What `allot score` measured, and its file. A result holds the measures of every workload, so that
// every figure of the scoreboard can be computed again from it.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/inputs.h"
#include "metrics/bootstrap.h"
#include "metrics/evaluation.h"
#include "metrics/paired.h"

namespace allot {

// One policy on the test workloads of one task.
struct ScoredPolicy {
  std::string policy;                   // its name on the scoreboard
  std::string spec;                     // as it was made in the task's world
  bool oracle = false;                  // it uses foresight, so it is never the best rule
  std::optional<std::string> absent{};  // why it cannot play; the measures below are then empty
  TrainingOverlap training_overlap = TrainingOverlap::kNone;
  // By workload.
  std::vector<double> jct_s{};   // mean JCT
  std::vector<double> p99_s{};   // 99th percentile of JCT
  std::vector<double> unfair{};  // fraction of the jobs with rho > 1 (metrics/service.h)
};

struct ScoredTask {
  std::string task;                 // ScoreTask::id
  std::string setting;              // of the test split
  std::uint64_t first_seed = 0;     // of the test workloads
  ScoredPolicy tuned;               // the tuned rule
  std::vector<ScoredPolicy> rules;  // published rules of this world
  std::vector<ScoredPolicy> entries;
};

struct ScoreResult {
  std::string suite;
  std::string salt;
  std::string version;  // of allot
  std::string command;
  Inputs inputs;
  std::vector<ScoredTask> tasks;
};

// The published rule with the least mean of ln(mean JCT), without oracles. DataError if the task
// has none.
const ScoredPolicy& BestRule(const ScoredTask& task);

// Ratios of a policy to another one on the same workloads.
struct ScoreRatios {
  PairedRatio jct;
  PairedRatio p99;
  PairedRatio unfair;  // of 1 + the fraction of jobs with rho > 1
};
ScoreRatios RatiosOf(const ScoredPolicy& policy, const ScoredPolicy& other);

// Mean JCT of a policy over that of another one, by task, as exp(statistic(logarithms)) with its
// interval. Neither may be absent from a task.
Estimate RatioOverTasks(const std::vector<const ScoredPolicy*>& policy,
                        const std::vector<const ScoredPolicy*>& other,
                        const std::function<double(const TaskValues&)>& statistic);

// Over all tasks of the result; kUnknown if the policy is absent from one. Each task weighs the
// same.
struct ScoreAggregate {
  Estimate to_rule;      // geometric mean of mean JCT / that of each task's best published rule
  Estimate to_rule_iqm;  // the interquartile mean of the same, also of logarithms
  Estimate to_tuned;     // geometric mean of mean JCT / that of the tuned rule
};
ScoreAggregate AggregateOf(const std::vector<ScoredTask>& tasks,
                           const std::vector<const ScoredPolicy*>& policy_by_task);

nlohmann::ordered_json ToJson(const ScoreResult& result);
// DataError naming `where`, the key and both values.
ScoreResult ScoreResultFromJson(const nlohmann::ordered_json& json, std::string_view where);

}  // namespace allot
