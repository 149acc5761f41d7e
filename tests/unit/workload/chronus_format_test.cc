#include "trace_testing.h"

namespace allot {
namespace {

std::string ChronusRows(const std::string& rows) {
  return "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,"
         "expect_time_list,expect_value_list,best_effort,job_type\n" +
         rows;
}

TEST(Chronus, ReadsMinutesAndDeadlinesFromSubmission) {
  const Workload workload =
      ReadText("chronus", ChronusRows("0,vc_6214e9,1,10,5049,vgg16,20,14,30,10,0,strict\n"
                                      "1,vc_ed69ec,4,11,296,vgg16,98,8,128-256,10-5,0,soft\n"
                                      "2,vc_ed69ec,4,12,296,vgg16,98,8,12,10,1,best\n"));
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].submit, 600);
  EXPECT_EQ(workload.jobs[0].duration, 1200);
  EXPECT_EQ(workload.jobs[0].deadline, 600 + 1800);
  EXPECT_EQ(workload.tenants[workload.jobs[0].tenant], "vc_6214e9");
  EXPECT_EQ(workload.jobs[1].deadline, 660 + 128 * 60);  // the first of a soft list
  EXPECT_EQ(workload.jobs[2].deadline, kNever);
}

TEST(Chronus, JobsWithoutGpusAreDropped) {
  ReadReport report;
  ReadText("chronus",
           ChronusRows("0,vc_a,0,10,5049,vgg16,20,14,30,10,0,strict\n"
                       "1,vc_a,1,10,5049,vgg16,20,14,30,10,0,strict\n"),
           false, &report);
  EXPECT_EQ(Drops(report), "1 no GPU requested");
}

TEST(Chronus, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("chronus", {
                               {"type",
                                ChronusRows("0,vc_a,1,10,5049,vgg16,20,14,30,10,0,hard\n"),
                                {"'job_type' must be strict, soft or best", "'hard'", "t.csv:2"}},
                               {"deadline",
                                ChronusRows("0,vc_a,1,10,5049,vgg16,20,14,-5,10,0,strict\n"),
                                {"'expect_time_list' must begin", "'-5'", "t.csv:2"}},
                           });
}

}  // namespace
}  // namespace allot
