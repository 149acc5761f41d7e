#include "stages/staged_policy.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::World;
using Placed = std::map<JobIndex, std::string>;

PolicyInfo LasLike() {
  return StagedPolicyInfo("las-like", "for tests", {.ordering = "attained"},
                          {{"queues", "", "thresholds"}});
}

std::unique_ptr<Policy> Make(const std::string& spec) {
  const NamedParams named = ParseNamedParams(spec);
  const PolicyInfo info = LasLike();
  return info.make(Params("policy 'las-like'", info.params, named.given));
}

// One GPU, two jobs of 1 GPU: the first has been served longer and runs.
class StagedPolicyTest : public testing::Test {
 protected:
  StagedPolicyTest() : world_("1x1") {
    world_.Add({{1}});
    world_.Add({{1}});
    world_.Run(0, 0, {{0, 1}});
    world_.o.attained_gpu_seconds = {500, 400};
  }
  JobIndex Served(const std::string& spec) {
    Allocation allocation;
    Make(spec)->Decide(world_.o, &allocation);
    EXPECT_EQ(allocation.entries().size(), 1U) << spec;
    return allocation.entries().empty() ? -1 : allocation.entries().front().job;
  }
  World world_;
};

TEST_F(StagedPolicyTest, RunsItsStages) { EXPECT_EQ(Served("las-like"), 1); }

TEST_F(StagedPolicyTest, HandsParametersToItsOrdering) {
  EXPECT_EQ(Served("las-like:queues=1000"), 0);  // one queue for both: by submission
  EXPECT_EQ(Served("las-like:queues=450"), 1);
}

TEST_F(StagedPolicyTest, ExchangesAStage) { EXPECT_EQ(Served("las-like:ordering=submit"), 0); }

TEST_F(StagedPolicyTest, ANonPreemptiveOrderKeepsRunningJobsFirst) {
  world_.o.submit = {9, 1};
  EXPECT_EQ(Served("las-like:ordering=submit"), 0);
  EXPECT_EQ(Served("las-like:ordering=submit/preemptive=true"), 1);
}

TEST_F(StagedPolicyTest, StageParametersStandBehindSlashes) {
  World world("1x4");
  world.Add({{1, 1.9, 2.7, 3.4}});
  world.Add({{1, 1.9, 2.7, 3.4}});
  world.o.attained_gpu_seconds = {0, 90000};
  Allocation allocation;
  Make("las-like:sizing=hull/alpha=0/beta=0")->Decide(world.o, &allocation);
  EXPECT_EQ(AsSet(allocation),
            (Placed{{0, "configuration 1: 0/0x3"}, {1, "configuration 1: 0/0xc"}}));
  Make("las-like:sizing=hull/alpha=1/beta=0")->Decide(world.o, &allocation);
  EXPECT_EQ(AsSet(allocation), (Placed{{0, "configuration 3: 0/0xf"}}));
}

TEST_F(StagedPolicyTest, ExchangedStagesSayWhatTheyNeed) {
  EXPECT_FALSE(Make("las-like")->info().needs_lengths);
  EXPECT_TRUE(Make("las-like:ordering=remaining")->info().needs_lengths);
  EXPECT_TRUE(Make("las-like")->info().time_driven);
  EXPECT_FALSE(Make("las-like:ordering=submit")->info().time_driven);
  EXPECT_TRUE(Make("las-like:ordering=submit,sizing=hull")->info().time_driven);
}

TEST_F(StagedPolicyTest, AdmissionLimitsWhoIsConsidered) {
  EXPECT_EQ(Served("las-like:admission=active-limit/jobs=1"), 0);
}

TEST_F(StagedPolicyTest, UnknownStagesAndKeysAreErrorsWithAHint) {
  ExpectError(ExitCode::kUsage, {"unknown sizing 'hul'", "did you mean 'hull'"},
              [] { Make("las-like:sizing=hul"); });
  ExpectError(ExitCode::kUsage, {"sizing 'hull'", "alfa", "did you mean 'alpha'"},
              [] { Make("las-like:sizing=hull/alfa=1"); });
  ExpectError(ExitCode::kUsage, {"policy 'las-like'", "sizin", "did you mean 'sizing'"},
              [] { Make("las-like:sizin=hull"); });
}

}  // namespace
}  // namespace allot
