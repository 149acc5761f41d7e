#include "metrics/gate.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

EvaluatedPolicy Policy(const std::string& id, const std::vector<double>& jct, bool oracle = false) {
  EvaluatedPolicy policy{.id = id, .label = id, .oracle = oracle, .runs = {}};
  for (const double value : jct) {
    policy.runs.push_back({.policy = id, .jobs = 9, .avg_jct_s = value, .p99_jct_s = 2 * value});
  }
  return policy;
}

Evaluation Of(std::vector<EvaluatedPolicy> policies) {
  Evaluation evaluation;
  for (std::size_t w = 0; w < policies.front().runs.size(); ++w) {
    evaluation.workloads.push_back({.name = "week " + std::to_string(w)});
  }
  evaluation.policies = std::move(policies);
  return evaluation;
}

TEST(Gate, WhoBeatsIncumbentAndBestHeuristicIsAccepted) {
  const auto evaluation = Of({Policy("new", {90, 181, 270}), Policy("accepted", {95, 190, 285}),
                              Policy("las", {99, 200, 300}), Policy("fifo", {200, 400, 600})});
  const GateVerdict verdict = Judge(evaluation, "new", "accepted", 1);
  EXPECT_TRUE(verdict.accepted) << verdict.reason;
  EXPECT_EQ(verdict.best_heuristic, "las");
  EXPECT_NEAR(verdict.rivals.front().jct.mean, 0.95, 0.01);
}

TEST(Gate, WhoDoesNotBeatTheIncumbentIsRejected) {
  const auto evaluation = Of({Policy("new", {96, 190, 286}), Policy("accepted", {95, 190, 285}),
                              Policy("las", {99, 200, 300})});
  const GateVerdict verdict = Judge(evaluation, "new", "accepted", 1);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_NE(verdict.reason.find("does not beat the incumbent"), std::string::npos);
}

TEST(Gate, WhoDoesNotBeatTheBestHeuristicIsRejectedWhateverTheOthers) {
  const auto evaluation = Of({Policy("new", {100, 200, 300}), Policy("accepted", {110, 220, 330}),
                              Policy("srtf", {98, 199, 301}), Policy("fifo", {200, 400, 600})});
  const GateVerdict verdict = Judge(evaluation, "new", "accepted", 1);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_NE(verdict.reason.find("does not beat the best heuristic srtf"), std::string::npos);
}

TEST(Gate, AMeanBelowTheBarIsNotEnoughWhenTheIntervalIsNot) {
  const auto evaluation = Of({Policy("new", {60, 210, 280}), Policy("las", {100, 200, 300})});
  const GateVerdict verdict = Judge(evaluation, "new", "", 1);
  EXPECT_LT(verdict.rivals.front().jct.mean, 1);
  EXPECT_FALSE(verdict.accepted) << verdict.reason;
}

TEST(Gate, OraclesNeedNotBeBeaten) {
  const auto evaluation = Of({Policy("new", {90, 181, 270}), Policy("las", {99, 200, 300}),
                              Policy("srtf", {50, 100, 150}, true)});
  EXPECT_TRUE(Judge(evaluation, "new", "", 1).accepted);
}

TEST(Gate, OraclesMustBeBeatenByAnOracle) {
  const auto evaluation = Of({Policy("new", {90, 181, 270}, true), Policy("las", {99, 200, 300}),
                              Policy("srtf", {50, 100, 150}, true)});
  const GateVerdict verdict = Judge(evaluation, "new", "", 1);
  EXPECT_EQ(verdict.best_heuristic, "srtf");
  EXPECT_FALSE(verdict.accepted);
}

TEST(Gate, JobsLeftUndoneAreNoVictory) {
  auto evaluation = Of({Policy("new", {90, 181, 270}), Policy("las", {99, 200, 300})});
  evaluation.policies.front().runs[1].unfinished = 1;
  EXPECT_FALSE(Judge(evaluation, "new", "", 1).accepted);
}

TEST(Gate, OneWorkloadIsTooFew) {
  const auto evaluation = Of({Policy("new", {90}), Policy("las", {99})});
  ExpectError(ExitCode::kUsage, {"at least 2", "got 1"}, [&] { Judge(evaluation, "new", "", 1); });
}

}  // namespace
}  // namespace allot
