// Single decisions of a run of Pollux's simulator (tests/reference/README.md): the fitness of what
// it chose, and what our searches reach.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/file.h"
#include "perf/goodput_model.h"
#include "solve/speedup_genetic.h"
#include "solve/speedup_rows.h"

namespace allot {
namespace {

using nlohmann::json;

struct Decision {
  SpeedupProblem problem;
  RowSet chosen;
  double fitness = 0;
  double utility = 0;
};

JobRowGpus Row(const json& nodes) {
  JobRowGpus row;
  for (const auto& [node, gpus] : nodes.items()) row.push_back({std::stoi(node), gpus});
  std::sort(row.begin(), row.end(),
            [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  return row;
}

SpeedupProblem::Job Job(const json& recorded, std::size_t jobs) {
  SpeedupProblem::Job job;
  const auto most = recorded["max_replicas"].get<std::int32_t>();
  const auto fair = static_cast<std::int32_t>((64 + jobs - 1) / jobs);
  const double age = recorded["age"];
  job.change = std::max(age - 30 * recorded["num_restarts"].get<double>(), 0.0) / (age + 30);
  job.current = Row(recorded["prev"]);
  const json& known = recorded["speedup"];
  StepTiming timing;
  BatchLimits limits;
  std::vector<StatisticsPoint> points;
  if (!known.is_null()) {
    const auto& p = known["perf_params"];
    timing = {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
    limits = {known["init_batch_size"], known["max_batch_size"], known["min_local_bsz"],
              known["max_local_bsz"]};
    points = {{limits.initial, {known["grad_sqr"], known["grad_var"]}}};
  }
  const auto rate = [&](bool several, std::int32_t gpus) {
    if (known.is_null()) return static_cast<double>(gpus);  // taken to scale perfectly
    return ChooseBatch(timing, limits, points, several, gpus).rate;
  };
  for (std::int32_t k = 0; k <= most; ++k) {
    job.one.push_back(k == 0 ? 0 : rate(false, k) / rate(false, fair));
    job.several.push_back(k == 0 ? 0 : rate(true, k) / rate(false, fair));
  }
  return job;
}

std::vector<Decision> RecordedDecisions() {
  std::vector<Decision> decisions;
  for (const json& recorded : json::parse(
           ReadTextFile(ALLOT_SOURCE_DIR "/tests/reference/pollux/unit/pollux_decisions.json"))) {
    Decision decision;
    decision.problem.capacity.assign(16, 4);
    decision.fitness = recorded["best_mean"];
    decision.utility = recorded["best_utility"];
    for (const json& job : recorded["jobs"]) {
      decision.problem.jobs.push_back(Job(job, recorded["jobs"].size()));
      decision.chosen.push_back(Row(job["chosen"]));
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

TEST(PolluxDecisionsTest, FitnessAndUtilityAreTheirs) {
  const auto decisions = RecordedDecisions();
  ASSERT_EQ(decisions.size(), 38U);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const Decision& theirs = decisions[i];
    EXPECT_TRUE(RowsFit(theirs.problem, theirs.chosen)) << "decision " << i;
    EXPECT_NEAR(Fitness(theirs.problem, theirs.chosen) / theirs.fitness, 1, 1e-7)
        << "decision " << i;
    EXPECT_NEAR(Utility(theirs.problem, theirs.chosen) / theirs.utility, 1, 1e-7)
        << "decision " << i;
  }
}

TEST(PolluxDecisionsTest, OurSearchIsAsGood) {
  int as_good = 0;
  for (const Decision& theirs : RecordedDecisions()) {
    const SpeedupRows ours = SearchSpeedupRows(theirs.problem);
    EXPECT_TRUE(RowsFit(theirs.problem, ours.rows));
    EXPECT_GE(ours.fitness, 0.995 * theirs.fitness);
    as_good += ours.fitness >= theirs.fitness * (1 - 1e-7) ? 1 : 0;
  }
  EXPECT_GE(as_good, 37) << "of 38";
}

TEST(PolluxDecisionsTest, TheirSearchFindsWhatTheyFound) {
  const auto decisions = RecordedDecisions();
  for (std::size_t i = 0; i < decisions.size(); i += 5) {
    Rng rng(1, "test", i);
    const GeneticAnswer ours = SearchSpeedupRowsGenetically(decisions[i].problem, {}, &rng);
    EXPECT_GE(ours.fitness, 0.98 * decisions[i].fitness) << "decision " << i;
  }
}

}  // namespace
}  // namespace allot
