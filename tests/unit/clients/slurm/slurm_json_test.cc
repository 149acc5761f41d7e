// What Slurm's programs say with --json, as recorded from each release (tests/data/slurm).

#include "clients/slurm/slurm_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "clients/slurm/resources.h"
#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace {

class RecordedRelease : public testing::TestWithParam<const char*> {
 protected:
  static std::string Recorded(const std::string& list) {
    return ReadTextFile(std::string(ALLOT_TEST_DATA "/slurm/") + list + "-" + GetParam() + ".json");
  }
  static bool Is2205() { return std::string(GetParam()) == "22.05"; }

  // The first that is so: numbers differ between the recorded clusters.
  template <typename Is>
  SlurmJob Job(const Is& is) const {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), is);
    EXPECT_NE(found, jobs_.end());
    return found == jobs_.end() ? SlurmJob() : *found;
  }

  const std::vector<SlurmJob> jobs_ = ReadJobsJson(Recorded("jobs"));
};

TEST_P(RecordedRelease, OfAJobThatRuns) {
  const SlurmJob job = Job([](const SlurmJob& one) { return one.comment == "a \"b\" x=1"; });
  EXPECT_EQ(job.state, SlurmState::kRunning);
  EXPECT_EQ(job.user, "root");
  EXPECT_EQ(job.partition, "main");
  EXPECT_EQ(job.nodes, "n1");
  ASSERT_EQ(GpuTypesOfGres(job.gpus).size(), 1U);
  EXPECT_EQ(GpuTypesOfGres(job.gpus)[0].count, 2);
  EXPECT_EQ(job.gpus_on.at("n1"), "gpu:v100:2(IDX:0-1)");
  EXPECT_EQ(job.time_limit, 0xffffffffU);
  EXPECT_EQ(job.work_dir, "/tmp");
  EXPECT_TRUE(job.requeue);
  EXPECT_FALSE(job.on_hold || job.ended || job.completing || job.exclusive);
  EXPECT_EQ(job.nice, 0);
  EXPECT_GT(job.submit, 1795617000);
  EXPECT_GE(job.start, job.submit);
}

TEST_P(RecordedRelease, TextOfUsersStaysInItsField) {
  const SlurmJob job = Job([](const SlurmJob& one) { return one.comment.starts_with("evil"); });
  EXPECT_EQ(job.comment, "evil\n\"x\" \\ \xc3\xa4 \xff");
  EXPECT_EQ(job.nice, 5);
  EXPECT_EQ(job.memory, 100U);
  EXPECT_EQ(job.cpus_per_task, 2);
  EXPECT_EQ(job.time_limit, 5U);
  EXPECT_GT(job.deadline, job.submit);
  EXPECT_EQ(job.other_gpus, "") << "24.11 writes CPUs a task there";
  EXPECT_EQ(job.pending, "PartitionDown");
  EXPECT_FALSE(job.elsewhere);
}

TEST_P(RecordedRelease, OfWholeNodesSeveralNodesAndTasks) {
  if (std::string(GetParam()) != "26.05") {  // MarkExclusive
    const SlurmJob whole = Job([](const SlurmJob& one) { return one.exclusive; });
    EXPECT_EQ(whole.gpus_on.size(), 1U);
  }
  const SlurmJob two = Job([](const SlurmJob& one) { return one.nodes_asked == 2; });
  EXPECT_EQ(two.gpus_on.at("n3"), "gpu:p100:2(IDX:0-1)");
  EXPECT_EQ(two.gpus_on.at("n4"), "gpu:k80:2(IDX:0-1)");
  const SlurmJob tasks = Job([](const SlurmJob& one) { return !one.other_gpus.empty(); });
  EXPECT_NE(tasks.other_gpus.find("gpu"), std::string::npos);
}

TEST_P(RecordedRelease, OfAnArray) {
  const SlurmJob job = Job([](const SlurmJob& one) { return !one.tasks.empty(); });
  EXPECT_EQ(job.tasks, "1-3");
  EXPECT_EQ(job.array, job.id);
  EXPECT_EQ(job.task, -1);
}

TEST_P(RecordedRelease, WhyJobsWaitAndHowTheyEnded) {
  const SlurmJob waits = Job([](const SlurmJob& one) { return !one.waits.empty(); });
  EXPECT_EQ(waits.waits, "its begin time is to come");
  EXPECT_EQ(waits.pending, "BeginTime");
  for (const char* end : {"FAILED, exit code 3, signal 0", "FAILED, exit code 0, signal 11"}) {
    const SlurmJob failed = Job([&](const SlurmJob& one) { return one.reason == end; });
    EXPECT_TRUE(failed.ended && failed.over()) << end;
    EXPECT_EQ(failed.state, SlurmState::kFailed);
  }
}

TEST_P(RecordedRelease, OfAJobThatIsRequeuedAndStillHoldsItsNode) {
  const SlurmJob job = Job([](const SlurmJob& one) { return one.completing; });
  EXPECT_FALSE(job.ended || job.over());
  // 22.05 does not say from which state it is completing.
  EXPECT_EQ(job.state, Is2205() ? SlurmState::kRunning : SlurmState::kPending);
}

