// Limits that jobs share (live/port/limited_sizes.h), as policies see them.

#include "live/port/limited_sizes.h"

#include "live/daemon/daemon.h"
#include "live/daemon/daemon_metrics.h"
#include "live/daemon/daemon_status.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class LimitedSizes : public LiveClusterFixture {
 protected:
  // Of this limit, the first one.
  void AddLimited(const std::string& id, GpuCount min, GpuCount max) {
    runtime_.AddJob(id, min, min, max).limited_by = {0};
  }
  void Limit(GpuCount gpus) { runtime_.limits = {{"account vision (GrpTRES)", gpus}}; }
  // What policies may choose for it; 0: they do not see it.
  GpuCount MostOf(const std::string& id) {
    const Observation& o = port_->Observe();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (o.job[std::size_t(row)] != JobOf(id).index) continue;
      return o.table[std::size_t(row)]->configurations().back().demand.gpus;
    }
    return 0;
  }
};

TEST_F(LimitedSizes, TogetherPoliciesCanGiveNoMoreThanTheLimit) {
  Limit(5);
  AddLimited("a", 1, 8);
  AddLimited("b", 2, 8);
  AddLimited("c", 3, 8);
  runtime_.AddJob("other", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(MostOf("a"), 2) << "one, and one of the two that are left";
  EXPECT_EQ(MostOf("b"), 3);
  EXPECT_EQ(MostOf("c"), 0);
  EXPECT_EQ(MostOf("other"), 8);
  EXPECT_EQ(JobOf("c").beyond, "account vision (GrpTRES): 5 GPUs together, 2 left");
  EXPECT_NE(MetricsText(*cluster_, {}).find("allot_jobs_beyond_limit 1"), std::string::npos);
  EXPECT_EQ(MakeStatus(*cluster_, {}, {}).jobs.at(2).reason, JobOf("c").beyond);
}

TEST_F(LimitedSizes, WhatRunsIsKeptAndTheNextBeginsWhenThereIsRoom) {
  Limit(4);
  AddLimited("a", 1, 8);
  ServeAndTrain({{"a", 4}});
  AddLimited("b", 1, 8);
  Limit(2);
  ASSERT_TRUE(port_->WaitForChange(0)) << "b is known from here on";
  Until("the limit is passed", [&] { return JobOf("b").beyond.has_value(); });
  EXPECT_EQ(MostOf("a"), 4) << "no limit takes what a job has";
  Decide({{"a", 1}});
  Until("room for another", [&] { return MostOf("b") == 1; });
  EXPECT_EQ(MostOf("a"), 1);
  Limit(8);
  Until("room for all", [&] { return MostOf("a") == 4 && MostOf("b") == 4; });
}

TEST_F(LimitedSizes, TheMoreImportantJobIsTheFirst) {
  Limit(2);
  AddLimited("a", 2, 2);
  AddLimited("b", 2, 2);
  runtime_.jobs["b"].job.priority = 1;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(MostOf("a"), 0);
  EXPECT_EQ(MostOf("b"), 2);
}

TEST_F(LimitedSizes, AJobAloneMayHaveNoMoreThanOneMay) {
  runtime_.AddJob("a", 1, 1, 8).at_most = GpuLimit{3};
  RuntimeJob& small = runtime_.AddJob("b", 4, 4, 8);
  small.at_most = {3, "MaxTRESPerJob of QOS short"};
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(MostOf("a"), 3);
  EXPECT_EQ(MostOf("b"), 0);
  EXPECT_EQ(JobOf("b").beyond, "a job may have 3 GPUs (MaxTRESPerJob of QOS short)");
}

TEST_F(LimitedSizes, AJobWhoseGrowthDidNotBeginTriesNoOtherForAWhile) {
  runtime_.AddJob("a", 1, 1, 8);
  ServeAndTrain({{"a", 4}});
  runtime_.pending_nodes["n2"] = "QOSMaxJobsPerUserLimit";
  Decide({{"a", 8}});
  Until("it to be taken back", [&] { return MostOf("a") == 4; });
  Until("training on", [&] { return Trains("a", 4); });
  EXPECT_EQ(MostOf("a"), 4) << "so that others get the GPUs that it cannot use";
  runtime_.pending_nodes.clear();
  Until("another try", [&] { return MostOf("a") == 8; });
}

}  // namespace
}  // namespace allot
