#include "experiment/score/score_result.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

double MeanLogJct(const ScoredPolicy& policy) {
  double sum = 0;
  for (const double jct : policy.jct_s) sum += std::log(jct);
  return sum / static_cast<double>(policy.jct_s.size());
}

// ln(mean JCT of the policy / that of the other) by workload.
std::vector<double> LogRatios(const ScoredPolicy& policy, const ScoredPolicy& other) {
  ALLOT_CHECK_EQ(policy.jct_s.size(), other.jct_s.size());
  std::vector<double> logs;
  logs.reserve(policy.jct_s.size());
  for (std::size_t i = 0; i < policy.jct_s.size(); ++i) {
    logs.push_back(std::log(policy.jct_s[i] / other.jct_s[i]));
  }
  return logs;
}

std::vector<double> OneAndEach(const std::vector<double>& fractions) {
  std::vector<double> sums;
  sums.reserve(fractions.size());
  for (const double fraction : fractions) sums.push_back(1 + fraction);
  return sums;
}

constexpr std::pair<TrainingOverlap, const char*> kOverlaps[] = {
    {TrainingOverlap::kNone, "none"},
    {TrainingOverlap::kUnseen, "unseen"},
    {TrainingOverlap::kSeen, "seen"},
    {TrainingOverlap::kNotKnown, "not known"}};

TrainingOverlap OverlapNamed(const std::string& name, std::string_view where) {
  for (const auto& [overlap, known] : kOverlaps) {
    if (name == known) return overlap;
  }
  throw DataError("{}: 'training' must be none, unseen, seen or 'not known', got '{}'", where,
                  name);
}

const char* NameOf(TrainingOverlap overlap) {
  for (const auto& [known, name] : kOverlaps) {
    if (overlap == known) return name;
  }
  return "not known";
}

// Six significant digits are more than the spread between workloads tells apart.
Json Rounded(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    list.push_back(std::isfinite(value) ? Json(std::stod(fmt::format("{:.6g}", value))) : Json());
  }
  return list;
}

std::vector<double> NumbersFrom(const Json& object, const char* key, std::string_view where) {
  std::vector<double> values;
  for (const Json& value : RequireList(object, key, where)) {
    if (!value.is_null() && !value.is_number()) {
      throw DataError("{}: '{}' must hold numbers or null, got {}", where, key, value.dump());
    }
    values.push_back(value.is_null() ? kUnknown : value.get<double>());
  }
  return values;
}

Json PolicyJson(const ScoredPolicy& policy) {
  Json json = {{"policy", policy.policy}, {"spec", policy.spec}};
  if (policy.oracle) json["oracle"] = true;
  if (policy.absent) {
    json["absent"] = *policy.absent;
    return json;
  }
  json["training"] = NameOf(policy.training_overlap);
  json["jct_s"] = Rounded(policy.jct_s);
  json["p99_s"] = Rounded(policy.p99_s);
  json["unfair"] = Rounded(policy.unfair);
  return json;
}

ScoredPolicy PolicyFrom(const Json& json, std::size_t workloads, std::string_view where) {
  ScoredPolicy policy;
  policy.policy = RequireText(json, "policy", where);
  policy.spec = RequireText(json, "spec", where);
  policy.oracle = json.contains("oracle") && RequireFlag(json, "oracle", where);
  if (json.contains("absent")) {
    policy.absent = RequireText(json, "absent", where);
    return policy;
  }
  policy.training_overlap = OverlapNamed(RequireText(json, "training", where), where);
  for (const auto& [key, values] :
       {std::pair{"jct_s", &policy.jct_s}, {"p99_s", &policy.p99_s}, {"unfair", &policy.unfair}}) {
    *values = NumbersFrom(json, key, where);
    if (values->size() != workloads) {
      throw DataError(
          "{}: '{}' of policy '{}' must hold one number for each of the {} workloads, "
          "got {}",
          where, key, policy.policy, workloads, values->size());
    }
  }
  return policy;
}

std::vector<ScoredPolicy> PoliciesFrom(const Json& task, const char* key, std::size_t workloads,
                                       std::string_view where) {
  std::vector<ScoredPolicy> policies;
  for (const Json& policy : RequireList(task, key, where)) {
    policies.push_back(PolicyFrom(policy, workloads, where));
  }
  return policies;
}

}  // namespace

const ScoredPolicy& BestRule(const ScoredTask& task) {
  const ScoredPolicy* best = nullptr;
  for (const ScoredPolicy& rule : task.rules) {
    if (rule.oracle || rule.absent) continue;
    if (best == nullptr || MeanLogJct(rule) < MeanLogJct(*best)) best = &rule;
  }
  if (best == nullptr) throw DataError("task '{}' needs a published rule, got none", task.task);
  return *best;
}

ScoreRatios RatiosOf(const ScoredPolicy& policy, const ScoredPolicy& other) {
  return {ComparePaired(policy.jct_s, other.jct_s), ComparePaired(policy.p99_s, other.p99_s),
          ComparePaired(OneAndEach(policy.unfair), OneAndEach(other.unfair))};
}