TEST_P(RecordedRelease, OfNodes) {
  const std::vector<SlurmNode> nodes = ReadNodesJson(Recorded("nodes"));
  ASSERT_EQ(nodes.size(), 4U);
  const SlurmNode& drained = nodes[Is2205() ? 1 : 0];
  EXPECT_TRUE(drained.state.IsDrained());
  for (const SlurmNode& node : nodes) {
    EXPECT_EQ(node.state.IsUsableNow(), &node != &drained) << node.name;
    EXPECT_FALSE(node.state.IsUnknown());
    EXPECT_EQ(node.cpus, 16);
    EXPECT_EQ(node.memory_mib, 8000U);
    EXPECT_EQ(node.partitions, (std::vector<std::string>{"main", "elastic"}));
  }
  EXPECT_EQ(nodes[3].name, "n4");
  EXPECT_EQ(nodes[3].gres, "gpu:k80:8");
  EXPECT_EQ(nodes[3].features, std::vector<std::string>{"k80"});
}

INSTANTIATE_TEST_SUITE_P(Slurm, RecordedRelease, testing::Values("22.05", "24.11", "26.05"),
                         [](const auto& of) { return "Of" + std::string(of.param, 2); });

SlurmJob JobIn(const std::string& fields) {
  return ReadJobsJson("{\"jobs\": [{\"job_id\": 1, \"user_id\": 2, \"group_id\": 3, " + fields +
                      "}]}")
      .at(0);
}

TEST(SlurmJson, StatesOfOneWordAndOfSeveral) {
  EXPECT_EQ(JobIn(R"("job_state": "REQUEUED")").state, SlurmState::kPending);
  EXPECT_TRUE(JobIn(R"("job_state": "REQUEUED")").completing);
  EXPECT_EQ(JobIn(R"("job_state": "CONFIGURING")").state, SlurmState::kRunning);
  const SlurmJob ended = JobIn(R"("job_state": ["CANCELLED", "COMPLETING"])");
  EXPECT_TRUE(ended.ended && ended.completing && !ended.over());
  EXPECT_FALSE(JobIn(R"("job_state": ["FAILED", "REQUEUED"])").ended);
  EXPECT_TRUE(JobIn(R"("job_state": ["PENDING"], "priority": {"set": true, "number": 0})").on_hold);
  EXPECT_FALSE(JobIn(R"("job_state": "PENDING", "priority": 7)").on_hold);
  EXPECT_EQ(JobIn(R"("job_state": "PENDING", "state_reason": "None")").pending, kNoReason);
}

TEST(SlurmJson, MemoryThatJobsHoldAndThatIsInUse) {
  const std::vector<SlurmNode> nodes =
      ReadNodesJson(R"({"nodes": [{"name": "n1", "state": "MIXED", "real_memory": 8000, )"
                    R"("alloc_memory": 3500}]})");
  EXPECT_EQ(nodes.at(0).memory_in_use, 3500U);
  const SlurmJob job =
      JobIn(R"("job_state": "RUNNING", "tres_alloc_str": "cpu=2,mem=3000M,node=1")");
  EXPECT_EQ(job.memory_held, 3000U);
}

TEST(SlurmJson, WhatIsNotSharingAsksForNodes) {
  for (const char* sharing : {"null", "[]", "\"shared\"", "[\"oversubscribe\"]"}) {
    EXPECT_FALSE(JobIn(fmt::format(R"("job_state": "PENDING", "shared": {})", sharing)).exclusive);
  }
  for (const char* nodes : {"\"none\"", "[\"user\"]", "[\"mcs\"]", "[\"topo\"]", "[\"new\"]"}) {
    EXPECT_TRUE(JobIn(fmt::format(R"("job_state": "PENDING", "shared": {})", nodes)).exclusive);
  }
}

TEST(SlurmJson, NodesOfSinfoThatAreAlike) {
  const SlurmNode node = ReadNodeJson(nlohmann::json::parse(
      R"({"node": {"state": ["MIXED", "DRAIN"]}, "gres": {"total": "gpu:a100:4"},)"
      R"("cpus": {"total": 128, "maximum": 64}, "memory": {"maximum": 512000}, )"
      R"("alloc_memory": 3000})"));
  EXPECT_EQ(node.name, "");
  EXPECT_EQ(node.gres, "gpu:a100:4");
  EXPECT_EQ(node.cpus, 64);
  EXPECT_EQ(node.memory_mib, 512000U);
  EXPECT_EQ(node.memory_in_use, 3000U);
  EXPECT_EQ(node.state_text, "MIXED+DRAIN");
  EXPECT_TRUE(node.state.IsDrained());
}

TEST(SlurmJson, WhatIsNotWholeIsRefused) {
  EXPECT_THROW(ReadJobsJson(""), Error);
  EXPECT_THROW(ReadJobsJson("[]"), Error);
  EXPECT_THROW(ReadJobsJson("{\"jobs\": 3}"), Error);
  EXPECT_THROW(ReadJobsJson("{\"jobs\": [3]}"), Error);
  EXPECT_THROW(ReadJobsJson("{\"jobs\": [{\"job_id\": 1}]}"), Error);
  EXPECT_THROW(JobIn("\"job_state\": 5"), Error);
  EXPECT_THROW(JobIn("\"job_state\": []"), Error);
  EXPECT_THROW(JobIn(R"("job_state": "RUNNING", "nodes": "n[1")"), Error);
  EXPECT_THROW(ReadNodesJson("{\"nodes\": [{}]}"), Error);
}

}  // namespace
}  // namespace allot
