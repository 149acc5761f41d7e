#include "solve/speedup_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "solve/speedup_genetic.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

SpeedupProblem::Job Scaling(std::int32_t most, double exponent, double apart) {
  SpeedupProblem::Job job;
  for (std::int32_t k = 0; k <= most; ++k) {
    job.one.push_back(std::pow(k, exponent));
    job.several.push_back(apart * job.one.back());
  }
  return job;
}

SpeedupProblem RandomRows(std::uint64_t seed, std::size_t nodes, std::size_t jobs) {
  Rng rng(seed, "random-rows");
  SpeedupProblem problem;
  for (std::size_t n = 0; n < nodes; ++n) {
    problem.capacity.push_back(static_cast<std::int32_t>(1 + rng.Below(4)));
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    SpeedupProblem::Job job = Scaling(static_cast<std::int32_t>(1 + rng.Below(8)),
                                      rng.Uniform(0.4, 1), rng.Uniform(0.6, 1.1));
    job.change = rng.Uniform(0.2, 1);
    const auto node = static_cast<std::int32_t>(rng.Below(nodes));
    if (rng.Below(2) == 0) job.current = {{node, 1}};
    problem.jobs.push_back(job);
  }
  problem.power = seed % 5 == 0 ? 0.0 : seed % 5 == 1 ? 0.5 : -1.0;
  problem.apart = seed % 2 == 0;
  return problem;
}

// All rows of a job within what is free.
double BestRowsOfAll(const SpeedupProblem& problem, std::vector<JobRowGpus>* rows) {
  if (rows->size() == problem.jobs.size()) {
    return RowsFit(problem, *rows) ? Fitness(problem, *rows) : -1e300;
  }
  double best = -1e300;
  std::vector<std::int32_t> row(problem.capacity.size(), 0);
  while (true) {
    JobRowGpus shares;
    std::int32_t gpus = 0;
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] > 0) shares.push_back({static_cast<std::int32_t>(n), row[n]});
      gpus += row[n];
    }
    if (gpus <= problem.jobs[rows->size()].most()) {
      rows->push_back(shares);
      best = std::max(best, BestRowsOfAll(problem, rows));
      rows->pop_back();
    }
    std::size_t n = 0;
    while (n < row.size() && row[n] == problem.capacity[n]) row[n++] = 0;
    if (n == row.size()) return best;
    ++row[n];
  }
}

TEST(SpeedupRowsTest, RowsKeepTheRulesAndTheBoundHolds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SpeedupProblem problem = RandomRows(seed, 1 + seed % 9, 1 + seed % 13);
    const SpeedupRows answer = SearchSpeedupRows(problem);
    EXPECT_TRUE(RowsFit(problem, answer.rows)) << "seed " << seed;
    EXPECT_NEAR(answer.fitness, Fitness(problem, answer.rows), 1e-9 * std::abs(answer.fitness))
        << "seed " << seed;
    EXPECT_LE(answer.fitness, answer.bound * (1 + 1e-9)) << "seed " << seed;
  }
}

TEST(SpeedupRowsTest, SmallProblemsAreSolvedToWithinAHundredth) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SpeedupProblem problem = RandomRows(seed, 2, 3);
    std::vector<JobRowGpus> rows;
    const double best = BestRowsOfAll(problem, &rows);
    const SpeedupRows answer = SearchSpeedupRows(problem);
    EXPECT_GE(answer.fitness, 0.99 * best) << "seed " << seed;
    EXPECT_GE(answer.bound, best * (1 - 1e-9)) << "seed " << seed;
  }
}

TEST(SpeedupRowsTest, ARunningJobStaysWhereAChangeIsNotWorthIt) {
  SpeedupProblem problem;
  problem.capacity = {4, 4};
  problem.jobs = {Scaling(8, 0.9, 0.9)};
  problem.jobs[0].current = {{1, 4}};
  problem.jobs[0].change = 0.5;
  EXPECT_EQ(SearchSpeedupRows(problem).rows[0], problem.jobs[0].current);
  problem.jobs[0].change = 0.9;
  EXPECT_EQ(SearchSpeedupRows(problem).rows[0].size(), 2U) << "eight GPUs are worth the restart";
}

TEST(SpeedupRowsTest, JobsOfSeveralNodesKeepApart) {
  SpeedupProblem problem;
  problem.capacity = {2, 2, 2};
  for (int i = 0; i < 2; ++i) problem.jobs.push_back(Scaling(3, 1, 1));
  problem.apart = false;
  EXPECT_NEAR(SearchSpeedupRows(problem).fitness, 3 * 3.0 / 6 + 1e-3, 1e-9)
      << "three GPUs each, sharing a node";
  problem.apart = true;
  const SpeedupRows answer = SearchSpeedupRows(problem);
  EXPECT_TRUE(RowsFit(problem, answer.rows));
  EXPECT_LT(answer.fitness, 1.5);
}

TEST(SpeedupRowsTest, TheGeneticSearchKeepsTheRulesAndItsSeed) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SpeedupProblem problem = RandomRows(seed, 1 + seed % 5, 2 + seed);
    const GeneticOptions few{20, 20};
    const auto search = [&](std::uint64_t of) {
      Rng rng(of, "test");
      return SearchSpeedupRowsGenetically(problem, {}, &rng, few);
    };
    const GeneticAnswer answer = search(seed);
    EXPECT_TRUE(RowsFit(problem, answer.rows)) << "seed " << seed;
    EXPECT_NEAR(answer.fitness, Fitness(problem, answer.rows), 1e-9 * std::abs(answer.fitness));
    EXPECT_LE(answer.fitness, SearchSpeedupRows(problem).bound * (1 + 1e-9)) << "seed " << seed;
    EXPECT_EQ(search(seed).rows, answer.rows);
    ASSERT_FALSE(answer.front.empty());
    for (const RowSet& rows : answer.front) EXPECT_TRUE(RowsFit(problem, rows)) << "seed " << seed;
  }
}

TEST(SpeedupRowsTest, TheGeneticSearchGoesOnFromAFront) {
  const SpeedupProblem problem = RandomRows(3, 6, 8);
  Rng rng(1, "test");
  const GeneticAnswer first = SearchSpeedupRowsGenetically(problem, {}, &rng, {20, 10});
  const GeneticAnswer next = SearchSpeedupRowsGenetically(problem, first.front, &rng, {20, 5});
  EXPECT_GE(next.fitness, first.fitness) << "the fittest survives";
}

TEST(SpeedupRowsTest, ProblemsThatCannotBeAreRefused) {
  SpeedupProblem problem;
  problem.capacity = {4};
  problem.jobs = {Scaling(4, 1, 1)};
  problem.jobs[0].several.pop_back();
  ExpectError(ExitCode::kBadData, {"5 and 4", "job 0"}, [&] { (void)SearchSpeedupRows(problem); });
  problem.jobs = {Scaling(4, 1, 1)};
  problem.jobs[0].one[2] = std::nan("");
  ExpectError(ExitCode::kBadData, {"got nan", "2 GPUs"}, [&] { (void)SearchSpeedupRows(problem); });
  problem.jobs = {Scaling(4, 1, 1)};
  problem.jobs[0].current = {{1, 2}};
  ExpectError(ExitCode::kBadData, {"nodes below 1", "node 1"},
              [&] { (void)SearchSpeedupRows(problem); });
}

}  // namespace
}  // namespace allot
