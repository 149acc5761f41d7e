#include "experiment/score/scoreboard.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "experiment/score/heat_map.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

std::string NameOf(const ScoredTask& task) { return task.task.substr(0, task.task.rfind("-v")); }

std::string EstimateText(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return "-";
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", estimate.value, estimate.low, estimate.high);
}

std::string RatioText(const PairedRatio& ratio) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.mean, ratio.low, ratio.high);
}

void RequireSame(const char* what, const std::string& first, const std::string& other) {
  if (first == other) return;
  throw DataError("results of one scoreboard must have the same {}, got '{}' and '{}'", what, first,
                  other);
}

void RequireSameWorkloads(const ScoreResult& first, const ScoreResult& other) {
  RequireSame("number of tasks", fmt::format("{}", first.tasks.size()),
              fmt::format("{}", other.tasks.size()));
  for (std::size_t t = 0; t < first.tasks.size(); ++t) {
    const auto workloads = [](const ScoredTask& task) {
      return fmt::format("{} in {} from seed {}, {} workloads", task.task, task.setting,
                         task.first_seed, task.tuned.jct_s.size());
    };
    RequireSame("tasks", workloads(first.tasks[t]), workloads(other.tasks[t]));
  }
}

}  // namespace

bool BoardRow::ranked() const { return !oracle && std::isfinite(aggregate.to_rule.value); }

Scoreboard::Scoreboard(std::vector<ScoreResult> results) : results_(std::move(results)) {
  if (results_.empty() || results_.front().tasks.empty()) {
    throw DataError("a scoreboard needs a result with a task, got none");
  }
  const ScoreResult& first = results_.front();
  for (const ScoreResult& result : results_) {
    RequireSame("suite", first.suite, result.suite);
    RequireSame("salt", first.salt, result.salt);
    RequireSameWorkloads(first, result);
  }
  tasks_ = first.tasks;
  for (const ScoredTask& task : tasks_) best_.push_back(&BestRule(task));
  for (const ScoreResult& result : results_) AddRows(result);
  for (BoardRow& row : rows_) row.aggregate = AggregateOf(tasks_, row.by_task);
  const auto played = [](const BoardRow& row) {
    return std::ranges::count_if(row.by_task, [](const ScoredPolicy* p) { return p != nullptr; });
  };
  std::ranges::sort(rows_, [&](const BoardRow& a, const BoardRow& b) {
    if (a.ranked() != b.ranked()) return a.ranked();
    if (a.ranked() && a.aggregate.to_rule.value != b.aggregate.to_rule.value) {
      return a.aggregate.to_rule.value < b.aggregate.to_rule.value;
    }
    return std::pair(-played(a), a.policy) < std::pair(-played(b), b.policy);
  });
}

void Scoreboard::AddRows(const ScoreResult& result) {
  for (std::size_t t = 0; t < result.tasks.size(); ++t) {
    const ScoredTask& task = result.tasks[t];
    AddPolicy(task.tuned, t);
    for (const ScoredPolicy& rule : task.rules) {
      if (!rule.absent) AddPolicy(rule, t);
    }
    for (const ScoredPolicy& entry : task.entries) AddPolicy(entry, t);
  }
}

void Scoreboard::AddPolicy(const ScoredPolicy& policy, std::size_t task) {
  auto row = std::ranges::find(rows_, policy.policy, &BoardRow::policy);
  if (row == rows_.end()) {
    rows_.push_back({policy.policy, std::vector<const ScoredPolicy*>(tasks_.size(), nullptr), {}});
    row = rows_.end() - 1;
  }
  if (policy.absent || row->by_task[task] != nullptr) return;
  row->by_task[task] = &policy;
  row->oracle = row->oracle || policy.oracle;
  row->seen = row->seen || policy.training_overlap == TrainingOverlap::kSeen;
}

double Scoreboard::Ratio(const BoardRow& row, std::size_t task) const {
  const ScoredPolicy* const policy = row.by_task[task];
  return policy == nullptr ? kUnknown : RatiosOf(*policy, *best_[task]).jct.mean;
}

