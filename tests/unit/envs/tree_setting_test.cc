#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/topology.h"
#include "core/error.h"
#include "envs/setting.h"

namespace allot {
namespace {

std::shared_ptr<const Scenario> DrawTree(const std::string& more) {
  return MakeSetting("tree:jobs=200," + more).episodes(5);
}

TEST(TreeSettingTest, TheJobsOfASeedAreTheSameWithAndWithoutATopology) {
  for (const std::string world : {"world=philly", "world=llm"}) {
    const auto with = DrawTree(world);
    const auto without = DrawTree(world + ",topology=false");
    ASSERT_EQ(with->workload().jobs.size(), 200u);
    for (std::size_t j = 0; j < 200; ++j) {
      const Job& job = with->workload().jobs[j];
      const Job& same = without->workload().jobs[j];
      EXPECT_EQ(job.submit, same.submit);
      EXPECT_EQ(job.duration, same.duration);
      EXPECT_EQ(job.gpus, same.gpus);
    }
    EXPECT_TRUE(with->has_placed_jobs());
    EXPECT_FALSE(without->has_placed_jobs());
  }
}

TEST(TreeSettingTest, AJobOfOneGpuDoesNotCommunicate) {
  for (const Job& job : DrawTree("world=philly")->workload().jobs) {
    EXPECT_EQ(job.gpus == 1, job.communication.share == 0);
  }
}

TEST(TreeSettingTest, TheWorldsHaveTheirLevels) {
  EXPECT_EQ(DrawTree("world=philly")->cluster().topology()->top(), 2);
  const auto llm = DrawTree("world=llm");
  const Topology& topology = *llm->cluster().topology();
  EXPECT_EQ(topology.top(), 3);
  EXPECT_EQ(topology.domains(1), 16);
  EXPECT_EQ(topology.domains(2), 4);
}

TEST(TreeSettingTest, RefusesAnUnknownWorld) { EXPECT_THROW(MakeSetting("tree:world=x"), Error); }

}  // namespace
}  // namespace allot
