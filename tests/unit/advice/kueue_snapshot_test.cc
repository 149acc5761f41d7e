// Kueue's objects as queues of advice: who waits for what, in which order, and who is left alone.

#include "advice/kueue_snapshot.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr Seconds kKueueNow = 1'795'867'200;  // 2026-11-28T12:00:00Z

Json ClusterQueue(const char* gpus = "12") {
  return Json::parse(R"({"metadata": {"name": "gpus"}, "spec": {
      "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
      "stopPolicy": "None", "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"],
      "flavors": [{"name": "a100", "resources": [{"name": "cpu", "nominalQuota": 400},
                                                 {"name": "nvidia.com/gpu", "nominalQuota": ")" +
                     std::string(gpus) + R"("}]}]}]}})");
}

Json LocalQueue(const char* space) {
  return {{"metadata", {{"name", "main"}, {"namespace", space}}},
          {"spec", {{"clusterQueue", "gpus"}}}};
}

// Waits. Submitted at noon and so many seconds.
Json WorkloadOf(const char* space, const char* name, int second, int gpus = 4) {
  Json workload = Json::parse(R"({"metadata": {}, "spec": {"queueName": "main", "podSets": [
      {"name": "main", "count": 2, "template": {"spec": {"containers": [{"name": "c"}]}}}]}})");
  workload["metadata"] = {{"name", name},
                          {"namespace", space},
                          {"uid", std::string(space) + name},
                          {"creationTimestamp", fmt::format("2026-11-28T11:00:{:02}Z", second)}};
  workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
      {"requests", {{"nvidia.com/gpu", gpus / 2}}}};
  return workload;
}

void Become(Json* workload, const char* condition, const char* reason = "") {
  (*workload)["status"]["conditions"].push_back({{"type", condition},
                                                 {"status", "True"},
                                                 {"reason", reason},
                                                 {"lastTransitionTime", "2026-11-28T11:30:00Z"}});
}

void Boost(Json* workload, const char* boost) {
  (*workload)["metadata"]["annotations"][kPriorityBoost] = boost;
}

class KueueSnapshotTest : public testing::Test {
 protected:
  AdvisedQueue Read() { return KueueSnapshot(lists_, {}, kKueueNow).queues.at(0); }
  // Why the only waiting Workload is left alone.
  std::string Why() { return Read().waiting.at(0).left_alone; }

  KueueLists lists_{.cluster_queues = {ClusterQueue()},
                    .local_queues = {LocalQueue("ann"), LocalQueue("bob")},
                    .workloads = {WorkloadOf("ann", "w1", 10)}};
};

TEST_F(KueueSnapshotTest, AQueueHasItsQuotaAndItsWorkloads) {
  Json runs = WorkloadOf("bob", "r", 5);
  Become(&runs, "QuotaReserved");
  runs["status"]["admission"]["podSetAssignments"] = {
      {{"name", "main"}, {"resourceUsage", {{"nvidia.com/gpu", "6"}, {"cpu", "8"}}}}};
  lists_.workloads.push_back(runs);
  lists_.workloads[0]["spec"]["maximumExecutionTimeSeconds"] = 7200;
  const AdvisedQueue queue = Read();
  EXPECT_EQ(queue.name, "gpus");
  EXPECT_EQ(queue.cluster.total().gpus, 12);
  ASSERT_EQ(queue.waiting.size(), 1U);
  const QueuedJob& job = queue.waiting[0];
  EXPECT_EQ(job.id, "ann/w1");
  EXPECT_EQ(job.user, "ann/main");
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.limit, 7200);
  EXPECT_EQ(job.submit, kKueueNow - 3590);
  EXPECT_EQ(job.left_alone, "");
  ASSERT_EQ(queue.running.size(), 1U);
  EXPECT_EQ(queue.running[0].gpus, 6);
  EXPECT_EQ(queue.running[0].start, kKueueNow - 1800);
}

TEST_F(KueueSnapshotTest, TheOldestOfThePriorityGoesFirstAndABoostCounts) {
  Json boosted = WorkloadOf("ann", "w2", 1);
  Boost(&boosted, "-3");
  Json important = WorkloadOf("bob", "w3", 50);
  important["spec"]["priority"] = 100;
  lists_.workloads = {WorkloadOf("ann", "w1", 10), boosted, important, WorkloadOf("ann", "w0", 9)};
  std::vector<QueuedJob> jobs = Read().waiting;
  std::sort(jobs.begin(), jobs.end(), [](const QueuedJob& a, const QueuedJob& b) {
    return std::pair(-a.priority, a.number) < std::pair(-b.priority, b.number);
  });
  std::string order;
  for (const QueuedJob& job : jobs) order += job.name + job.id + " ";
  EXPECT_EQ(order, "bob/w3 ann/w0 ann/w1 ann/w2 ");
  EXPECT_EQ(jobs.back().nice, 3);
}