double Scoreboard::LeastRatio(std::size_t task) const {
  double least = kNever;
  for (const BoardRow& row : rows_) {
    if (row.by_task[task] == nullptr || row.by_task[task]->oracle) continue;
    least = std::min(least, Ratio(row, task));
  }
  return least;
}

bool Scoreboard::MissesGuard(const BoardRow& row, std::size_t task) const {
  if (row.by_task[task] == nullptr) return false;
  const ScoreRatios ratios = RatiosOf(*row.by_task[task], tasks_[task].tuned);
  constexpr double kHalfDigit = 0.0005;
  return ratios.p99.mean >= kMostP99 + kHalfDigit || ratios.unfair.mean >= kMostUnfair + kHalfDigit;
}

bool Scoreboard::IsFirst(const std::string& policy) const {
  return rows_.front().ranked() && rows_.front().policy == policy;
}

std::optional<Scoreboard::Verdict> Scoreboard::VerdictOf(const std::string& policy) const {
  const auto row = std::ranges::find(rows_, policy, &BoardRow::policy);
  if (row == rows_.end() || !row->ranked()) return std::nullopt;
  Verdict verdict{policy, {}};
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const double least = LeastRatio(t);
    const double own = Ratio(*row, t);
    if (own <= kNearFirst * least) continue;
    const auto first = std::ranges::find_if(rows_, [&](const BoardRow& other) {
      return other.by_task[t] != nullptr && !other.by_task[t]->oracle && Ratio(other, t) == least;
    });
    verdict.behind.push_back(fmt::format("{} ({} is {:.1f} % faster)", NameOf(tasks_[t]),
                                         first->policy, 100 * (1 - least / own)));
  }
  return verdict;
}

TextTable Scoreboard::Ranking() const {
  TextTable table({{"policy", TextTable::Align::kLeft},
                   {"/ best rule"},
                   {"interquartile mean"},
                   {"/ tuned rule"}});
  for (const BoardRow& row : rows_) {
    if (!row.ranked()) continue;
    table.AddRow({row.policy + (row.seen ? " (seen)" : ""), EstimateText(row.aggregate.to_rule),
                  EstimateText(row.aggregate.to_rule_iqm), EstimateText(row.aggregate.to_tuned)});
  }
  table.AddNote("Ranked are policies that played every task, without foresight.");
  return table;
}

TextTable Scoreboard::Ratios(std::string_view strong) const {
  std::vector<TextTable::Column> columns = {{"policy", TextTable::Align::kLeft}};
  for (const ScoredTask& task : tasks_) columns.push_back({NameOf(task)});
  TextTable table(std::move(columns));
  for (const BoardRow& row : rows_) {
    std::vector<std::string> cells = {row.policy + (row.oracle ? " (oracle)" : "")};
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const double ratio = Ratio(row, t);
      if (!std::isfinite(ratio)) {
        cells.emplace_back("-");
        continue;
      }
      const bool first = !row.by_task[t]->oracle && ratio == LeastRatio(t);
      cells.push_back(fmt::format("{0}{1:.3f}{0}{2}", first ? strong : "", ratio,
                                  MissesGuard(row, t) ? "†" : ""));
    }
    table.AddRow(std::move(cells));
  }
  table.AddNote(fmt::format(
      "{0}1{0}: the first of the task. †: more than {1} times the tuned rule's p99 JCT, "
      "or more jobs than under it with rho > 1.",
      strong, kMostP99));
  return table;
}

TextTable Scoreboard::FirstByTask() const {
  const BoardRow& leader = rows_.front();
  TextTable table({{"task", TextTable::Align::kLeft},
                   {"best published rule", TextTable::Align::kLeft},
                   {fmt::format("{} / it", leader.policy)},
                   {fmt::format("{} / tuned rule", leader.policy)},
                   {"p99"},
                   {"1 + unfair"}});
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (leader.by_task[t] == nullptr) continue;
    const ScoreRatios to_tuned = RatiosOf(*leader.by_task[t], tasks_[t].tuned);
    table.AddRow({NameOf(tasks_[t]), fmt::format("`{}`", best_[t]->policy),
                  RatioText(RatiosOf(*leader.by_task[t], *best_[t]).jct), RatioText(to_tuned.jct),
                  fmt::format("{:.3f}", to_tuned.p99.mean),
                  fmt::format("{:.3f}", to_tuned.unfair.mean)});
  }
  table.AddNote(
      "p99, and 1 + the fraction of jobs with rho > 1, are over those of the tuned rule.");
  return table;
}

