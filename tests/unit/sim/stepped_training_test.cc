// Jobs that train applications in steps: an invented one whose times can be worked out by hand.

#include <gtest/gtest.h>

#include "perf/application_files.h"
#include "sim/profile.h"
#include "sim/training_run.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::SmallJob;
using testing_support::Staged;
using testing_support::WorkloadOf;

// Gradients without noise: progress is iterations. A batch of 8 takes 0.7 s on one GPU, 0.5 s on
// two of a node, 0.6 s on two nodes; two samples more take 0.1 s more. Two epochs of 100.
constexpr const char* kPack =
    "@allot-applications\n"
    "@file parameters.csv\n"
    "application,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,max_epochs,"
    "total_progress,restart_seconds\n"
    "mine,8,16,4,16,2,200,90\n"
    "@file mine/placements.csv\n"
    "placement,local_bsz,step_time,sync_time\n"
    "1,4,0.5,0\n1,16,1.1,0\n"
    "2,4,0.5,0.1\n2,16,1.1,0.1\n"
    "11,4,0.6,0.1\n11,16,1.2,0.1\n"
    "@file mine/validation.csv\n"
    "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
    "8,0,100,100,1,0\n8,1,200,200,1,0\n"
    "16,0,100,100,1,0\n16,1,200,200,1,0\n";

Scenario World(const std::vector<SmallJob>& jobs, const std::string& cluster,
               const SimOptions& options, float batch = 8) {
  Workload workload = WorkloadOf(jobs);
  for (Job& job : workload.jobs) {
    job.model = workload.models.Intern("mine");
    job.batch = batch;
  }
  return Scenario(std::move(workload), ClusterSpec::Parse(cluster), options,
                  Catalogue::FromCsv(kPack, "apps"));
}

SimOptions Rules(const char* profile) {
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", profile).apply(&options);
  options.training.slowdown = 1;
  return options;
}

// Gives each job what a list says, decision by decision: GPUs of nodes, in their order.
class NodesPolicy : public Policy {
 public:
  using Script = std::vector<std::vector<std::vector<NodeShare>>>;  // by decision, by job
  explicit NodesPolicy(Script script, bool requested = false)
      : script_(std::move(script)), requested_(requested) {
    info_.id = "nodes";
    info_.time_driven = true;
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    if (requested_) allocation->KeepRequestedBatches();
    const auto last = static_cast<std::int64_t>(script_.size()) - 1;
    const auto& wanted = script_[static_cast<std::size_t>(std::min(o.decision, last))];
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      const auto& shares = wanted[static_cast<std::size_t>(o.job[r])];
      if (shares.empty()) continue;
      UnitCounts units;
      for (const NodeShare& share : shares) units += share.units;
      allocation->Add(o.job[r], o.table[r]->Find(units, 0, shares.size()), shares);
    }
  }

 private:
  PolicyInfo info_;
  Script script_;
  bool requested_;
};

NodeShare On(NodeIndex node, std::uint64_t gpus) {
  return {node, UnitCounts(__builtin_popcountll(gpus)), gpus};
}

TEST(SteppedTrainingTest, EpochsTakeWholeSecondsAndAStartTakesARestart) {
  // 100 iterations in 70 s; with 30 s of restart the epochs end at 100 and 170.
  const Scenario scenario = World({{0, 1, 100}}, "1x4", Rules("pollux"));
  NodesPolicy policy({{{On(0, 1)}}}, /*requested=*/true);
  EXPECT_EQ(Jcts(RunPolicy(scenario, policy)), (std::vector<Seconds>{170}));
}

TEST(SteppedTrainingTest, AnEpochIsRoundedWithinTheIntervalItEndsIn) {
  // Two GPUs, 4 samples each: 0.5 s. From 30 s on 60 are done in the first minute, the rest takes
  // 20 s; the second epoch 50 s. At an interval of 45 s: 30 iterations until 45 s, then 35 s.
  SimOptions options = Rules("pollux");
  options.interval = 45;
  const Scenario scenario = World({{0, 2, 100, 1, 4}}, "1x4", options);
  NodesPolicy policy({{{On(0, 3)}}}, true);
  EXPECT_EQ(Jcts(RunPolicy(scenario, policy)), (std::vector<Seconds>{130}));
  options.restart_cost = 30.75;  // 28.5 iterations until 45 s, 35.75 s to go: 36; then 50
  const Scenario odd = World({{0, 2, 100, 1, 4}}, "1x4", options);
  EXPECT_EQ(Jcts(RunPolicy(odd, policy)), (std::vector<Seconds>{45 + 36 + 50}));
}

