#include "live/screens/queue_table.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

JobStatus QueuedJob(const std::string& name, GpuCount least, GpuCount most) {
  JobStatus job;
  job.id = name + "-6b084e5c";
  job.name = name;
  job.title = "mlp";
  job.user = "eve";
  job.requested_gpus = job.min_gpus = least;
  job.max_gpus = most;
  job.age = 3725;
  job.waited = 65;
  return job;
}

// Of eight GPUs two a100 and one v100 are free; of the v100 that the job has, one is not used yet.
DaemonStatus QueueStatus() {
  DaemonStatus status;
  status.now = 4000;
  status.policy = "index";
  status.nodes = {{"n1", "a100", 4, 0, 2}, {"n2", "v100", 4, 2, 0}};
  JobStatus runs = QueuedJob("1", 1, 1);
  runs.allocated_gpus = 3;
  runs.stage = JobStage::kTraining;
  runs.nodes = {{"n2", 3}};
  status.jobs = {runs};
  return status;
}

// The row of the table that begins with `name`, or its line below.
std::string QueueLine(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("\n" + name) + 1;
  return begin == 0 ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

std::string QueueRow(const JobStatus& job, DaemonStatus status = QueueStatus()) {
  status.jobs.push_back(job);
  return QueueLine(QueueText(status), job.name);
}

TEST(QueueTable, CountsWaitingJobsAndFreeGpus) {
  DaemonStatus status = QueueStatus();
  EXPECT_EQ(QueueText(status), "0 of 1 job waits, 3 of 8 GPUs free, policy index\n");
  status.paused = true;
  status.trouble = "no route to host";
  status.warning = "partition 'elastic' is up";
  status.more_jobs = 960;
  EXPECT_EQ(QueueText(status),
            "0 of 1 job waits, 960 more to come, 3 of 8 GPUs free, policy index, PAUSED\n"
            "nothing is changed until the cluster can be asked again: no route to host\n"
            "warning: partition 'elastic' is up\n");
}

TEST(QueueTable, ShowsUserRequestAndAge) {
  EXPECT_EQ(QueueRow(QueuedJob("42", 4, 4)),
            "42   eve   mlp   waiting  4           1h 02m  1m 05s             "
            "needs 4 GPUs, 2 free");
  JobStatus elastic = QueuedJob("43", 1, 8);
  elastic.requested_gpus = 2;
  elastic.accepted_types = "a100|v100";
  EXPECT_NE(QueueRow(elastic).find("waiting  2 (1-8)  a100|v100"), std::string::npos);
}

TEST(QueueTable, InfersTheReasonWhereTheDaemonHasNone) {
  const auto why = [](const JobStatus& job, const DaemonStatus& status = QueueStatus()) {
    const std::string row = QueueRow(job, status);
    return row.substr(row.find("1m 05s") + 6 + 13);
  };
  EXPECT_EQ(why(QueuedJob("2", 1, 1)), "2 GPUs free, none given by the policy");
  JobStatus typed = QueuedJob("2", 2, 2);
  typed.accepted_types = "v100";
  EXPECT_EQ(why(typed), "needs 2 GPUs, 1 free");
  JobStatus limited = QueuedJob("2", 1, 1);
  limited.limits = "--constraint=nvlink";
  EXPECT_EQ(why(limited), "2 GPUs free, not all for --constraint=nvlink");
  JobStatus held = QueuedJob("2", 1, 1);
  held.stage = JobStage::kHeld;
  held.reason = "held by its user";
  EXPECT_EQ(why(held), "held by its user");
  DaemonStatus paused = QueueStatus();
  paused.paused = true;
  EXPECT_EQ(why(QueuedJob("2", 1, 1), paused), "allot is paused");
  DaemonStatus drained = QueueStatus();
  drained.drained = true;
  EXPECT_EQ(why(QueuedJob("2", 1, 1), drained), "drained: no job begins");
  DaemonStatus away = QueueStatus();
  away.nodes[0].state = NodeState::kDown;
  EXPECT_EQ(why(QueuedJob("2", 2, 2), away), "needs 2 GPUs, 1 free");
}

TEST(QueueTable, ShowsLongReasonsBelow) {
  JobStatus job = QueuedJob("2", 1, 1);
  job.reason = std::string(61, 'x');
  DaemonStatus status = QueueStatus();
  status.jobs.push_back(job);
  const std::string text = QueueText(status);
  EXPECT_TRUE(QueueLine(text, "2 ").ends_with("see below")) << text;
  EXPECT_TRUE(text.ends_with("\n2: " + std::string(61, 'x') + "\n")) << text;
}

TEST(QueueTable, ShowsTheMedianStartOfTheForecast) {
  JobStatus job = QueuedJob("2", 1, 1);
  job.forecast = {4000, 90000, ForecastTimes{4010, 4060, 5000}, ForecastTimes{8000, 9000, 9100}};
  EXPECT_NE(QueueRow(job).find("1m 00s"), std::string::npos);
}

}  // namespace
}  // namespace allot
