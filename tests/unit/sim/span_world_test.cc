// A world whose speeds depend on the nodes that a job spans, from rows of a catalogue to the end of
// its jobs.

#include <gtest/gtest.h>

#include "sim/run.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Jcts;
using testing_support::Staged;
using testing_support::WorkloadOf;

const char kRates[] =
    "profile,gpu_type,gpus,nodes,rate\n"
    "vgg,v100,1,1,10\n"
    "vgg,v100,4,1,40\n"
    "vgg,v100,4,2+,25\n";

// Two jobs of 2 GPUs hold half of two nodes of 4; 'vgg' then comes with 4 GPUs, and work for 900 s
// on one node.
Seconds JctOfTheThird(const char* placement) {
  Workload workload = WorkloadOf({{0, 2, 9000}, {0, 2, 9000}, {1, 4, 900}});
  workload.jobs[2].model = workload.models.Intern("vgg");
  const Catalogue catalogue = Catalogue::FromCsv(kRates, "rates.csv");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("2x4:v100"), {}, catalogue);
  EXPECT_EQ(scenario.facts(2).work, 900 * 40);
  return Jcts(RunPolicy(scenario, *Staged({.ordering = "submit", .placement = placement})))[2];
}

TEST(SpanWorld, OneNodeIsFaster) {
  // Both small jobs on one node: from 300 s on, 900 s.
  EXPECT_DOUBLE_EQ(JctOfTheThird("packed"), 299 + 900);
}

TEST(SpanWorld, SeveralNodesServeWhereNoneHasRoom) {
  // One GPU of each small job on each node: 36000 / 25 s.
  EXPECT_DOUBLE_EQ(JctOfTheThird("spread"), 299 + 1440);
}

}  // namespace
}  // namespace allot
