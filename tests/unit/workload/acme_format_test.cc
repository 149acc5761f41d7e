#include "trace_testing.h"

namespace allot {
namespace {

std::string AcmeRows(const std::string& rows) {
  return "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,"
         "duration,queue,gpu_time\n" +
         rows;
}

TEST(Acme, ReadsARowInItsZone) {
  const Workload workload = ReadText(
      "acme", AcmeRows("5778432,u5907,1,8,128,Pretrain,FAILED,2023-03-01 00:18:22+08:00,"
                       "2023-03-01 00:18:54+08:00,2023-03-01 00:20:51+08:00,999,32,936.0\n"));
  ASSERT_EQ(workload.jobs.size(), 1u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(workload.origin, "2023-03-01 00:18:22");
  EXPECT_EQ(job.duration, 117);  // end - start; `duration` holds the queue, too, on Kalos
  EXPECT_EQ(job.gpus, 8);
  EXPECT_EQ(job.outcome, Outcome::kFailed);
  EXPECT_EQ(workload.users[job.user], "u5907");
  EXPECT_EQ(workload.groups[job.group], "Pretrain");
}

TEST(Acme, DropsWhatIsNoEndedGpuJob) {
  ReadReport report;
  const std::string time = "2023-03-01 00:18:22+08:00";
  ReadText("acme",
           AcmeRows("1,u,1,0,1,Other,COMPLETED," + time + "," + time + "," + time + ",1,1,1\n" +
                    "2,u,1,8,1,Other,CANCELLED," + time + ",,,1,1,1\n" +  //
                    "3,u,1,8,1,Other,RUNNING," + time + "," + time + ",,1,1,1\n" +
                    "4,u,1,8,1,Other,COMPLETED," + time + "," + time + "," + time + ",1,1,1\n" +
                    "5,u,1,8,1,Other,COMPLETED," + time + "," + time +
                    ",2023-03-01 00:18:23+08:00,1,1,1\n"),
           false, &report);
  EXPECT_EQ(Drops(report),
            "1 no GPU requested; 1 never started; 1 had not ended when the trace did; 1 run time "
            "is 0 s");
}

TEST(Acme, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("acme", {{"no zone",
                          AcmeRows("1,u,1,8,1,Other,FAILED,2023-03-01 00:18:22,,,1,1,1\n"),
                          {"'submit_time' must be like", "'2023-03-01 00:18:22'", "t.csv:2"}},
                         {"two zones",
                          AcmeRows("1,u,1,8,1,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 "
                                   "00:18:22+00:00,2023-03-01 00:18:25+00:00,1,1,1\n"),
                          {"all times must have one zone", "28800", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
