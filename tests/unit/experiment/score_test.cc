#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "experiment/score/score_result.h"
#include "experiment/score/score_task.h"
#include "experiment/score/scoreboard.h"

namespace allot {
namespace {

ScoredPolicy ScoredAs(const std::string& name, std::vector<double> jct_s) {
  ScoredPolicy policy;
  policy.policy = policy.spec = name;
  policy.p99_s = policy.jct_s = std::move(jct_s);
  policy.unfair.assign(policy.jct_s.size(), 0.25);
  return policy;
}

ScoredPolicy AbsentAs(const std::string& name) {
  ScoredPolicy policy;
  policy.policy = policy.spec = name;
  policy.absent = "it has no such GPUs";
  return policy;
}

// Two tasks with the rules fifo and srtf; `mine` is faster than both in the first one only.
ScoreResult TwoTaskResult() {
  ScoreResult result;
  result.suite = "v1";
  result.salt = "pepper";
  result.version = "test";
  result.command = "allot score";
  result.tasks.push_back({"A-v1",
                          "setting-a",
                          7,
                          ScoredAs("tuned", {80, 160}),
                          {ScoredAs("fifo", {200, 400}), ScoredAs("srtf", {100, 200})},
                          {ScoredAs("mine", {50, 100}), ScoredAs("other", {100, 200})}});
  result.tasks.push_back({"B-v1",
                          "setting-b",
                          8,
                          ScoredAs("tuned", {80, 160}),
                          {ScoredAs("fifo", {100, 200}), ScoredAs("srtf", {200, 400})},
                          {ScoredAs("mine", {100, 200}), AbsentAs("other")}});
  return result;
}

const BoardRow& RowNamed(const Scoreboard& board, const std::string& policy) {
  for (const BoardRow& row : board.rows()) {
    if (row.policy == policy) return row;
  }
  throw std::logic_error("no row " + policy);
}

std::string FaultOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ScoreTask, SuiteHoldsEveryTaskWithRulesAndThreeSplits) {
  EXPECT_GE(SuiteNamed("v1").tasks.size(), 15U);
  const Suite suite = SuiteNamed("v2");
  EXPECT_GE(suite.tasks.size(), 18U);
  for (const ScoreTask& task : suite.tasks) {
    EXPECT_FALSE(task.rules.empty()) << task.id;
    for (const ScoreSplit split :
         {ScoreSplit::kTrain, ScoreSplit::kValidation, ScoreSplit::kTest}) {
      EXPECT_NE(EpisodesOf(task, split, "salt")(3), nullptr) << task.id;
    }
  }
}

TEST(ScoreTask, TestSeedsFollowFromTaskAndSaltAlone) {
  const Suite suite = SuiteNamed("v1");
  std::set<std::uint64_t> firsts;
  for (const ScoreTask& task : suite.tasks) {
    for (const char* salt : {"a", "b", "public"}) {
      firsts.insert(FirstSeed(task, ScoreSplit::kTest, salt));
      EXPECT_GT(FirstSeed(task, ScoreSplit::kTest, salt),
                FirstSeed(task, ScoreSplit::kValidation, salt));
    }
    EXPECT_EQ(FirstSeed(task, ScoreSplit::kTrain, "a"), FirstSeed(task, ScoreSplit::kTrain, "b"));
    EXPECT_EQ(FirstSeed(task, ScoreSplit::kTest, "a"), FirstSeed(task, ScoreSplit::kTest, "a"));
  }
  EXPECT_EQ(firsts.size(), 3 * suite.tasks.size());
}

TEST(ScoreTask, UnknownSuiteNamesTheKnownOnes) {
  EXPECT_EQ(FaultOf([] { SuiteNamed("v9"); }), "suite must be one of small, v1, v2, got 'v9'");
}

TEST(ScoreResult, BestRuleIsNoOracle) {
  ScoreResult result = TwoTaskResult();
  EXPECT_EQ(BestRule(result.tasks[0]).policy, "srtf");
  result.tasks[0].rules[1].oracle = true;
  EXPECT_EQ(BestRule(result.tasks[0]).policy, "fifo");
}

TEST(ScoreResult, AggregatesGiveEachTaskTheSameWeight) {
  const ScoreResult result = TwoTaskResult();
  const ScoreAggregate aggregate =
      AggregateOf(result.tasks, {&result.tasks[0].entries[0], &result.tasks[1].entries[0]});
  EXPECT_NEAR(aggregate.to_rule.value, std::sqrt(0.5 * 1), 1e-12);
  EXPECT_NEAR(aggregate.to_tuned.value, std::sqrt(50.0 / 80 * 100 / 80), 1e-12);
}

TEST(ScoreResult, ComesBackFromItsFile) {
  const nlohmann::ordered_json json = ToJson(TwoTaskResult());
  EXPECT_EQ(ToJson(ScoreResultFromJson(json, "file")), json);
}

TEST(ScoreResult, RefusesMeasuresOfOtherWorkloads) {
  nlohmann::ordered_json json = ToJson(TwoTaskResult());
  json["tasks"][0]["entries"][0]["jct_s"].push_back(1.0);
  EXPECT_EQ(
      FaultOf([&] { ScoreResultFromJson(json, "file"); }),
      "file: 'jct_s' of policy 'mine' must hold one number for each of the 2 workloads, got 3");
}

TEST(Scoreboard, RanksOnlyWhoPlayedEveryTask) {
  const Scoreboard board({TwoTaskResult()});
  EXPECT_EQ(board.rows().front().policy, "mine");
  EXPECT_TRUE(RowNamed(board, "fifo").ranked()) << "a rule of every task";
  EXPECT_FALSE(RowNamed(board, "other").ranked());
  EXPECT_EQ(RowNamed(board, "other").by_task[1], nullptr);
}

TEST(Scoreboard, SaysWhereTheFirstIsBehind) {
  const Scoreboard board({TwoTaskResult()});
  EXPECT_TRUE(board.IsFirst("mine"));
  const auto verdict = board.VerdictOf("mine");
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->behind, std::vector<std::string>{"B (tuned is 20.0 % faster)"});
  EXPECT_FALSE(board.VerdictOf("other").has_value());
}

