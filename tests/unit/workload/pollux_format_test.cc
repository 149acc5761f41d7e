#include "trace_testing.h"

namespace allot {
namespace {

std::string PolluxRows(const std::string& rows) {
  return "name,time,application,num_replicas,batch_size\n" + rows;
}

TEST(Pollux, RunTimeComesFromTheApplicationsCurves) {
  const Workload workload = ReadText("pollux", PolluxRows("ncf-2,135,ncf,1,32768\n"));
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].id, "ncf-2");
  EXPECT_EQ(workload.jobs[0].submit, 135);
  EXPECT_EQ(workload.jobs[0].duration, 46);
  EXPECT_EQ(workload.groups[workload.jobs[0].group], "ncf");
}

TEST(Pollux, UnknownCombinationsAreDropped) {
  ReadReport report;
  ReadText("pollux", PolluxRows("ncf-2,135,ncf,1,32768\nncf-3,136,ncf,3,32768\n"), false, &report);
  EXPECT_EQ(Drops(report), "1 no run time is known for its application, GPUs and batch size");
}

}  // namespace
}  // namespace allot