TEST(SteppedTrainingTest, GpusOfWhoEndsAreHeldToTheIntervalsEnd) {
  const Scenario scenario = World({{0, 4, 100}, {0, 4, 100}}, "1x4", Rules("pollux"));
  const auto policy = Staged({.ordering = "submit"});
  const auto records = RunPolicy(scenario, *policy).records;
  EXPECT_EQ(records[1].first_start, std::ceil(records[0].finish / 60) * 60);
  EXPECT_GT(records[1].first_start, records[0].finish);
}

TEST(SteppedTrainingTest, AMoveCostsARestartOrNothing) {
  // At 60 s to the other node.
  const NodesPolicy::Script script = {{{On(0, 1)}}, {{On(1, 1)}}};
  const Scenario pollux = World({{0, 1, 100}}, "2x4", Rules("pollux"));
  NodesPolicy policy(script, true);
  EXPECT_EQ(Jcts(RunPolicy(pollux, policy)), (std::vector<Seconds>{200}));
  // The application's 90 s of restart, which go on over the move.
  const Scenario sia = World({{0, 1, 100}}, "2x4", Rules("sia"));
  EXPECT_EQ(Jcts(RunPolicy(sia, policy)), (std::vector<Seconds>{230}));
  // Two GPUs of another node are a new restart: at 60 s, so that it trains from 150 s on.
  NodesPolicy grows({{{On(0, 1)}}, {{On(1, 3)}}}, true);
  const Scenario resized = World({{0, 1, 100, 1, 4}}, "2x4", Rules("sia"));
  EXPECT_EQ(Jcts(RunPolicy(resized, grows)), (std::vector<Seconds>{250}));
}

// Two stages of 0.01 s a micro-batch; a replica trains 8 micro-batches of a sample: an iteration
// takes 3 (2 - 1 + 8) 0.01 = 0.27 s, and 0.03 s more for two replicas. At most 16 samples.
constexpr const char* kPipeline =
    "@allot-applications\n"
    "@file parameters.csv\n"
    "gpu_type,application,init_batch_size,max_batch_size,min_local_bsz,max_local_bsz,max_epochs,"
    "total_progress,restart_seconds,pipeline_stages\n"
    "v100,mine,8,16,1,8,1,200,90,2\n"
    "@file mine/placements.csv\n"
    "gpu_type,placement,local_bsz,step_time,sync_time\n"
    "v100,2,1,0.01,0\nv100,4,1,0.01,0.03\nv100,6,1,0.01,0.03\n"
    "@file mine/validation.csv\n"
    "batch_size,epoch,progress,iteration,grad_sqr,grad_var\n"
    "8,0,200,200,0,1\n16,0,200,100,0,1\n";

Scenario PipelineWorld(const std::string& cluster) {
  Workload workload = WorkloadOf({{0, 2, 100, 1, 8}});
  workload.jobs[0].model = workload.models.Intern("mine");
  return Scenario(std::move(workload), ClusterSpec::Parse(cluster), Rules("pollux"),
                  Catalogue::FromCsv(kPipeline, "apps"));
}

TEST(SteppedTrainingTest, PipelinesTrainInReplicas) {
  NodesPolicy one({{{On(0, 3)}}});
  EXPECT_EQ(Jcts(RunPolicy(PipelineWorld("1x4:v100"), one)), (std::vector<Seconds>{30 + 54}));
  // All noise: twice the samples are twice the progress; 200 / 2 iterations of 0.3 s.
  NodesPolicy two({{{On(0, 15)}}});
  EXPECT_EQ(Jcts(RunPolicy(PipelineWorld("1x4:v100"), two)), (std::vector<Seconds>{30 + 30}));
}

TEST(SteppedTrainingTest, PipelinesHaveWholeReplicasAndNoMoreThanTheirSamples) {
  const Scenario scenario = PipelineWorld("1x8:v100");
  const ConfigurationTable& table = *scenario.facts(0).table;
  for (GpuCount gpus = 1; gpus <= 8; ++gpus) {
    const std::int32_t c = table.Find(UnitCounts(gpus), 0);
    EXPECT_EQ(c >= 0 && table[c].rate > 0, gpus == 2 || gpus == 4) << gpus;
  }
}

TEST(SteppedTrainingTest, PipelinesAreServedByPoliciesOfGoodput) {
  SimOptions options = Rules("sia");
  options.beliefs = "online";
  Workload workload = WorkloadOf({{0, 2, 100, 1, 8}});
  workload.jobs[0].model = workload.models.Intern("mine");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4:v100"), options,
                          Catalogue::FromCsv(kPipeline, "apps"));
  const auto policy = Staged({.ordering = "submit", .sizing = "hull"});
  EXPECT_EQ(Jcts(RunPolicy(scenario, *policy)), (std::vector<Seconds>{90 + 30}));
}

