#include "sim/simulated_cluster.h"

#include <gtest/gtest.h>

#include "core/parallel.h"
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
using testing_support::WorkloadOf;

using Times = std::vector<Seconds>;

// 40 jobs of mixed size on 2 nodes of 4 GPUs, more than fit at once.
Scenario BusyScenario() {
  Rng rng(7, "busy-scenario");
  std::vector<SmallJob> jobs;
  Seconds submit = 0;
  for (int i = 0; i < 40; ++i) {
    submit += rng.Exponential(200);
    const auto gpus = static_cast<GpuCount>(1 + rng.Below(4));
    jobs.push_back({submit, gpus, 100 + rng.Exponential(1500)});
  }
  return ScenarioOf(jobs, "2x4");
}

// Two workers and a server for job 0.
class StallingPolicy : public Policy {
 public:
  StallingPolicy() {
    info_.id = "stalling";
    info_.time_driven = true;
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    const NodeShare share{0, {2, 1}, 0b11};
    allocation->Add(0, o.table[0]->Find(share.units, 0), std::span(&share, 1));
  }

 private:
  PolicyInfo info_;
};

TEST(SimulatedClusterTest, EveryLaunchOfAJobThatHoldsNothingCosts) {
  SimOptions options;
  options.launch_cost = 7;
  const Scenario alone = ScenarioOf({{0, 2, 1000}}, "1x4", options);
  EXPECT_EQ(Jcts(RunPolicy(alone, *Fifo())), (Times{1007}));
}

TEST(SimulatedClusterTest, ALaunchAfterAPreemptionCostsBothAndAResizeTheRestartAlone) {
  SimOptions options;
  options.launch_cost = 7;
  const Scenario preempted = ScenarioOf({{0, 1, 500}}, "1x1", options);
  ScriptedPolicy stops({{1}, {0}, {1}});  // runs, waits 300 s, runs
  EXPECT_EQ(Jcts(RunPolicy(preempted, stops)), (Times{500 + 7 + 300 + 30 + 7}));
  const Scenario resized = ScenarioOf({{0, 1, 500, 1, 2}}, "1x2", options);
  ScriptedPolicy grows({{1}, {2}});
  EXPECT_EQ(Jcts(RunPolicy(resized, grows)), (Times{500 + 7 + 30}));
}

TEST(SimulatedClusterTest, OneJobRunsItsDuration) {
  const Scenario scenario = ScenarioOf({{0, 2, 1000}}, "1x4");
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(Jcts(outcome), (Times{1000}));
  EXPECT_EQ(outcome.records[0].first_start, 0);
  EXPECT_EQ(outcome.records[0].gpu_seconds, 2000);
  EXPECT_EQ(outcome.records[0].preemptions, 0);
  EXPECT_EQ(outcome.records[0].restarts, 0);  // the first launch is free
}

TEST(SimulatedClusterTest, ArrivalsWaitForTheIntervalBoundary) {
  const Scenario scenario = ScenarioOf({{100, 1, 50}, {600, 1, 50}}, "1x1");
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(outcome.records[0].first_start, 300);
  EXPECT_EQ(outcome.records[1].first_start, 600);  // on the boundary: at once
  EXPECT_EQ(Jcts(outcome), (Times{250, 50}));
}

TEST(SimulatedClusterTest, DecideOnEventsDoesNotWait) {
  SimOptions options;
  options.decide_on_events = true;
  const Scenario scenario = ScenarioOf({{100, 1, 50}, {120, 1, 50}}, "1x1", options);
  const RunOutcome outcome = RunPolicy(scenario, *Fifo());
  EXPECT_EQ(outcome.records[0].first_start, 100);
  EXPECT_EQ(outcome.records[1].first_start, 150);
  EXPECT_EQ(Jcts(outcome), (Times{50, 80}));
}

TEST(SimulatedClusterTest, TwoJobsOnOneGpuQueueUnderFifo) {
  const Scenario scenario = ScenarioOf({{0, 1, 400}, {0, 1, 100}}, "1x1");
  // The first ends at 400, its GPU is handed out at 600.
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{400, 700}));
}

TEST(SimulatedClusterTest, PreemptionCostsARestart) {
  const Scenario scenario = ScenarioOf({{0, 1, 500}}, "1x1");
  ScriptedPolicy policy({{1}, {0}, {1}});  // runs, waits 300 s, runs
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(Jcts(outcome), (Times{500 + 300 + 30}));
  EXPECT_EQ(outcome.records[0].preemptions, 1);
  EXPECT_EQ(outcome.records[0].restarts, 1);
  EXPECT_EQ(outcome.records[0].gpu_seconds, 500 + 30);  // the restart holds its GPU
}

TEST(SimulatedClusterTest, ResizingCostsARestart) {
  const Scenario scenario = ScenarioOf({{0, 1, 500, 1, 2}}, "1x2");
  ScriptedPolicy policy({{1}, {2}});
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(Jcts(outcome), (Times{500 + 30}));
  EXPECT_EQ(outcome.records[0].preemptions, 0);
  EXPECT_EQ(outcome.records[0].restarts, 1);
  EXPECT_EQ(outcome.records[0].gpu_seconds, 300 * 1 + 230 * 2);
}

