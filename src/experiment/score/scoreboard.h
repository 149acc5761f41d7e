#pragma once
// The scoreboard: result files of `allot score` put together, policies by tasks. Its figures are
// mean JCTs relative to the best published rule of each task's world; below 1 the policy is faster.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/score/score_result.h"
#include "metrics/table.h"

namespace allot {

// A policy on the board.
struct BoardRow {
  std::string policy;
  std::vector<const ScoredPolicy*> by_task;  // null where it was not played
  ScoreAggregate aggregate;                  // unknown unless it played every task
  bool oracle = false;
  bool seen = false;  // its training saw test jobs of some task

  bool ranked() const;  // played every task, without foresight
};

// Limits on the ratios to the tuned rule, beyond which a mean JCT was bought with long waits of
// some jobs.
inline constexpr double kMostP99 = 1.03;
inline constexpr double kMostUnfair = 1.0;
// A policy is as good as the first of a task up to this ratio of their mean JCTs.
inline constexpr double kNearFirst = 1.005;

class Scoreboard {
 public:
  // DataError where the results differ in suite, salt or workloads, or where there are none. Of a
  // policy that several results hold, the first counts.
  explicit Scoreboard(std::vector<ScoreResult> results);

  // Ranked rows first, by their geometric mean; then the others by the number of tasks that they
  // played and by name.
  const std::vector<BoardRow>& rows() const { return rows_; }

  // Who is first, and in which tasks others are faster than the first by more than kNearFirst.
  struct Verdict {
    std::string policy;
    std::vector<std::string> behind;  // "Sia: sia is 1.2 % faster"
  };
  // Of the ranked policy of this name; nothing if there is none.
  std::optional<Verdict> VerdictOf(const std::string& policy) const;
  bool IsFirst(const std::string& policy) const;

  std::string ToText() const;
  nlohmann::ordered_json ToJson() const;
  // The part of docs/scoreboard.md that the command writes.
  std::string ToMarkdown() const;
  // The ranked policies by tasks, shaded: blue is faster than the best published rule.
  std::string ToSvg() const;

 private:
  void AddRows(const ScoreResult& result);
  void AddPolicy(const ScoredPolicy& policy, std::size_t task);
  std::string VerdictText() const;
  TextTable Ranking() const;  // one row a ranked policy, aggregates only
  // Policies by tasks; `strong` stands around the first of each task.
  TextTable Ratios(std::string_view strong) const;
  TextTable FirstByTask() const;  // the first policy in each task, with its guards
  double Ratio(const BoardRow& row, std::size_t task) const;  // to the best rule; kUnknown: absent
  double LeastRatio(std::size_t task) const;                  // of policies without foresight
  bool MissesGuard(const BoardRow& row, std::size_t task) const;

  std::vector<ScoreResult> results_;
  std::vector<ScoredTask> tasks_;          // of the first result, with the rules of all
  std::vector<const ScoredPolicy*> best_;  // published rule, by task
  std::vector<BoardRow> rows_;
};

}  // namespace allot
