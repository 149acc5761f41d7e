#include "wait_forecast/live_forecast.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/small_world.h"
#include "wait_forecast/cpu_budget.h"

namespace allot {
namespace {

// Shows it the run, from the second decision on, without the first node, which jobs still hold.
class WithoutANode : public DecisionListener {
 public:
  explicit WithoutANode(DecisionListener* next) : next_(next) {}
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    if (o.shares.empty()) return;
    Observation seen = o;
    ClusterSpec cluster = *o.cluster;
    cluster.SetCapacity(0, {0, cluster.nodes()[0].capacity.cpus});
    seen.cluster = &cluster;
    next_->OnDecision(seen, allocation);
  }

 private:
  DecisionListener* next_;
};

// Four GPUs: one job has them, `waiting` others wait. Follows the run's first decisions.
struct Beside {
  explicit Beside(int waiting, std::unique_ptr<Policy> future = testing_support::Fifo(),
                  bool drained = false) {
    std::vector<testing_support::SmallJob> jobs(static_cast<std::size_t>(waiting) + 1, {0, 4, 600});
    if (drained) jobs.back().submit = 100;  // the second decision: the first job runs
    SimOptions rules;
    rules.interval = 10;
    rules.lengths = LengthEstimates::Parse("none");
    const Scenario scenario = testing_support::ScenarioOf(jobs, "1x4", rules);
    LiveForecast::Settings settings;
    settings.forecast.samples = 4;
    settings.forecast.horizon = 86400;
    settings.job_of = [](JobIndex one) {
      return LiveForecast::KnownJob{one == 0 ? "a\"b" : fmt::format("j{}", one)};
    };
    LiveForecast forecast(std::move(settings), std::move(future));
    const auto policy = testing_support::Fifo();
    WithoutANode without(&forecast);
    DecisionListener* const listeners[] = {drained ? static_cast<DecisionListener*>(&without)
                                                   : &forecast};
    SimulatedCluster cluster(scenario);
    Drive(cluster, *policy, ContextOf(scenario), listeners, {.max_decisions = 2});
    forecast.Finish();
    job.id = "j1";
    newer.id = "newer";
    for (JobStatus* one : {&job, &newer}) forecast.AddTo(one);
    metrics = forecast.MetricsText();
  }
  JobStatus job;
  JobStatus newer;
  std::string metrics;
};

TEST(LiveForecast, TellsStartAndEndOfTheJobsThatItSaw) {
  const Beside beside(2);
  ASSERT_TRUE(beside.job.forecast);
  EXPECT_EQ(beside.job.forecast->made, 0);
  EXPECT_EQ(beside.job.forecast->until, 86400) << "the horizon: of so few jobs all of it";
  EXPECT_TRUE(beside.job.forecast->end);
  EXPECT_FALSE(beside.newer.forecast);
  EXPECT_NE(beside.metrics.find("allot_job_end_seconds{job=\"a\\\"b\",level=\"0.5\"} "),
            std::string::npos)
      << beside.metrics;
  EXPECT_NE(beside.metrics.find("allot_forecasts_total 1\n"), std::string::npos);
  EXPECT_NE(beside.metrics.find("allot_jobs_not_forecast 0\n"), std::string::npos);
}

TEST(LiveForecast, AJobThatIsStillToLeaveANodeHidesNoForecast) {
  const Beside beside(1, testing_support::Fifo(), true);
  EXPECT_NE(beside.metrics.find("allot_forecasts_failed_total 0\n"), std::string::npos)
      << beside.metrics;
  EXPECT_NE(beside.metrics.find("allot_forecasts_total 1\n"), std::string::npos);
}

// While a job has the node that is gone others wait for it, for ever as far as is known.
TEST(LiveForecast, AJobThatNoForecastCanTellOfHasNoTimes) {
  const Beside beside(1, std::make_unique<testing_support::ScriptedPolicy>(
                             std::vector<std::vector<GpuCount>>{{0, 0}}));
  ASSERT_TRUE(beside.job.forecast);
  EXPECT_FALSE(beside.job.forecast->end);
  EXPECT_EQ(beside.metrics.find("allot_job_end_seconds{"), std::string::npos) << beside.metrics;
  EXPECT_NE(beside.metrics.find("allot_forecasts_failed_total 0\n"), std::string::npos);
}

// Four jobs of two GPUs come at once, the last one of another user than the others.
TEST(LiveForecast, KeepsTheRulesInForce) {
  const auto start_of_last = [](bool rules) {
    SimOptions options;
    options.interval = 10;
    options.lengths = LengthEstimates::Parse("none");
    Workload workload =
        testing_support::WorkloadOf(std::vector<testing_support::SmallJob>(4, {0, 2, 600}));
    for (Job& job : workload.jobs) job.user = workload.users.Intern("ann");
    workload.jobs.back().user = workload.users.Intern("bob");
    const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4"), options);
    LiveForecast::Settings settings;
    settings.forecast.samples = 4;
    settings.job_of = [](JobIndex one) {
      return LiveForecast::KnownJob{fmt::format("j{}", one),
                                    {.submitter = {.account = 0, .user = one == 3 ? 1 : 0}}};
    };
    if (rules) {
      settings.rules_in_force = [] {
        return RulesInForce{std::make_shared<OperatorRules>(), GpuUsage(86400)};
      };
    }
    LiveForecast forecast(std::move(settings), testing_support::Fifo());
    const auto policy = testing_support::Fifo();
    DecisionListener* const listeners[] = {&forecast};
    SimulatedCluster cluster(scenario);
    Drive(cluster, *policy, ContextOf(scenario), listeners, {.max_decisions = 1});
    forecast.Finish();
    JobStatus job;
    job.id = "j3";
    forecast.AddTo(&job);
    return job.forecast->start.value()[1];
  };
  EXPECT_EQ(start_of_last(true), 0) << "it has a fair share of two GPUs";
  EXPECT_GT(start_of_last(false), 0);
}

TEST(CpuBudget, PausesInProportionToWork) {
  CpuBudget budget(0.02);
  EXPECT_EQ(budget.PauseAfter(0.15), 0);
  EXPECT_DOUBLE_EQ(budget.PauseAfter(0.30), 0.30 * 49);
  EXPECT_EQ(budget.PauseAfter(0.40), 0) << "it has rested for what was before";
  EXPECT_DOUBLE_EQ(budget.PauseAfter(1.30), 1.00 * 49);
}

TEST(LiveForecast, MetricsNameTwoHundredJobsAtMost) {
  const Beside beside(250);
  EXPECT_NE(beside.metrics.find("{job=\"j199\""), std::string::npos);
  EXPECT_EQ(beside.metrics.find("{job=\"j200\""), std::string::npos);
  EXPECT_NE(beside.metrics.find("allot_jobs_not_forecast 51\n"), std::string::npos);
}

TEST(LiveForecast, APolicyThatFailsLeavesTheRunAlone) {
  const Beside beside(2, std::make_unique<testing_support::ScriptedPolicy>(
                             std::vector<std::vector<GpuCount>>{{8, 8, 8}}));
  EXPECT_NE(beside.metrics.find("allot_forecasts_failed_total 1\n"), std::string::npos)
      << beside.metrics;
  EXPECT_FALSE(beside.job.forecast);
}

}  // namespace
}  // namespace allot
