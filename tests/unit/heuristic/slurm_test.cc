// The policy `slurm` on moments made by hand; its files have tests in clients/slurm, and
// bench/slurm_policy.py compares it with a Slurm.

#include <gtest/gtest.h>

#include <any>
#include <map>
#include <set>

#include "sched/policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;
using Gpus = std::vector<std::int16_t>;
using Jobs = std::set<JobIndex>;

// Jobs of one type of table, up to 8 GPUs, with time limits.
class SlurmPolicyTest : public testing::Test {
 protected:
  std::int32_t Add(World& world, std::int16_t gpus, Seconds limit) {
    const std::int32_t row = world.Add({std::vector<double>(8, 1)}, gpus);
    world.o.estimated_work[static_cast<std::size_t>(row)] = limit;
    return row;
  }
  std::unique_ptr<Policy> Make(const std::string& conf, const std::string& files = "") {
    texts_["slurm.conf"] = conf;
    return MakePolicy(
        "slurm:conf=slurm.conf" + files,
        [this](std::string_view, const std::string& path) { return std::any(texts_.at(path)); });
  }
  // Who runs after a decision of a policy made anew.
  Jobs Running(const World& world, const std::string& conf, const std::string& files = "") {
    const auto policy = Make(conf, files);
    policy->OnEpisodeStart(
        {.seed = 0, .cluster = world.o.cluster, .tenants = &partitions_, .charge_of = charge_of_});
    Allocation allocation;
    policy->Decide(world.o, &allocation);
    Jobs jobs;
    for (const auto& entry : allocation.entries()) jobs.insert(entry.job);
    notes_.clear();
    for (const auto& [name, text] : policy->notes()) notes_ += fmt::format("{}: {}\n", name, text);
    return jobs;
  }

  std::map<std::string, std::string> texts_;
  std::vector<std::string> partitions_;
  std::function<Charge(JobIndex)> charge_of_;
  std::string notes_;
};

TEST_F(SlurmPolicyTest, WithoutBackfillTheFirstThatDoesNotFitBlocksItsPartition) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{2, 3, 1}) Add(world, gpus, 100);
  EXPECT_EQ(Running(world, "SchedulerType=sched/builtin\n"), (Jobs{0}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_interval=-1\n"), (Jobs{0}));
}

// Job 0 ends at 1000 s, when job 1 takes the node until 2000 s.
TEST_F(SlurmPolicyTest, BackfillKeepsWholeNodesForEachPlan) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{3, 3, 1, 1}) Add(world, gpus, 1000);
  world.Run(0, 2, {{0, 0b0111}});
  world.o.estimated_work = {1000, 1000, 1500, 900};
  EXPECT_EQ(Running(world, ""), (Jobs{0, 3})) << "job 2 would run into the plan of job 1";
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_window=10\n"), (Jobs{0, 2}))
      << "1000 s is not within 10 minutes: job 1 has no plan";
}

TEST_F(SlurmPolicyTest, BackfillRoundsPlansToItsResolution) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{3, 3, 1}) Add(world, gpus, 1000);
  world.Run(0, 2, {{0, 0b0111}});
  world.o.estimated_work = {1010, 1000, 990};
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_resolution=5\n"), (Jobs{0, 2}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_resolution=100\n"), (Jobs{0, 2}));
  world.o.estimated_work[2] = 1005;
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_resolution=5\n"), (Jobs{0, 2}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_resolution=100\n"), (Jobs{0}))
      << "the plan begins at 1000 s instead of 1010 s";
}

TEST_F(SlurmPolicyTest, BackfillTestsSoManyJobsAndSoManyOfAUser) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{3, 4, 4, 1}) Add(world, gpus, 1000);
  world.Run(0, 2, {{0, 0b0111}});
  world.o.estimated_work[3] = 10;
  world.o.user = {0, 0, 1, 0};
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_max_job_test=3\n"), (Jobs{0, 3}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_max_job_test=2\n"), (Jobs{0}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_max_job_user=1\n"), (Jobs{0}));
  EXPECT_EQ(Running(world, "SchedulerParameters=bf_max_job_user=2\n"), (Jobs{0, 3}));
}