Estimate RatioOverTasks(const std::vector<const ScoredPolicy*>& policy,
                        const std::vector<const ScoredPolicy*>& other,
                        const std::function<double(const TaskValues&)>& statistic) {
  ALLOT_CHECK_EQ(policy.size(), other.size());
  TaskValues logs;
  logs.reserve(policy.size());
  for (std::size_t i = 0; i < policy.size(); ++i) {
    logs.push_back(LogRatios(*policy[i], *other[i]));
  }
  const Estimate estimate = StratifiedBootstrap(logs, statistic);
  return {std::exp(estimate.value), std::exp(estimate.low), std::exp(estimate.high)};
}

ScoreAggregate AggregateOf(const std::vector<ScoredTask>& tasks,
                           const std::vector<const ScoredPolicy*>& policy_by_task) {
  ALLOT_CHECK_EQ(tasks.size(), policy_by_task.size());
  std::vector<const ScoredPolicy*> rules;
  std::vector<const ScoredPolicy*> tuned;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (policy_by_task[i] == nullptr || policy_by_task[i]->absent) return {};
    rules.push_back(&BestRule(tasks[i]));
    tuned.push_back(&tasks[i].tuned);
  }
  return {RatioOverTasks(policy_by_task, rules, MeanOverTasks),
          RatioOverTasks(policy_by_task, rules, InterquartileMean),
          RatioOverTasks(policy_by_task, tuned, MeanOverTasks)};
}

Json ToJson(const ScoreResult& result) {
  Json tasks = Json::array();
  for (const ScoredTask& task : result.tasks) {
    Json json = {{"task", task.task},
                 {"setting", task.setting},
                 {"first_seed", task.first_seed},
                 {"workloads", task.tuned.jct_s.size()},
                 {"tuned", PolicyJson(task.tuned)},
                 {"rules", Json::array()},
                 {"entries", Json::array()}};
    for (const ScoredPolicy& rule : task.rules) json["rules"].push_back(PolicyJson(rule));
    const ScoredPolicy& best = BestRule(task);
    json["best_rule"] = best.policy;
    for (const ScoredPolicy& entry : task.entries) {
      Json& added = json["entries"].emplace_back(PolicyJson(entry));
      if (entry.absent) continue;
      const auto ratio = [](const PairedRatio& r) {
        return Json{NumberOrNull(r.mean), NumberOrNull(r.low), NumberOrNull(r.high)};
      };
      const ScoreRatios to_tuned = RatiosOf(entry, task.tuned);
      added["jct_to_best_rule"] = ratio(RatiosOf(entry, best).jct);
      added["jct_to_tuned"] = ratio(to_tuned.jct);
      added["p99_to_tuned"] = ratio(to_tuned.p99);
      added["unfair_to_tuned"] = ratio(to_tuned.unfair);
    }
    tasks.push_back(std::move(json));
  }
  Json aggregates = Json::array();
  for (std::size_t e = 0; !result.tasks.empty() && e < result.tasks.front().entries.size(); ++e) {
    std::vector<const ScoredPolicy*> by_task;
    by_task.reserve(result.tasks.size());
    for (const ScoredTask& task : result.tasks) by_task.push_back(&task.entries[e]);
    const ScoreAggregate aggregate = AggregateOf(result.tasks, by_task);
    const auto estimate = [](const Estimate& each) {
      return Json{NumberOrNull(each.value), NumberOrNull(each.low), NumberOrNull(each.high)};
    };
    aggregates.push_back({{"policy", by_task.front()->policy},
                          {"geometric_mean_to_best_rule", estimate(aggregate.to_rule)},
                          {"interquartile_mean_to_best_rule", estimate(aggregate.to_rule_iqm)},
                          {"geometric_mean_to_tuned", estimate(aggregate.to_tuned)}});
  }
  return {{"suite", result.suite},
          {"salt", result.salt},
          {"version", result.version},
          {"command", result.command},
          {"inputs", result.inputs},
          {"aggregates", aggregates},
          {"tasks", tasks}};
}

ScoreResult ScoreResultFromJson(const Json& json, std::string_view where) {
  ScoreResult result;
  result.suite = RequireText(json, "suite", where);
  result.salt = RequireText(json, "salt", where);
  result.version = RequireText(json, "version", where);
  result.command = RequireText(json, "command", where);
  const Json& inputs = RequireField(json, "inputs", where);
  for (const auto& [path, fingerprint] : inputs.items()) {
    result.inputs[path] = RequireText(inputs, path.c_str(), where);
  }
  for (const Json& each : RequireList(json, "tasks", where)) {
    ScoredTask task;
    task.task = RequireText(each, "task", where);
    task.setting = RequireText(each, "setting", where);
    task.first_seed = static_cast<std::uint64_t>(RequireInteger(each, "first_seed", where));
    const auto workloads = static_cast<std::size_t>(RequireInteger(each, "workloads", where));
    task.tuned = PolicyFrom(RequireField(each, "tuned", where), workloads, where);
    task.rules = PoliciesFrom(each, "rules", workloads, where);
    task.entries = PoliciesFrom(each, "entries", workloads, where);
    result.tasks.push_back(std::move(task));
  }
  return result;
}

}  // namespace allot
