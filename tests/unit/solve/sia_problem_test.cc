#include "solve/sia_problem.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Two types of GPUs, jobs that are 1 to 8 times as fast on the second.
SiaProblem RandomSia(std::uint64_t seed, std::size_t jobs) {
  Rng rng(seed, "random-sia");
  SiaProblem problem;
  problem.capacity = {4, 3};
  for (std::size_t i = 0; i < jobs; ++i) {
    SiaProblem::Job job;
    const double faster = rng.Uniform(1, 8);
    for (const std::int32_t gpus : {1, 2, 4}) {
      job.options.push_back({0, gpus, std::pow(gpus, 0.8)});
      if (gpus < 4) job.options.push_back({1, gpus, faster * std::pow(gpus, 0.8)});
    }
    job.factor = rng.Uniform(0.3, 1);
    if (rng.Below(2) == 0) job.current = static_cast<std::int32_t>(rng.Below(2));
    problem.jobs.push_back(job);
  }
  return problem;
}

// All ways to choose.
double LeastOfAll(const SiaProblem& problem, std::vector<std::int32_t>* chosen,
                  const std::vector<std::int32_t>& left) {
  if (chosen->size() == problem.jobs.size()) return SiaObjective(problem, *chosen);
  const SiaProblem::Job& job = problem.jobs[chosen->size()];
  double least = 1e300;
  for (std::int32_t option = -1; option < static_cast<std::int32_t>(job.options.size()); ++option) {
    if (job.pinned && option != job.current) continue;
    std::vector<std::int32_t> rest = left;
    if (option >= 0) {
      const auto& o = job.options[static_cast<std::size_t>(option)];
      if ((rest[static_cast<std::size_t>(o.type)] -= o.gpus) < 0) continue;
    }
    chosen->push_back(option);
    least = std::min(least, LeastOfAll(problem, chosen, rest));
    chosen->pop_back();
  }
  return least;
}

TEST(SiaProblemTest, TheObjectiveIsTheLeastOne) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SiaProblem problem = RandomSia(seed, 5);
    problem.decimals = seed % 3 == 0 ? -1 : 2;
    problem.power = seed % 4 == 0 ? 0.5 : -0.5;
    std::vector<std::int32_t> chosen;
    const SiaAnswer answer = SolveSia(problem, 1e-9);
    EXPECT_TRUE(answer.proved) << "seed " << seed;
    EXPECT_NEAR(answer.objective, LeastOfAll(problem, &chosen, problem.capacity), 1e-7)
        << "seed " << seed;
  }
}

TEST(SiaProblemTest, CostsAreRoundedAndCut) {
  SiaProblem problem;
  problem.capacity = {1};
  SiaProblem::Job job;
  job.options = {{0, 1, 7.0}, {0, 1, 1e-9}};
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 0), 0.38) << "7^-0.5 = 0.3779...";
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 1), 3000);
  problem.decimals = -1;
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 0), 1 / std::sqrt(7.0));
  job.factor = 0.25;
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 0), 1 / std::sqrt(7.0)) << "it waits: nothing is lost";
  job.current = 1;
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 0), 2 / std::sqrt(7.0));
  problem.power = 0.5;
  EXPECT_DOUBLE_EQ(SiaCost(problem, job, 0), -std::sqrt(7.0) / 2);
}

TEST(SiaProblemTest, PinnedJobsStay) {
  SiaProblem problem = RandomSia(7, 6);
  problem.jobs[2].current = 4;  // four GPUs of the first type, all there are
  problem.jobs[2].pinned = true;
  const SiaAnswer answer = SolveSia(problem);
  EXPECT_EQ(answer.chosen[2], 4);
  for (std::size_t job = 0; job < 6; ++job) {
    if (job == 2 || answer.chosen[job] < 0) continue;
    EXPECT_EQ(problem.jobs[job].options[static_cast<std::size_t>(answer.chosen[job])].type, 1);
  }
}

TEST(SiaProblemTest, PinsThatCannotHoldAreRefused) {
  SiaProblem problem = RandomSia(1, 2);
  problem.jobs[0].current = -1;
  problem.jobs[0].pinned = true;
  ExpectError(ExitCode::kBadData, {"a pinned job runs", "job 0"}, [&] { (void)SolveSia(problem); });
  for (SiaProblem::Job& job : problem.jobs) {
    job.pinned = true;
    job.current = 4;
  }
  ExpectError(ExitCode::kBadData, {"at most the 4 GPUs of type 0", "got 8"},
              [&] { (void)SolveSia(problem); });
}

}  // namespace
}  // namespace allot
