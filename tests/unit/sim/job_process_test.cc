#include "sim/job_process.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Jcts;
using testing_support::Las;
using testing_support::ScenarioOf;
using testing_support::ScriptedPolicy;
using testing_support::SmallJob;
using testing_support::TextOf;

using Times = std::vector<Seconds>;

SimOptions With(const std::string& progress) {
  SimOptions options;
  options.progress = progress;
  return options;
}

TEST(JobProcessTest, TwoSegmentsEndWhenBothAreWalked) {
  // 1,000 units of work: 500 at rate 1, 500 at rate 2.
  const Scenario scenario = ScenarioOf({{0, 2, 1000}}, "1x4", With("phases:at=0.5,factors=2"));
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{500 + 250}));
}

TEST(JobProcessTest, ManySegmentsAreWalkedInOneStep) {
  // 100 at 1, 200 at 0.5, 300 at 4, 400 at 0.25, while nothing is decided.
  const Scenario scenario =
      ScenarioOf({{0, 1, 1000}}, "1x1", With("phases:at=0.1|0.3|0.6,factors=0.5|4|0.25"));
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{100 + 400 + 75 + 1600}));
}

TEST(JobProcessTest, AStoppedJobGoesOnInTheSegmentThatItWasIn) {
  SimOptions options = With("phases:at=0.4,factors=2");
  options.restart_cost = 0;
  const Scenario scenario = ScenarioOf({{0, 1, 500}}, "1x1", options);
  // 200 at rate 1 and 100 s at rate 2 make 400 by 300 s; it waits 300 s; 100 are left at rate 2.
  ScriptedPolicy policy({{1}, {0}, {1}});
  EXPECT_EQ(Jcts(RunPolicy(scenario, policy)), (Times{300 + 300 + 50}));
}

TEST(JobProcessTest, AFailureTakesTheJobBackIntoTheSegmentOfItsCheckpoint) {
  SimOptions options = With("phases:at=0.5,factors=4");
  options.checkpoints = "fixed:every=100,cost=0";
  options.restart_cost = 0;
  options.node_events = {{250, 0, false}, {600, 0, true}};
  const Scenario scenario = ScenarioOf({{0, 1, 440}}, "1x1", options);
  // At 250 s: 220 at rate 1 and 30 s at rate 4; its checkpoint at 200 s holds 200. From 600 s on 20
  // at rate 1 and 220 at rate 4.
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{600 + 20 + 55}));
}

TEST(JobProcessTest, WholeIntervalsAndSpeedupHoldForSegmentsToo) {
  SimOptions options = With("phases:at=0.5,factors=2");
  options.speedup = 2;
  EXPECT_EQ(Jcts(RunPolicy(ScenarioOf({{0, 1, 1000}}, "1x1", options), *Fifo())), (Times{375}));
  options.charge_whole_intervals = true;
  EXPECT_EQ(Jcts(RunPolicy(ScenarioOf({{0, 1, 1000}}, "1x1", options), *Fifo())), (Times{600}));
}

TEST(JobProcessTest, SegmentsOfEqualRateChangeNothing) {
  Rng rng(11, "job-process");
  std::vector<SmallJob> jobs;
  Seconds submit = 0;
  for (int i = 0; i < 40; ++i) {
    submit += rng.Exponential(200);
    jobs.push_back({submit, static_cast<GpuCount>(1 + rng.Below(4)), 100 + rng.Exponential(1500)});
  }
  const RunOutcome plain = RunPolicy(ScenarioOf(jobs, "2x4"), *Las());
  const RunOutcome parted =
      RunPolicy(ScenarioOf(jobs, "2x4", With("phases:at=0.3|0.6,factors=1|1")), *Las());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    EXPECT_NEAR(parted.records[j].finish, plain.records[j].finish, 1e-6) << "job " << j;
  }
}

// Sums rate x time between decisions from what a job is shown to run at.
class Integral : public DecisionListener {
 public:
  explicit Integral(const Scenario& scenario) : scenario_(scenario) {
    work_.resize(scenario.workload().jobs.size());
  }
  void OnDecision(const Observation& o, const Allocation&) override {
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      const auto j = static_cast<std::size_t>(o.job[r]);
      EXPECT_GE(o.done_work[r], work_[j]) << "work is not undone";
      EXPECT_LE(o.done_work[r], scenario_.facts(o.job[r]).work);
      work_[j] = o.done_work[r];
    }
  }

 private:
  const Scenario& scenario_;
  std::vector<double> work_;
};

TEST(JobProcessTest, TheIntegralOfTheRateIsTheWork) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "integral");
    const double at = 0.1 + 0.4 * rng.Uniform();
    const double later = at + 0.1 + 0.3 * rng.Uniform();
    const double factors[] = {std::exp(rng.Normal()), std::exp(rng.Normal())};
    SimOptions options =
        With(fmt::format("phases:at={}|{},factors={}|{}", at, later, factors[0], factors[1]));
    options.restart_cost = 0;
    std::vector<SmallJob> jobs;
    jobs.reserve(10);
    for (int i = 0; i < 10; ++i) jobs.push_back({i * 50.0, 1, 100 + rng.Exponential(3000)});
    const Scenario scenario = ScenarioOf(jobs, "1x3", options);
    Integral integral(scenario);
    DecisionListener* const listeners[] = {&integral};
    // Stopped and started again all the time, each job runs as long as its segments take.
    for (const JobRecord& record : RunPolicy(scenario, *Las(), listeners).records) {
      const double work = scenario.facts(record.job).work;
      const double runs = work * (at + (later - at) / factors[0] + (1 - later) / factors[1]);
      EXPECT_NEAR(record.gpu_seconds, runs, 1e-6 * runs) << "seed " << seed;
    }
  }
}

TEST(JobProcessTest, PoliciesAreAskedWhenARateChangesAndSeeIt) {
  class TurnWatcher : public DecisionListener {
   public:
    void OnDecision(const Observation& o, const Allocation&) override {
      seen.push_back({o.now, (*o.table[0])[o.requested[0]].rate});
    }
    std::vector<std::pair<Seconds, double>> seen;
  };
  TurnWatcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(ScenarioOf({{0, 1, 3000}}, "1x1", With("phases:at=0.5,factors=3")), *Fifo(), listeners);
  // At its arrival, and at the first instant after 1,500 s: not in between.
  EXPECT_EQ(watcher.seen, (std::vector<std::pair<Seconds, double>>{{0, 1}, {1500, 3}}));
}

TEST(JobProcessTest, MalformedSpecsAreErrors) {
  ExpectError(ExitCode::kUsage, {"phases", "2", "1"},
              [] { MakeProcesses("phases:at=0.5|0.6,factors=2"); });
  ExpectError(ExitCode::kUsage, {"between 0 and 1", "1.5"},
              [] { MakeProcesses("phases:at=1.5,factors=2"); });
  ExpectError(ExitCode::kUsage, {"factors must be > 0", "0"},
              [] { MakeProcesses("phases:at=0.5,factors=0"); });
  ExpectError(ExitCode::kUsage, {"phases"}, [] { MakeProcesses("phase"); });
}

}  // namespace
}  // namespace allot
