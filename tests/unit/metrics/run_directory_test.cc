#include "metrics/run_directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/file.h"
#include "core/json_text.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

TEST(JobsCsv, HasTheContractsColumnsAndShortestNumbers) {
  const std::vector<JobRecord> records = {{.job = 0,
                                           .submit = 0,
                                           .first_start = 300,
                                           .finish = 1000.1,
                                           .gpu_seconds = 2800.4,
                                           .preemptions = 1,
                                           .restarts = 2}};
  const std::vector<TracedJob> ids = {{"application_1", 4, 700, "vc", "me"}};
  EXPECT_EQ(JobsCsv(records, ids),
            "job_id,submit_s,first_start_s,finish_s,jct_s,gpu_seconds,preemptions,restarts,"
            "gpus,run_s,tenant,user\n"
            "application_1,0,300,1000.1,1000.1,2800.4,1,2,4,700,vc,me\n");
}

TEST(JobsCsv, WhatDidNotHappenIsEmpty) {
  const std::vector<JobRecord> records = {
      {.job = 0, .submit = 5}, {.job = 1, .submit = 7, .first_start = 8, .gpu_seconds = 4}};
  const std::vector<TracedJob> ids = {{"waits", 1, 5}, {"runs", 2, 6.5}};
  EXPECT_EQ(JobsCsv(records, ids),
            "job_id,submit_s,first_start_s,finish_s,jct_s,gpu_seconds,preemptions,restarts,"
            "gpus,run_s,tenant,user\n"
            "waits,5,,,,0,0,0,1,5,,\n"
            "runs,7,8,,,4,0,0,2,6.5,,\n");
}

TEST(JobsCsv, QuotesNamesThatNeedIt) {
  const std::vector<JobRecord> records = {{.job = 0}};
  const std::vector<TracedJob> ids = {{"a,\"b\""}};
  EXPECT_NE(JobsCsv(records, ids).find("\n\"a,\"\"b\"\"\",0,"), std::string::npos);
}

TEST(AllocationsCsv, NamesNodesAndTheirGpus) {
  const std::vector<TracedJob> jobs = {{"a"}, {"b,c"}};
  const std::vector<AllocationNote> notes = {
      {0, 1, {{0, 4}, {3, 2}}}, {60.5, 1, {}}, {60.5, 0, {{3, 2}}}};
  EXPECT_EQ(AllocationsCsv(notes, jobs),
            "time_s,job_id,gpus,nodes\n0,\"b,c\",6,0:4 3:2\n60.5,\"b,c\",0,\n60.5,a,2,3:2\n");
}

TEST(TimelineCsv, WaitingIsActiveMinusRunning) {
  const std::vector<TimelinePoint> timeline = {
      {.time = 0, .active = 5, .running = 2, .gpus_used = 8, .nodes = 3},
      {.time = 300.5, .active = 1, .running = 1, .gpus_used = 4}};
  EXPECT_EQ(TimelineCsv(timeline),
            "time_s,active,running,waiting,gpus_used,nodes\n"
            "0,5,2,3,8,3\n"
            "300.5,1,1,0,4,0\n");
}

TEST(RunDirectory, HoldsItsFiles) {
  const testing_support::TempFolder folder;
  const std::filesystem::path directory = folder / "run";
  RunSummary summary;
  summary.policy = "las";
  summary.makespan_s = 0.1 + 0.2;
  const std::vector<JobRecord> records = {{.job = 0}};
  const std::vector<TracedJob> ids = {{"a"}};
  WriteRunDirectory(directory, summary, records, ids, {});
  EXPECT_EQ(ReadTextFile((directory / "jobs.csv").string()), JobsCsv(records, ids));
  EXPECT_EQ(ReadTextFile((directory / "timeline.csv").string()), TimelineCsv({}));
  EXPECT_EQ(ReadTextFile((directory / "summary.json").string()), JsonText(ToJson(summary)) + "\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "allocations.csv")) << "nothing was noted";
}

TEST(FolderName, IsReadableAndNoHostToRsyncNorForbiddenOnWindows) {
  EXPECT_EQ(FolderName("las:queues=3600,x=1"), "las-queues=3600,x=1");
  EXPECT_EQ(FolderName("week@2017-10-30T00:01:45+7d"), "week-2017-10-30T00-01-45+7d");
}

TEST(JobsCsv, TimesAreExactToTheMicrosecond) {
  const std::vector<JobRecord> records = {{.job = 0,
                                           .submit = 0,
                                           .first_start = 0,
                                           .finish = 7199.999999999999,
                                           .gpu_seconds = 28799.999999999996}};
  const std::vector<TracedJob> ids = {{"a"}};
  EXPECT_NE(JobsCsv(records, ids).find("a,0,0,7200,7200,28800,"), std::string::npos)
      << JobsCsv(records, ids);
}

TEST(FolderName, CannotLeaveItsParent) {
  EXPECT_EQ(FolderName("../../etc"), "-.-..-etc");
  EXPECT_EQ(FolderName(".."), "-.");
  EXPECT_EQ(FolderName(""), "-");
}

}  // namespace
}  // namespace allot