// Rate 1 at every size; its state takes 10 s for each GPU.
class SlowState : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape&, const TrainingState&) const override { return 1; }
  Seconds StateSeconds(const RunShape& shape) const override { return 10.0 * shape.units().of(0); }

 private:
  std::string name_ = "slow";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

Scenario SlowStateScenario(const SmallJob& job) {
  Workload workload = WorkloadOf({job});
  workload.jobs[0].model = workload.models.Intern("slow");
  Catalogue catalogue;
  catalogue.Add(std::make_shared<SlowState>());
  return Scenario(std::move(workload), ClusterSpec::Parse("1x4"), {}, catalogue);
}

TEST(SimulatedClusterTest, AResizeWritesTheStateInOneShapeAndReadsItInTheOther) {
  ScriptedPolicy grows({{1}, {4}});
  EXPECT_EQ(Jcts(RunPolicy(SlowStateScenario({0, 1, 500, 1, 4}), grows)),
            (Times{500 + 30 + 10 + 40}));
}

TEST(SimulatedClusterTest, PoliciesSeeWhatAChangeCostsWhereTheJobRuns) {
  class Watcher : public DecisionListener {
   public:
    void OnDecision(const Observation& o, const Allocation&) override {
      if (o.rows() > 0) seen.push_back(o.restart_cost[0]);
    }
    std::vector<Seconds> seen;
  };
  Watcher watcher;
  ScriptedPolicy grows({{1}, {4}});
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(SlowStateScenario({0, 1, 600, 1, 4}), grows, listeners);
  EXPECT_EQ(watcher.seen, (std::vector<Seconds>{30 + 10, 30 + 10 + 10, 30 + 40 + 40}))
      << "waiting, on 1 GPU, on 4";
}

TEST(SimulatedClusterTest, LasSharesOneGpuInTurns) {
  SimOptions options;
  options.restart_cost = 0;
  const Scenario scenario = ScenarioOf({{0, 1, 450}, {0, 1, 450}}, "1x1", options);
  // 300 each, then the first ends after 150 more; the second goes on at 900.
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Las())), (Times{750, 1050}));
}

TEST(SimulatedClusterTest, StepFactsSumToTheTotals) {
  const Scenario scenario = BusyScenario();
  const auto policy = Las();
  SimulatedCluster cluster(scenario);
  Allocation allocation;
  StepFacts sum;
  bool more = true;
  while (more) {
    policy->Decide(cluster.Observe(), &allocation);
    cluster.Apply(allocation);
    more = cluster.WaitForChange(0);
    const StepFacts& step = cluster.last_step();
    sum.job_seconds += step.job_seconds;
    sum.gpu_seconds += step.gpu_seconds;
    sum.progress += step.progress;
    sum.arrived += step.arrived;
    sum.finished += step.finished;
  }
  double total_jct = 0;
  double gpu_seconds = 0;
  for (const JobRecord& record : cluster.records()) {
    total_jct += record.finish - record.submit;
    gpu_seconds += record.gpu_seconds;
  }
  EXPECT_NEAR(sum.job_seconds, total_jct, 1e-9 * total_jct);
  EXPECT_NEAR(sum.gpu_seconds, gpu_seconds, 1e-9 * gpu_seconds);
  EXPECT_NEAR(sum.progress, 40, 1e-9);
  EXPECT_EQ(sum.arrived, 40);
  EXPECT_EQ(sum.finished, 40);
}

TEST(SimulatedClusterTest, ApplyingADecisionTwiceChangesNothing) {
  const Scenario scenario = ScenarioOf({{0, 1, 400}}, "1x2");
  SimulatedCluster cluster(scenario);
  Allocation allocation;
  Fifo()->Decide(cluster.Observe(), &allocation);
  EXPECT_EQ(cluster.Apply(allocation).launched, 1);
  EXPECT_EQ(cluster.Apply(allocation).launched, 0);
  EXPECT_EQ(cluster.Apply(Allocation()).preempted, 0);
  EXPECT_EQ(cluster.Observe().changes[0], 1);
  EXPECT_EQ(cluster.timeline().size(), 1U);
}

TEST(SimulatedClusterTest, TheTimelineHasCompletionsBetweenDecisions) {
  // Decisions at 0 and 300 s; the jobs end at 100 and 250 s.
  const Scenario scenario = ScenarioOf({{0, 1, 100}, {0, 2, 250}, {280, 1, 20}}, "1x4");
  const auto fifo = Fifo();
  const std::vector<TimelinePoint> timeline = RunPolicy(scenario, *fifo).timeline;
  std::vector<std::string> rows;
  rows.reserve(timeline.size());
  for (const TimelinePoint& point : timeline) {
    rows.push_back(
        fmt::format("{} s: {} {} {}", point.time, point.active, point.running, point.gpus_used));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"0 s: 2 2 3", "100 s: 1 1 2", "250 s: 0 0 0",
                                            "300 s: 1 1 1", "320 s: 0 0 0"}));
}

