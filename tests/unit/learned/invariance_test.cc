// What the learned policy's answer must not depend on: the unit of time and of work, and the order
// in which jobs are listed. Weights are drawn, so that every feature matters.

#include <gtest/gtest.h>

#include <deque>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "perf/elastic.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::Permuted;
using testing_support::Shuffled;

Agent DrawnAgent() {
  Agent agent{IndexAgentAt({.alpha = 0.25F, .beta = 0.5F, .kappa = 0.2F}, 16, 1), {}};
  Rng rng(1, "invariance");
  for (auto& [name, tensor] : agent.weights.tensors) {
    for (float& weight : tensor.data) weight += static_cast<float>(0.1 * rng.Normal());
  }
  return agent;
}

Allocation Decide(const Agent& agent, const Observation& o) {
  Allocation allocation;
  MakeLearnedPolicy(agent)->Decide(o, &allocation);
  return allocation;
}

// Moments of a crowded cluster, some jobs with estimates.
std::vector<Observation> Moments(const Scenario& scenario) {
  std::vector<Observation> moments;
  SimulatedCluster cluster(scenario);
  const auto policy = MakeLearnedPolicy(DrawnAgent());
  Allocation allocation;
  do {
    moments.push_back(cluster.Observe());
    for (std::size_t r = 0; r < moments.back().job.size(); r += 3) {
      moments.back().estimated_work[r] = kUnknown;
    }
    policy->Decide(cluster.Observe(), &allocation);
    cluster.Apply(allocation);
  } while (cluster.WaitForChange(0));
  return moments;
}

const Scenario& Crowd() {
  static const Scenario scenario = [] {
    Rng rng(2, "invariance-crowd");
    Workload workload;
    for (int i = 0; i < 40; ++i) {
      Job job;
      job.id = std::to_string(i);
      job.submit = rng.Uniform(0, 10000);
      job.gpus = static_cast<GpuCount>(1 << rng.Below(3));
      job.duration = 300 + rng.Exponential(5000);
      workload.jobs.push_back(std::move(job));
    }
    workload.Finish();
    MakeElastic({.seed = 2}, Catalogue::Embedded(), &workload);
    SimOptions options;
    options.lengths = LengthEstimates::Parse("true");
    return Scenario(std::move(workload), ClusterSpec::Parse("2x4:v100,1x4:p100"), options);
  }();
  return scenario;
}

// The same moment with times in another unit, work in another, hence rates in theirs. Powers of
// two, so that nothing is rounded. Forecasts know seconds: all jobs have an estimate here, and
// nothing is told of jobs that have ended.
struct Scaled {
  Scaled(const Observation& from, double time, double work) : o(from) {
    o.now *= time;
    o.interval *= time;
    o.events = {};
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      std::vector<Configuration> configurations = o.table[r]->configurations();
      for (Configuration& c : configurations) c.rate *= work / time;
      o.table[r] = &tables.emplace_back(o.table[r]->name(), o.table[r]->kinds(), configurations,
                                        o.table[r]->limits());
      o.done_work[r] *= work;
      if (std::isnan(o.estimated_work[r])) o.estimated_work[r] = from.done_work[r] + 1000;
      o.estimated_work[r] *= work;
      for (auto* times : {&o.submit, &o.attained_gpu_seconds, &o.attained_seconds, &o.restart_cost,
                          &o.waiting_since, &o.deadline}) {
        (*times)[r] *= time;
      }
    }
  }
  std::deque<ConfigurationTable> tables;
  Observation o;
};

TEST(LearnedPolicy, UnitsOfTimeAndWorkDoNotMatter) {
  const Agent agent = DrawnAgent();
  std::size_t granted = 0;
  for (const Observation& o : Moments(Crowd())) {
    const Scaled plain(o, 1, 1);
    const auto expected = AsSet(Decide(agent, plain.o));
    granted += expected.size();
    for (const auto& [time, work] : {std::pair{4.0, 1.0}, {0.125, 1.0}, {1.0, 64.0}, {16.0, 0.5}}) {
      const Scaled scaled(o, time, work);
      ASSERT_EQ(AsSet(Decide(agent, scaled.o)), expected)
          << "decision " << o.decision << ", times x " << time << ", work x " << work;
    }
  }
  EXPECT_GT(granted, 200U);
}

TEST(LearnedPolicy, TheOrderOfRowsDoesNotMatter) {
  const Agent agent = DrawnAgent();
  for (const Observation& o : Moments(Crowd())) {
    Rng rng(static_cast<std::uint64_t>(o.decision), "invariance-order");
    const Observation permuted = Permuted(o, Shuffled(o.job.size(), &rng));
    ASSERT_EQ(AsSet(Decide(agent, permuted)), AsSet(Decide(agent, o))) << "decision " << o.decision;
  }
}

}  // namespace
}  // namespace allot
