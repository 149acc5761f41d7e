#include "metrics/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Two GPUs. Job 0: 10 s late, runs 0..100 on 1 GPU; job 1: submit 20, runs 20..60 on 1; job 2:
// submit 40, waits until 60, runs to 140 on 1 and was moved once.
std::vector<JobRecord> ThreeRecords() {
  return {
      {.job = 0, .submit = 10, .first_start = 10, .finish = 110, .gpu_seconds = 100},
      {.job = 1,
       .submit = 20,
       .first_start = 20,
       .finish = 60,
       .gpu_seconds = 40,
       .preemptions = 1},
      {.job = 2, .submit = 40, .first_start = 60, .finish = 140, .gpu_seconds = 80, .restarts = 2}};
}

RunFacts FactsOf(const std::vector<JobRecord>& records) {
  RunFacts facts;
  facts.policy = "fifo";
  facts.gpus = 2;
  facts.records = records;
  return facts;
}

TEST(Summarise, EvictionsAndLendingAreReadBack) {
  std::vector<JobRecord> records = ThreeRecords();
  records[1].evictions = 2;
  RunFacts facts = FactsOf(records);
  facts.lending = {.demand = 250, .lent = 240.5, .shortage = 0.001};
  const RunSummary summary = Summarise(facts);
  EXPECT_EQ(summary.evictions, 2);
  const RunSummary again = SummaryFromJson(ToJson(summary), "test");
  EXPECT_EQ(again.evictions, 2);
  EXPECT_EQ(again.lending, facts.lending);
}

TEST(Summarise, JctIsFinishMinusSubmit) {
  const std::vector<JobRecord> records = ThreeRecords();  // JCTs 100, 40, 100
  const RunSummary summary = Summarise(FactsOf(records));
  EXPECT_EQ(summary.jobs, 3);
  EXPECT_DOUBLE_EQ(summary.avg_jct_s, 80);
  EXPECT_DOUBLE_EQ(summary.p50_jct_s, 100);
}

TEST(Summarise, QuantilesInterpolate) {
  std::vector<JobRecord> records;
  for (JobIndex i = 0; i <= 100; ++i) {
    records.push_back({.job = i, .first_start = 0, .finish = static_cast<double>(10 * i)});
  }
  const RunSummary summary = Summarise(FactsOf(records));
  EXPECT_DOUBLE_EQ(summary.p50_jct_s, 500);
  EXPECT_DOUBLE_EQ(summary.p95_jct_s, 950);
  EXPECT_DOUBLE_EQ(summary.p99_jct_s, 990);
}

// Jobs 1 and 2 of the three: 20..60 and 40..140; the cluster as a whole uses 2 GPUs until 110 and 1
// from there on.
TEST(Summarise, CountsTrackedJobsOnlyAndTheWholeClustersUseMeanwhile) {
  const std::vector<JobRecord> records = ThreeRecords();
  const std::vector<TimelinePoint> timeline = {{10, 1, 1, 1}, {20, 2, 2, 2}, {110, 1, 1, 1}};
  RunFacts facts = FactsOf(records);
  facts.timeline = timeline;
  facts.tracked = TrackedJobs{1, 2};
  const RunSummary summary = Summarise(facts);
  EXPECT_EQ(summary.jobs, 2);
  EXPECT_DOUBLE_EQ(summary.avg_jct_s, 70);
  EXPECT_DOUBLE_EQ(summary.avg_queueing_s, 10);
  EXPECT_DOUBLE_EQ(summary.makespan_s, 120);
  EXPECT_DOUBLE_EQ(summary.gpu_seconds, 120);
  EXPECT_EQ(summary.preemptions, 1);
  EXPECT_DOUBLE_EQ(summary.gpu_utilisation, (2 * 90 + 1 * 30) / (2 * 120.0));
}

// Job 0 still ran and job 2 still waited when the record ended, at 100: neither has a completion
// time.
TEST(Summarise, JobsThatHadNotEndedHaveNoCompletionTime) {
  const std::vector<JobRecord> records = ThreeRecords();
  const std::vector<TimelinePoint> timeline = {{10, 1, 1, 1}, {20, 2, 2, 2}, {110, 1, 1, 1}};
  Workload workload;
  workload.jobs.resize(3);
  workload.jobs[0].outcome = Outcome::kRunning;
  workload.jobs[2].outcome = Outcome::kPending;
  workload.recorded_until = 100;
  RunFacts facts = FactsOf(records);
  facts.timeline = timeline;
  facts.workload = &workload;
  const RunSummary summary = Summarise(facts);
  EXPECT_EQ(summary.jobs, 3);
  EXPECT_DOUBLE_EQ(summary.avg_jct_s, 40);
  EXPECT_DOUBLE_EQ(summary.avg_queueing_s, 0);
  EXPECT_DOUBLE_EQ(summary.makespan_s, 50);
  EXPECT_DOUBLE_EQ(summary.gpu_utilisation, (10 + 2 * 80) / (2 * 90.0));
}

TEST(Summarise, MakespanRunsFromFirstSubmitToLastFinish) {
  const std::vector<JobRecord> records = ThreeRecords();
  EXPECT_DOUBLE_EQ(Summarise(FactsOf(records)).makespan_s, 130);
}

TEST(Summarise, UtilisationIsGpuSecondsOverCapacity) {
  const std::vector<JobRecord> records = ThreeRecords();
  EXPECT_DOUBLE_EQ(Summarise(FactsOf(records)).gpu_utilisation, 220.0 / (2 * 130));
}

