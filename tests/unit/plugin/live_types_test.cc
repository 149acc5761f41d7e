// On GPUs of two types every policy decides live what it decides in the simulator.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "live/port/live_cluster.h"
#include "live/port/live_rules.h"
#include "sched/policy.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/live/fake_runtime.h"

namespace allot {
namespace {

// Those that need nothing of the simulator or of a file, and shares of time.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const std::string& id : Registry<PolicyInfo>::Global().ids()) {
    const PolicyInfo& info = Registry<PolicyInfo>::Global().Get("policy", id);
    const bool loads = id != "guarded" && std::any_of(info.params.begin(), info.params.end(),
                                                      [](const ParamSpec& param) {
                                                        return param.name == "checkpoint";
                                                      });
    if (!info.oracle && !loads) specs.push_back(id);
  }
  specs.push_back("shared:sharing=isolated");
  return specs;
}

class LiveTypesTest : public testing::TestWithParam<std::string> {
 protected:
  LiveTypesTest() : runtime_(&time_), clock_(kUnknown, 0, time_.source()) {
    spdlog::set_level(spdlog::level::off);
    journal_ = std::make_unique<Journal>(folder_ / "journal.jsonl");
    runtime_.AddNode("n1", 4, "v100");
    runtime_.AddNode("n2", 4, "k80");
    runtime_.speeds["k80"] = 0.3;
    Submit("a", "resnet50:64", 2, 8, 500000, "");
    Submit("b", "resnet18:16", 4, 4, 90000, "k80");
    Submit("c", "", 1, 4, 70000, "v100|k80");
    Submit("d", "", 2, 2, 300000, "v100");
    cluster_ = std::make_unique<LiveCluster>(
        runtime_, journal_.get(), clock_, LiveOptions{.interval = 10}, std::vector<TimedRecord>{});
    cluster_->WaitForChange(0);
  }

  void Submit(const std::string& id, const std::string& model, GpuCount gpus, GpuCount most,
              double work, const std::string& types) {
    RuntimeJob& job = runtime_.AddJob(id, gpus, 1, most);
    job.model = model;
    job.total_work = work;
    job.gpu_types = types;
    Job simulated;
    simulated.id = id;
    simulated.gpus = gpus;
    simulated.min_gpus = 1;
    simulated.max_gpus = most;
    simulated.work = work;
    simulated.duration = 1;  // it has work instead
    simulated.gpu_types = workload_.gpu_types.Intern(types);
    workload_.jobs.push_back(simulated);
  }

  // The simulator at the moment that the live cluster is in.
  Scenario ScenarioOf(const Observation& o) const {
    SimOptions options;
    options.interval = o.interval;
    std::vector<Scenario::JobFacts> facts;
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      facts.push_back(
          {std::shared_ptr<const ConfigurationTable>(std::shared_ptr<void>(), o.table[row]),
           o.requested[row], workload_.jobs[row].work, workload_.jobs[row].work});
    }
    Workload workload = workload_;
    workload.Finish();
    return Scenario(std::move(workload), *o.cluster, options, std::move(facts));
  }

  FakeTime time_;
  FakeRuntime runtime_;
  LiveClock clock_;
  Workload workload_;
  testing_support::TempFolder folder_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LiveCluster> cluster_;
};

TEST_P(LiveTypesTest, TheSameMomentGetsTheSameAnswerLiveAndInTheSimulator) {
  const auto live = MakePolicy(GetParam());
  const auto simulated = MakePolicy(GetParam());
  const EpisodeContext context = {.cluster = &cluster_->state().present()};
  live->OnEpisodeStart(context);
  simulated->OnEpisodeStart(context);
  Allocation here, there;
  bool both_types = false;
  for (int decision = 0; decision < 12; ++decision) {
    const Observation& o = cluster_->Observe();
    ASSERT_EQ(o.rows(), 4);
    const Scenario scenario = ScenarioOf(o);
    const SimulatedCluster twin(scenario, o);
    live->Decide(o, &here);
    simulated->Decide(twin.Observe(), &there);
    ASSERT_TRUE(here == there) << "decision " << decision;
    ASSERT_EQ(ValidateLiveAllocation(o, here).message(), "") << "decision " << decision;
    std::uint64_t nodes = 0;
    for (const Allocation::Entry& entry : here.entries()) {
      for (const NodeShare& share : here.shares(entry)) nodes |= std::uint64_t{1} << share.node;
    }
    both_types = both_types || nodes == 0b11;
    ASSERT_TRUE(cluster_->Apply(here).refused.ok());
    cluster_->WaitForChange(0);
  }
  EXPECT_TRUE(both_types) << "work is found for GPUs of both types";
  const LiveJob& only = cluster_->state().job_table().jobs().at(1);
  EXPECT_TRUE(only.shares.empty() || only.shares.front().node == 1) << "it accepts k80";
}

std::string WordOf(const testing::TestParamInfo<std::string>& spec) {
  std::string name = spec.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Policies, LiveTypesTest, testing::ValuesIn(Specs()), WordOf);

}  // namespace
}  // namespace allot
