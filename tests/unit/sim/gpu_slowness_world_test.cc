// Jobs on GPUs that differ, to the end.

#include <gtest/gtest.h>

#include "cluster/gpu_slowness.h"
#include "sim/run.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::Staged;
using testing_support::WorkloadOf;

// A job of two GPUs and work for 600 s, on the first GPUs of a node.
Seconds JctWith(const std::string& slowness_rows, const std::string& model) {
  Workload workload = WorkloadOf({{0, 2, 600}});
  workload.jobs[0].model = workload.models.Intern(model);
  const Catalogue catalogue = Catalogue::FromCsv(
      "profile,gpu_type,gpus,rate,slowness_class\nvgg,gpu,1,5,conv\nvgg,gpu,2,10,conv\nlm,gpu,2,7,"
      "\n",
      "rates.csv");
  ClusterSpec cluster = ClusterSpec::Parse("1x4");
  if (!slowness_rows.empty()) {
    cluster.SetSlowness(
        GpuSlowness::FromCsv("node,gpu,class,slowness\n" + slowness_rows, "slowness.csv", cluster));
  }
  const Scenario scenario(std::move(workload), cluster, {}, catalogue);
  return Jcts(RunPolicy(scenario, *Staged({.ordering = "submit", .placement = "first-fit"})))[0];
}

TEST(GpuSlownessWorld, AJobIsAsSlowAsItsSlowestGpu) {
  EXPECT_DOUBLE_EQ(JctWith("", "vgg"), 600);
  EXPECT_DOUBLE_EQ(JctWith("0,0,conv,0.9\n0,1,conv,1.2\n", "vgg"), 720);
  EXPECT_DOUBLE_EQ(JctWith("0,0,conv,0.9\n0,1,conv,0.9\n", "vgg"), 540);
  EXPECT_DOUBLE_EQ(JctWith("0,2,conv,1.2\n", "vgg"), 600) << "it does not run there";
}

TEST(GpuSlownessWorld, OtherClassesAreNotSlowed) {
  EXPECT_DOUBLE_EQ(JctWith("0,1,conv,1.2\n", "lm"), 600);
  EXPECT_DOUBLE_EQ(JctWith("0,1,conv,1.2\n0,1,any,1.5\n", "lm"), 900);
  EXPECT_DOUBLE_EQ(JctWith("0,1,any,1.5\n", ""), 900) << "a job that names no model";
}

}  // namespace
}  // namespace allot