TEST_F(SlurmPolicyTest, BackfillRunsAtItsInterval) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{3, 4}) Add(world, gpus, 1000);
  world.Run(0, 2, {{0, 0b0111}});
  const auto policy = Make("SchedulerParameters=bf_interval=30\n");
  Allocation allocation;
  world.o.interval = 10;
  world.o.now = 60;
  policy->Decide(world.o, &allocation);
  Add(world, 1, 10);
  world.o.now = 80;
  policy->Decide(world.o, &allocation);
  EXPECT_EQ(allocation.entries().size(), 1U) << "the pass at 60 s was the last";
  world.o.now = 90;
  policy->Decide(world.o, &allocation);
  EXPECT_EQ(allocation.entries().size(), 2U);
}

TEST_F(SlurmPolicyTest, AJobLiesOnTheFewestNodes) {
  World world("2x4");
  for (const std::int16_t gpus : Gpus{3, 3, 2}) Add(world, gpus, 1000);
  world.Run(0, 2, {{0, 0b0111}});
  world.Run(1, 2, {{1, 0b0111}});
  EXPECT_EQ(Running(world, ""), (Jobs{0, 1})) << "2 free GPUs on two nodes hold no job of 2";
}

// Jobs 1 and 2 want the GPU that is free; by default the elder gets it.
class SlurmPriorityTest : public SlurmPolicyTest {
 protected:
  SlurmPriorityTest() : world_("1x4") {
    for (const std::int16_t gpus : Gpus{3, 1, 1}) Add(world_, gpus, 1000);
    world_.Run(0, 2, {{0, 0b0111}});
    world_.o.user_names = &users_;
    world_.o.user = {0, 0, 1};
    world_.o.tenant = {0, 0, 1};
    partitions_ = {"low", "high"};
    world_.o.now = 3600;
    world_.o.attained_seconds[0] = 500;
    world_.o.submit = {0, 600, 1200};
  }
  JobIndex First(const std::string& conf, const std::string& files = "") {
    const Jobs jobs = Running(world_, conf + kPartitions, files);
    EXPECT_EQ(jobs.size(), 2U);
    return jobs.empty() ? -1 : *jobs.rbegin();
  }
  static constexpr const char* kPartitions =
      "\nPartitionName=low\nPartitionName=high PriorityJobFactor=4\n";
  World world_;
  std::vector<std::string> users_ = {"man", "news"};
};

TEST_F(SlurmPriorityTest, EldestFirstWithoutWeights) {
  EXPECT_EQ(First(""), 1);
  EXPECT_EQ(First("PriorityType=priority/basic"), 1);
}

TEST_F(SlurmPriorityTest, NiceIsTheWorkloadsPriority) {
  world_.o.priority[1] = -2;
  EXPECT_EQ(First(""), 2);
  EXPECT_EQ(First("PriorityType=priority/basic"), 2) << "2 places";
}

// Ages at the last 5 minutes: 3000 s and 2400 s, of an hour: 500 and 400 points of 600. The
// partition: 1/4 and 1 of its weight.
TEST_F(SlurmPriorityTest, AgeAgainstThePartition) {
  const std::string age = "PriorityWeightAge=600\nPriorityMaxAge=60\nPriorityWeightPartition=";
  EXPECT_EQ(First(age + "132"), 1);
  EXPECT_EQ(First(age + "136"), 2);
}

// Job 0 has used GPUs, which is its user's usage: factors 1/2 and 1.
TEST_F(SlurmPriorityTest, AgeAgainstTheFairShare) {
  const std::string age = "PriorityWeightAge=600\nPriorityMaxAge=60\nPriorityWeightFairShare=";
  EXPECT_EQ(First(age + "198"), 1);
  EXPECT_EQ(First(age + "202"), 2);
}

