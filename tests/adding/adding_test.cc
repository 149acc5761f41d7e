// The examples of docs/adding.md do what the page says: they are compiled into this program, and
// found by their names.

#include <gtest/gtest.h>

#include "cluster/cluster_spec.h"
#include "core/file.h"
#include "envs/rewards/reward.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "tests/unit/core/temp_folder.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

// On two GPU types, so that each policy has something to choose.
Scenario World(SimOptions options = {}) {
  const Catalogue catalogue = Catalogue::FromCsv(
      "profile,kind,gpu_type,gpus,rate,serial,warm_up\n"
      "fast,gpu-scaling,a,1,8,,\nfast,gpu-scaling,a,4,20,,\nfast,gpu-scaling,b,1,1,,\n"
      "even,gpu-scaling,a,1,2,,\neven,gpu-scaling,b,1,2,,\n"
      "law,amdahl,,,,0.2,100\n",
      "c.csv");
  Workload workload;
  workload.name = "examples";
  const std::pair<const char*, GpuCount> jobs[] = {{"even", 2}, {"fast", 2}, {"law", 1},
                                                   {"", 3},     {"fast", 1}, {"even", 1}};
  for (const auto& [model, gpus] : jobs) {
    Job job;
    job.id = fmt::format("job{}", workload.jobs.size());
    job.submit = 100.0 * static_cast<double>(workload.jobs.size());
    job.gpus = gpus;
    job.duration = 700;
    job.min_gpus = 1;
    job.max_gpus = 4;
    job.model = workload.models.Intern(model);
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return Scenario(std::move(workload), ClusterSpec::Parse("1x4:a,2x2:b"), std::move(options),
                  catalogue);
}

void ExpectRunsToItsEnd(const Scenario& scenario, const std::string& policy) {
  for (const JobRecord& record : RunPolicy(scenario, *MakePolicy(policy)).records) {
    EXPECT_LT(record.finish, kNever) << policy << ", job " << record.job;
  }
}

TEST(AddingTest, PoliciesAndStagesDecide) {
  for (const char* policy :
       {"las-by-hours", "youngest", "advantage", "fifo:ordering=widest",
        "fifo:ordering=widest,sizing=hull", "fifo:types=quickest", "shared:sharing=first-come"}) {
    ExpectRunsToItsEnd(World(), policy);
  }
}

TEST(AddingTest, TypesGoToThoseThatGainMost) {
  // The first decision that both fit in: 'even' came first, 'fast' gains eight times on type a.
  class Watcher : public DecisionListener {
   public:
    void OnDecision(const Observation& o, const Allocation& allocation) override {
      if (o.now != 300) return;
      for (const Allocation::Entry& entry : allocation.entries()) {
        const NodeIndex node = allocation.shares(entry).front().node;
        type[entry.job] = o.cluster->nodes()[static_cast<std::size_t>(node)].type;
      }
    }
    std::map<JobIndex, GpuTypeIndex> type;
  };
  Watcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(World(), *MakePolicy("advantage"), listeners);
  EXPECT_EQ(watcher.type.at(1), 0) << "fast";
}

TEST(AddingTest, ModelsProcessesAndBeliefsAreOptionsOfWorlds) {
  SimOptions options;
  options.progress = "pauses:every=0.3";
  options.beliefs = "linear";
  const Scenario scenario = World(options);
  ExpectRunsToItsEnd(scenario, "index");
  const auto belief = MakeBelief("linear", scenario);
  for (const Configuration& c : belief->TableOf(0)->configurations()) {
    EXPECT_DOUBLE_EQ(c.rate,
                     c.cost * (*belief->TableOf(0))[0].rate / (*belief->TableOf(0))[0].cost);
  }
  // The law's job: 100 units at half speed, alone on 1 GPU.
  EXPECT_NE(World().facts(2).process(), nullptr);
  EXPECT_DOUBLE_EQ(World().facts(2).work, 100 + (700 - 200));
}

TEST(AddingTest, AnInventoryIsACluster) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "machines.csv").string();
  WriteTextFile(path,
                "host,gpu_model,gpu_count,state\n"
                "n1,A100,8,in use\nn2,A100,8,in store\nn3,,0,in use\n");
  EXPECT_EQ(ClusterSpec::Parse(path).ToString(), "1x8:a100");
}

TEST(AddingTest, FormatsRewardsAndProfilesAreFound) {
  EXPECT_NE(Registry<TraceFormat>::Global().Find("accounting"), nullptr);
  EXPECT_EQ(GetReward("finished").compute(StepFacts{.finished = 3}, Observation()), 3);
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "hourly").apply(&options);
  EXPECT_EQ(options.interval, 3600);
}

}  // namespace
}  // namespace allot