// 0.1 + 0.2 is larger than 0.3 by 5e-17.
TEST(SimulatedClusterTest, AnEndThatRoundingMakesLateIsInTime) {
  SimOptions options;
  options.decide_on_events = true;
  options.restart_cost = 60;
  const Scenario scenario = ScenarioOf({{0.1, 1, 0.2}, {0.3, 1, 3600}}, "1x1", options);
  const RunOutcome outcome = RunPolicy(scenario, *Las());
  EXPECT_EQ(outcome.records[0].finish, 0.3);
  EXPECT_EQ(outcome.records[0].preemptions, 0);
  EXPECT_EQ(outcome.records[1].first_start, 0.3);
}

TEST(SimulatedClusterTest, QuietTimesHaveBoundedDecisions) {
  SimOptions options;
  options.interval = 1;
  const Scenario scenario = ScenarioOf({{0, 1, 1e8}}, "1x1", options);
  ScriptedPolicy policy({std::vector<GpuCount>{1}});
  const RunOutcome outcome = RunPolicy(scenario, policy);
  EXPECT_EQ(outcome.records[0].finish, 1e8);
  EXPECT_LT(outcome.drive.decisions, 900'000);  // 1e5 (1 + ln 1e3)
  EXPECT_GT(outcome.drive.decisions, 100'000);
}

TEST(SimulatedClusterTest, JobsWithoutAModelKeepTheirSize) {
  const Scenario scenario(testing_support::WorkloadOf({{0, 4, 3600, 1, 4}, {0, 1, 60}}),
                          ClusterSpec::Parse("1x4"), {});
  EXPECT_EQ(scenario.fixed_sizes(), 1);
  EXPECT_EQ(scenario.facts(0).table->size(), 1);
  EXPECT_EQ((*scenario.facts(0).table)[0].demand.gpus, 4);
  EXPECT_EQ(ScenarioOf({{0, 4, 3600, 1, 4}}, "1x4").fixed_sizes(), 0);
}

TEST(SimulatedClusterTest, AnIdleClusterThatNothingWillChangeIsAnError) {
  const Scenario scenario = ScenarioOf({{0, 1, 400}}, "1x1");
  SimulatedCluster cluster(scenario);
  cluster.Apply(Allocation());
  ExpectError(ExitCode::kRunFailed, {"1 job waits on an idle cluster"},
              [&] { cluster.WaitForChange(kNever); });
}

TEST(SimulatedClusterTest, ATimeDrivenPolicyThatServesNobodyIsAnError) {
  const Scenario scenario = ScenarioOf({{0, 1, 400}}, "1x1");
  ScriptedPolicy policy({std::vector<GpuCount>{0}});
  ExpectError(ExitCode::kRunFailed, {"1 job waits on an idle cluster", "decisions in a row"},
              [&] { RunPolicy(scenario, policy); });
}

// A second worker stops all progress, and is given again and again.
TEST(SimulatedClusterTest, AJobThatRunsWithoutProgressForEverIsAnError) {
  Catalogue catalogue;
  catalogue.Add(MakeWorkerServerModel("dented", {"worker", {1, 0}, 1}, {"ps", {0, 1}, 1},
                                      {{0, 0, 0}, {0, 1, 0}}));
  Workload workload = WorkloadOf({{0, 1, 400, 1, 2}});
  workload.jobs[0].model = workload.models.Intern("dented");
  ClusterSpec cluster;
  cluster.AddNodes(1, {2, 2}, "gpu");
  const Scenario scenario(std::move(workload), cluster, {}, catalogue);
  StallingPolicy policy;
  ExpectError(ExitCode::kRunFailed,
              {"policy 'stalling'", "1 job is unfinished, 1 of them without progress",
               "decisions in a row"},
              [&] { RunPolicy(scenario, policy); });
}

TEST(SimulatedClusterTest, ALogReplaysToTheSameRecords) {
  const Scenario scenario = BusyScenario();
  for (const bool time_driven : {true, false}) {
    DecisionLog log;
    DecisionCollector collector(&log);
    DecisionListener* const listeners[] = {&collector};
    const auto policy = time_driven ? Las() : Fifo();
    const RunOutcome original = RunPolicy(scenario, *policy, listeners);
    RecordedPolicy playback(log);
    EXPECT_EQ(TextOf(RunPolicy(scenario, playback).records), TextOf(original.records));
  }
}

TEST(SimulatedClusterTest, RecordsDoNotDependOnTheNumberOfThreads) {
  const Scenario scenario = BusyScenario();
  const std::string alone = TextOf(RunPolicy(scenario, *Las()).records);
  for (const int threads : {1, 2, 8}) {
    std::vector<std::string> texts(16);
    ParallelFor(texts.size(), threads,
                [&](std::size_t i) { texts[i] = TextOf(RunPolicy(scenario, *Las()).records); });
    for (const std::string& text : texts) EXPECT_EQ(text, alone) << threads << " threads";
  }
}

}  // namespace
}  // namespace allot