TEST_F(KueueSnapshotTest, AWorkloadWhosePodsWereNotReadyIsAsOldAsItsEviction) {
  Become(&lists_.workloads[0], "Evicted", "PodsReadyTimeout");
  lists_.workloads.push_back(WorkloadOf("bob", "w2", 59));
  for (const QueuedJob& job : Read().waiting) {
    EXPECT_EQ(job.number, job.id == "bob/w2" ? 0U : 1U);
  }
}

TEST_F(KueueSnapshotTest, WhatIsOverWaitsNoMoreAndIsThePast) {
  Json& over = lists_.workloads[0];
  Become(&over, "QuotaReserved");
  Become(&over, "Admitted");
  over["status"]["conditions"].push_back({{"type", "Finished"},
                                          {"status", "True"},
                                          {"reason", "Succeeded"},
                                          {"lastTransitionTime", "2026-11-28T11:40:00Z"}});
  const AdviceSnapshot snapshot = KueueSnapshot(lists_, {}, kKueueNow);
  EXPECT_TRUE(snapshot.queues.empty());
  EXPECT_TRUE(snapshot.jobs.empty());
  const Workload past = KueuePast(lists_);
  ASSERT_EQ(past.jobs.size(), 1U);
  EXPECT_EQ(past.jobs[0].duration, 600);
  EXPECT_EQ(past.users[past.jobs[0].user], "ann/main");
}

TEST_F(KueueSnapshotTest, QueuesWhereABoostWouldCountWhileAJobRunsAreLeftAlone) {
  lists_.cluster_queues[0]["spec"]["preemption"]["withinClusterQueue"] = "LowerPriority";
  EXPECT_EQ(Why(), "its ClusterQueue preempts by priority");
}

TEST_F(KueueSnapshotTest, QueuesOfACohortThatReclaimsAreLeftAlone) {
  lists_.cluster_queues[0]["spec"]["cohortName"] = "all";
  EXPECT_EQ(Why(), "");
  Json other = ClusterQueue();
  other["metadata"]["name"] = "other";
  other["spec"]["cohort"] = "all";
  other["spec"]["preemption"]["reclaimWithinCohort"] = "LowerPriority";
  lists_.cluster_queues.push_back(other);
  EXPECT_EQ(Why(), "a cohort of this cluster preempts by priority");
}

TEST_F(KueueSnapshotTest, QueuesByUsageAndStoppedOnesAreLeftAlone) {
  lists_.cluster_queues[0]["spec"]["admissionScope"]["admissionMode"] =
      "UsageBasedAdmissionFairSharing";
  EXPECT_EQ(Why(), "its ClusterQueue orders by usage");
  lists_.cluster_queues[0]["spec"]["stopPolicy"] = "Hold";
  EXPECT_EQ(Why(), "its ClusterQueue is stopped");
}

TEST_F(KueueSnapshotTest, WorkloadsOfAStoppedLocalQueueDoNotCompete) {
  lists_.local_queues[0]["spec"]["stopPolicy"] = "Hold";
  EXPECT_EQ(Why(), "its LocalQueue is stopped");
  EXPECT_FALSE(Read().waiting[0].competes);
}

TEST_F(KueueSnapshotTest, MalformedWorkloadsAreLeftAlone) {
  lists_.workloads[0]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
      {"requests", {{"nvidia.com/gpu", "500m"}}}};
  EXPECT_EQ(Why(), "is malformed");
}

TEST_F(KueueSnapshotTest, WorkloadsThatCannotStartNowDoNotCompete) {
  lists_.workloads[0]["spec"]["active"] = false;
  EXPECT_EQ(Why(), "deactivated");
  EXPECT_FALSE(Read().waiting[0].competes);
  lists_.workloads[0]["spec"].erase("active");
  lists_.workloads[0]["status"]["requeueState"]["requeueAt"] = "2026-11-28T13:00:00Z";
  EXPECT_EQ(Why(), "waits to be queued again");
}

TEST_F(KueueSnapshotTest, AnAnnotationThatIsNoNumberIsLeftAlone) {
  Boost(&lists_.workloads[0], "much");
  EXPECT_EQ(Why(), "its priority-boost is no number");
}

TEST_F(KueueSnapshotTest, WorkloadsWithoutGpusAreLeftAlone) {
  lists_.workloads[0] = WorkloadOf("ann", "w1", 1, 0);
  EXPECT_EQ(Why(), "asks for no GPUs");
}

TEST_F(KueueSnapshotTest, AnUnknownClusterQueueIsAnError) {
  ExpectError(ExitCode::kUsage,
              {"--partition must name a ClusterQueue with a quota of GPUs, got 'gpu'"},
              [&] { KueueSnapshot(lists_, {"gpu"}, kKueueNow); });
}

}  // namespace
}  // namespace allot
