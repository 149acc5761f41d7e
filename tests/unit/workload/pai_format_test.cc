#include "trace_testing.h"

namespace allot {
namespace {

constexpr const char* kTaskTable =
    "job1,worker,4.0,Terminated,1100.0,1900.0,600.0,29.3,50.0,V100\n"
    "job1,ps,2.0,Terminated,1090.0,2000.0,400.0,29.3,,V100\n"
    "job1,chief,1.0,Terminated,1080.0,1890.0,400.0,29.3,125.0,V100\n"
    "job2,worker,1.0,Failed,1400.0,1460.0,600.0,29.3,200.0,P100\n"
    "job3,tensorflow,1.0,Running,1500.0,,600.0,29.3,50.0,MISC\n"
    "job4,tensorflow,1.0,Waiting,,,600.0,29.3,50.0,MISC\n";

constexpr const char* kJobTable =
    "job1,i1,alice,Terminated,1000.0,2000.0\n"
    "job2,i2,bob,Failed,1350.0,1460.0\n";

Workload ReadTables(const std::string& tasks, const std::string& jobs, bool lenient,
                    ReadReport* report) {
  const ReadOptions options{.lenient = lenient, .companion_text = jobs, .companion_path = "j.csv"};
  return Registry<TraceFormat>::Global()
      .Get("trace format", "pai")
      .read(tasks, "t.csv", options, report);
}

TEST(Pai, TheTasksOfAJobRunTogether) {
  ReadReport report;
  const Workload workload = ReadTables(kTaskTable, kJobTable, false, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(job.id, "job1");
  EXPECT_EQ(job.submit, 1000);   // of the job table
  EXPECT_EQ(job.duration, 820);  // 1080 to 1900: the tasks with GPUs
  EXPECT_EQ(job.gpus, 4);        // 4 halves and 1.25
  EXPECT_EQ(job.outcome, Outcome::kPassed);
  EXPECT_EQ(workload.users[job.user], "alice");
  EXPECT_EQ(workload.jobs[1].gpus, 2);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kFailed);
  EXPECT_EQ(report.rows, 6);
  EXPECT_EQ(Drops(report),
            "1 no GPU requested; 1 task of a job that an earlier row began: counted with it; 1 had "
            "not ended when the trace did; 1 never started");
  EXPECT_EQ(Adjustments(report), "1 a part of a GPU counted as a whole one");
}

TEST(Pai, WithoutJobTableTheFirstStartIsTheSubmission) {
  ReadReport report;
  const Workload workload = ReadText("pai", kTaskTable, false, &report);
  EXPECT_EQ(workload.jobs[0].submit, 1080);
  EXPECT_EQ(workload.users.size(), 0u);
  EXPECT_EQ(Adjustments(report),
            "1 a part of a GPU counted as a whole one; 2 no submission in the job table: submitted "
            "when its first task started");
}

TEST(Pai, TheJobTableIsFoundBesideTheTaskTable) {
  const std::string path = ALLOT_SOURCE_DIR "/traces/samples/pai_task_table.csv";
  EXPECT_EQ(ReadTrace(path).users.size(), 2u);
}

TEST(Pai, AHeaderLineIsTaken) {
  const std::string header =
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_"
      "type\n";
  EXPECT_EQ(ReadText("pai", fmt::format("{}{}", header, kTaskTable)).jobs.size(), 2u);
}

TEST(Pai, MalformedRowsOfTheJobTable) {
  const std::string jobs = fmt::format("{}job3,i3\n", kJobTable);
  ReadReport report;
  ExpectError(ExitCode::kBadData, {"6 fields", "got 2", "j.csv:3"},
              [&] { ReadTables(kTaskTable, jobs, false, &report); });
  report = {};
  ReadTables(kTaskTable, jobs, true, &report);
  EXPECT_EQ(
      Adjustments(report),
      "1 row of the job table not used: malformed: a row must have 6 fields as in the header; "
      "1 a part of a GPU counted as a whole one");
}

TEST(Pai, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("pai", {{"status",
                         "j,worker,4.0,Done,1100.0,1900.0,600.0,29.3,50.0,V100\n",
                         {"'status' must be", "'Done'", "t.csv:1"}},
                        {"instances",
                         "j,worker,1.5,Failed,1100.0,1900.0,600.0,29.3,50.0,V100\n",
                         {"'inst_num' must be a whole number", "'1.5'", "t.csv:1"}},
                        {"time runs back",
                         "j,worker,1,Failed,1100.0,1000.0,600.0,29.3,50.0,V100\n",
                         {"duration must be > 0", "-100", "t.csv:1"}}});
}

}  // namespace
}  // namespace allot