TEST(Summarise, QueueingIsFirstStartMinusSubmit) {
  const std::vector<JobRecord> records = ThreeRecords();
  EXPECT_DOUBLE_EQ(Summarise(FactsOf(records)).avg_queueing_s, 20.0 / 3);
}

TEST(Summarise, CountsPreemptionsAndRestarts) {
  const std::vector<JobRecord> records = ThreeRecords();
  const RunSummary summary = Summarise(FactsOf(records));
  EXPECT_EQ(summary.preemptions, 1);
  EXPECT_EQ(summary.restarts, 2);
}

TEST(Summarise, UnfinishedJobsAreCountedButHaveNoJct) {
  std::vector<JobRecord> records = ThreeRecords();
  records[2].finish = kNever;
  const RunSummary summary = Summarise(FactsOf(records));
  EXPECT_EQ(summary.jobs, 3);
  EXPECT_EQ(summary.unfinished, 1);
  EXPECT_DOUBLE_EQ(summary.avg_jct_s, 70);
  EXPECT_DOUBLE_EQ(summary.makespan_s, 100);
}

TEST(Summarise, UtilisationOfARunCutShortEndsWithItsTimeline) {
  std::vector<JobRecord> records = ThreeRecords();
  records[2].finish = kNever;
  RunFacts facts = FactsOf(records);
  const std::vector<TimelinePoint> timeline = {{.time = 10}, {.time = 210}};
  facts.timeline = timeline;
  EXPECT_DOUBLE_EQ(Summarise(facts).gpu_utilisation, 220.0 / (2 * 200));
}

TEST(Summarise, NodeHoursAreThoseOfTheNodesThatWereThere) {
  JobRecord record;
  record.submit = 0;
  record.finish = 7200;
  const std::vector<JobRecord> records = {record};
  RunFacts facts = FactsOf(records);
  // One node up to 1800 s, two from there on to the last finish.
  const std::vector<TimelinePoint> timeline = {
      {.time = 300, .nodes = 1}, {.time = 1800, .nodes = 2}, {.time = 9000, .nodes = 5}};
  facts.timeline = timeline;
  facts.node_price = 3;
  const RunSummary summary = Summarise(facts);
  EXPECT_DOUBLE_EQ(summary.node_hours, 0.5 + 2 * 1.5);
  EXPECT_DOUBLE_EQ(summary.cost, 3 * 3.5);
  EXPECT_EQ(SummaryFromJson(ToJson(summary), "here").cost, summary.cost);
  facts.timeline = {};
  EXPECT_TRUE(std::isnan(Summarise(facts).cost)) << "nodes were not noted";
}

TEST(Summarise, WithoutFinishedJobsFiguresAreUnknown) {
  const RunSummary summary = Summarise(FactsOf({}));
  EXPECT_EQ(summary.jobs, 0);
  EXPECT_TRUE(std::isnan(summary.avg_jct_s));
  EXPECT_TRUE(std::isnan(summary.makespan_s));
  EXPECT_TRUE(std::isnan(summary.gpu_utilisation));
}

TEST(Summarise, LatencyQuantilesIgnoreTheOrderOfDecisions) {
  const std::vector<float> latency = {9, 1, 5};
  RunFacts facts = FactsOf({});
  facts.decision_us = latency;
  EXPECT_DOUBLE_EQ(Summarise(facts).decision_us_p50, 5);
}

TEST(SummaryJson, BeginsWithTheKeysOfTheContract) {
  const std::vector<std::string> contract = {
      "policy",          "jobs",       "avg_jct_s",       "p50_jct_s", "p95_jct_s",
      "p99_jct_s",       "makespan_s", "gpu_utilisation", "decisions", "decision_us_p50",
      "decision_us_p99", "cpu_s",      "wall_s"};
  const nlohmann::ordered_json json = ToJson(RunSummary());
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  ASSERT_GE(keys.size(), contract.size());
  keys.resize(contract.size());
  EXPECT_EQ(keys, contract);
}

TEST(SummaryJson, UnknownIsNull) { EXPECT_TRUE(ToJson(RunSummary())["avg_jct_s"].is_null()); }

TEST(SummaryJson, ReadsBackEqual) {
  const std::vector<JobRecord> records = ThreeRecords();
  RunFacts facts = FactsOf(records);
  const std::vector<float> latency = {1.25F, 2.5F};
  facts.decision_us = latency;
  facts.decisions = 2;
  facts.oracle = true;
  facts.cpu_s = 0.1;
  facts.wall_s = 0.3;
  const std::vector<TimelinePoint> timeline = {{.time = 0, .nodes = 2}};
  facts.timeline = timeline;
  facts.node_price = 0.5;
  const RunSummary summary = Summarise(facts);
  const auto text = ToJson(summary).dump();
  EXPECT_EQ(SummaryFromJson(nlohmann::ordered_json::parse(text), "x"), summary);
}

TEST(SummaryJson, MissingKeyNamesFileAndKey) {
  auto json = ToJson(RunSummary());
  json.erase("makespan_s");
  EXPECT_EQ(ErrorOf(ExitCode::kBadData, [&] { SummaryFromJson(json, "run/summary.json"); }),
            "run/summary.json: key 'makespan_s' is required, got none");
}

}  // namespace
}  // namespace allot