std::string Scoreboard::VerdictText() const {
  const auto verdict = VerdictOf(rows_.front().policy);
  if (!verdict) return "No policy has played every task.";
  const std::size_t near_first = tasks_.size() - verdict->behind.size();
  std::string text = fmt::format(
      "**`{}` is first**: its mean JCT is {} of that of the best published rule of each world "
      "(geometric mean over {}). It is within 0.5 % of the fastest policy in {} of them",
      verdict->policy, EstimateText(rows_.front().aggregate.to_rule),
      Counted(std::ssize(tasks_), "task"), near_first);
  text += verdict->behind.empty() ? "." : "; not in " + Join(verdict->behind, ", ") + ".";
  if (rows_.size() < 2 || !rows_[1].ranked()) return text;
  const Estimate to_next = RatioOverTasks(rows_[0].by_task, rows_[1].by_task, MeanOverTasks);
  return text + fmt::format(" Its mean JCT is {} of that of the next, `{}`{}.",
                            EstimateText(to_next), rows_[1].policy,
                            to_next.high < 1 ? "" : ": the interval does not tell them apart");
}

std::string Scoreboard::ToText() const {
  return Ranking().ToText() + "\n" + Ratios("*").ToText() + "\n" + FirstByTask().ToText() + "\n" +
         VerdictText() + "\n";
}

nlohmann::ordered_json Scoreboard::ToJson() const {
  const auto estimate = [](const Estimate& each) {
    return nlohmann::ordered_json{NumberOrNull(each.value), NumberOrNull(each.low),
                                  NumberOrNull(each.high)};
  };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const BoardRow& row : rows_) {
    nlohmann::ordered_json ratios = nlohmann::ordered_json::object();
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      ratios[tasks_[t].task] = NumberOrNull(Ratio(row, t));
    }
    rows.push_back({{"policy", row.policy},
                    {"ranked", row.ranked()},
                    {"oracle", row.oracle},
                    {"seen", row.seen},
                    {"geometric_mean_to_best_rule", estimate(row.aggregate.to_rule)},
                    {"interquartile_mean_to_best_rule", estimate(row.aggregate.to_rule_iqm)},
                    {"geometric_mean_to_tuned", estimate(row.aggregate.to_tuned)},
                    {"jct_to_best_rule", std::move(ratios)}});
  }
  return {{"suite", results_.front().suite}, {"salt", results_.front().salt}, {"rows", rows}};
}

std::string Scoreboard::ToMarkdown() const {
  const ScoreResult& first = results_.front();
  std::string text = VerdictText() + "\n\n" + Ranking().ToMarkdown();
  text +=
      "\nMean JCT over that of the best published rule, by task:\n\n" + Ratios("**").ToMarkdown();
  text += "\nThe first policy, with 95 % intervals and guards:\n\n" + FirstByTask().ToMarkdown();
  text += fmt::format("\nSuite {}, salt `{}`, allot {}. Made by:\n\n", first.suite, first.salt,
                      first.version);
  for (const ScoreResult& result : results_) text += fmt::format("    {}\n", result.command);
  return text;
}

std::string Scoreboard::ToSvg() const {
  HeatMap map;
  for (const ScoredTask& task : tasks_) map.columns.push_back(NameOf(task));
  map.columns.emplace_back("all");
  for (const BoardRow& row : rows_) {
    if (!row.ranked()) continue;
    map.rows.push_back(row.policy);
    for (std::size_t t = 0; t < tasks_.size(); ++t) map.ratios.push_back(Ratio(row, t));
    map.ratios.push_back(row.aggregate.to_rule.value);
  }
  return HeatMapSvg(map);
}

}  // namespace allot