TEST_F(SlurmPriorityTest, SharesAndUsageComeFromTheirFiles) {
  texts_["dump"] =
      "Parent - 'root'\nUser - 'man':DefaultAccount='root':Fairshare=9\n"
      "User - 'news':DefaultAccount='root':Fairshare=1\n";
  texts_["sshare"] = "Account|User|RawUsage\nroot|news|1000\nroot|man|0\n";
  EXPECT_EQ(First("PriorityWeightFairShare=100", ",accounts=dump"), 2);
  EXPECT_EQ(First("PriorityWeightFairShare=100", ",accounts=dump,usage=sshare"), 1)
      << "man has 9/10 of the shares, and less of the usage";
}

TEST_F(SlurmPriorityTest, QosAddsItsPriority) {
  texts_["qos"] = "Name|Priority\nnormal|5\nurgent|10\n";
  charge_of_ = [](JobIndex job) { return job == 2 ? Charge{.qos = "urgent"} : Charge{}; };
  EXPECT_EQ(First("PriorityWeightQOS=100", ",qos=qos"), 2);
  EXPECT_EQ(First("", ",qos=qos"), 1);
}

TEST_F(SlurmPriorityTest, TiersComeBeforePriorities) {
  const Jobs jobs = Running(world_,
                            "PriorityWeightAge=1000000\nPartitionName=low\n"
                            "PartitionName=high PriorityTier=2\n");
  EXPECT_EQ(jobs, (Jobs{0, 2}));
}

TEST_F(SlurmPriorityTest, SizeFavorsLargeJobsUnlessSmallOnes) {
  World world("1x4");
  for (const std::int16_t gpus : Gpus{3, 4, 1}) Add(world, gpus, 1000);
  world.o.submit = {0, 0, 0};
  const std::string weight = "SchedulerType=sched/builtin\nPriorityWeightJobSize=1000\n";
  EXPECT_EQ(Running(world, weight), (Jobs{1}));
  EXPECT_EQ(Running(world, weight + "PriorityFavorSmall=YES\n"), (Jobs{0, 2}));
}

TEST_F(SlurmPriorityTest, LimitsLetOthersPass) {
  texts_["qos"] = "Name|Priority|MaxTRESPU|MaxJobsPU\nnormal|0|gres/gpu=3|\none|0||1\n";
  EXPECT_EQ(First("", ",qos=qos"), 1) << "Slurm keeps no limits unless it is told to";
  const std::string limits = "AccountingStorageEnforce=associations,limits\n";
  EXPECT_EQ(First(limits, ",qos=qos"), 2) << "man has 3 GPUs";
  charge_of_ = [](JobIndex) { return Charge{.qos = "one"}; };
  EXPECT_EQ(First(limits, ",qos=qos"), 2) << "man has a job";
  texts_["dump"] = "Parent - 'root'\nAccount - 'lab':Fairshare=1:GrpTRES=gres/gpu=3\n";
  charge_of_ = [](JobIndex job) { return Charge{.account = job == 2 ? "other" : "lab"}; };
  EXPECT_EQ(First(limits, ",accounts=dump"), 2) << "lab has 3 GPUs";
}

TEST_F(SlurmPriorityTest, PartitionsKeepTheirNodes) {
  const Jobs jobs = Running(world_,
                            "NodeName=n1 Gres=gpu:4\nNodeName=c1\nPartitionName=low Nodes=n1\n"
                            "PartitionName=high Nodes=c1\n");
  EXPECT_EQ(jobs, (Jobs{0, 1}));
  EXPECT_NE(notes_.find("1 jobs have no room in theirs"), std::string::npos) << notes_;
}

TEST_F(SlurmPriorityTest, NotesSayWhatIsNotSimulated) {
  Running(world_, "PreemptType=preempt/qos\nPartitionName=x Nodes=n[1-2]\n");
  EXPECT_NE(notes_.find("not simulated: PreemptType=preempt/qos"), std::string::npos);
  EXPECT_NE(notes_.find("does not name its nodes"), std::string::npos) << notes_;
  EXPECT_NE(notes_.find("3 jobs name none of the file"), std::string::npos) << notes_;
}

TEST(SlurmPolicyFiles, NeedALoaderThatReadsThem) {
  ExpectError(ExitCode::kUsage, {"conf", "slurm.conf"},
              [] { MakePolicy("slurm:conf=slurm.conf"); });
}

}  // namespace
}  // namespace allot