TEST(Scoreboard, PutsResultsOfOneSaltTogether) {
  ScoreResult other = TwoTaskResult();
  other.tasks[0].entries = {ScoredAs("third", {25, 50})};
  other.tasks[1].entries = {ScoredAs("third", {50, 100})};
  const Scoreboard board({TwoTaskResult(), other});
  EXPECT_EQ(board.rows().front().policy, "third");
  EXPECT_TRUE(RowNamed(board, "mine").ranked());
}

TEST(Scoreboard, RefusesResultsOfAnotherSalt) {
  ScoreResult other = TwoTaskResult();
  other.salt = "salt";
  EXPECT_EQ(FaultOf([&] {
              Scoreboard({TwoTaskResult(), other});
            }),
            "results of one scoreboard must have the same salt, got 'pepper' and 'salt'");
}

TEST(Scoreboard, MarksGuardsThatAreMissed) {
  ScoreResult result = TwoTaskResult();
  EXPECT_EQ(Scoreboard({result}).ToMarkdown().find("**0.500**†"), std::string::npos);
  for (double& p99 : result.tasks[0].entries[0].p99_s) p99 *= 2;
  EXPECT_NE(Scoreboard({result}).ToMarkdown().find("**0.500**†"), std::string::npos);
}

TEST(Scoreboard, DrawsOneCellForEachRankedPolicyAndTask) {
  const std::string svg = Scoreboard({TwoTaskResult()}).ToSvg();
  std::size_t cells = 0;
  for (std::size_t at = svg.find("<rect x="); at != std::string::npos;
       at = svg.find("<rect x=", at + 1)) {
    ++cells;
  }
  EXPECT_EQ(cells, 4U * 3) << "mine, tuned, fifo, srtf; two tasks and their mean";
}

}  // namespace
}  // namespace allot