TEST(SteppedTrainingTest, JobsOnSeveralNodesInterfere) {
  const auto jct = [](double interference) {
    SimOptions options = Rules("pollux");
    options.training.interference = interference;
    const Scenario scenario = World({{0, 2, 100}, {0, 2, 100}}, "3x4", options);
    // Both have GPUs of node 1.
    NodesPolicy policy({{{On(0, 1), On(1, 1)}, {On(1, 2), On(2, 1)}}}, true);
    return Jcts(RunPolicy(scenario, policy)).front();
  };
  EXPECT_EQ(jct(0), 30 + 120);
  EXPECT_EQ(jct(0.5), 30 + 240);
}

TEST(SteppedTrainingTest, JobsKeepTheBatchThatTheirUsersAskedForWhereThePolicySaysSo) {
  // Without noise the smallest batch is best; 16 samples take 1.1 s, in two passes of 8.
  const Scenario scenario = World({{0, 1, 100}}, "1x4", Rules("pollux"), 16);
  NodesPolicy kept({{{On(0, 1)}}}, true);
  NodesPolicy chosen({{{On(0, 1)}}}, false);
  EXPECT_EQ(Jcts(RunPolicy(scenario, kept)), (std::vector<Seconds>{30 + 280}));
  EXPECT_EQ(Jcts(RunPolicy(scenario, chosen)), (std::vector<Seconds>{30 + 140}));
}

TEST(SteppedTrainingTest, ABatchOutsideTheApplicationsRangeIsRefused) {
  for (const float batch : {7.0F, 17.0F}) {
    ExpectError(ExitCode::kBadData,
                {"'mine' (apps/mine) trains with 8 to 16 samples", "asks for a batch of"}, [&] {
                  World({{0, 1, 100}}, "1x4", Rules("pollux"), batch);
                });
  }
}

TEST(SteppedTrainingTest, WhatWasNotMeasuredStopsTheRun) {
  const Catalogue catalogue = Catalogue::FromCsv(kPack, "apps");
  const auto& model = *AsApplication(*catalogue.Get("mine"));
  TrainingRun run(model, {});
  const std::vector<UnitCounts> one = {UnitCounts(1)};
  const auto choose = [](const RunShape&, std::int32_t) {
    return BatchChoice{.local_batch = 17, .accumulation = 0, .rate = 0};
  };
  ExpectError(ExitCode::kBadData, {"apps/mine", "'mine'", "placement 1", "4 to 16", "17"},
              [&] { run.Place("gpu", one, choose); });
}

TEST(SteppedTrainingTest, AJobMeasuresBeforeItChooses) {
  const Catalogue catalogue = Catalogue::FromCsv(kPack, "apps");
  const auto& model = *AsApplication(*catalogue.Get("mine"));
  TrainingRules rules;
  rules.whole_seconds = true;
  TrainingRun run(model, rules);
  const std::vector<UnitCounts> one = {UnitCounts(1)};
  std::string calls;
  const auto choose = [&](const RunShape&, std::int32_t epoch) {
    calls += fmt::format("choose {}; ", epoch);
    return BatchChoice{.local_batch = 8, .accumulation = 0, .rate = 0};
  };
  const auto measure = [&](const TrainingMeasurement& m) {
    calls += fmt::format("measure {} {} s {:.1f}; ", m.epoch, m.seconds, m.step);
  };
  run.Place("gpu", one, choose);
  EXPECT_EQ(run.Advance(80, 1, choose, measure), 80);
  EXPECT_EQ(calls, "choose 0; measure 0 70 s 0.7; choose 1; measure 1 10 s 0.7; choose 1; ");
  EXPECT_EQ(run.Advance(80, 1, choose, measure), 60);
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(run.done(), 200);
}

TEST(SteppedTrainingTest, WhatCannotBePlayedInStepsIsRefused) {
  SimOptions options = Rules("pollux");
  options.decide_on_events = true;
  ExpectError(ExitCode::kUsage, {"training in steps", "60 s"}, [&] {
    World({{0, 1, 100}}, "1x4", options);
  });
  options = Rules("pollux");
  options.node_events = {{10, 0, false}};
  ExpectError(ExitCode::kUsage, {"training in steps", "got 1 events"}, [&] {
    World({{0, 1, 100}}, "1x4", options);
  });
  options = Rules("pollux");
  options.training.interference = 1.5;
  ExpectError(ExitCode::kUsage, {"interference", "1.5"}, [&] {
    World({{0, 1, 100}}, "1x4", options);
  });
}

}  // namespace
}  // namespace allot
